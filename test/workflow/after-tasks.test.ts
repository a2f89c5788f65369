import { expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { createToolkit, text } from "../servers/toolkits.ts";
import { startBench } from "./bench.ts";
import { makeProject, type Project } from "./projects.ts";

const folder = "specs/001-photos";

function finished(tasks: string): Project {
  return makeProject({
    ".git/config": '[remote "origin"]\n\turl = git@github.com:acme/photos.git\n',
    "src/a.ts": "",
    [`${folder}/spec.md`]:
      "# Feature Specification: Photos\n\n## Requirements\n\n- **FR-001**: Upload\n- **FR-002**: Albums\n",
    [`${folder}/plan.md`]: "# Implementation Plan: Photos\n",
    [`${folder}/tasks.md`]: `# Tasks: Photos\n\n## Phase 1: Setup\n\n${tasks}\n`,
  });
}

test("converge waits for open tasks, then appends what is missing and changes nothing else", async () => {
  using project = finished("- [ ] T001 Implement FR-001 in src/a.ts and src/b.ts, and/or Node.js");
  await using bench = await startBench({ folder: project.folder });
  const spec_directory = project.path(folder);
  expect(await bench.call("converge", { spec_directory })).toMatchObject({
    isError: true,
    text: expect.stringContaining("tasks.md has open tasks: T001"),
    data: { next: [{ do: "run-step", step: "implement" }] },
  });

  await bench.call("tasks", { spec_directory, completed: ["T001"] });
  const before = project.read(`${folder}/tasks.md`);
  const gaps = ["Handle an empty album per FR-002 (partial)"];
  expect(await bench.call("converge", { spec_directory, gaps })).toMatchObject({
    isError: false,
    data: { next: [{ do: "run-step", step: "implement" }] },
  });
  const after = project.read(`${folder}/tasks.md`);
  expect(after.startsWith(before.trimEnd())).toBe(true);
  expect(after.slice(before.trimEnd().length)).toMatch(/^\n\n---\n\n## Phase 2: Convergence\n/);
  expect(after.match(/^- \[ \] .+$/gm)).toEqual([
    "- [ ] T002 Handle an empty album per FR-002 (partial)",
    "- [ ] T003 Implement FR-002 (missing): Albums",
    "- [ ] T004 Create src/b.ts per T001 (missing)",
  ]);

  project.write("src/b.ts", "");
  await bench.call("tasks", { spec_directory, completed: ["T002", "T003", "T004"] });
  const done = project.read(`${folder}/tasks.md`);
  expect(await bench.call("converge", { spec_directory, gaps })).toMatchObject({
    isError: false,
    text: expect.stringContaining("No gaps found"),
  });
  expect(project.read(`${folder}/tasks.md`)).toBe(done);
});

test("open tasks become issues once, by a tool of the hall or by the caller", async () => {
  using project = finished(
    "- [X] T001 Write src/a.ts\n- [ ] T002 [US1] Write src/b.ts\n- [ ] T003 Write src/c.ts",
  );
  const created: JsonObject[] = [];
  const github = createToolkit("github", {
    create_issue: {
      annotations: { destructiveHint: false },
      run: async (args) => {
        created.push(args);
        return text(`{"url":"https://github.com/acme/photos/issues/${10 + created.length}"}`);
      },
    },
  });
  await using bench = await startBench({ folder: project.folder }, { toolkits: [github] });
  const spec_directory = project.path(folder);
  expect(await bench.call("taskstoissues", { spec_directory })).toMatchObject({
    isError: false,
    data: {
      state: "paused",
      repository: "acme/photos",
      issues: [{ task: "T002", title: "T002 Write src/b.ts" }, { task: "T003" }],
    },
  });
  expect(created).toEqual([]);

  const tool = "github.create_issue";
  const first = await bench.call("taskstoissues", { spec_directory, tool, task_filter: "T002" });
  expect(first, first.text).toMatchObject({ isError: false });
  expect(created).toMatchObject([{ owner: "acme", repo: "photos", title: "T002 Write src/b.ts" }]);
  expect(project.read(`${folder}/tasks.md`)).toContain("- [ ] T002 [US1] Write src/b.ts (#11)\n");
  await bench.call("taskstoissues", { spec_directory, tool });
  expect(created.map(({ title }) => title)).toEqual(["T002 Write src/b.ts", "T003 Write src/c.ts"]);
  expect((await bench.call("taskstoissues", { spec_directory, tool })).text).toContain(
    "No open task without an issue",
  );
});

test("a list of rules in AGENTS.md is the constitution's principles", async () => {
  using project = makeProject({
    "AGENTS.md":
      "# Shop\n\nA shop.\n\n## Rules\n\n- Money is stored in cents\n- Routes stay thin: logic lives\n  in src/services\n\n## Commands\n\n- Run pnpm test\n",
  });
  await using bench = await startBench({ folder: project.folder });
  expect((await bench.call("constitution", {})).data.principles).toEqual([
    "Money is stored in cents",
    "Routes stay thin",
  ]);
  const written = project.read(".specify/memory/constitution.md");
  expect(written).toContain("logic lives in src/services (from AGENTS.md)");
  expect(written).not.toContain("pnpm test");
});
