import { expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import type { ModelWriter } from "../../src/workflow/writer.ts";
import { type Bench, startBench } from "./bench.ts";
import { faultsOfChecklist, faultsOfPlan, faultsOfSpec, faultsOfTasks } from "./grammar.ts";
import {
  descriptions,
  makeProject,
  type Project,
  pythonTool,
  typescriptService,
} from "./projects.ts";

/** Whole features, from a description to tasks. */
const cases = [
  {
    name: "a-typescript-service",
    files: typescriptService,
    description: descriptions.service,
    feature: "001-create-edit-delete",
  },
  {
    name: "a-python-tool",
    files: pythonTool,
    description: descriptions.tool,
    feature: "001-command-summarizes-log",
  },
  {
    name: "a-list-of-wishes",
    files: typescriptService,
    description: descriptions.bullets,
    feature: "001-webhook-relay-platform",
  },
  {
    name: "an-empty-folder",
    files: {},
    description: descriptions.empty,
    feature: "001-users-upload-photos",
  },
] as const;

async function runFeature({ call }: Bench, project: Project, description: string): Promise<string> {
  const specified = await call("specify", {
    feature_description: description,
    spec_directory: project.path("specs"),
  });
  expect(specified).toMatchObject({ isError: false, data: { state: "completed" } });
  const directory = String(specified.data.directory);
  expect(specified.text).toContain(`${directory}/spec.md`);
  await call("clarify", { spec_directory: directory, answers: ["yes", "yes", "yes", "yes", "A"] });
  for (const step of ["plan", "tasks"])
    expect(await call(step, { spec_directory: directory })).toMatchObject({ isError: false });
  return directory.slice(project.folder.length + 1);
}

function faultsOf(project: Project, folder: string): readonly string[] {
  return [
    ...faultsOfSpec(project.read(`${folder}/spec.md`)),
    ...faultsOfChecklist(project.read(`${folder}/checklists/requirements.md`)),
    ...faultsOfPlan(project.read(`${folder}/plan.md`)),
    ...faultsOfTasks(project.read(`${folder}/tasks.md`)),
  ];
}

function wholeFeature(project: Project, folder: string): string {
  return project
    .files(folder)
    .map((file) => `==== ${file}\n\n${project.read(`${folder}/${file}`)}`)
    .join("\n");
}

for (const { name, files, description, feature } of cases) {
  test(`${name}: description, questions, plan and tasks without a model`, async () => {
    using project = makeProject(files);
    await using bench = await startBench({ folder: project.folder });
    const folder = await runFeature(bench, project, description);
    expect(folder).toBe(`specs/${feature}`);
    expect(JSON.parse(project.read(".specify/feature.json"))).toEqual({
      feature_directory: folder,
    });
    expect(faultsOf(project, folder)).toEqual([]);
    const { findings } = (await bench.call("analyze", { spec_directory: project.path(folder) }))
      .data as { findings: { category: string; what: string }[] };
    expect(findings.filter(({ category }) => category === "Coverage")).toEqual([]);
    // The same again changes nothing.
    const before = wholeFeature(project, folder);
    for (const step of ["plan", "tasks"])
      await bench.call(step, { spec_directory: project.path(folder) });
    expect(wholeFeature(project, folder)).toBe(before);
  });

  test(`${name}: the same with a model that first gets the form wrong`, async () => {
    using project = makeProject(files);
    const prompts: string[] = [];
    await using bench = await startBench({
      folder: project.folder,
      writer: async () => scripted(prompts),
    });
    const folder = await runFeature(bench, project, description);
    expect(faultsOf(project, folder)).toEqual([]);
    expect(project.read(`${folder}/spec.md`)).toContain("- The model assumes this.");
    expect(project.read(`${folder}/plan.md`)).toContain("The model's summary.");
    expect(project.read(`${folder}/contracts/actions.md`)).toContain("## FR-001: the model's call");
    // One question for each step, and one repair.
    expect(prompts.map((prompt) => prompt.includes("# Faults"))).toEqual([
      false,
      true,
      false,
      false,
    ]);
    expect(prompts[1]).toContain("- spec.md: it needs `- **FR-001**: …` under Requirements");
    expect(prompts[0]).toContain(description);
  });
}

/** The drafts in the prompt, with changes; the first answer has no requirements. */
function scripted(prompts: string[]): ModelWriter {
  return async (prompt) => {
    prompts.push(prompt);
    const drafts = /# Drafts to start from\n\n([\s\S]*?)\n\n# Your answer/.exec(prompt)?.[1] ?? "";
    const written = drafts
      .replace("- Assumed: anything", "- The model assumes this.\n- Assumed: anything")
      .replace(/(## Summary\n\n)/, "$1The model's summary.\n\n")
      .replace(
        /(==== contracts\/actions\.md\n\n)/,
        "$1# Contract\n\n## FR-001: the model's call\n",
      );
    if (prompts.length === 1) return drafts.replaceAll("**FR-", "**XX-");
    return `\`\`\`markdown\n${written}\n\`\`\``;
  };
}

const specify = {
  feature_description: descriptions.service,
  folder: "specs/001-create-edit-delete",
} as const;

test("a document that the model cannot get right stays the draft, and the answer says so", async () => {
  using project = makeProject(typescriptService);
  let asked = 0;
  const stubborn: ModelWriter = async () => {
    asked++;
    return "# I will not";
  };
  await using bench = await startBench({ folder: project.folder, writer: async () => stubborn });
  const { data } = await bench.call("specify", {
    feature_description: specify.feature_description,
    spec_directory: project.path("specs"),
  });
  expect(asked).toBe(4);
  expect(data.notes).toEqual([expect.stringContaining("spec.md is the draft without a model")]);
  expect(faultsOfSpec(project.read(`${specify.folder}/spec.md`))).toEqual([]);
});

test("the calling model gets a template and writes the documents itself", async () => {
  using project = makeProject(typescriptService);
  await using bench = await startBench({ folder: project.folder });
  const { feature_description, folder } = specify;
  const drafted = await bench.call("specify", {
    feature_description,
    spec_directory: project.path("specs"),
  });
  const forModel = (drafted.result.content as JsonObject[]).find(({ annotations }) => annotations);
  expect(forModel?.text).toContain("### User Story 1 - <title> (Priority: P1)");
  expect(forModel?.text).toContain("`content`");

  const spec_directory = project.path(folder);
  const draft = project.read(`${folder}/spec.md`);
  const wrong = await bench.call("specify", {
    feature_description,
    spec_directory,
    content: draft.replaceAll("**SC-", "**XX-"),
  });
  expect(wrong).toMatchObject({
    isError: true,
    code: "validation",
    text: expect.stringContaining("it needs `- **SC-001**: …`"),
  });
  expect(project.read(`${folder}/spec.md`)).toBe(draft);

  // A person edits a line; the model rewrites others.
  const edited = draft.replace("**FR-002**: Readers can", "**FR-002**: Readers and guests can");
  project.write(`${folder}/spec.md`, edited);
  const content = draft
    .replace("- **FR-001**: As a librarian, I want", "- **FR-001**: Librarians MUST be able")
    .replace("**FR-002**: Readers can search", "**FR-002**: Readers MUST be able to search")
    .replace(/\[NEEDS CLARIFICATION[^\]]*\]/g, "9 of 10 searches find the book");
  const conflicting = await bench.call("specify", { feature_description, spec_directory, content });
  expect(conflicting).toMatchObject({
    isError: true,
    text: expect.stringContaining("nothing was written because of hand edits"),
  });
  const kept = content.replace(
    "**FR-002**: Readers MUST be able to",
    "**FR-002**: Readers and guests can",
  );
  const written = await bench.call("specify", {
    feature_description,
    spec_directory,
    content: kept,
  });
  expect(written, written.text).toMatchObject({ isError: false, data: { notes: [] } });
  expect(project.read(`${folder}/spec.md`)).toBe(kept);
  expect(written.text).not.toContain("Templates:");

  const planned = await bench.call("plan", {
    spec_directory,
    content:
      "# Implementation Plan: Books\n\n## Summary\n\nBy the model.\n\n## Technical Context\n\nFastify\n\n## Constitution Check\n\nNo gate.\n\n## Project Structure\n\nsrc/\n==== contracts/actions.md\n# Contract\n",
  });
  expect(planned, planned.text).toMatchObject({ isError: false });
  expect(project.read(`${folder}/plan.md`)).toContain("By the model.");
  expect(project.read(`${folder}/contracts/actions.md`)).toBe("# Contract\n");
  expect(project.read(`${folder}/research.md`)).toContain("## Decisions");

  const tasks = "# Tasks\n\n## Phase 1: Setup\n\n- [ ] T001 Edit src/main.ts\n";
  expect(await bench.call("tasks", { spec_directory, content: tasks })).toMatchObject({
    isError: true,
    text: expect.stringContaining("User Story 1 has no task with [US1]"),
  });
  const done = await bench.call("tasks", {
    spec_directory,
    content: `${tasks.replace("T001", "T001 [US1]")}- [ ] T002 [US2] Edit src/search.ts\n`,
  });
  expect(done, done.text).toMatchObject({ isError: false, data: { tasks: 2 } });
});
