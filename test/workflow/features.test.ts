import { expect, test } from "vitest";
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
    const spec = project.read(`${folder}/spec.md`);
    expect(spec).toContain("**FR-001**: The model's word MUST hold.");
    expect(spec).toContain("### User Story 1 - The model's story (Priority: P1)");
    expect(project.read(`${folder}/plan.md`)).toContain("The model's summary.");
    // The first answer was wrong; the repair was not.
    expect(prompts.filter((prompt) => prompt.includes("# Faults"))).not.toEqual([]);
    expect(
      prompts.find((prompt) => prompt.includes("# The section: Functional requirements")),
    ).toContain(description);
  });
}

/** Answers by section; the first answer for the requirements has no ids. */
function scripted(prompts: string[]): ModelWriter {
  return async (prompt) => {
    prompts.push(prompt);
    const name = /# The section: (.+)/.exec(prompt)?.[1] ?? "";
    const draft =
      /# Draft to start from\n\n([\s\S]*?)\n\nAnswer with the section alone/.exec(prompt)?.[1] ??
      "";
    const isRepair = prompt.includes("# Faults");
    if (name === "Functional requirements")
      return isRepair ? "- **FR-001**: The model's word MUST hold." : "The system should be good.";
    if (name === "User stories") {
      return "```markdown\n### User Story 1 - The model's story (Priority: P1)\n\nSomebody does something.\n\n**Why this priority**: It is first.\n\n**Independent Test**: Try it.\n\n**Acceptance Scenarios**:\n\n1. **Given** a start, **When** they act, **Then** it is done.\n```";
    }
    if (name === "Summary") return "The model's summary.";
    return draft;
  };
}

test("a section that the model cannot get right stays the draft, and the answer says so", async () => {
  using project = makeProject(typescriptService);
  let asked = 0;
  const stubborn: ModelWriter = async (prompt) => {
    if (!prompt.includes("# The section: Functional requirements"))
      return /start from\n\n([\s\S]*?)\n\nAnswer with/.exec(prompt)?.[1] ?? "";
    asked++;
    return "# I will not";
  };
  await using bench = await startBench({ folder: project.folder, writer: async () => stubborn });
  const { data } = await bench.call("specify", {
    feature_description: descriptions.service,
    spec_directory: project.path("specs"),
  });
  expect(asked).toBe(4);
  expect(data.notes).toEqual([
    expect.stringContaining('"Functional requirements" is the draft without a model'),
  ]);
  expect(faultsOfSpec(project.read("specs/001-create-edit-delete/spec.md"))).toEqual([]);
});
