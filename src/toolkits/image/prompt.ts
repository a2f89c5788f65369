/** A prompt, read: which scenery and things its words name. */
import { type Colour, colourNames } from "./colours.ts";
import { counts, irregular, type Scenery, sceneryWords, subjectWords } from "./prompt-words.ts";
import type { Subject } from "./subject.ts";
import { subjects } from "./subjects.ts";

export interface Prompt {
  /** Lower case and singular. */
  readonly words: readonly string[];
  readonly scenery: readonly Scenery[];
  readonly things: readonly Thing[];
}

export interface Thing {
  readonly name: string;
  readonly subject: Subject;
  readonly count: number;
  readonly colour?: Colour | undefined;
}

export function readPrompt(prompt: string): Prompt {
  const { words, plurals } = readWords(prompt);
  const scenery = [
    ...new Set(
      words.flatMap((word) =>
        Object.hasOwn(sceneryWords, word) ? (sceneryWords[word] ?? []) : [],
      ),
    ),
  ];
  return { words, scenery, things: readThings(words, plurals) };
}

/** Lower case and singular, with those that were plural; a novel is not drawn word by word. */
function readWords(prompt: string): { words: readonly string[]; plurals: ReadonlySet<string> } {
  const written =
    prompt
      .slice(0, 4_000)
      .toLowerCase()
      .match(/\p{L}+|\d+/gu) ?? [];
  const words = written.map(
    (word) =>
      (Object.hasOwn(irregular, word) ? irregular[word] : undefined) ??
      (isKnown(word) ? word : singularOf(word)),
  );
  return { words, plurals: new Set(words.filter((word, index) => word !== written[index])) };
}

function singularOf(word: string): string {
  const shorter = [word.replace(/s$/, ""), word.replace(/es$/, "")];
  return shorter.find(isKnown) ?? word;
}

function isKnown(word: string): boolean {
  return [subjects, subjectWords, sceneryWords, colourNames].some((table) =>
    Object.hasOwn(table, word),
  );
}

const countMax = 9;

/** Each thing once, with the number and colour that stand within the three words before it: "three small red birds". */
function readThings(words: readonly string[], plurals: ReadonlySet<string>): Thing[] {
  const found = new Map<string, Thing>();
  words.forEach((word, index) => {
    const name = Object.hasOwn(subjectWords, word) ? (subjectWords[word] ?? word) : word;
    const subject = Object.hasOwn(subjects, name) ? subjects[name] : undefined;
    // A colour is one before it is a flower: "rose" in "rose sky". And a palm tree is one thing.
    const isColour = Object.hasOwn(colourNames, word) && index < words.length - 1;
    const isNamedTree =
      name === "tree" &&
      Object.hasOwn(subjects, subjectWords[words[index - 1] ?? ""] ?? words[index - 1] ?? "");
    if (!subject || found.has(name) || isColour || isNamedTree) return;
    const before = words.slice(Math.max(0, index - 3), index);
    const count =
      before
        .map((number) => (Object.hasOwn(counts, number) ? (counts[number] ?? 1) : Number(number)))
        .find((number) => number > 0) ?? (word === "village" ? 4 : plurals.has(word) ? 3 : 1);
    const colour = before
      .flatMap((other) => (Object.hasOwn(colourNames, other) ? [colourNames[other]] : []))
      .at(-1);
    found.set(name, { name, subject, count: Math.min(countMax, count), colour });
  });
  return [...found.values()].slice(0, 8);
}
