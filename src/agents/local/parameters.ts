import { isObject, type JsonObject } from "../../base/json.ts";
import { wordsOf } from "../../ranking/words.ts";
import { findDuration, type MentionKind } from "./task.ts";

/** One parameter of a tool, as its schema describes it. */
export interface ToolParameter {
  readonly name: string;
  readonly type: "string" | "integer" | "number" | "boolean" | "array" | "object" | "any";
  readonly isRequired: boolean;
  readonly fallback?: unknown;
  readonly choices?: readonly unknown[] | undefined;
  /** Stems of its name. */
  readonly words: readonly string[];
  readonly description: string;
  /** Kinds of mention that it takes; none for free text and names. */
  readonly takes: readonly MentionKind[];
  /** Takes free text, such as a query or a message. */
  readonly isText: boolean;
  /** Takes an identifier or a code: a plain name cannot be right. */
  readonly isCode: boolean;
  readonly wantsTime: boolean;
  /** Which of two ends it is. */
  readonly role?: "from" | "to" | undefined;
  /** Milliseconds of its unit, for a duration. */
  readonly unitMs?: number | undefined;
}

const known = new WeakMap<JsonObject, readonly ToolParameter[]>();
const parametersMax = 60;

/** The top-level parameters, required ones first. */
export function parametersOf(schema: JsonObject): readonly ToolParameter[] {
  const required = new Set(Array.isArray(schema.required) ? schema.required : []);
  const properties = isObject(schema.properties) ? Object.entries(schema.properties) : [];
  const parameters =
    known.get(schema) ??
    properties
      .slice(0, parametersMax)
      .map(([name, property]) => readParameter(name, property, required.has(name)))
      .sort((a, b) => Number(b.isRequired) - Number(a.isRequired));
  known.set(schema, parameters);
  return parameters;
}

/** By the words of a parameter's name; the first that matches. */
const kindsByName: readonly (readonly [RegExp, readonly MentionKind[]])[] = [
  [/\b(?:source|document|resource)\b/, ["url", "path"]],
  [/\b(?:url|uri|link|href|website|webpage)s?$/, ["url"]],
  [/\b(?:path|file|filename|folder|directory|dir)s?$/, ["path"]],
  [/\b(?:email|recipient|mail)s?$/, ["email"]],
  [/\b(?:timezone|time zone|tz|zone)$/, ["zone"]],
  [/\b(?:expression|formula)$/, ["arithmetic"]],
  [/\b(?:date|day|deadline|birthday|datetime|timestamp|since|until|time|before|after)$/, ["date"]],
];
const kindsByDescription: readonly (readonly [RegExp, readonly MentionKind[]])[] = [
  [/\bIANA\b/, ["zone"]],
  [/\b(?:YYYY-MM-DD|ISO 8601)\b/, ["date"]],
  [/\b(?:arithmetic|math\w*) expression\b/i, ["arithmetic"]],
];
const kindsByFormat: Readonly<Record<string, readonly MentionKind[]>> = {
  uri: ["url"],
  email: ["email"],
  date: ["date"],
  "date-time": ["date"],
};
const textName =
  /\b(?:query|q|text|content|message|question|prompt|keywords?|terms?|topic|subject|search|phrase|sentence|string|input|words?)$/;
const codeName =
  /\b(?:ids?|key|code|token|symbol|ticker|isbn|uuid|hash|sha|number|sql|regex|pattern)$/;

function readParameter(name: string, given: unknown, isRequired: boolean): ToolParameter {
  const schema = withoutNull(given);
  const items = isObject(schema.items) ? schema.items : {};
  const type = typeOf(schema);
  const spaced = name
    .replace(/([\p{Ll}\d])(\p{Lu})/gu, "$1 $2")
    .replace(/[_-]+/g, " ")
    .toLowerCase();
  const description = typeof schema.description === "string" ? schema.description : "";
  const format = String(schema.format ?? items.format ?? "");
  const isFree = type === "string" || type === "array" || type === "any";
  const kinds =
    kindsByFormat[format] ??
    kindsByName.find(([pattern]) => pattern.test(spaced))?.[1] ??
    kindsByDescription.find(([pattern]) => pattern.test(description))?.[1];
  const inWords = /\bin ([a-z]+)\b/i.exec(description)?.[1];
  return {
    name,
    type,
    isRequired,
    fallback: schema.default,
    choices: choicesOf(schema) ?? choicesOf(items),
    words: wordsOf(spaced),
    description,
    takes: isFree ? (kinds ?? []) : [],
    isText: isFree && textName.test(spaced),
    isCode: codeName.test(spaced) || /\b(?:ISO|IATA|codes?|ticker)\b/.test(description),
    wantsTime: format === "date-time" || /\b(?:time|timestamp|datetime)\b/.test(spaced),
    role: roleOf(spaced),
    unitMs: findDuration(spaced.split(" ").at(-1) ?? "") ?? findDuration(inWords ?? ""),
  };
}

function roleOf(spaced: string): ToolParameter["role"] {
  if (/\b(?:from|source|start|origin|since|after)\b/.test(spaced)) return "from";
  return /\b(?:to|target|end|destination|until|before)\b/.test(spaced) ? "to" : undefined;
}

/** Of alternatives the first that is not null. */
function withoutNull(schema: unknown): JsonObject {
  if (!isObject(schema)) return {};
  const options = [schema.anyOf, schema.oneOf].find(Array.isArray);
  const option = options?.find((each) => isObject(each) && each.type !== "null");
  return isObject(option) ? { ...schema, ...option } : schema;
}

function typeOf({ type, enum: choices }: JsonObject): ToolParameter["type"] {
  const stated = Array.isArray(type) ? type.find((each) => each !== "null") : type;
  const types = ["string", "integer", "number", "boolean", "array", "object"] as const;
  return types.find((each) => each === stated) ?? (Array.isArray(choices) ? "string" : "any");
}

function choicesOf(schema: JsonObject): readonly unknown[] | undefined {
  if (Array.isArray(schema.enum)) return schema.enum.slice(0, 200);
  return "const" in schema ? [schema.const] : undefined;
}
