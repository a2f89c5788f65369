import { isObject, type JsonObject } from "../../base/json.ts";
import { wordsOf } from "../../ranking/words.ts";
import { glossaryOf } from "./glossary.ts";
import { shapeOf } from "./moments.ts";
import { findUnit, type Unit } from "./quantities.ts";

export type ParameterType =
  | "string"
  | "integer"
  | "number"
  | "boolean"
  | "array"
  | "object"
  | "any";

/** What a parameter is for, as far as its name and description give it away. */
export type Sort =
  | "place" | "person" | "title" | "organisation" | "id" | "day" | "time" | "link" | "path" | "email" | "phone" | "unit" | "language" | "colour"
  | "formula" | "text" | "kind" | "name" | "rate" | "count" | "duration" | "other"; // biome-ignore format: one list

/** Which of two ends or places it is. */
export type Role = "start" | "end";

/** One place in a tool's arguments that wants a value. */
export interface Parameter {
  /** From the outermost object inwards. */
  readonly path: readonly string[];
  readonly type: ParameterType;
  readonly itemType?: ParameterType | undefined;
  /** Stems of its name, then those of its description. */
  readonly words: readonly string[];
  readonly about: ReadonlySet<string>;
  readonly description: string;
  readonly choices?: readonly unknown[] | undefined;
  /** What the description says its values stand for. */
  readonly glossary: readonly (readonly [value: string, meaning: string])[];
  /** Values the description puts in quotes. */
  readonly examples: readonly string[];
  readonly sort: Sort;
  readonly role?: Role | undefined;
  /** 1 for `number1`, `first_name`; 2 for `num2`, `second`. */
  readonly ordinal?: number | undefined;
  readonly unit?: Unit | undefined;
  /** How days and times are to be written. */
  readonly shape?: string | undefined;
  readonly least?: number | undefined;
  readonly most?: number | undefined;
  readonly isRequired: boolean;
  readonly fallback?: { readonly value: unknown } | undefined;
}

/** "The stock symbol", "the ISO country code": a name will not do. */
export function wantsCode({ description, type, choices }: Parameter): boolean {
  return (
    type === "string" &&
    !choices &&
    /\b(?:ISO|IATA|codes?|abbreviat\w*|ticker|symbols?|acronym|initials)\b/i.test(description)
  );
}

/** "City, State": a city alone will not do. */
export function wantsState({ description, examples, sort }: Parameter): boolean {
  return (
    sort === "place" &&
    (/\bcity(?: and|,) (?:state|country)\b/i.test(description) ||
      examples.some((example) => example.includes(",")))
  );
}

const depthMax = 3;
const parametersMax = 60;

/** The parameters of a schema, what is required first. Objects are opened: their members are parameters with a longer path. */
export function parametersOf(schema: JsonObject): readonly Parameter[] {
  const known = read.get(schema);
  if (known) return known;
  const found: Parameter[] = [];
  collect(schema, [], true, found);
  const parameters = [
    ...found.filter(({ isRequired }) => isRequired),
    ...found.filter(({ isRequired }) => !isRequired),
  ];
  read.set(schema, parameters);
  return parameters;
}

/** Schemas live as long as their tools and are asked about again and again; reading one takes longer than all the rest. */
const read = new WeakMap<JsonObject, readonly Parameter[]>();

function collect(
  schema: JsonObject,
  path: readonly string[],
  isNeeded: boolean,
  found: Parameter[],
): void {
  const required = new Set(Array.isArray(schema.required) ? schema.required : []);
  const properties = isObject(schema.properties) ? Object.entries(schema.properties) : [];
  for (const [name, given] of properties) {
    if (found.length >= parametersMax) return;
    const property = simplify(given);
    const isRequired = isNeeded && required.has(name);
    if (isObject(property.properties) && path.length + 1 < depthMax)
      collect(property, [...path, name], isRequired, found);
    else found.push(describe(property, [...path, name], isRequired));
  }
}

/** Of alternatives the first that is not null. */
function simplify(schema: unknown): JsonObject {
  if (!isObject(schema)) return {};
  const options = [schema.anyOf, schema.oneOf].find(Array.isArray);
  const option = options?.find((each) => isObject(each) && each.type !== "null");
  return isObject(option) ? { ...schema, ...option } : schema;
}

function describe(schema: JsonObject, path: readonly string[], isRequired: boolean): Parameter {
  const name = path.at(-1) ?? "";
  const description =
    typeof schema.description === "string" ? schema.description.slice(0, 1_000) : "";
  const type = typeOf(schema);
  const words = wordsOf(name.replace(/(\p{L})(\d)/gu, "$1 $2"));
  const items = isObject(schema.items) ? schema.items : {};
  const choices = Array.isArray(schema.enum)
    ? schema.enum
    : Array.isArray(items.enum)
      ? items.enum
      : "const" in schema
        ? [schema.const]
        : undefined;
  const about = new Set(wordsOf(description));
  const fallback = "default" in schema ? { value: schema.default } : undefined;
  return {
    path,
    type,
    itemType: type === "array" ? typeOf(items) : undefined,
    words,
    about,
    description,
    choices: choices?.slice(0, 200),
    glossary: choices ? [] : glossaryOf(description),
    examples: examplesOf(description),
    sort: sortOf({ name, words, description, type, format: schema.format }),
    role: roleOf(name, description),
    ordinal: ordinalOf(name, description),
    unit: unitOf(name, description),
    shape: shapeOf(description, schema.format),
    least: typeof schema.minimum === "number" ? schema.minimum : undefined,
    most: typeof schema.maximum === "number" ? schema.maximum : undefined,
    isRequired,
    fallback,
  };
}

function typeOf({ type, enum: choices }: JsonObject): ParameterType {
  const said = Array.isArray(type) ? type.find((each) => each !== "null") : type;
  switch (said) {
    case "string":
    case "integer":
    case "number":
    case "boolean":
    case "array":
    case "object":
      return said;
    default:
      return Array.isArray(choices) ? "string" : "any";
  }
}

/** What stands in quotes, and what follows "e.g." or "such as". */
function examplesOf(description: string): readonly string[] {
  const quoted = [
    ...description.matchAll(
      /(?<![\p{L}\p{N}])(?:'([^'\n]{1,60})'|"([^"\n]{1,60})"|`([^`\n]{1,60})`)(?![\p{L}\p{N}])/gu,
    ),
  ].map((match) => match.slice(1).find((group) => group !== undefined) ?? "");
  const said =
    /\b(?:e\.g\.,?|such as|for example,?|like|options? (?:are|include)|one of|can be|either|could be)\s*:?\s*([^.;()'"`]{2,120})/i.exec(
      description,
    )?.[1] ?? "";
  const listed = said
    .split(/,\s*|\s+or\s+|\s+and\s+/)
    .map((part) => part.replace(/^(?:or|and)\s+/, "").trim());
  return [
    ...new Set([
      ...quoted,
      ...listed.filter((part) => part.length > 1 && part.split(" ").length <= 3),
    ]),
  ].slice(0, 30);
}

/** Read from the last word of the name backwards, since that is what it is; then from the first words of the description. */
const sorts: readonly (readonly [Sort, ReadonlySet<string>])[] = (
  [
    ["link", "url uri link href website endpoint webpage"],
    ["email", "email mail recipient"],
    ["phone", "phone mobile telephone"],
    ["path", "path file filename folder directory dir filepath"],
    ["day", "date day birthday deadline checkin checkout dob"],
    ["time", "time hour timestamp datetime"],
    ["unit", "unit units currency scale"],
    ["language", "language lang locale"],
    ["colour", "color colour"],
    [
      "id",
      "id identifier uuid guid code key token sku symbol ticker isbn number no serial reference username password pin uid vin zip zipcode hash",
    ],
    ["rate", "rate ratio percentage percent probability fraction discount"],
    ["duration", "days hours minutes seconds weeks months years duration nights timeout timespan"],
    [
      "count",
      "count quantity amount size limit num total max min adults passengers guests people participants players tickets rooms",
    ],
    [
      "place",
      "location loc city place country state address destination origin region area town venue where departure arrival county province airport station land",
    ],
    [
      "person",
      "author artist person player actor actress director interviewer customer employee student user patient doctor composer singer writer owner assignee poet scientist celebrity",
    ],
    [
      "organisation",
      "company organization organisation team club brand bank university school hotel restaurant store shop museum airline manufacturer league publisher",
    ],
    [
      "title",
      "title book movie film song album game show series artwork painting event product item recipe dish food species animal plant gene instrument",
    ],
    ["formula", "function equation expression formula polynomial"],
    [
      "text",
      "query text content message question prompt keyword keywords term terms description comment body note topic subject search phrase sentence string reason instruction instructions details summary answer request",
    ],
    [
      "kind",
      "type category kind mode genre style format method level status class cuisine option variant model platform operation action sort order position gender season",
    ],
    ["name", "name nickname label"],
  ] as const
).map(([sort, words]) => [sort, new Set(words.split(" "))]);

interface Described {
  readonly name: string;
  readonly words: readonly string[];
  readonly description: string;
  readonly type: ParameterType;
  readonly format: unknown;
}

function sortOf({ name, description, type, format }: Described): Sort {
  const said = typeof format === "string" ? formats.get(format) : undefined;
  if (said) return said;
  const isNumber = type === "integer" || type === "number";
  const parts = plainWords(name);
  for (const word of [...parts].reverse()) {
    const sort = sorts.find(([, known]) => known.has(word))?.[0];
    if (sort === "name" && parts.length > 1) {
      const owner = sorts.find(([, known]) => known.has(parts.at(-2) ?? ""))?.[0];
      return owner === "id" || owner === undefined ? "name" : owner;
    }
    if (sort && !(isNumber && (sort === "text" || sort === "kind"))) return sort;
  }
  for (const word of plainWords(description).slice(0, 14)) {
    const sort = sorts.find(([, known]) => known.has(word))?.[0];
    if (sort && sort !== "name" && !(isNumber && (sort === "text" || sort === "kind"))) return sort;
  }
  return isNumber ? "count" : "other";
}

const formats = new Map<string, Sort>([
  ["date", "day"],
  ["date-time", "day"],
  ["time", "time"],
  ["uri", "link"],
  ["email", "email"],
  ["uuid", "id"],
]);

function plainWords(text: string): readonly string[] {
  return (
    text
      .replace(/([\p{Ll}\d])(\p{Lu})/gu, "$1 $2")
      .toLowerCase()
      .match(/\p{L}+|\d+/gu) ?? []
  );
}

const startWords = new Set(
  "start starting from source origin initial begin beginning min minimum lower departure first low old src current after".split(
    " ",
  ),
);
const endWords = new Set(
  "end ending to target destination final finish stop max maximum upper arrival second high new dest dst until before last".split(
    " ",
  ),
);

function roleOf(name: string, description: string): Role | undefined {
  for (const words of [plainWords(name), plainWords(description).slice(0, 6)]) {
    if (words.some((word) => startWords.has(word)))
      return words.some((word) => endWords.has(word)) ? undefined : "start";
    if (words.some((word) => endWords.has(word))) return "end";
  }
  return undefined;
}

function ordinalOf(name: string, description: string): number | undefined {
  const digit = /(\d)$/.exec(name)?.[1];
  if (digit !== undefined) return Number(digit);
  const letter = /^([abcxyz])$/i.exec(name)?.[1]?.toLowerCase();
  if (letter) return "abc".includes(letter) ? "abc".indexOf(letter) + 1 : "xyz".indexOf(letter) + 1;
  const places = ["first", "second", "third", "fourth"];
  const at = [...plainWords(name), ...plainWords(description).slice(0, 4)]
    .map((word) => places.indexOf(word))
    .find((place) => place >= 0);
  return at === undefined ? undefined : at + 1;
}

/** "in seconds", "(km)", "number of days", `timeout_ms`. */
function unitOf(name: string, description: string): Unit | undefined {
  const said = /\b(?:in|of|as)\s+(?:whole\s+|the\s+)?(?:degrees\s+)?([A-Za-z]+)\b/g;
  for (const match of description.matchAll(said)) {
    const unit = findUnit(match[1] ?? "");
    if (unit && (match[1]?.length ?? 0) > 1) return unit;
  }
  const bracketed = /\((?:in\s+)?([A-Za-z]+)\)/.exec(description)?.[1];
  const own = plainWords(name).at(-1) ?? "";
  return (
    (bracketed === undefined ? undefined : findUnit(bracketed)) ??
    (own.length > 1 ? findUnit(own) : undefined)
  );
}
