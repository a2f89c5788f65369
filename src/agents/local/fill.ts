import { isObject, type JsonObject } from "../../base/json.ts";
import { escapePattern } from "../../base/text.ts";
import { wordsOf } from "../../ranking/words.ts";
import { parametersOf, type ToolParameter } from "./parameters.ts";
import {
  findCityZone,
  hasFile,
  type Mention,
  overlaps,
  type TaskSpan,
  type TaskText,
} from "./task.ts";

export interface FillableTool {
  readonly name: string;
  readonly inputSchema: JsonObject;
}

/** Input that the caller sent besides the task. */
export interface Given {
  readonly data?: JsonObject | undefined;
  readonly context?: string | undefined;
}

export interface Filled extends TaskSpan {
  readonly name: string;
  readonly value: unknown;
  /** "data", "default" or words of the task. */
  readonly from: string;
  /** False for a suggestion that the caller has to check. */
  readonly isSure: boolean;
  /** True if the value can only mean this parameter, by its name or its form. */
  readonly isExplicit: boolean;
}

export interface Filling {
  readonly filled: readonly Filled[];
  /** Required parameters without a value. */
  readonly missing: readonly string[];
  /** Keys of `data` that no parameter takes. */
  readonly unusedData: readonly string[];
  readonly arguments: JsonObject;
}

/**
 * Fills a tool's parameters from `data` and the task, the most explicit source first. `named` is
 * where the task names the tool.
 */
export function fill(
  task: TaskText,
  tool: FillableTool,
  { data, context }: Given,
  named?: TaskSpan | undefined,
): Filling {
  const filler = new Filler(task, tool, named);
  const unusedData = filler.fromData(data);
  filler.fromPairs(context);
  filler.fromConversion();
  filler.fromRepository();
  filler.fromMentions();
  filler.fromNumbers();
  filler.fromQuotes();
  filler.fromChoices(({ isRequired }) => isRequired);
  filler.fromPhrase();
  filler.fromChoices(({ isRequired }) => !isRequired);
  filler.fromName();
  filler.fromCity();
  filler.fromDefaults();
  const { filled } = filler;
  return {
    filled,
    missing: filler.required().map(({ name }) => name),
    unusedData,
    arguments: Object.fromEntries(filled.map(({ name, value }) => [name, value])),
  };
}

type Source = Partial<Omit<Filled, "name" | "value">>;

class Filler {
  readonly filled: Filled[] = [];
  readonly #task: TaskText;
  readonly #parameters: readonly ToolParameter[];
  readonly #toolWords: ReadonlySet<string>;
  readonly #named: TaskSpan | undefined;

  constructor(task: TaskText, { name, inputSchema }: FillableTool, named: TaskSpan | undefined) {
    this.#task = task;
    this.#parameters = parametersOf(inputSchema);
    this.#toolWords = new Set(wordsOf(name));
    this.#named = named;
  }

  required(): readonly ToolParameter[] {
    return this.#open(({ isRequired }) => isRequired);
  }

  fromData(data: JsonObject = {}): readonly string[] {
    return Object.entries(data).flatMap(([key, value]) => {
      const parameter = this.#parameters.find(({ name }) => plainName(name) === plainName(key));
      if (!parameter || !accepts(parameter, value)) return [key];
      this.#add(parameter, value, { from: "data" });
      return [];
    });
  }

  /** `limit=5`, `city: Riga`, `title: "A day"`. */
  fromPairs(context: string | undefined): void {
    for (const parameter of this.#open()) {
      const own = findPair(parameter, this.#task.text);
      const other = context === undefined ? undefined : findPair(parameter, context);
      if (own) this.#add(parameter, own.value, own);
      else if (other) this.#add(parameter, other.value, { from: other.from });
    }
  }

  /** "5 miles to km", for a tool with one number and two units. */
  fromConversion(): void {
    const amount = onlyOf(this.#open(({ type }) => type === "number"));
    const ends = this.#open(({ type, role }) => type === "string" && role !== undefined);
    const [from, to] = ["from", "to"].map((role) =>
      onlyOf(ends.filter((each) => each.role === role)),
    );
    const pattern = /(?<![\p{L}\p{N}.,])(-?\d+(?:\.\d+)?)\s*(\p{L}+)\s+(?:to|into|in)\s+(\p{L}+)/gu;
    const match = onlyOf([...this.#task.text.matchAll(pattern)]);
    if (!amount || !from || !to || !match) return;

    const [whole, number = "", unit = "", wanted = ""] = match;
    const [fromValue, toValue] = [choiceFor(from, unit), choiceFor(to, wanted)];
    if (fromValue === undefined || toValue === undefined) return;
    const span = { start: match.index, end: match.index + whole.length };
    this.#add(amount, Number(number), { ...span, from: number });
    this.#add(from, fromValue, { ...span, from: unit });
    this.#add(to, toValue, { ...span, from: wanted });
  }

  /** "nodejs/node", for a tool with an owner and a repository. */
  fromRepository(): void {
    const [owner, repo] = [/^owner$/i, /^repo(?:sitory)?(?:_?name)?$/i].map((pattern) =>
      onlyOf(this.#open(({ name, type }) => type === "string" && pattern.test(name))),
    );
    const mention = onlyOf(
      this.#free("path").filter(({ text }) => /^[\w.-]+\/[\w.-]+$/.test(text)),
    );
    if (!owner || !repo || !mention) return;
    const [ownerName, repoName] = mention.text.split("/");
    this.#add(owner, ownerName, { ...mention, from: mention.text });
    this.#add(repo, repoName, { ...mention, from: mention.text });
  }

  /** Addresses, paths, zones, dates and arithmetic go to the only parameter that takes them. */
  fromMentions(): void {
    const groups = new Set(this.#open(({ takes }) => takes.length > 0).map(({ takes }) => takes));
    for (const kinds of groups) {
      const open = this.#open(({ takes }) => takes === kinds);
      const mentions = this.#free().filter(({ kind }) => kinds.includes(kind));
      const needed = open.filter(({ isRequired }) => isRequired);
      const only = onlyOf(needed.length > 0 ? needed : open);
      const mention = onlyOf(mentions);
      const [first, last] = [mentions[0], mentions.at(-1)];
      if (only?.type === "array" && first && last) {
        const values = mentions.map((each) => valueFor(only, each));
        this.#add(only, values, { start: first.start, end: last.end, from: "the task" });
      } else if (only && mention) this.#addMention(only, mention);
      else this.#fromEnds(open, mentions);
    }
  }

  /** Of several, only the word before one says which end it is: "from A to B". */
  #fromEnds(parameters: readonly ToolParameter[], mentions: readonly Mention[]): void {
    for (const mention of mentions) {
      const before = this.#task.text.slice(0, mention.start);
      const role = /\b(?:from|since|after|between)\s+$/i.test(before) ? "from" : "to";
      if (role === "to" && !/\b(?:to|into|until|till|before|and)\s+$/i.test(before)) continue;
      const end = onlyOf(parameters.filter((parameter) => parameter.role === role));
      if (end && this.#isOpen(end)) this.#addMention(end, mention);
    }
  }

  /** A number beside a word of the parameter's name, else the only number for the only required one. */
  fromNumbers(): void {
    const isNumeric = ({ type }: ToolParameter): boolean => type === "integer" || type === "number";
    for (const parameter of this.#open((each) => isNumeric(each) || each.isCode)) {
      const mention = onlyOf(
        this.#free("number").filter((each) => this.#isBeside(each, parameter)),
      );
      if (mention) this.#addNumber(parameter, mention);
    }
    const parameter = onlyOf(this.required().filter(isNumeric));
    const mention = onlyOf(this.#free("number"));
    if (parameter && mention) this.#addNumber(parameter, mention);
  }

  #addNumber(parameter: ToolParameter, mention: Mention): void {
    const { type, unitMs, words } = parameter;
    const isSameUnit = wordsOf(mention.text).some((word) => words.includes(word));
    // "next 7 days" is not a number of days back.
    if (/^next\b/i.test(mention.text) && words.includes("back")) return;
    const amount = Number(mention.value);
    const value = mention.unitMs && unitMs ? (amount * mention.unitMs) / unitMs : amount;
    if (type === "integer" && !Number.isInteger(value)) return;
    this.#add(parameter, type === "string" ? String(value) : value, {
      ...mention,
      from: mention.text,
      // A unit that the parameter does not state may change the meaning.
      isSure: mention.unitMs === undefined || unitMs !== undefined || isSameUnit,
    });
  }

  #isBeside({ start, end, text }: Mention, { words }: ToolParameter): boolean {
    const before = wordsOf(this.#task.text.slice(0, start)).at(-1) ?? "";
    const [after = ""] = wordsOf(this.#task.text.slice(end, end + 40));
    return [before, after, ...wordsOf(text)].some((word) => words.includes(word));
  }

  /** A quoted text goes to the parameter named before it, else to the only required text. */
  fromQuotes(): void {
    const isString = ({ type, choices }: ToolParameter): boolean => type === "string" && !choices;
    for (const mention of this.#free("quoted")) {
      const before = wordsOf(this.#task.text.slice(0, mention.start)).at(-1) ?? "";
      const named = onlyOf(this.#open((each) => isString(each) && each.words.includes(before)));
      if (named) this.#addMention(named, mention);
    }
    const parameter = onlyOf(this.required().filter(isString));
    const mention = onlyOf(this.#free("quoted"));
    if (parameter && mention) this.#addMention(parameter, mention);
  }

  /** A word of the task that is one of the allowed values, if only one is. */
  fromChoices(isWanted: (parameter: ToolParameter) => boolean): void {
    for (const parameter of this.#open(isWanted)) {
      const found = onlyOf((parameter.choices ?? []).flatMap((choice) => this.#findChoice(choice)));
      if (!found) continue;
      const value = parameter.type === "array" ? [found.value] : found.value;
      this.#add(parameter, value, { ...found, isExplicit: false });
    }
  }

  #findChoice(choice: unknown): readonly (Pick<Filled, "value" | "from"> & TaskSpan)[] {
    if (typeof choice !== "string" || wordsOf(choice).length === 0) return [];
    const written = escapePattern(choice).replace(/[_-]/g, "[_ -]");
    const pattern = new RegExp(String.raw`(?<![\p{L}\p{N}])${written}s?(?![\p{L}\p{N}])`, "giu");
    return [...this.#task.text.matchAll(pattern)]
      .map(({ 0: from, index }) => ({
        value: choice,
        from,
        start: index,
        end: index + from.length,
      }))
      .filter((span) => !this.#isUsed(span));
  }

  /** "Search for X", "echo X": the words after the tool's verb are its only required argument. */
  fromPhrase(): void {
    const isOnly = this.#parameters.filter(({ isRequired }) => isRequired).length === 1;
    const [parameter] = this.required();
    if (!isOnly || !parameter?.isText || parameter.choices) return;
    const phrase = this.#findPhrase();
    if (phrase) this.#add(parameter, phrase.from, { ...phrase, isExplicit: false });
    else if (this.#isSearch())
      this.#add(parameter, this.#task.text.trim(), { from: "the task", isSure: false });
  }

  #findPhrase(): (Pick<Filled, "from"> & TaskSpan) | undefined {
    let hasVerb = false;
    let start: number | undefined;
    for (const word of this.#task.words) {
      const lower = word.text.toLowerCase();
      const stems = wordsOf(lower);
      const isVerb =
        (this.#named !== undefined && overlaps(this.#named, word)) ||
        stems.some((stem) => this.#toolWords.has(stem)) ||
        (this.#isSearch() && searchVerbs.has(lower));
      if (hasVerb && connectors.has(lower)) start = word.end;
      else if (!isVerb && stems.length > 0 && !fillerWords.has(lower)) start = word.start;
      hasVerb ||= isVerb;
      if (start !== undefined) break;
    }
    if (!hasVerb || start === undefined) return undefined;

    const from = start;
    const cuts = this.filled.map((each) => each.start).filter((at) => at >= from);
    const rest = this.#task.text.slice(from, Math.min(...cuts, this.#task.text.length));
    const text = trimPhrase(rest, cuts.length > 0);
    const at = this.#task.text.indexOf(text, from);
    return wordsOf(text).length === 0
      ? undefined
      : { from: text, start: at, end: at + text.length };
  }

  #isSearch(): boolean {
    return [...this.#toolWords].some((word) => searchStems.has(word));
  }

  /** The only name in the task, for the only required string. */
  fromName(): void {
    const parameter = onlyOf(this.required());
    const mention = onlyOf(this.#free("name"));
    if (!parameter || !mention) return;
    const { type, takes, isText, isCode, choices, description } = parameter;
    if (type !== "string" || takes.length > 0 || isCode || choices) return;
    const wantsMore = /\bcity(?: and|,) (?:state|country)\b/i.test(description);
    this.#addMention(parameter, { ...mention, isExact: !isText && !wantsMore }, false);
  }

  fromCity(): void {
    const parameter = onlyOf(this.#open(({ takes }) => takes.includes("zone")));
    const city = parameter && findCityZone(this.#task);
    if (city && !this.#isUsed(city)) this.#addMention(parameter, city);
  }

  fromDefaults(): void {
    for (const parameter of this.required())
      if (parameter.fallback !== undefined)
        this.#add(parameter, parameter.fallback, { from: "default", isExplicit: false });
  }

  #addMention(parameter: ToolParameter, mention: Mention, isExplicit = true): void {
    const { start, end, text: from } = mention;
    const isSure = (mention.isExact ?? true) && !this.#isOtherKind(mention);
    this.#add(parameter, valueFor(parameter, mention), { start, end, from, isSure, isExplicit });
  }

  /** True for a file if the tool expects a folder, and for "here" if it expects a file. */
  #isOtherKind({ kind, text, value }: Mention): boolean {
    if (kind !== "path") return false;
    const isForFolders = folderStems.some((stem) => this.#toolWords.has(stem));
    return isForFolders ? hasFile.test(text) : value === ".";
  }

  #add({ name }: ToolParameter, value: unknown, source: Source): void {
    const { isSure = true, isExplicit = true, from = "", start = 0, end = 0 } = source;
    this.filled.push({ name, value, isSure, isExplicit, from, start, end });
  }

  #isOpen({ name }: ToolParameter): boolean {
    return !this.filled.some((each) => each.name === name);
  }

  #open(isWanted: (parameter: ToolParameter) => boolean = () => true): readonly ToolParameter[] {
    return this.#parameters.filter((parameter) => this.#isOpen(parameter) && isWanted(parameter));
  }

  #isUsed(span: TaskSpan): boolean {
    const used: readonly TaskSpan[] = this.#named ? [...this.filled, this.#named] : this.filled;
    return used.some((each) => overlaps(each, span));
  }

  #free(kind?: Mention["kind"]): readonly Mention[] {
    return this.#task.mentions.filter(
      (mention) => (kind === undefined || mention.kind === kind) && !this.#isUsed(mention),
    );
  }
}

const folderStems = wordsOf("directory folder dir tree ls");
const connectors = new Set(["for", "about", "on", "regarding"]);
export const searchStems = new Set(wordsOf("search find lookup query research"));
const searchVerbs = new Set(["search", "find", "look", "lookup", "google", "research"]);
const fillerWords = new Set(["up", "out", "use", "using", "show", "give", "tell", "run", "call"]);

/** The phrase without the words of the sentence around it. */
function trimPhrase(text: string, isCut: boolean): string {
  const tidy = text.replace(/^[\s:,-]+(?:(?:the|an?)\s)?|[\s,]+please[\s.!]*$|[\s.?!,;]+$/gi, "");
  const joining = /(?:\s+(?:from|the|in|with|for|of|last|past|at|to|and|a|by|as|over|within))+$/i;
  return isCut ? tidy.replace(joining, "") : tidy;
}

function onlyOf<Item>(items: readonly Item[]): Item | undefined {
  return items.length === 1 ? items[0] : undefined;
}

const plainName = (name: string): string => name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");

function findPair(
  parameter: ToolParameter,
  text: string,
): (Pick<Filled, "value" | "from"> & TaskSpan) | undefined {
  const parts = parameter.name.split(/[_-]|(?<=\p{Ll})(?=\p{Lu})/u);
  const pattern = new RegExp(
    String.raw`(?<![\p{L}\p{N}_.])${parts.map(escapePattern).join("[_ -]?")}\s*(?:=\s*|:\s+)(?:"([^"\n]*)"|'([^'\n]*)'|(?<==\s*)([^\s,;"'=]+)|(?<=:\s+)([^,;\n"'=:]+?)(?=\s*(?:[,;\n]|$|\s[\w-]+\s*[:=])))`,
    "giu",
  );
  const match = onlyOf([...text.matchAll(pattern)]);
  if (!match) return undefined;
  const bare = (match[3] ?? match[4] ?? "").replace(/[.?!)]+$/, "").trim();
  const value = parseAs(parameter, match[1] ?? match[2] ?? bare);
  const end = match.index + match[0].length;
  return value === undefined ? undefined : { value, from: match[0], start: match.index, end };
}

function parseAs(parameter: ToolParameter, text: string): unknown {
  const { type, choices } = parameter;
  if (text === "") return undefined;
  if (choices || type === "string" || type === "any") return choiceFor(parameter, text);
  if (type === "boolean" && /^(?:true|yes|false|no)$/i.test(text)) return /^[ty]/i.test(text);
  const isNumber = /^-?\d{1,15}(?:\.\d+)?$/.test(text) && accepts(parameter, Number(text));
  return isNumber ? Number(text) : undefined;
}

function choiceFor({ choices }: ToolParameter, text: string): unknown {
  return choices ? choices.find((choice) => plainName(String(choice)) === plainName(text)) : text;
}

function accepts({ type, choices }: ToolParameter, value: unknown): boolean {
  if (choices && type !== "array") return choices.includes(value);
  switch (type) {
    case "any":
      return true;
    case "array":
      return Array.isArray(value);
    case "object":
      return isObject(value);
    case "integer":
      return Number.isInteger(value);
    case "number":
    case "string":
    case "boolean":
      return typeof value === type;
  }
}

function valueFor({ wantsTime }: ToolParameter, { text, value, moment }: Mention): unknown {
  return wantsTime && moment !== undefined ? moment : (value ?? text);
}
