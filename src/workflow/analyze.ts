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
  const findings = numberFindings([
    ...findInSpec(spec),
    ...findUncovered(spec, list.tasks, coverage),
    ...findInTasks(list),
    ...findMissingEntities(spec, dataModel),
    ...(constitution && constitution.principles.length > 0 ? findUnchecked(plan) : []),
  ]);
  const metrics = {
    requirements: spec.requirements.length,
    tasks: list.tasks.length,
    covered: coverage.filter(({ tasks }) => tasks.length > 0).length,
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

interface Finding {
  readonly category: string;
  readonly severity: "CRITICAL" | "HIGH" | "MEDIUM" | "LOW";
  readonly where: string;
  readonly what: string;
  readonly todo: string;
}

interface Coverage {
  readonly id: string;
  readonly tasks: readonly string[];
}

interface Report {
  readonly findings: readonly (Finding & { readonly id: string })[];
  readonly coverage: readonly Coverage[];
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

const severities = ["CRITICAL", "HIGH", "MEDIUM", "LOW"];

/** Most severe first, with ids by category. Coverage has the letter E, as C is for constitution. */
function numberFindings(findings: readonly Finding[]): Report["findings"] {
  const counts = new Map<string, number>();
  return [...findings]
    .sort((a, b) => severities.indexOf(a.severity) - severities.indexOf(b.severity))
    .map((finding) => {
      const letter = finding.category === "Coverage" ? "E" : finding.category.charAt(0);
      const count = (counts.get(letter) ?? 0) + 1;
      counts.set(letter, count);
      return { id: `${letter}${count}`, ...finding };
    });
}

function findInSpec(spec: Spec): readonly Finding[] {
  return [
    ...findDuplicates(spec),
    ...findVague(spec),
    ...spec.openQuestions.map(
      (question): Finding => ({
        category: "Ambiguity",
        severity: "HIGH",
        where: "spec.md",
        what: `open question: ${question}`,
        todo: "run the clarify step",
      }),
    ),
  ];
}

function findUncovered(
  spec: Spec,
  tasks: readonly Task[],
  coverage: readonly Coverage[],
): readonly Finding[] {
  const requirements = coverage
    .filter((row) => row.tasks.length === 0)
    .map(
      ({ id }): Finding => ({
        category: "Coverage",
        severity: "HIGH",
        where: `spec.md ${id}`,
        what: `no task covers ${id}`,
        todo: "add a task that names it",
      }),
    );
  const stories = spec.stories
    .filter((story) => !tasks.some((task) => task.story === `US${story.number}`))
    .map(
      (story): Finding => ({
        category: "Coverage",
        severity: "CRITICAL",
        where: `spec.md User Story ${story.number}`,
        what: "the story has no task",
        todo: "run the tasks step again",
      }),
    );
  return [...requirements, ...stories];
}

function findInTasks({ tasks, faults }: TaskList): readonly Finding[] {
  const unplaced = tasks
    .filter((task) => task.paths.length === 0 && task.command === undefined)
    .map(
      (task): Finding => ({
        category: "Underspecification",
        severity: "MEDIUM",
        where: `tasks.md ${task.id}`,
        what: "the task names no file",
        todo: "name the file",
      }),
    );
  const broken = faults.map(
    (fault): Finding => ({
      category: "Inconsistency",
      severity: "MEDIUM",
      where: "tasks.md",
      what: fault,
      todo: "correct the line",
    }),
  );
  return [...unplaced, ...broken];
}

function findMissingEntities(
  { entities }: Spec,
  dataModel: string | undefined,
): readonly Finding[] {
  if (dataModel === undefined) return [];
  const text = dataModel.toLowerCase();
  return entities
    .filter(({ name }) => !text.includes(name.toLowerCase()))
    .map(({ name }) => ({
      category: "Inconsistency",
      severity: "MEDIUM",
      where: "data-model.md",
      what: `entity ${name} of the spec is missing`,
      todo: "run the plan step again",
    }));
}

function findUnchecked(plan: string): readonly Finding[] {
  return (plan.match(/^- \[ \] .+$/gm) ?? []).map((line) => ({
    category: "Constitution",
    severity: "CRITICAL",
    where: "plan.md Constitution Check",
    what: `not confirmed: ${line.slice(6, 120)}`,
    todo: "confirm it, or justify it under Complexity Tracking",
  }));
}

function covers({ text }: Task, id: string, requirement: string): boolean {
  if (text.includes(id)) return true;
  if (/\bFR-\d{3}/.test(text)) return false;
  const wanted = wordsOf(requirement);
  const has = wordsOf(text);
  const shared = [...wanted].filter((word) => has.has(word)).length;
  return wanted.size > 0 && shared >= 2 && shared / wanted.size >= 0.6;
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

function findDuplicates({ requirements }: Spec): readonly Finding[] {
  return requirements.flatMap((item, at) => {
    const words = wordsOf(item.text);
    const twin = requirements.slice(0, at).find((other) => {
      const theirs = wordsOf(other.text);
      const shared = [...words].filter((word) => theirs.has(word)).length;
      return words.size > 2 && shared / new Set([...words, ...theirs]).size >= 0.8;
    });
    if (!twin) return [];
    return [
      {
        category: "Duplication",
        severity: "LOW" as const,
        where: `spec.md ${twin.id}, ${item.id}`,
        what: `${item.id} is nearly the same as ${twin.id}`,
        todo: "keep one of them",
      },
    ];
  });
}

function findVague({ requirements, criteria }: Spec): readonly Finding[] {
  return [...requirements, ...criteria].flatMap(({ id, text }) => {
    const word = vagueWords.exec(text)?.[0];
    if (word === undefined || text.includes("MUST mean:")) return [];
    return [
      {
        category: "Ambiguity",
        severity: "MEDIUM" as const,
        where: `spec.md ${id}`,
        what: `“${word}” is not measurable`,
        todo: "give a figure",
      },
    ];
  });
}
