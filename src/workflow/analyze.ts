import { join } from "node:path";
import { readInside } from "./artefacts.ts";
import { readConstitution } from "./constitution.ts";
import { oneLine } from "./markdown.ts";
import { parseSpec, type Spec, vagueWords } from "./spec.ts";
import { needDocument, type StepFunction } from "./step.ts";
import { parseTasks, type TaskList } from "./tasks.ts";

/** Compares spec, plan and tasks and reports contradictions and gaps. Changes nothing. */
export const analyze: StepFunction = async (input) => {
  const { place, run } = input;
  const spec = parseSpec(await needDocument(input, "spec.md", "specify"));
  const plan = await needDocument(input, "plan.md", "plan");
  const list = parseTasks(await needDocument(input, "tasks.md", "tasks"));
  const { requirements } = spec;
  run.report(40, `Comparing ${requirements.length} requirements with ${list.tasks.length} tasks`);

  const dataModel = await readInside(place, join(place.path, "data-model.md"));
  const constitution = await readConstitution(place);
  const coverage = requirements.map(({ id }) => ({
    id,
    tasks: list.tasks.filter(({ text }) => text.includes(id)).map((task) => task.id),
  }));
  const uncovered = coverage.filter(({ tasks }) => tasks.length === 0).map(({ id }) => id);
  const findings = numberFindings([
    ...findInSpec(spec),
    ...findInTasks(spec, list, uncovered),
    ...findMissingEntities(spec, dataModel),
    ...(constitution && constitution.principles.length > 0 ? findUnchecked(plan) : []),
  ]);
  const metrics = {
    requirements: coverage.length,
    tasks: list.tasks.length,
    covered: coverage.length - uncovered.length,
    findings: findings.length,
    critical: findings.filter(({ severity }) => severity === "CRITICAL").length,
  };
  const counts = `- Requirements: ${metrics.requirements}, with a task: ${metrics.covered}
- Tasks: ${metrics.tasks}
- Findings: ${metrics.findings}, critical: ${metrics.critical}
`;
  const table = coverage.map(({ id, tasks }) => `| ${id} | ${tasks.join(", ") || "none"} |`);
  return {
    text: `# Analysis: ${spec.title}

${writeFindings(findings)}
| Requirement | Tasks |
|---|---|
${table.join("\n")}

${counts}`,
    files: [],
    next: metrics.critical > 0 ? undefined : "implement",
    details: { findings: findings.slice(0, rowsMax), coverage, metrics },
  };
};

const rowsMax = 50;
const severities = ["CRITICAL", "HIGH", "MEDIUM", "LOW"] as const;

type Finding = readonly [
  category: string,
  severity: (typeof severities)[number],
  where: string,
  what: string,
  todo: string,
];

/** Most severe first, with ids by category. Coverage has the letter E, as C is for constitution. */
function numberFindings(findings: readonly Finding[]) {
  const counts = new Map<string, number>();
  return [...findings]
    .sort(([, a], [, b]) => severities.indexOf(a) - severities.indexOf(b))
    .map(([category, severity, where, what, todo]) => {
      const letter = category === "Coverage" ? "E" : category.charAt(0);
      const count = (counts.get(letter) ?? 0) + 1;
      counts.set(letter, count);
      return { id: `${letter}${count}`, category, severity, where, what, todo };
    });
}

function writeFindings(findings: ReturnType<typeof numberFindings>): string {
  const rows = findings
    .slice(0, rowsMax)
    .map((finding) => `| ${Object.values(finding).map(oneLine).join(" | ")} |`);
  const hidden = findings.length - rows.length;
  return `| ID | Category | Severity | Location | Finding | Recommendation |
|---|---|---|---|---|---|
${rows.join("\n") || "| – | – | – | – | no findings | – |"}
${hidden > 0 ? `\n${hidden} more findings are not shown.\n` : ""}`;
}

function findInSpec({ requirements, criteria, openQuestions }: Spec): readonly Finding[] {
  const duplicates = requirements.flatMap(({ id, text }, at): Finding[] => {
    const twin = requirements.slice(0, at).find((other) => other.text === text);
    const where = `spec.md ${twin?.id}, ${id}`;
    return twin ? [["Duplication", "LOW", where, `same as ${twin.id}`, "keep one of them"]] : [];
  });
  const vague = [...requirements, ...criteria].flatMap(({ id, text }): Finding[] => {
    const word = vagueWords.exec(text)?.[0];
    const what = `“${word}” is not measurable`;
    return word ? [["Ambiguity", "MEDIUM", `spec.md ${id}`, what, "give a figure"]] : [];
  });
  const open = openQuestions.map((question): Finding => {
    const what = `open question: ${question}`;
    return ["Ambiguity", "HIGH", "spec.md", what, "run the clarify step"];
  });
  return [...duplicates, ...vague, ...open];
}

function findInTasks(
  { stories }: Spec,
  { tasks, faults }: TaskList,
  uncovered: readonly string[],
): readonly Finding[] {
  const withoutTask = stories.filter(
    ({ number }) => !tasks.some((task) => task.story === `US${number}`),
  );
  const withoutFile = tasks.filter(
    ({ paths, command }) => paths.length === 0 && command === undefined,
  );
  return [
    ...uncovered.map((id): Finding => {
      const todo = "name it in the task that covers it";
      return ["Coverage", "HIGH", `spec.md ${id}`, `no task names ${id}`, todo];
    }),
    ...withoutTask.map(({ number }): Finding => {
      const where = `spec.md User Story ${number}`;
      return ["Coverage", "CRITICAL", where, "the story has no task", "run the tasks step again"];
    }),
    ...withoutFile.map(({ id }): Finding => {
      const where = `tasks.md ${id}`;
      return ["Underspecification", "MEDIUM", where, "the task names no file", "name the file"];
    }),
    ...faults.map(
      (fault): Finding => ["Inconsistency", "MEDIUM", "tasks.md", fault, "correct the line"],
    ),
  ];
}

function findMissingEntities(spec: Spec, dataModel: string | undefined): readonly Finding[] {
  if (dataModel === undefined) return [];
  const text = dataModel.toLowerCase();
  return spec.entities
    .filter(({ name }) => !text.includes(name.toLowerCase()))
    .map(({ name }) => {
      const what = `entity ${name} of the spec is missing`;
      return ["Inconsistency", "MEDIUM", "data-model.md", what, "run the plan step again"];
    });
}

function findUnchecked(plan: string): readonly Finding[] {
  const todo = "confirm it, or justify it under Complexity Tracking";
  // The plan lists each principle twice: before research and after the design.
  return [...new Set(plan.match(/^- \[ \] .+$/gm))].map((line) => {
    const what = `not confirmed: ${line.slice(6, 120)}`;
    return ["Constitution", "CRITICAL", "plan.md Constitution Check", what, todo];
  });
}
