import { join } from "node:path";
import { readInside } from "./artefacts.ts";
import { vagueWords } from "./checklist.ts";
import { readConstitution } from "./constitution.ts";
import { oneLine } from "./markdown.ts";
import { parseSpec, type Spec } from "./spec.ts";
import { needDocument, type StepFunction } from "./step.ts";
import { parseTasks, type Task, type TaskList } from "./tasks.ts";

/** Compares spec, plan and tasks and reports contradictions and gaps. Changes nothing. */
export const analyze: StepFunction = async (input) => {
  const { place, run } = input;
  const spec = parseSpec(await needDocument(input, "spec.md", "specify"));
  const plan = await needDocument(input, "plan.md", "plan");
  const list = parseTasks(await needDocument(input, "tasks.md", "tasks"));
  run.report(
    40,
    `Comparing ${spec.requirements.length} requirements with ${list.tasks.length} tasks`,
  );

  const dataModel = await readInside(place, join(place.path, "data-model.md"));
  const constitution = await readConstitution(place);
  const coverage = spec.requirements.map(({ id, text }) => ({
    id,
    tasks: list.tasks.filter((task) => covers(task, id, text)).map((task) => task.id),
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
  return {
    text: writeReport(spec.title, { findings, coverage, metrics }),
    files: [],
    next: metrics.critical > 0 ? undefined : "implement",
    details: { findings: findings.slice(0, rowsMax), coverage, metrics },
  };
};

const rowsMax = 50;
const severities = ["CRITICAL", "HIGH", "MEDIUM", "LOW"] as const;

interface Finding {
  readonly category: string;
  readonly severity: (typeof severities)[number];
  readonly where: string;
  readonly what: string;
  readonly todo: string;
}

/** A finding as `[category, severity, where, what, todo]`. */
type Row = readonly [string, Finding["severity"], string, string, string];

interface Report {
  readonly findings: readonly (Finding & { readonly id: string })[];
  readonly coverage: readonly { readonly id: string; readonly tasks: readonly string[] }[];
  readonly metrics: Readonly<
    Record<"requirements" | "tasks" | "covered" | "findings" | "critical", number>
  >;
}

function writeReport(title: string, { findings, coverage, metrics }: Report): string {
  const rows = findings
    .slice(0, rowsMax)
    .map(({ id, category, severity, where, what, todo }) =>
      [id, category, severity, where, what, todo].map(oneLine).join(" | "),
    );
  const hidden = findings.length - rowsMax;
  const share =
    metrics.requirements > 0
      ? ` (${Math.round((100 * metrics.covered) / metrics.requirements)} %)`
      : "";
  return `# Analysis: ${title}

| ID | Category | Severity | Location | Finding | Recommendation |
|---|---|---|---|---|---|
${rows.map((row) => `| ${row} |`).join("\n") || "| – | – | – | – | no findings | – |"}
${hidden > 0 ? `\n${hidden} more findings are not shown.\n` : ""}
| Requirement | Tasks |
|---|---|
${coverage.map(({ id, tasks }) => `| ${id} | ${tasks.join(", ") || "none"} |`).join("\n")}

- Requirements: ${metrics.requirements}, with a task: ${metrics.covered}${share}
- Tasks: ${metrics.tasks}
- Findings: ${metrics.findings}, critical: ${metrics.critical}
`;
}

/** Most severe first, with ids by category. Coverage has the letter E, as C is for constitution. */
function numberFindings(rows: readonly Row[]): Report["findings"] {
  const counts = new Map<string, number>();
  return [...rows]
    .sort(([, a], [, b]) => severities.indexOf(a) - severities.indexOf(b))
    .map(([category, severity, where, what, todo]) => {
      const letter = category === "Coverage" ? "E" : category.charAt(0);
      const count = (counts.get(letter) ?? 0) + 1;
      counts.set(letter, count);
      return { id: `${letter}${count}`, category, severity, where, what, todo };
    });
}

function findInSpec({ requirements, criteria, openQuestions }: Spec): readonly Row[] {
  const duplicates = requirements.flatMap((item, at): Row[] => {
    const twin = requirements.slice(0, at).find((other) => isNearlySame(item.text, other.text));
    if (!twin) return [];
    const where = `spec.md ${twin.id}, ${item.id}`;
    const what = `${item.id} is nearly the same as ${twin.id}`;
    return [["Duplication", "LOW", where, what, "keep one of them"]];
  });
  const vague = [...requirements, ...criteria].flatMap(({ id, text }): Row[] => {
    const word = vagueWords.exec(text)?.[0];
    if (word === undefined || text.includes("MUST mean:")) return [];
    return [
      ["Ambiguity", "MEDIUM", `spec.md ${id}`, `“${word}” is not measurable`, "give a figure"],
    ];
  });
  const open = openQuestions.map(
    (question): Row => [
      "Ambiguity",
      "HIGH",
      "spec.md",
      `open question: ${question}`,
      "run the clarify step",
    ],
  );
  return [...duplicates, ...vague, ...open];
}

function findInTasks(
  { stories }: Spec,
  { tasks, faults }: TaskList,
  uncovered: readonly string[],
): readonly Row[] {
  const withoutTask = stories.filter(
    ({ number }) => !tasks.some((task) => task.story === `US${number}`),
  );
  const withoutFile = tasks.filter(
    ({ paths, command }) => paths.length === 0 && command === undefined,
  );
  return [
    ...uncovered.map((id): Row => {
      const todo = "add a task that names it";
      return ["Coverage", "HIGH", `spec.md ${id}`, `no task covers ${id}`, todo];
    }),
    ...withoutTask.map(({ number }): Row => {
      const where = `spec.md User Story ${number}`;
      return ["Coverage", "CRITICAL", where, "the story has no task", "run the tasks step again"];
    }),
    ...withoutFile.map(({ id }): Row => {
      const where = `tasks.md ${id}`;
      return ["Underspecification", "MEDIUM", where, "the task names no file", "name the file"];
    }),
    ...faults.map(
      (fault): Row => ["Inconsistency", "MEDIUM", "tasks.md", fault, "correct the line"],
    ),
  ];
}

function findMissingEntities(spec: Spec, dataModel: string | undefined): readonly Row[] {
  if (dataModel === undefined) return [];
  const text = dataModel.toLowerCase();
  return spec.entities
    .filter(({ name }) => !text.includes(name.toLowerCase()))
    .map(({ name }) => {
      const what = `entity ${name} of the spec is missing`;
      return ["Inconsistency", "MEDIUM", "data-model.md", what, "run the plan step again"];
    });
}

function findUnchecked(plan: string): readonly Row[] {
  const todo = "confirm it, or justify it under Complexity Tracking";
  return (plan.match(/^- \[ \] .+$/gm) ?? []).map((line) => {
    const what = `not confirmed: ${line.slice(6, 120)}`;
    return ["Constitution", "CRITICAL", "plan.md Constitution Check", what, todo];
  });
}

function covers({ text }: Task, id: string, requirement: string): boolean {
  if (text.includes(id)) return true;
  if (/\bFR-\d{3}/.test(text)) return false;
  const wanted = wordsOf(requirement);
  const shared = countShared(wanted, wordsOf(text));
  return shared >= 2 && shared / wanted.size >= 0.6;
}

function isNearlySame(a: string, b: string): boolean {
  const [left, right] = [wordsOf(a), wordsOf(b)];
  const shared = countShared(left, right);
  return left.size > 2 && shared / (left.size + right.size - shared) >= 0.8;
}

function countShared(left: ReadonlySet<string>, right: ReadonlySet<string>): number {
  return [...left].filter((word) => right.has(word)).length;
}

const common = new Set(
  "must able system with that this when from into have user users the and for are not should shall".split(
    " ",
  ),
);

function wordsOf(text: string): ReadonlySet<string> {
  const words = text.toLowerCase().match(/\p{L}{3,}/gu) ?? [];
  return new Set(
    words
      .filter((word) => !common.has(word))
      .map((word) => word.replace(/(?:ies|es|s|ed|ing)$/, "")),
  );
}
