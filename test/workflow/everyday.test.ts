import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import { parseSpec } from "../../src/workflow/spec.ts";
import { type Bench, startBench } from "./bench.ts";
import { everyday, repositories } from "./everyday.ts";
import { faultsOfChecklist, faultsOfPlan, faultsOfSpec, faultsOfTasks } from "./grammar.ts";
import { makeProject, type Project } from "./projects.ts";

/** A feature from its description to its tasks, with the recommended answers. */
async function draftFeature({ call }: Bench, project: Project, description: string) {
  const { data } = await call("specify", {
    feature_description: description,
    spec_directory: project.path("specs"),
  });
  const folder = String(data.folder);
  const spec_directory = String(data.directory);
  const spec = project.read(`${folder}/spec.md`);
  const { questions } = parseSpecText(spec);
  await call("clarify", { spec_directory, answers: questions.map(() => "yes") });
  for (const step of ["plan", "tasks"])
    expect(await call(step, { spec_directory })).toMatchObject({ isError: false });
  const read = (file: string): string => project.read(`${folder}/${file}`);
  return { folder, spec, read };
}

function parseSpecText(text: string) {
  const { openQuestions: questions, requirements, entities } = parseSpec(text);
  return { questions, requirements, entities };
}

const plain = (text: string): string => text.replace(/\s+/g, " ").replaceAll('"', "'");

/** The documents have spec-kit's form, and the author's words: nothing is invented. */
function expectHonest(
  description: string,
  { spec, read, folder }: Awaited<ReturnType<typeof draftFeature>>,
  project: Project,
): void {
  const words = plain(description);
  expect([
    ...faultsOfSpec(spec),
    ...faultsOfChecklist(read("checklists/requirements.md")),
    ...faultsOfPlan(read("plan.md")),
    ...faultsOfTasks(read("tasks.md")),
  ]).toEqual([]);
  const { requirements, entities } = parseSpecText(spec);
  for (const { text } of requirements) expect(words).toContain(plain(text));
  for (const { name } of entities) expect(words).toContain(name);

  const tasks = read("tasks.md").match(/^- \[ \] .+$/gm) ?? [];
  expect(tasks.length).toBeGreaterThan(0);
  // Beside the author's own sentence, a task names only files that exist.
  const named = tasks
    .map((task) => task.replace(/: .*|`[^`]*`/g, ""))
    .flatMap((task) => task.match(/[^\s(),]+\/[^\s(),]*|[\w-]+\.(?:md|ts|py)\b/g) ?? []);
  for (const path of named)
    expect(existsSync(project.path(path)), `${path} of ${folder}`).toBe(true);
  expect(read("plan.md")).not.toContain("# new");
}

const taskLines = (tasks: string): string => (tasks.match(/^- \[ \] .+$/gm) ?? []).join("\n");

test.each(Object.keys(everyday))(
  "drafts of everyday descriptions invent nothing: %s",
  async (group) => {
    const texts: string[] = [];
    for (const description of everyday[group] ?? []) {
      using project = makeProject();
      await using bench = await startBench({ folder: project.folder });
      const feature = await draftFeature(bench, project, description);
      expectHonest(description, feature, project);
      texts.push(
        `==== ${description}\n\n${feature.spec}\n---- tasks\n\n${taskLines(feature.read("tasks.md"))}\n`,
      );
    }
    await expect(texts.join("\n")).toMatchFileSnapshot(`../golden/workflow/everyday-${group}.md`);
  },
);

test("drafts in existing repositories use their files, folders and commands", async () => {
  const texts: string[] = [];
  for (const { name, files, description } of repositories) {
    using project = makeProject(files);
    await using bench = await startBench({ folder: project.folder });
    const feature = await draftFeature(bench, project, description);
    expectHonest(description, feature, project);
    const documents = ["spec.md", "plan.md", "research.md", "quickstart.md", "tasks.md"];
    const whole = documents.map((file) => `---- ${file}\n\n${feature.read(file)}`);
    texts.push(`==== ${name}: ${description}\n\n${whole.join("\n")}`);
  }
  await expect(texts.join("\n")).toMatchFileSnapshot("../golden/workflow/everyday-repositories.md");
});

test("there are fifty descriptions", () => {
  const { english = [], languages = [] } = everyday;
  expect([english.length, languages.length, repositories.length]).toEqual([30, 10, 10]);
});
