import { isObject, type JsonObject } from "../base/json.ts";
import type { Tool } from "../tool.ts";

/** Facts about a tool that its parameters show. */
export interface ParameterMarks {
  /** "a command", "code" or "SQL" if it runs what it is given. */
  readonly program: string | undefined;
  readonly hasAddress: boolean;
  readonly hasPath: boolean;
}

/** `isReading`: the tool's name says that it reads, so that its `code` is that of a country or a currency. */
export function findParameters(tool: Tool, isReading: boolean): ParameterMarks {
  const isSql = namesSql(tool.name) || namesSql(tool.description);
  let program: string | undefined;
  let hasAddress = false;
  let hasPath = false;
  for (const [name, schema] of listParameters(tool.inputSchema)) {
    const words = wordsOf(name);
    const last = words.at(-1) ?? "";
    program ??= isFree(schema) ? programIn(words, { schema, isSql, isReading }) : undefined;
    hasAddress ||= words.some((word) => addresses.has(word));
    hasPath ||= paths.has(last);
  }
  return { program, hasAddress, hasPath };
}

const addresses = new Set(
  "url urls uri uris href link links host hostname endpoint webhook domain website".split(" "),
);
const paths = new Set("path paths file files filename filepath directory folder".split(" "));
const commands = new Set("command commands cmd argv shell bash".split(" "));
const scripts = new Set("script scripts program javascript typescript python js".split(" "));
const languages = new Set([...scripts, ..."source shell bash ruby lua lisp".split(" ")]);

function programIn(
  words: readonly string[],
  {
    schema,
    isSql,
    isReading,
  }: { readonly schema: JsonObject; readonly isSql: boolean; readonly isReading: boolean },
): string | undefined {
  const last = words.at(-1) ?? "";
  const before = words.at(-2);
  if (words.includes("sql")) return "SQL";
  if ((last === "query" || last === "statement") && (isSql || namesSql(schema.description)))
    return "SQL";
  if (commands.has(last)) return "a command";
  if (scripts.has(last)) return "code";
  // Not `country_code`.
  const isCode = last === "code" && (before === undefined ? !isReading : languages.has(before));
  return isCode ? "code" : undefined;
}

function namesSql(text: unknown): boolean {
  return typeof text === "string" && /(?:^|[^a-z])sql(?:$|[^a-z])/i.test(text.slice(0, 10_000));
}

/** False if the schema allows too little for a program: a choice, a number, a short code. */
function isFree({ type, enum: choices, const: only, maxLength }: JsonObject): boolean {
  if (choices !== undefined || only !== undefined) return false;
  if (typeof maxLength === "number" && maxLength <= 16) return false;
  return type !== "number" && type !== "integer" && type !== "boolean";
}

const parametersMax = 500;

/** The parameters at every level: a list of requests has a URL as well. */
function listParameters(schema: JsonObject): readonly (readonly [string, JsonObject])[] {
  const found: [string, JsonObject][] = [];
  const waiting: unknown[] = [schema];
  for (let seen = 0; waiting.length > 0 && seen < parametersMax; seen++) {
    const part = waiting.shift();
    if (!isObject(part)) continue;
    const { properties, items, additionalProperties, $defs, definitions } = part;
    for (const [name, inner] of Object.entries(isObject(properties) ? properties : {})) {
      found.push([name, isObject(inner) ? inner : {}]);
      waiting.push(inner);
    }
    waiting.push(items, additionalProperties);
    for (const group of [$defs, definitions])
      if (isObject(group)) waiting.push(...Object.values(group));
    for (const group of [part.anyOf, part.oneOf, part.allOf])
      if (Array.isArray(group)) waiting.push(...group);
  }
  return found;
}

/** Lower-case words of `deleteRepo`, `delete_repo`, `HTTPDelete`. */
export function wordsOf(name: string): readonly string[] {
  return name
    .normalize("NFKC")
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .replace(/([A-Z]+)([A-Z][a-z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== "");
}
