import { join } from "node:path";
import { readInside } from "./artefacts.ts";
import { readConstitution } from "./constitution-file.ts";
import { oneLine } from "./markdown.ts";
import { parseSpec, type Spec } from "./spec.ts";
import { needDocument, type Step } from "./step.ts";
import { parseTasks, type Task } from "./tasks.ts";

/** A read-only look across spec, plan and tasks: what contradicts, what is missing, what nobody does. The same files give the same report. */
export const analyze: Step = async (input) => {
  const { place, run } = input;
  const spec = parseSpec(await needDocument(input, "spec.md", "specify"));
  const planText = await needDocument(input, "plan.md", "plan");
  const { tasks, faults } = parseTasks(await needDocument(input, "tasks.md", "tasks"));
  run.say(40, `Comparing ${spec.requirements.length} requirements with ${tasks.length} tasks`);
  const dataModel = await readInside(place, join(place.path, "data-model.md"));
  const constitution = await readConstitution(place);
  const coverage = spec.requirements.map(({ id, text }) => ({
    id,
    text,
    tasks: tasks.filter((task) => covers(task, id, text)).map((task) => task.id),
  }));
  const findings = number([
    ...findDuplicates(spec),
    ...findVague(spec),
    ...spec.openQuestions.map((mark) => ({
      category: "Ambiguity",
      severity: "HIGH" as const,
      where: "spec.md",
      what: `open question: ${mark}`,
      todo: "run speckit.clarify",
    })),
    ...coverage
      .filter((row) => row.tasks.length === 0)
      .map(({ id }) => ({
        category: "Coverage",
        severity: "HIGH" as const,
        where: `spec.md ${id}`,
        what: `no task does ${id}`,
        todo: "add a task that names it",
      })),
    ...spec.stories
      .filter((story) => !tasks.some((task) => task.story === `US${story.number}`))
      .map((story) => ({
        category: "Coverage",
        severity: "CRITICAL" as const,
        where: `spec.md User Story ${story.number}`,
        what: "the story has no task",
        todo: "run speckit.tasks again",
      })),
    ...tasks
      .filter((task) => task.paths.length === 0 && task.command === undefined)
      .map((task) => ({
        category: "Underspecification",
        severity: "MEDIUM" as const,
        where: `tasks.md ${task.id}`,
        what: "the task names no file",
        todo: "name the file it is done in",
      })),
    ...faults.map((fault) => ({
      category: "Inconsistency",
      severity: "MEDIUM" as const,
      where: "tasks.md",
      what: fault,
      todo: "mend the line",
    })),
    ...spec.entities
      .filter(
        (entity) =>
          dataModel !== undefined &&
          !/^none/i.test(entity.name) &&
          !dataModel.toLowerCase().includes(entity.name.toLowerCase()),
      )
      .map((entity) => ({
        category: "Inconsistency",
        severity: "MEDIUM" as const,
        where: "data-model.md",
        what: `${entity.name} of the spec is not in it`,
        todo: "run speckit.plan again",
      })),
    ...(planText.match(/^- \[ \] .+$/gm) ?? [])
      .filter((_line) => constitution !== undefined && constitution.principles.length > 0)
      .map((line) => ({
        category: "Constitution",
        severity: "CRITICAL" as const,
        where: "plan.md Constitution Check",
        what: `nobody has confirmed: ${line.slice(6, 120)}`,
        todo: "confirm it, or justify it under Complexity Tracking",
      })),
  ]);
  const shown = findings.slice(0, rowsMax);
  const covered = coverage.filter((row) => row.tasks.length > 0).length;
  const metrics = {
    requirements: spec.requirements.length,
    tasks: tasks.length,
    covered,
    findings: findings.length,
    critical: findings.filter(({ severity }) => severity === "CRITICAL").length,
  };
  const text = `# Analysis: ${spec.title}

| ID | Category | Severity | Location | Finding | What to do |
|---|---|---|---|---|---|
${shown.map(({ id, category, severity, where, what, todo }) => `| ${[id, category, severity, where, what, todo].map(oneLine).join(" | ")} |`).join("\n") || "| – | – | – | – | nothing was found | – |"}
${findings.length > rowsMax ? `\n${findings.length - rowsMax} more are not shown.\n` : ""}
| Requirement | Tasks |
|---|---|
${coverage.map(({ id, tasks: ids }) => `| ${id} | ${ids.join(", ") || "none"} |`).join("\n")}

- Requirements: ${metrics.requirements}, with a task: ${covered}${metrics.requirements > 0 ? ` (${Math.round((100 * covered) / metrics.requirements)} %)` : ""}
- Tasks: ${metrics.tasks}
- Findings: ${metrics.findings}, critical: ${metrics.critical}
`;
  return {
    text,
    files: [],
    next: metrics.critical > 0 ? undefined : "implement",
    details: {
      findings: shown,
      coverage: coverage.map(({ id, tasks: ids }) => ({ id, tasks: ids })),
      metrics,
    },
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

const severities = ["CRITICAL", "HIGH", "MEDIUM", "LOW"];

/** Worst first; ids from the category's first letter, in that order. */
function number(findings: readonly Finding[]): readonly (Finding & { readonly id: string })[] {
  const counts = new Map<string, number>();
  return [...findings]
    .sort((a, b) => severities.indexOf(a.severity) - severities.indexOf(b.severity))
    .map((finding) => {
      const letter = finding.category === "Coverage" ? "E" : finding.category.charAt(0);
      counts.set(letter, (counts.get(letter) ?? 0) + 1);
      return { id: `${letter}${counts.get(letter)}`, ...finding };
    });
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
    return twin
      ? [
          {
            category: "Duplication",
            severity: "LOW" as const,
            where: `spec.md ${twin.id}, ${item.id}`,
            what: `${item.id} says nearly what ${twin.id} says`,
            todo: "keep one of them",
          },
        ]
      : [];
  });
}

function findVague({ requirements, criteria }: Spec): readonly Finding[] {
  return [...requirements, ...criteria].flatMap(({ id, text }) => {
    const word =
      /\b(fast|quickly|easy|easily|simple|intuitive|user-friendly|secure|scalable|robust|reliable|modern)\b/i.exec(
        text,
      )?.[1];
    return word === undefined || /MUST mean:/.test(text)
      ? []
      : [
          {
            category: "Ambiguity",
            severity: "MEDIUM" as const,
            where: `spec.md ${id}`,
            what: `“${word}” cannot be checked`,
            todo: "say it with a figure",
          },
        ];
  });
}
