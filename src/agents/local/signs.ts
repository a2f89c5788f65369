import { stem } from "../../ranking/stem.ts";
import type { Mention, Reading } from "./mention.ts";
import { type Nearness, spanOf } from "./nearness.ts";
import type { Option } from "./options.ts";
import { type Parameter, wantsCode, wantsState } from "./parameters.ts";
import type { Unit } from "./quantities.ts";
import { tokenAt } from "./tokens.ts";

/** A tool as the reader of a task knows it. */
export interface Setting {
  readonly reading: Reading;
  readonly parameters: readonly Parameter[];
  /** Stems of the tool's name and description. */
  readonly toolWords: ReadonlySet<string>;
}

/** What speaks for and against an option by itself. */
export function signsOf(
  parameter: Parameter,
  option: Option,
  { near, setting }: { readonly near: Nearness; readonly setting: Setting },
): string[] {
  return [
    ...signsOfKind(parameter, option),
    ...signsOfPlace(parameter, option, near),
    ...signsOfCue(parameter, option, setting.reading),
    ...signsOfWords(parameter, option, setting),
    ...signsOfNumber(parameter, option, setting),
    ...signsOfShape(parameter, option),
  ];
}

const typeName = ({ type, itemType, choices }: Parameter): string =>
  choices ? "choice" : type === "array" ? `${itemType ?? "any"}s` : type;

function signsOfKind(parameter: Parameter, { kind, turn, how, mention }: Option): string[] {
  const type = typeName(parameter);
  const items = mention?.items?.[0]?.kind;
  const shown = items ? `${mention?.isCounted ? "counted " : ""}${kind} of ${items}` : kind;
  const signs = [`${type} from ${shown}`];
  if (type === "string" || type === "strings" || type === "any")
    signs.push(`${parameter.sort} from ${shown}`);
  if (turn) signs.push(`turn ${turn} for ${type}`);
  if (how) signs.push(`${kind} ${how}${parameter.isRequired ? "" : " optional"}`);
  if (mention?.isPart) signs.push(`part ${kind}`);
  return signs;
}

function signsOfPlace(
  { isRequired }: Parameter,
  { kind }: Option,
  { distance, side, share }: Nearness,
): string[] {
  if (side === "none")
    return ["name absent", isRequired ? "name absent, required" : "name absent, optional"];
  const steps = distance < 1 ? "next" : distance < 2 ? "one off" : distance < 4 ? "near" : "away";
  const signs = [`name ${side} ${steps}`];
  if (steps === "next") signs.push(`name ${side} next ${kind}`);
  if (share === 1) signs.push("whole name near");
  return signs;
}

const cues = new Set(
  "from to in at on for by of with named called titled about between and as is are = : until since than near using into within after before per through vs versus like over under or".split(
    " ",
  ),
);
const skipped = new Set(
  "the a an my our city town of' state country ' \" ` “ ‘ ( x y = and".split(" "),
);

function signsOfCue(parameter: Parameter, option: Option, { tokens }: Reading): string[] {
  const span = option.mention ?? spanOf(option, tokens);
  let at = span.first - 1;
  while (at >= 0 && skipped.has(tokens[at]?.lower ?? "") && span.first - at <= 4) at--;
  const before = tokens[at];
  const cue =
    before && cues.has(before.lower)
      ? before.lower
      : before === undefined
        ? "(start)"
        : before.isWord
          ? "(word)"
          : "(sign)";
  const signs = [`${cue} then ${option.kind}`];
  if (parameter.type === "string" || parameter.type === "array" || parameter.type === "any")
    signs.push(`${cue} then ${parameter.sort}`);
  if (parameter.role) signs.push(`${cue} then ${parameter.role}`);
  // "move", "search", "find": the word before a value, when the description of the parameter has it too.
  if (before?.isWord && !cues.has(before.lower) && parameter.about.has(before.stem))
    signs.push("word before is in description");
  const after = tokens[span.last];
  if (after?.isWord && parameter.about.has(after.stem)) signs.push("word after is in description");
  return signs;
}

function signsOfWords(
  parameter: Parameter,
  option: Option,
  { toolWords, reading }: Setting,
): string[] {
  if (option.kind === "choice") return signsOfChoice(option, reading, toolWords);
  if (option.kind === "flag" || option.kind === "example" || option.kind === "meaning") return [];
  const span = option.mention ?? spanOf(option, reading.tokens);
  const inside = reading.tokens.slice(span.first, span.last).filter(({ isWord }) => isWord);
  const signs: string[] = [];
  if (
    option.kind === "phrase" ||
    option.kind === "name" ||
    option.kind === "rest" ||
    option.kind === "quoted" ||
    option.kind === "code"
  ) {
    const known =
      inside.filter(({ stem }) => toolWords.has(stem)).length / Math.max(1, inside.length);
    const band = known === 0 ? "none" : known < 0.5 ? "few" : known < 1 ? "most" : "all";
    signs.push(`${option.kind} words in tool ${band}`);
    if (inside.length > 0 && inside.every(({ stem }) => parameter.words.includes(stem)))
      signs.push(`${option.kind} is the name itself`);
    else if (inside.some(({ stem }) => parameter.words.includes(stem)))
      signs.push(`${option.kind} holds the name`);
    signs.push(`${option.kind} of ${Math.min(5, inside.length)} words`);
    if (parameter.sort === "text")
      signs.push(`text ${option.kind} of ${Math.min(5, inside.length)} words`);
    if (inside[0]?.opensSentence) signs.push(`${option.kind} opens a sentence`);
    if (span.last >= reading.tokens.length - 1) signs.push(`${option.kind} ends the task`);
    const about = inside.filter(({ stem }) => parameter.about.has(stem)).length;
    if (about > 0 && option.kind !== "quoted") signs.push(`${option.kind} words in description`);
  }
  const around = [
    ...reading.tokens.slice(Math.max(0, span.first - 4), span.first),
    ...reading.tokens.slice(span.last, span.last + 3),
  ];
  const near = around.filter(
    ({ stem, isWord }) => isWord && parameter.about.has(stem) && !parameter.words.includes(stem),
  ).length;
  if (near > 0) signs.push(near > 1 ? "described nearby, twice" : "described nearby");
  return signs;
}

/** "Find attractions" does not choose tourist attractions: the tool is about nothing else. */
function signsOfChoice(
  option: Option,
  { tokens }: Reading,
  toolWords: ReadonlySet<string>,
): string[] {
  const { first, last } = spanOf(option, tokens);
  return tokens.slice(first, last).every(({ stem }) => toolWords.has(stem))
    ? [`choice ${option.how} is a word of the tool`]
    : [];
}

function signsOfNumber(
  parameter: Parameter,
  { mention, value, turn }: Option,
  { parameters, toolWords, reading }: Setting,
): string[] {
  const { quantity } = mention ?? {};
  if (!mention || !quantity || (parameter.type !== "integer" && parameter.type !== "number"))
    return [];
  const signs: string[] = [];
  const { unit, isPercent, isOrdinal, isVague, isMoney } = quantity;
  if (isOrdinal) signs.push("ordinal");
  if (isVague) signs.push("vague number");
  if (isMoney)
    signs.push(
      /price|cost|amount|budget|salary|income|money|dollar|principal|payment|investment|balance|fee|loan|value|fund/i.test(
        `${parameter.path.join(" ")} ${parameter.description}`,
      )
        ? "money wanted"
        : "money unwanted",
    );
  if (isPercent) {
    const wants = /decimal|fraction|between 0 and 1|0 to 1|0\.\d/i.test(parameter.description)
      ? "a decimal"
      : /percent|%/i.test(parameter.description)
        ? "percent"
        : parameter.sort === "rate"
          ? "a rate"
          : "a number";
    signs.push(`percent ${turn === "share" ? "as share" : "as is"} for ${wants}`);
  } else if (parameter.sort === "rate") signs.push("no percent for a rate");
  const wanted = parameter.unit;
  const named =
    unit && (parameter.words.includes(singular(unit)) || parameter.about.has(singular(unit)));
  if (
    unit &&
    parameters.some(
      (other) =>
        other !== parameter &&
        (other.words.includes(singular(unit)) ||
          (other.unit && singular(other.unit) === singular(unit))),
    )
  )
    signs.push(named ? "unit of several" : "unit of another parameter");
  const counted = reading.tokens[tokenAt(reading.tokens, quantity.numberEnd)];
  if (counted && !unit && toolWords.has(counted.stem) && !parameter.words.includes(counted.stem))
    signs.push("counts a word of the tool");
  if (unit && wanted)
    signs.push(
      turn === "unit"
        ? "unit turned"
        : singular(unit) === singular(wanted)
          ? "unit the same"
          : unit.kind === wanted.kind
            ? "unit of the kind"
            : "unit of another kind",
    );
  else if (unit) signs.push(named ? "unit is in the name" : `unit unasked`);
  else if (wanted) signs.push("unit missing");
  if (unit && named) signs.push("unit named");
  const isYear =
    Number.isInteger(value) && (value as number) >= 1500 && (value as number) <= 2100 && !unit;
  const wantsYear = parameter.words.includes("year") || /\byear\b/.test(parameter.description);
  if (isYear) signs.push(wantsYear ? "year for a year" : "year for another");
  else if (parameter.words.includes("year") && !unit) signs.push("no year for a year");
  if (
    (parameter.least !== undefined && (value as number) < parameter.least) ||
    (parameter.most !== undefined && (value as number) > parameter.most)
  )
    signs.push("out of bounds");
  return signs;
}

const singular = ({ name }: Unit): string => irregular.get(name) ?? stem(name);
const irregular = new Map([
  ["children", "child"],
  ["people", "person"],
  ["ppl", "person"],
  ["feet", "foot"],
  ["kids", "child"],
]);

/** Whether a value looks like the examples the description gives. */
function signsOfShape(
  { examples, sort, shape, type, choices }: Parameter,
  { value, kind, mention }: Option,
): string[] {
  if (choices || (type !== "string" && type !== "any")) return [];
  const signs: string[] = [];
  const text = String(value);
  if (shape !== undefined && (sort === "day" || sort === "time"))
    signs.push(
      kind === "moment"
        ? shape.length === text.length
          ? "moment in shape"
          : "moment out of shape"
        : "no moment for a shape",
    );
  const [example] = examples.filter((each) => !/^[YMDHS:/. -]+$/i.test(each));
  if (/['’]s$/.test(text) && kind === "name") signs.push("keeps the possessive");
  if (example === undefined && sort === "place" && text.includes(","))
    signs.push("comma without an example");
  if (example === undefined || kind === "example" || kind === "rest") return signs;
  const differs = outline(example).filter((mark, at) => mark !== outline(text)[at]).length;
  signs.push(
    differs === 0
      ? "looks like the example"
      : differs === 1
        ? "looks a little like the example"
        : "looks unlike the example",
  );
  if (outline(example)[0] && !outline(text)[0])
    signs.push(`${mention?.kind ?? kind} lacks the example's comma`);
  return signs;
}

const outline = (text: string): readonly boolean[] => [
  text.includes(","),
  /\d/.test(text),
  /^\p{Lu}/u.test(text),
  /\s/.test(text),
  /[_/@.-]/.test(text),
];

/** What is inside something stronger is seldom meant alone. */
export function signsOfOverlap(mention: Mention, { mentions }: Reading): string[] {
  const { start, end, kind } = mention;
  const signs = new Set<string>();
  for (const other of mentions) {
    if (
      other === mention ||
      other.start > start ||
      other.end < end ||
      other.end - other.start <= end - start
    )
      continue;
    if (
      other.kind === "rest" ||
      other.kind === "phrase" ||
      (other.kind === "list" && kind === "list")
    )
      continue;
    signs.add(`${kind} inside ${other.kind}`);
  }
  for (const other of mentions) {
    if (kind === other.kind || other.start !== start || other.end !== end) continue;
    if (kind === "phrase" || kind === "code" || kind === "name" || kind === "number")
      signs.add(`${kind} is also ${other.kind}`);
  }
  const isMarked = kind === "quoted" || kind === "list" || kind === "json";
  if (
    !isMarked &&
    (kind === "phrase" || kind === "name" || kind === "rest") &&
    mentions.some((other) => other.kind === "quoted")
  )
    signs.add(`${kind} beside quotes`);
  return [...signs];
}

/** What speaks for a task saying nothing about a parameter, or nothing in the form it is wanted in. */
export function signsOfNothing(parameter: Parameter): readonly string[] {
  const { type, isRequired, fallback, choices, sort } = parameter;
  const need = isRequired ? "required" : "optional";
  return [
    `nothing for ${choices ? "choice" : type}, ${need}`,
    ...(type === "string" && !choices ? [`nothing for ${sort}, ${need}`] : []),
    ...(fallback ? [`nothing, with a default, ${need}`] : []),
    ...(wantsCode(parameter) ? [`nothing for a code, ${need}`] : []),
    ...(wantsState(parameter) ? [`nothing with a comma, ${need}`] : []),
  ];
}
