import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { modern } from "../servers/client.ts";
import { until } from "../servers/until.ts";
import { type Bench, read, startBench } from "./bench.ts";
import { faultsOfPlan, faultsOfTasks } from "./grammar.ts";
import { makeProject, type Project, typescriptService } from "./projects.ts";

const description =
  "Users can add notes with a title. Users can delete notes. Only the owner sees a note.";
const feature = "specs/001-users-notes-title";

async function specified(bench: Bench, project: Project): Promise<string> {
  const { isError, data, text } = await bench.call("specify", {
    feature_description: description,
    spec_directory: project.path("specs"),
  });
  expect(isError, text).toBe(false);
  expect(data.folder).toBe(feature);
  return project.path(feature);
}

async function clarified(bench: Bench, project: Project): Promise<string> {
  const spec_directory = await specified(bench, project);
  await bench.call("clarify", { spec_directory, answers: ["yes", "yes", "yes", "yes", "yes"] });
  return spec_directory;
}

describe("hand edits", () => {
  test("are kept, and merged with new text elsewhere", async () => {
    using project = makeProject(typescriptService);
    await using bench = await startBench({ folder: project.folder });
    const directory = await specified(bench, project);
    const edited = project
      .read(`${feature}/spec.md`)
      .replace("## Assumptions\n", "## Assumptions\n\n- A person wrote this.");
    project.write(`${feature}/spec.md`, edited);
    const again = await bench.call("specify", {
      feature_description: `${description} Users can export notes.`,
      spec_directory: directory,
    });
    expect(again).toMatchObject({
      isError: false,
      data: { files: [{ path: "spec.md", change: "merged" }, expect.anything()] },
    });
    expect(project.read(`${feature}/spec.md`)).toContain("- A person wrote this.");
    expect(project.read(`${feature}/spec.md`)).toContain("Users can export notes.");
  });

  test("are never overwritten silently: a conflict is refused, and the step writes nothing", async () => {
    using project = makeProject(typescriptService);
    await using bench = await startBench({ folder: project.folder });
    const directory = await specified(bench, project);
    const edited = project
      .read(`${feature}/spec.md`)
      .replace(/^\*\*Input\*\*: .+$/m, "**Input**: mine");
    project.write(`${feature}/spec.md`, edited);
    const args = {
      feature_description: `${description} Users can export notes.`,
      spec_directory: directory,
    };
    const refused = await bench.call("specify", args);
    expect(refused).toMatchObject({ isError: true, code: "execution" });
    expect(refused.text).toMatch(/spec\.md: line \d+ was edited/);
    expect(project.read(`${feature}/spec.md`)).toBe(edited);
    const forced = await bench.call("specify", { ...args, force: true });
    expect(forced.data.files).toContainEqual({ path: "spec.md", change: "replaced" });
    expect(project.read(`${feature}/spec.md`)).not.toContain("**Input**: mine");
  });

  test("a file the workflow did not write is left alone, unless it is an unfilled template", async () => {
    const template =
      "# Implementation Plan: [FEATURE]\n\n**Language/Version**: [e.g., Python 3.11]\n";
    using project = makeProject({ ".specify/templates/plan-template.md": template });
    await using bench = await startBench({ folder: project.folder });
    const directory = await clarified(bench, project);
    project.write(`${feature}/plan.md`, "# My own plan\n");
    expect(await bench.call("plan", { spec_directory: directory })).toMatchObject({
      isError: true,
      text: expect.stringContaining("plan.md: the workflow did not write this file"),
    });
    expect(project.read(`${feature}/plan.md`)).toBe("# My own plan\n");
    expect(readdirSync(directory)).not.toContain("research.md");
    project.write(`${feature}/plan.md`, template);
    expect(await bench.call("plan", { spec_directory: directory })).toMatchObject({
      isError: false,
    });
    expect(faultsOfPlan(project.read(`${feature}/plan.md`))).toEqual([]);
  });
});

test("a project of spec-kit continues: its files stay byte for byte, except for what a step changes", async () => {
  const spec = [
    "# Feature Specification: Team rota",
    "",
    "**Feature Branch**: `007-team-rota`",
    "**Created**: 2026-01-02",
    "**Status**: Draft",
    '**Input**: User description: "A rota for the team"',
    "",
    "## User Scenarios & Testing *(mandatory)*",
    "",
    "### User Story 1 - Plan a week (Priority: P1)",
    "",
    "A manager plans the shifts of a week.",
    "",
    "**Why this priority**: Without it there is no rota.",
    "",
    "**Independent Test**: Plan one week and read it back.",
    "",
    "**Acceptance Scenarios**:",
    "",
    "1. **Given** an empty week, **When** the manager plans a shift, **Then** it is in the rota",
    "",
    "### Edge Cases",
    "",
    "- What happens when a shift overlaps another?",
    "",
    "## Requirements *(mandatory)*",
    "",
    "### Functional Requirements",
    "",
    "- **FR-001**: Managers MUST be able to plan shifts",
    "- **FR-002**: System MUST notify people of changes via [NEEDS CLARIFICATION: which channel: email, chat, or both?]",
    "",
    "### Key Entities *(include if feature involves data)*",
    "",
    "- **Shift**: a stretch of work, with a start, an end and a person",
    "",
    "## Success Criteria *(mandatory)*",
    "",
    "### Measurable Outcomes",
    "",
    "- **SC-001**: A week is planned in under 5 minutes",
    "",
  ].join("\r\n");
  const files = {
    ".specify/feature.json": '{"feature_directory": "specs/007-team-rota", "other": 1}\n',
    ".specify/init-options.json": '{"feature_numbering": "sequential"}\n',
    ".specify/extensions.yml": "hooks:\n  before_plan: [echo]\n",
    ".specify/memory/constitution.md":
      "# Rota Constitution\n\n## Core Principles\n\n### I. Test-First\n\nTests MUST be written before the code.\n\n## Governance\n\n**Version**: 1.2.0 | **Ratified**: 2026-01-01 | **Last Amended**: 2026-01-01\n",
    "specs/007-team-rota/spec.md": spec,
    "specs/003-old/spec.md": "# Feature Specification: Old\n",
    "specs/20260101-101010-stamped/spec.md": "# Feature Specification: Stamped\n",
  };
  using project = makeProject(files);
  await using bench = await startBench({ folder: project.folder });
  const directory = project.path("specs/007-team-rota");
  const status = await bench.call("status", {});
  expect(status.data).toMatchObject({
    active: directory,
    features: [
      { name: "003-old", phase: "plan", isActive: false },
      { name: "007-team-rota", phase: "clarify", isActive: true, openQuestions: 1 },
      { name: "20260101-101010-stamped", phase: "plan" },
    ],
  });
  expect(await bench.call("plan", { spec_directory: directory })).toMatchObject({
    isError: true,
    code: "execution",
    text: expect.stringContaining("Call speckit.clarify"),
  });
  const clarified = await bench.call("clarify", { spec_directory: directory, answers: ["C"] });
  expect(clarified, clarified.text).toMatchObject({ isError: false, data: { answered: 1 } });
  const changed = spec
    .replace("[NEEDS CLARIFICATION: which channel: email, chat, or both?]", "both")
    .replace(
      "## User Scenarios",
      "## Clarifications\r\n\r\n### Session 2026-11-16\r\n\r\n- Q: which channel: email, chat, or both? → A: Both\r\n\r\n## User Scenarios",
    );
  expect(project.read("specs/007-team-rota/spec.md")).toBe(changed);
  for (const step of ["plan", "tasks"])
    expect(await bench.call(step, { spec_directory: directory })).toMatchObject({ isError: false });
  expect(faultsOfPlan(project.read("specs/007-team-rota/plan.md"))).toEqual([]);
  expect(project.read("specs/007-team-rota/plan.md")).toContain(
    "- [ ] Test-First: Tests MUST be written before the code.",
  );
  const tasks = project.read("specs/007-team-rota/tasks.md");
  expect(faultsOfTasks(tasks)).toEqual([]);
  expect(tasks).toContain("**Tests**: asked for by the constitution (Test-First)");
  expect(tasks).toContain("[US1] Write a failing test for scenario 1");
  expect(project.read("specs/007-team-rota/spec.md")).toBe(changed);
  for (const path of [
    ".specify/feature.json",
    ".specify/init-options.json",
    ".specify/extensions.yml",
    ".specify/memory/constitution.md",
    "specs/003-old/spec.md",
  ]) {
    expect(project.read(path)).toBe(files[path as keyof typeof files]);
  }
  // The next number follows the highest; other fields of feature.json stay.
  const next = await bench.call("specify", {
    feature_description: "Add an ICS export of my rota",
    spec_directory: project.path("specs"),
  });
  expect(next.data.folder).toBe("specs/008-ics-export-rota");
  expect(JSON.parse(project.read(".specify/feature.json"))).toEqual({
    feature_directory: "specs/008-ics-export-rota",
    other: 1,
  });
});

test("folders get the next number, a timestamp, or the number after a taken one", async () => {
  using project = makeProject({
    ".specify/init-options.json": '{"feature_numbering": "timestamp"}',
  });
  await using bench = await startBench({ folder: project.folder });
  const specify = async (args: object) =>
    (
      await bench.call("specify", {
        feature_description: "Users can sort the list of OAuth apps",
        ...args,
      })
    ).data;
  expect((await specify({ spec_directory: project.path("specs") })).folder).toBe(
    "specs/20261116-093000-users-sort-list",
  );
  expect(
    (await specify({ spec_directory: project.path("specs"), number: 12, short_name: "My Näme!" }))
      .folder,
  ).toBe("specs/012-my-name");
  expect(await specify({ spec_directory: project.path("specs/012-other") })).toMatchObject({
    folder: "specs/013-other",
    notes: ["number 012 is taken; the feature is 013"],
  });
  expect((await specify({ spec_directory: project.path("specs/named-by-hand") })).folder).toBe(
    "specs/named-by-hand",
  );
  expect(
    await bench.call("specify", {
      feature_description: "  ",
      spec_directory: project.path("specs"),
    }),
  ).toMatchObject({
    isError: true,
    code: "validation",
  });
});

describe("two at once", () => {
  test("two new features get two folders", async () => {
    using project = makeProject();
    await using bench = await startBench({ folder: project.folder });
    const other = bench.hall.connect();
    const args = {
      name: "speckit.specify",
      arguments: { feature_description: description, spec_directory: project.path("specs") },
    };
    const both = await Promise.all([
      bench.client.request("tools/call", modern(args)),
      other.request("tools/call", modern(args)),
    ]);
    expect(both.map((answer) => read(answer).data.folder).sort()).toEqual([
      "specs/001-users-notes-title",
      "specs/002-users-notes-title",
    ]);
  });

  test("a second run of a feature is refused until the first one ends", async () => {
    using project = makeProject();
    let release = (): void => {};
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    let isWriting = false;
    const writer = async () => async (prompt: string) => {
      isWriting = true;
      await gate;
      return /start from\n\n([\s\S]*?)\n\nAnswer with/.exec(prompt)?.[1] ?? "";
    };
    await using bench = await startBench({ folder: project.folder, writer });
    const first = bench.call("specify", {
      feature_description: description,
      spec_directory: project.path("specs"),
    });
    await until(() => isWriting, "the first run");
    const status = await bench.call("status", {});
    expect(status.data.features).toMatchObject([{ run: { step: "specify", isAtWork: true } }]);
    const second = await bench.call("specify", {
      feature_description: description,
      spec_directory: project.path(feature),
    });
    expect(second).toMatchObject({
      isError: true,
      code: "execution",
      text: expect.stringContaining("is busy: specify has been running since"),
    });
    release();
    expect(await first).toMatchObject({ isError: false });
    expect(
      await bench.call("specify", {
        feature_description: description,
        spec_directory: project.path(feature),
      }),
    ).toMatchObject({ isError: false });
  });
});

test("each step can be cancelled: finished work stays, and the next call continues", async () => {
  using project = makeProject(typescriptService);
  const drafts = (prompt: string): string =>
    /start from\n\n([\s\S]*?)\n\nAnswer with/.exec(prompt)?.[1] ?? "";
  let isStuck = true;
  let isAsked = false;
  const writer = async () => async (prompt: string, signal: AbortSignal) => {
    if (!isStuck) return drafts(prompt);
    isAsked = true;
    return new Promise<string>((_resolve, reject) =>
      signal.addEventListener("abort", () => reject(signal.reason)),
    );
  };
  await using bench = await startBench({ folder: project.folder, writer });
  const cancel = async (step: string, args: object): Promise<void> => {
    isStuck = true;
    isAsked = false;
    const id = bench.client.ask(
      "tools/call",
      modern({ name: `speckit.${step}`, arguments: args as never }),
    );
    await until(() => isAsked, step);
    bench.client.notify("notifications/cancelled", { requestId: id });
    await until(
      () => !project.files(".guildhall").some((file) => file.endsWith(".run.json")),
      `the end of ${step}`,
    );
    isStuck = false;
  };
  await cancel("specify", {
    feature_description: description,
    spec_directory: project.path("specs"),
  });
  expect(readdirSync(project.path("specs"))).toEqual([]);
  const directory = await clarified(bench, project);
  for (const [step, file] of [
    ["plan", "plan.md"],
    ["tasks", "tasks.md"],
  ] as const) {
    await cancel(step, { spec_directory: directory });
    expect(readdirSync(directory)).not.toContain(file);
    expect(await bench.call(step, { spec_directory: directory })).toMatchObject({ isError: false });
  }
  const logs = readdirSync(project.path(".guildhall/logs")).filter((name) =>
    name.includes("-plan-"),
  );
  expect(logs.map((name) => project.read(`.guildhall/logs/${name}`)).join("")).toContain(
    "cancelled:",
  );
  // Answers before a cancelled question stay.
  project.write(
    `${feature}/spec.md`,
    project
      .read(`${feature}/spec.md`)
      .replace(
        "## Assumptions",
        "- **FR-098**: A is [NEEDS CLARIFICATION: red or blue?]\n- **FR-099**: B is [NEEDS CLARIFICATION: one or two?]\n\n## Assumptions",
      ),
  );
  const client = bench.hall.connect();
  await client.greet("2025-11-25", { elicitation: {} });
  const id = client.ask("tools/call", {
    name: "speckit.clarify",
    arguments: { spec_directory: directory },
  });
  const asked = await client.heard("elicitation/create");
  client.send({
    jsonrpc: "2.0",
    id: asked.id as number,
    result: { action: "accept", content: { answer: "Blue", other: "" } },
  });
  await client.heard("elicitation/create");
  client.notify("notifications/cancelled", { requestId: id });
  await until(
    () => !project.files(".guildhall").some((file) => file.endsWith(".run.json")),
    "the end of clarify",
  );
  expect(project.read(`${feature}/spec.md`)).toContain("A is blue");
  expect(project.read(`${feature}/spec.md`)).toContain("B is [NEEDS CLARIFICATION: one or two?]");
});

test("paths outside the allowed folders are refused", async () => {
  using outside = makeProject();
  using project = makeProject({
    "specs/001-a/spec.md": "# Feature Specification: A\n",
    "file.txt": "",
  });
  symlinkSync(outside.folder, project.path("specs/002-link"));
  symlinkSync(outside.folder, project.path("away"));
  symlinkSync(outside.path("spec.md"), project.path("specs/001-a/plan.md"));
  await using bench = await startBench({ folder: project.folder });
  const denied = [
    "/etc",
    outside.folder,
    `${project.folder}/specs/../../x`,
    "../x",
    project.path("specs/002-link"),
    project.path("specs/002-link/001-x"),
    project.path("away/specs"),
    `${project.folder}-beside`,
  ];
  for (const spec_directory of denied) {
    expect(
      await bench.call("specify", { feature_description: description, spec_directory }),
      spec_directory,
    ).toMatchObject({ isError: true, code: "denied" });
  }
  for (const spec_directory of ["", "a\0b", project.path("file.txt"), project.path("file.txt/x")]) {
    expect(
      await bench.call("specify", { feature_description: description, spec_directory }),
      spec_directory,
    ).toMatchObject({
      isError: true,
      code: "validation",
    });
  }
  // A document that is a link is neither read nor replaced.
  expect(await bench.call("plan", { spec_directory: project.path("specs/001-a") })).toMatchObject({
    isError: true,
    code: "denied",
  });
  expect(readdirSync(outside.folder)).toEqual([]);
  // The same for links in the place of our own folders.
  using trap = makeProject();
  symlinkSync(outside.folder, trap.path(".guildhall"));
  await using trapped = await startBench({ folder: trap.folder });
  expect(
    await trapped.call("specify", {
      feature_description: description,
      spec_directory: trap.path("specs"),
    }),
  ).toMatchObject({
    isError: true,
    code: "denied",
  });
  expect(readdirSync(outside.folder)).toEqual([]);
  expect(readdirSync(trap.path("specs"))).toEqual([]);
  // Another root may be elsewhere.
  await using wide = await startBench({
    folder: project.folder,
    roots: [project.folder, outside.folder],
  });
  expect(
    await wide.call("specify", {
      feature_description: description,
      spec_directory: outside.path("specs"),
    }),
  ).toMatchObject({ isError: false });
  expect(outside.files("specs")).toContain("001-users-notes-title/spec.md");
});

test("relative paths, spaces and umlauts are accepted", async () => {
  using project = makeProject();
  await using bench = await startBench({ folder: project.folder });
  for (const folder of ["specs/001-a", "specs/002 with spaces", "specs/003-größe"])
    expect(
      await bench.call("specify", { feature_description: "Dark mode", spec_directory: folder }),
    ).toMatchObject({ isError: false, data: { folder } });
});

test("on a full disk a step fails with the reason, and the files are unchanged", async () => {
  using project = makeProject();
  await using bench = await startBench({ folder: project.folder });
  const directory = await clarified(bench, project);
  const before = project.read(`${feature}/spec.md`);
  const small = project.path("specs/small");
  mkdirSync(small);
  const isMounted =
    spawnSync("mount", ["-t", "tmpfs", "-o", "size=32k", "none", small]).status === 0;
  try {
    // Without the right to mount: a folder without write permission.
    if (isMounted)
      expect(() => writeFileSync(join(small, "filler"), "x".repeat(64 * 1024))).toThrow("ENOSPC");
    else execFileSync("chmod", ["500", small]);
    if (!isMounted && process.getuid?.() === 0) return;
    const full = await bench.call("specify", {
      feature_description: description,
      spec_directory: small,
    });
    expect(full).toMatchObject({
      isError: true,
      code: "execution",
      text: expect.stringMatching(/no space left to write|no permission to write/),
    });
    expect(readdirSync(small).filter((name) => name.startsWith("."))).toEqual([]);
    expect(readdirSync(small)).not.toContain("spec.md");
  } finally {
    if (isMounted) execFileSync("umount", [small]);
    else execFileSync("chmod", ["700", small]);
  }
  expect(project.read(`${feature}/spec.md`)).toBe(before);
  expect(await bench.call("plan", { spec_directory: directory })).toMatchObject({ isError: false });
});
