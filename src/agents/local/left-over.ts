import { isObject, type JsonObject } from "../../base/json.ts";
import { wordsOf } from "../../ranking/words.ts";
import type { FillableTool } from "./consider.ts";
import type { Filling } from "./fill.ts";
import type { Reading } from "./mention.ts";
import { findUnit } from "./quantities.ts";
import type { Token } from "./tokens.ts";

/** The words of a task that neither the tool's own words nor the values taken from the task account for: what would be ignored if it were run. */
export function findLeftOver(
  { tokens }: Reading,
  tool: FillableTool,
  { filled }: Filling,
): readonly string[] {
  const known = knownTo(tool);
  const used = filled.flatMap(({ from }) => (typeof from === "object" ? [from] : []));
  const isUsed = ({ start, end }: Token): boolean =>
    used.some((span) => span.start < end && start < span.end);
  const left = tokens.filter((token, at) => {
    const before = tokens[at - 1];
    // The unit belongs to the number before it.
    const isUnit = before !== undefined && isUsed(before) && findUnit(token.lower) !== undefined;
    if (!token.isWord || isUnit || isUsed(token)) return false;
    const accounted = isName(token) ? known.names : known.words;
    return wordsOf(token.lower).some((word) => !accounted.has(word) && !asking.has(word));
  });
  return left.map(({ text }) => text);
}

/** A name, a number, a zone: it says which, and a tool that does not take it would do something else. */
function isName({ text, isCapital, opensSentence }: Token): boolean {
  return /[\d/@]/.test(text) || (isCapital && !opensSentence);
}

interface Known {
  /** What the tool speaks of. */
  readonly words: ReadonlySet<string>;
  /** What it and its parameters are called: that a description mentions Berlin does not make the tool one of Berlin. */
  readonly names: ReadonlySet<string>;
}

function knownTo({ name, description, inputSchema }: FillableTool): Known {
  const known = read.get(inputSchema) ?? {
    words: new Set(
      wordsOf(`${name} ${withoutExamples(description)} ${textOf(inputSchema)}`, charactersMax),
    ),
    names: new Set(wordsOf(`${name} ${namesOf(inputSchema)}`, charactersMax)),
  };
  read.set(inputSchema, known);
  return known;
}

const withoutExamples = (description: string): string =>
  description.replace(/\b(?:e\.g\.|such as|for example|for instance)[^.;)]{0,200}/gi, " ");

const charactersMax = 20_000;
/** A schema belongs to one tool. */
const read = new WeakMap<JsonObject, Known>();

/** Words that ask, and say nothing of what. */
const asking = new Set(
  wordsOf(
    `find show give tell want need like know help look get search list provide information detail me please thank thanks hi hello hey could would let make sure see check
    looking find out kindly able available possible right now specific following given using use compute calculate evaluate also one want wish interested exactly about what's i'm i'd i've`,
  ),
);

function textOf(schema: JsonObject): string {
  const properties = isObject(schema.properties) ? Object.entries(schema.properties) : [];
  return properties
    .map(([name, property]) => {
      if (!isObject(property)) return name;
      const choices = Array.isArray(property.enum) ? property.enum.join(" ") : "";
      return `${name} ${typeof property.description === "string" ? withoutExamples(property.description) : ""} ${choices} ${textOf(property)}`;
    })
    .join(" ");
}

function namesOf(schema: JsonObject): string {
  const properties = isObject(schema.properties) ? Object.entries(schema.properties) : [];
  return properties
    .map(([name, property]) => (isObject(property) ? `${name} ${namesOf(property)}` : name))
    .join(" ");
}
