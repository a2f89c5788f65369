import { sectionsOf } from "./markdown.ts";

/** A tasks.md as it is read again. The grammar of a line: `- [ ] T001 [P] [US1] Text with a file path`. */
export interface TaskList {
  readonly phases: readonly TaskPhase[];
  readonly tasks: readonly Task[];
  /** Lines that look like tasks and are none, with what is wrong. */
  readonly faults: readonly string[];
}

export interface TaskPhase {
  readonly number: number;
  readonly title: string;
}

export interface Task {
  readonly id: string;
  readonly isDone: boolean;
  /** May run beside others: `[P]`. */
  readonly isParallel: boolean;
  /** "US1". */
  readonly story: string | undefined;
  readonly text: string;
  readonly phase: TaskPhase;
  /** Files it names. */
  readonly paths: readonly string[];
  /** What it says to run, where it begins with "Run". */
  readonly command: string | undefined;
}

const taskLine = /^- \[( |x|X)\] (T\d{3,})((?: \[[^\]]+\])*) (.+)$/;

export function parseTasks(text: string): TaskList {
  const plain = text.replaceAll("\r\n", "\n");
  const lines = plain.split("\n");
  const phases: TaskPhase[] = [];
  const tasks: Task[] = [];
  const faults: string[] = [];
  const heads = new Map(sectionsOf(plain).map((section) => [section.from, section]));
  const fenced = fencedLines(lines);
  let phase: TaskPhase = { number: 0, title: "" };
  for (const [at, line] of lines.entries()) {
    const head = heads.get(at);
    if (head) {
      const named = /^Phase (\d+|N)\s*[:–—-]\s*(.+)$/i.exec(head.title);
      if (named) {
        phase = {
          number: named[1] === "N" ? (phases.at(-1)?.number ?? 0) + 1 : Number(named[1]),
          title: named[2]?.replace(/🎯.*$/, "").trim() ?? "",
        };
        phases.push(phase);
      }
    }
    if (fenced.has(at) || !/^\s*[-*] \[.?\]/.test(line)) continue;
    const found = taskLine.exec(line);
    if (!found) {
      if (/\bT\d{3}/.test(line))
        faults.push(`line ${at + 1} is no task: ${line.trim().slice(0, 120)}`);
      continue;
    }
    const [, state = " ", id = "", labels = "", words = ""] = found;
    const known = [...labels.matchAll(/\[([^\]]+)\]/g)].map((label) => label[1] ?? "");
    for (const label of known)
      if (label !== "P" && !/^US\d+$/.test(label))
        faults.push(`${id} has the label [${label}], which means nothing`);
    if (tasks.some((task) => task.id === id)) faults.push(`${id} is there twice`);
    tasks.push({
      id,
      isDone: state !== " ",
      isParallel: known.includes("P"),
      story: known.find((label) => /^US\d+$/.test(label)),
      text: words.trim(),
      phase,
      paths: pathsOf(words),
      command: /^Run `([^`]+)`/.exec(words)?.[1],
    });
  }
  return { phases, tasks, faults };
}

function fencedLines(lines: readonly string[]): ReadonlySet<number> {
  const inside = new Set<number>();
  let isFenced = false;
  for (const [at, line] of lines.entries()) {
    if (/^\s*(```|~~~)/.test(line)) isFenced = !isFenced;
    if (isFenced) inside.add(at);
  }
  return inside;
}

/** Words that are paths: with a slash, or a name with an ending. */
function pathsOf(text: string): readonly string[] {
  const withoutCommand = text.replace(/^Run `[^`]+`/, "");
  const found = withoutCommand.matchAll(
    /(?<![\w:/])((?:\.{1,2}\/)?[\w@.-]+(?:\/[\w@.[\]-]+)+\/?|[\w-]+\.(?:[a-z]{1,5}|toml|json|yaml)|[\w.-]+\/)(?![\w/])/g,
  );
  return [...new Set([...found].map((match) => (match[1] ?? "").replace(/\.$/, "")))];
}

export interface TaskCount {
  readonly total: number;
  readonly done: number;
}

export function countTasks(tasks: readonly Task[]): TaskCount {
  return { total: tasks.length, done: tasks.filter(({ isDone }) => isDone).length };
}

/** The same text with one task marked; everything else stays, byte for byte. */
export function markTask(text: string, id: string, isDone = true): string {
  return text.replace(
    new RegExp(`^- \\[( |x|X)\\] ${id}\\b`, "m"),
    `- [${isDone ? "X" : " "}] ${id}`,
  );
}
