// Reads a task without a model: its quotes, addresses, paths, numbers, dates and names, and its steps.
// The rules are documented in docs/agents.md.

export interface TaskSpan {
  readonly start: number;
  readonly end: number;
}

/** A part of the task that can be an argument. */
export interface Mention extends TaskSpan {
  readonly kind: MentionKind;
  /** As written, without its quotes. */
  readonly text: string;
  /** The value, where it is not the text: a number, a date as `2026-11-16`, a time zone. */
  readonly value?: string | number | undefined;
  /** Of a date with a time of day: `2026-11-16T17:00:00`. */
  readonly moment?: string | undefined;
  /** Of a duration: the milliseconds of its unit. */
  readonly unitMs?: number | undefined;
  /** False for a date or a city that can mean several. */
  readonly isExact?: boolean | undefined;
}

export type MentionKind =
  | "quoted"
  | "url"
  | "email"
  | "zone"
  | "date"
  | "arithmetic"
  | "path"
  | "number"
  | "name";

export type FindDates = (text: string) => readonly Mention[];

export interface Word extends TaskSpan {
  readonly text: string;
}

export interface TaskText {
  readonly text: string;
  readonly words: readonly Word[];
  /** None overlaps another. */
  readonly mentions: readonly Mention[];
}

const operand = String.raw`[(\s]*-?(?:(?:sqrt|cbrt|sin|cos|tan|ln|log|exp|abs)\([^()]{1,40}\)|\d+(?:\.\d+)?)[%!]?(?:\s*\))*`;

/** In order of precedence. */
const patterns: readonly (readonly [MentionKind, RegExp])[] = [
  ["quoted", /"([^"\n]+)"|“([^”\n]+)”|`([^`\n]+)`|(?<![\p{L}\p{N}])'([^'\n]+)'(?!\p{L})/gu],
  ["url", /\bhttps?:\/\/[^\s"'<>]*[^\s"'<>.,;:!?)\]]/gu],
  ["email", /[\w.+-]+@[\w-]+(?:\.[\w-]+)+/gu],
  ["zone", /(?<![\p{L}/])(?:[A-Z][A-Za-z]+(?:\/[A-Z][A-Za-z_+-]+){1,2}|UTC|GMT)\b/gu],
  ["date", /\b\d{1,4}([-/.])\d{1,2}\1\d{1,4}\b/gu],
  [
    "arithmetic",
    new RegExp(
      String.raw`(?<![\p{L}\p{N}.,/-])${operand}(?:\s*(?:\*\*|[-+*/^])\s*${operand})+(?![\p{L}\p{N}/-])`,
      "gu",
    ),
  ],
  [
    "path",
    /(?<![\p{L}\p{N}/:@.])(?:[A-Za-z]:\\[^\s"']+|(?:~|\.{1,2})?(?:\/[\w@.+-]*\w)+\/?|[\w@+-]+(?:\/[\w@.+-]*\w)+\/?|[\w@+-]+\.[A-Za-z][A-Za-z0-9]{0,4})(?![\p{L}\p{N}_])/gu,
  ],
  ["number", /(?<![\p{L}\p{N}.,/_-])#?-?\d{1,15}(?:,\d{3})*(?:\.\d+)?(?![\p{L}\p{N}_])/gu],
  [
    "name",
    /(?<!(?:^|[.!?:]\s+)["'(]?)(?<![\p{L}\p{N}])\p{Lu}[\p{L}\p{N}'’.-]*[\p{L}\p{N}](?: (?:of |de |von |van )?\p{Lu}[\p{L}\p{N}'’-]*)*/gu,
  ],
];

/** A file name with an extension. */
export const hasFile = /(?<![\p{L}\p{N}@])[\w@+./-]*\w\.[A-Za-z][A-Za-z0-9]{0,4}(?![\p{L}\p{N}_])/u;
/** Words for the folder that a task is asked in. */
export const isHere =
  /\b(?:(?:in )?(?:this|the current|my) (?:folder|directory|project)|in here|here)\b/i;

export function readTask(text: string, findDates: FindDates = () => []): TaskText {
  const mentions: Mention[] = [...findDates(text)];
  for (const [kind, pattern] of patterns)
    for (const match of text.matchAll(pattern)) {
      const whole = match[0].trim();
      const inner = kind === "quoted" ? match.slice(1).find((group) => group !== undefined) : whole;
      const start = match.index + match[0].indexOf(whole);
      const mention = { kind, text: inner ?? whole, start, end: start + whole.length };
      const isFree = !mentions.some((other) => overlaps(other, mention));
      if (isFree && isValid(mention)) mentions.push(withAmount(mention, text));
    }
  const here = isHere.exec(text);
  if (here && !mentions.some(({ kind }) => kind === "path")) {
    const start = here.index;
    mentions.push({ kind: "path", text: here[0], value: ".", start, end: start + here[0].length });
  }
  mentions.sort((a, b) => a.start - b.start);
  return { text, words: findWords(text), mentions };
}

export function overlaps(a: TaskSpan, b: TaskSpan): boolean {
  return a.start < b.end && b.start < a.end;
}

function findWords(text: string): readonly Word[] {
  return [...text.matchAll(/[\p{L}\p{N}]+(?:['’_.@/:-]+[\p{L}\p{N}]+)*/gu)].map((match) => ({
    text: match[0],
    start: match.index,
    end: match.index + match[0].length,
  }));
}

function isValid({ kind, text }: Mention): boolean {
  if (kind === "zone") return isZone(text);
  if (kind !== "arithmetic") return true;
  let depth = 0;
  for (const sign of text) {
    if (sign === "(") depth++;
    if (sign === ")" && --depth < 0) return false;
  }
  return depth === 0;
}

function isZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

const durations: readonly (readonly [RegExp, number])[] = [
  [/^(?:ms|milliseconds?)$/, 1],
  [/^(?:s|secs?|seconds?)$/, 1_000],
  [/^(?:mins?|minutes?)$/, 60_000],
  [/^(?:h|hrs?|hours?)$/, 3_600_000],
  [/^days?$/, 86_400_000],
  [/^weeks?$/, 604_800_000],
];

/** The milliseconds of a unit of time. */
export function findDuration(word: string): number | undefined {
  return durations.find(([pattern]) => pattern.test(word.toLowerCase()))?.[1];
}

function withAmount(mention: Mention, text: string): Mention {
  if (mention.kind !== "number") return mention;
  const [after = "", word = ""] = /^\s*(\p{L}+)/u.exec(text.slice(mention.end)) ?? [];
  const unitMs = findDuration(word);
  const value = Number(mention.text.replace(/[#,]/g, ""));
  if (unitMs === undefined) return { ...mention, value };
  const [before = ""] = /\b(?:last|past|next)\s+$/i.exec(text.slice(0, mention.start)) ?? [];
  const [start, end] = [mention.start - before.length, mention.end + after.length];
  return { ...mention, value, unitMs, start, end, text: text.slice(start, end) };
}

/** The time zone named after the city in a task, if only one is. It may be another city of that name. */
export function findCityZone({ text, mentions }: TaskText): Mention | undefined {
  const lowerCase =
    /\b(?:in|at|for) (\p{L}{3,}(?: \p{L}{2,}){0,2}?)(?=\s*(?:[?!.,;]|$| (?:now|today|right)\b))/u.exec(
      text,
    )?.[1];
  const city = mentions.find(({ kind }) => kind === "name")?.text ?? lowerCase;
  if (city === undefined) return undefined;
  const ending = `/${city.replaceAll(" ", "_")}`.toLowerCase();
  const zones = Intl.supportedValuesOf("timeZone");
  const [value, another] = zones.filter((zone) => zone.toLowerCase().endsWith(ending));
  if (value === undefined || another !== undefined) return undefined;
  const start = text.indexOf(city);
  return { kind: "zone", text: city, value, start, end: start + city.length, isExact: false };
}

const stepsMax = 12;
const joints =
  /[,;.]?\s*(?:\band\s+)?(?:\bthen\b|\bafter that\b|\bafterwards\b|\bfollowed by\b|\bfinally\b)[,:]?\s+/gi;
const listNumbers = /(?:^|\s)(\d{1,2})[.)]\s+(?=\S)/g;

/** Splits a task at "then", "after that", "finally" and the numbers of a list; never inside quotes. */
export function splitSteps(task: string): readonly string[] {
  const masked = task.replace(/"[^"\n]*"|`[^`\n]*`|“[^”]*”/gu, (quoted) =>
    "_".repeat(quoted.length),
  );
  const numbers = [...masked.matchAll(listNumbers)];
  const isList = numbers.length > 1 && numbers.every((match, at) => Number(match[1]) === at + 1);
  const cuts = isList ? numbers : [...masked.matchAll(joints)];
  const bounds = [0, ...cuts.flatMap((cut) => [cut.index, cut.index + cut[0].length]), task.length];
  const steps: string[] = [];
  for (let at = 0; at < bounds.length; at += 2) {
    const step = task.slice(bounds[at], bounds[at + 1]);
    const tidy = step.replace(/^\s*(?:first|and)[,:]?\s+|[,;.\s]+$/gi, "").trim();
    if (tidy !== "") steps.push(tidy);
  }
  const isSplit =
    steps.length <= stepsMax &&
    steps.every((step) => /\s/.test(step)) &&
    !/\bif\b[^.]*\bthen\b/i.test(task);
  return isSplit ? steps : [task.trim()];
}

/** True if a step refers to the result of an earlier one. */
export function refersBack(step: string): boolean {
  return /\b(?:it|its|them|their|they|that|those|these|this|there|the (?:results?|output|answer|same|former|latter|above))\b/i.test(
    step,
  );
}

/** A word that forbids, sets a condition or asks for advice: such a step is never acted on. */
export function findCondition(step: string): string | undefined {
  return /\b(?:not|never|don['’]?t|doesn['’]?t|without|except|unless|if|instead|how (?:do|to|can|should|would|does)|why|should)\b/i.exec(
    step,
  )?.[0];
}
