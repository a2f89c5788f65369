import { existsSync } from "node:fs";
import { join } from "node:path";
import { HallError } from "../base/errors.ts";
import { plural } from "../base/text.ts";
import { writeInside } from "./artefacts.ts";
import { oneLine } from "./markdown.ts";
import { parseSpec, type Spec } from "./spec.ts";
import { needDocument, type StepFunction, stringsOf } from "./step.ts";
import { parseTasks, type TaskList } from "./tasks.ts";

/**
 * Appends the work that is still missing after all tasks are done, as a phase "Convergence" of tasks.md. Rules find
 * requirements without a task and files that a finished task names but nobody made; the caller can add `gaps`.
 */
export const converge: StepFunction = async (input) => {
  const { place, args, run } = input;
  const spec = parseSpec(await needDocument(input, "spec.md", "specify"));
  await needDocument(input, "plan.md", "plan");
  const text = await needDocument(input, "tasks.md", "tasks");
  const list = parseTasks(text);
  refuseOpenTasks(list, place.path);

  run.report(40, `Comparing ${plural(spec.requirements.length, "requirement")} with the files`);
  const gaps = [...stringsOf(args.gaps).map(oneLine), ...findGaps(spec, list, place.project)];
  const known = list.tasks.map((task) => task.text);
  const added = gaps.filter((gap) => gap !== "" && !known.includes(gap));
  const forModel =
    'Rules compare only tasks, requirements and file names. Compare the code with each requirement and scenario, then call again with `gaps`: one sentence each, such as "Handle an empty cart per FR-003 (partial)".';
  const file = join(place.path, "tasks.md");
  if (added.length === 0)
    return { text: `No gaps found; ${file} is unchanged`, files: [], forModel, details: { added } };

  const number = Math.max(0, ...list.phases.map((phase) => phase.number)) + 1;
  const last = Math.max(0, ...list.tasks.map(({ id }) => Number(id.slice(1))));
  const lines = added.map((gap, at) => `- [ ] T${String(last + at + 1).padStart(3, "0")} ${gap}`);
  const phase = `\n---\n\n## Phase ${number}: Convergence\n\n**Purpose**: Close the gaps between the documents and the code.\n\n${lines.join("\n")}\n`;
  const after = `${text.replaceAll("\r\n", "\n").trimEnd()}\n${phase}`;
  await writeInside(place, file, text.includes("\r\n") ? after.replaceAll("\n", "\r\n") : after);
  return {
    text: [`${plural(added.length, "task")} added to ${file}`, ...lines].join("\n"),
    files: [{ path: "tasks.md", change: "updated" }],
    forModel,
    next: "implement",
    details: { added },
  };
};

function refuseOpenTasks({ tasks }: TaskList, spec_directory: string): void {
  const open = tasks.filter(({ isDone }) => !isDone).map(({ id }) => id);
  if (open.length === 0) return;
  throw new HallError("EXECUTION", `tasks.md has open tasks: ${open.join(", ")}`, {
    next: [{ do: "run-step", step: "implement", arguments: { spec_directory } }],
    details: { open },
  });
}

function findGaps({ requirements }: Spec, { tasks }: TaskList, project: string): readonly string[] {
  const uncovered = requirements.filter(({ id }) => !tasks.some(({ text }) => text.includes(id)));
  // "and/or" is no file, and "example.com" neither.
  const files = tasks.flatMap(({ id, paths }) =>
    paths.filter((path) => /\/[^/]+\.\w+$/.test(path)).map((path) => ({ id, path })),
  );
  const missing = files.filter(({ path }) => !existsSync(join(project, path)));
  return [
    ...uncovered.map(({ id, text }) => `Implement ${id} (missing): ${oneLine(text)}`),
    ...missing.map(({ id, path }) => `Create ${path} per ${id} (missing)`),
  ];
}
