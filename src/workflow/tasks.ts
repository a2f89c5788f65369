import { HallError } from "../base/errors.ts";
import { fencedLines, sectionsOf } from "./markdown.ts";

/** A parsed tasks.md. The form of a line: `- [ ] T001 [P] [US1] Text with a file path`. */
export interface TaskList {
  readonly phases: readonly TaskPhase[];
  readonly tasks: readonly Task[];
  /** Lines that look like tasks but break the form. */
  readonly faults: readonly string[];
}

export interface TaskPhase {
  readonly number: number;
  readonly title: string;
}

export interface Task {
  readonly id: string;
  readonly isDone: boolean;
  /** Marked `[P]`: it may run in parallel with others. */
  readonly isParallel: boolean;
  /** "US1". */
  readonly story: string | undefined;
  readonly text: string;
  readonly phase: TaskPhase;
  /** Files and folders that the text names. */
  readonly paths: readonly string[];
  /** The command of a text that begins with "Run `…`". */
  readonly command: string | undefined;
}

const taskLine = /^- \[( |x|X)\] (T\d{3,})((?: \[[^\]]+\])*) (.+)$/;

export function parseTasks(text: string): TaskList {
  const plain = text.replaceAll("\r\n", "\n");
  const lines = plain.split("\n");
  const heads = new Map(sectionsOf(plain).map((section) => [section.from, section.title]));
  const fenced = fencedLines(lines);
  const phases: TaskPhase[] = [];
  const tasks: Task[] = [];
  const faults: string[] = [];

  for (const [at, line] of lines.entries()) {
    const phase = parsePhase(heads.get(at) ?? "", phases);
    if (phase) phases.push(phase);
    if (fenced.has(at) || !/^\s*[-*] \[.?\]/.test(line)) continue;

    const task = parseTask(line, phases.at(-1) ?? { number: 0, title: "" });
    if (!task) {
      if (/\bT\d{3}/.test(line))
        faults.push(`line ${at + 1} is not a valid task: ${line.trim().slice(0, 120)}`);
      continue;
    }
    for (const label of task.unknown) faults.push(`${task.id} has the unknown label [${label}]`);
    if (tasks.some(({ id }) => id === task.id)) faults.push(`${task.id} appears twice`);
    tasks.push(task);
  }
  return { phases, tasks, faults };
}

function parsePhase(title: string, before: readonly TaskPhase[]): TaskPhase | undefined {
  const [, number, name] = /^Phase (\d+|N)\s*[:–—-]\s*(.+)$/i.exec(title) ?? [];
  if (number === undefined || name === undefined) return undefined;
  return {
    number: number === "N" ? (before.at(-1)?.number ?? 0) + 1 : Number(number),
    title: name.replace(/🎯.*$/, "").trim(),
  };
}

function parseTask(
  line: string,
  phase: TaskPhase,
): (Task & { readonly unknown: readonly string[] }) | undefined {
  const found = taskLine.exec(line);
  if (!found) return undefined;
  const [, state = " ", id = "", marks = "", words = ""] = found;
  const labels = [...marks.matchAll(/\[([^\]]+)\]/g)].map((label) => label[1] ?? "");
  const isStory = (label: string): boolean => /^US\d+$/.test(label);
  return {
    id,
    isDone: state !== " ",
    isParallel: labels.includes("P"),
    story: labels.find(isStory),
    text: words.trim(),
    phase,
    paths: pathsOf(words),
    command: /^Run `([^`]+)`/.exec(words)?.[1],
    unknown: labels.filter((label) => label !== "P" && !isStory(label)),
  };
}

/** Words that are paths: with a slash, or a file name with an extension. */
function pathsOf(text: string): readonly string[] {
  const withoutCommand = text.replace(/^Run `[^`]+`/, "");
  const found = withoutCommand.matchAll(
    /(?<![\p{L}\p{N}_:/])((?:\.{1,2}\/)?[\p{L}\p{M}\p{N}_@.-]+(?:\/[\p{L}\p{M}\p{N}_@.[\]-]+)+\/?|[\w-]+\.[a-z]{1,5}|[\p{L}\p{M}\p{N}_.-]+\/)(?![\p{L}\p{N}_/])/gu,
  );
  return [...new Set([...found].map((match) => (match[1] ?? "").replace(/\.$/, "")))];
}

/** Documents that a task refers to are only read. */
export function shareFile(a: Task, b: Task): boolean {
  return a.paths.some((path) => !path.endsWith(".md") && b.paths.includes(path));
}

export interface TaskCount {
  readonly total: number;
  readonly done: number;
}

export function countTasks(tasks: readonly Task[]): TaskCount {
  return { total: tasks.length, done: tasks.filter(({ isDone }) => isDone).length };
}

/** Ticks one task; the rest of the text stays byte for byte. */
export function markTask(text: string, id: string): string {
  return text.replace(new RegExp(`^- \\[( |x|X)\\] ${id}\\b`, "m"), `- [X] ${id}`);
}

/**
 * Tasks by filter: `T003,T007-T010`, `US1`, `phase:2`, `next`, `unchecked`, several separated by
 * commas. Throws VALIDATION if nothing matches.
 */
export function filterTasks(tasks: readonly Task[], filter: string): readonly Task[] {
  const parts = filter.split(/[,\s]+/).filter((part) => part !== "");
  const chosen = new Set(parts.flatMap((part) => findTasks(tasks, part)));
  const found = tasks.filter((task) => chosen.has(task));
  if (found.length > 0) return found;
  throw new HallError(
    "VALIDATION",
    `task_filter "${filter.slice(0, 100)}" matches no task (expected: ${describeFilters(tasks)})`,
    {
      hint: "Use ids and ranges (T003,T007-T010), a story (US1), a phase (phase:2), next, or unchecked.",
    },
  );
}

function findTasks(tasks: readonly Task[], part: string): readonly Task[] {
  const numberOf = (id: string): number => Number(id.slice(1));
  const range = /^T(\d+)-T?(\d+)$/i.exec(part);
  if (range)
    return tasks.filter(
      ({ id }) => numberOf(id) >= Number(range[1]) && numberOf(id) <= Number(range[2]),
    );
  if (/^T\d+$/i.test(part)) return tasks.filter(({ id }) => numberOf(id) === numberOf(part));
  if (/^US\d+$/i.test(part)) return tasks.filter(({ story }) => story === part.toUpperCase());

  const phase = /^phase:(\d+)$/i.exec(part);
  if (phase) return tasks.filter((task) => task.phase.number === Number(phase[1]));
  const open = tasks.filter(({ isDone }) => !isDone);
  if (part.toLowerCase() === "next") return open.slice(0, 1);
  return part.toLowerCase() === "unchecked" ? open : [];
}

function describeFilters(tasks: readonly Task[]): string {
  const [first, last] = [tasks[0]?.id, tasks.at(-1)?.id];
  if (first === undefined) return "tasks.md has none";
  const stories = new Set(tasks.flatMap(({ story }) => story ?? []));
  const phases = new Set(tasks.map(({ phase }) => `phase:${phase.number}`));
  const open = tasks.filter(({ isDone }) => !isDone).length;
  return [`${first}-${last}`, ...stories, ...phases, `${open} unchecked`].join(", ");
}
