import { makeHarmless, wordOf } from "../base/harmless.ts";
import { isObject, type JsonObject } from "../base/json.ts";

/** A JSON Schema as fields a person fills in, one at a time, with what was typed so far. For tools, and for what servers ask. */
export interface Form {
  readonly fields: readonly Field[];
  /** What was typed, by field; a field that is not in here has its default. */
  readonly texts: Readonly<Record<string, string>>;
  /** What is wrong with it, by field, since the last try to send it. */
  readonly problems: Readonly<Record<string, string>>;
}

export interface Field {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** `json` for what has no form of its own: the text is read as JSON. `list`: one value a line. */
  readonly kind: "text" | "number" | "integer" | "boolean" | "choice" | "choices" | "list" | "json";
  readonly choices: readonly Choice[];
  readonly isRequired: boolean;
  /** As text, the way a person would type it. */
  readonly default: string;
}

export interface Choice {
  readonly value: unknown;
  readonly title: string;
}

export function createForm(schema: unknown): Form {
  const { properties, required } = isObject(schema) ? schema : {};
  const needed: readonly unknown[] = Array.isArray(required) ? required : [];
  const entries = isObject(properties) ? Object.entries(properties) : [];
  const fields = entries.map(([name, property]) =>
    describeField(name, isObject(property) ? property : {}, needed.includes(name)),
  );
  // What is needed comes first; the rest in the order of the schema.
  return {
    fields: [
      ...fields.filter(({ isRequired }) => isRequired),
      ...fields.filter(({ isRequired }) => !isRequired),
    ],
    texts: {},
    problems: {},
  };
}

function describeField(name: string, schema: JsonObject, isRequired: boolean): Field {
  const isMany =
    schema.type === "array" && isObject(schema.items) && choicesOf(schema.items).length > 0;
  const choices = choicesOf(isMany ? (schema.items as JsonObject) : schema);
  const field = {
    name,
    title: readTitle(schema.title, name),
    description: makeHarmless(wordOf(schema.description, "")),
    kind: isMany ? ("choices" as const) : kindOf(schema, choices),
    choices,
    isRequired,
  };
  // What is shown is what is sent: a default with something unseen in it is not a person's word.
  return {
    ...field,
    default: schema.default === undefined ? "" : makeHarmless(writeValue(schema.default, field)),
  };
}

function kindOf({ type, items }: JsonObject, choices: readonly Choice[]): Field["kind"] {
  if (choices.length > 0) return "choice";
  const known = Array.isArray(type) ? type.find((one) => one !== "null") : type;
  switch (known) {
    case "string":
      return "text";
    case "number":
    case "integer":
    case "boolean":
      return known;
    case "array":
      return isObject(items) && items.type === "string" ? "list" : "json";
    default:
      return "json";
  }
}

/** Values, and what they are called, in each of the ways schemas say it. */
function choicesOf({ oneOf, anyOf, enum: values, enumNames }: JsonObject): readonly Choice[] {
  const named = [oneOf, anyOf].find(
    (options) =>
      Array.isArray(options) &&
      options.length > 0 &&
      options.every((option) => isObject(option) && "const" in option),
  );
  if (Array.isArray(named))
    return named
      .filter(isObject)
      .map((option) => ({ value: option.const, title: readTitle(option.title, option.const) }));
  const titles: readonly unknown[] = Array.isArray(enumNames) ? enumNames : [];
  return Array.isArray(values)
    ? values.map((value, index) => ({ value, title: readTitle(titles[index], value) }))
    : [];
}

function readTitle(title: unknown, value: unknown): string {
  return makeHarmless(wordOf(title, write(value)))
    .replace(/\s+/g, " ")
    .trim();
}

/** What a field shows: what was typed, else its default. */
export function textOf({ texts }: Form, { name, default: usual }: Field): string {
  // A field may be called `constructor`.
  return (Object.hasOwn(texts, name) ? texts[name] : undefined) ?? usual;
}

/** What is wrong with what a field shows. */
export function problemOf({ problems }: Form, { name }: Field): string | undefined {
  return Object.hasOwn(problems, name) ? problems[name] : undefined;
}

export function fillForm(form: Form, field: string, text: string): Form {
  const { [field]: _mended, ...problems } = form.problems;
  return { ...form, texts: { ...form.texts, [field]: text }, problems };
}

export type ReadForm =
  | { readonly values: JsonObject }
  | { readonly problems: Readonly<Record<string, string>> };

/** The values of the form, or what is wrong with it. Fields that are empty and not needed are left out. */
export function readForm(form: Form): ReadForm {
  const values: [string, unknown][] = [];
  const problems: [string, string][] = [];
  for (const field of form.fields) {
    const text = textOf(form, field);
    if (text.trim() === "") {
      if (field.isRequired) problems.push([field.name, "this is needed"]);
      continue;
    }
    const value = readValue(text, field);
    if (value === unreadable) problems.push([field.name, `this is not ${wanted(field)}`]);
    else values.push([field.name, value]);
  }
  return problems.length > 0
    ? { problems: Object.fromEntries(problems) }
    : { values: Object.fromEntries(values) };
}

const unreadable = Symbol("unreadable");

function readValue(text: string, field: Field): unknown {
  const word = text.trim();
  switch (field.kind) {
    case "text":
      return text;
    case "list":
      return text.split("\n").filter((line) => line.trim() !== "");
    case "boolean":
      return /^(y|yes|true|on|1)$/i.test(word)
        ? true
        : /^(n|no|false|off|0)$/i.test(word)
          ? false
          : unreadable;
    case "number":
    case "integer": {
      const number = Number(word);
      return Number.isFinite(number) && (field.kind === "number" || Number.isInteger(number))
        ? number
        : unreadable;
    }
    case "choice":
      return readChoice(word, field);
    case "choices": {
      const read = word.split(/\s*[,\n]\s*/).map((one) => readChoice(one, field));
      return read.includes(unreadable) ? unreadable : read;
    }
    case "json":
      return readJson(word);
  }
}

function readChoice(word: string, { choices }: Field): unknown {
  const found = choices.find(({ value, title }) => write(value) === word || title === word);
  return found ? found.value : unreadable;
}

function readJson(word: string): unknown {
  try {
    return JSON.parse(word);
  } catch {
    // Words without quotes are meant as they are; what began as JSON is not.
    return /^[[{"]/.test(word) ? unreadable : word;
  }
}

function wanted({ kind, choices }: Field): string {
  switch (kind) {
    case "number":
      return "a number";
    case "integer":
      return "a whole number";
    case "boolean":
      return "yes or no";
    case "choice":
    case "choices":
      return `one of: ${choices.map(({ title }) => title).join(", ")}`;
    default:
      return "valid JSON";
  }
}

function writeValue(value: unknown, { kind, choices }: Pick<Field, "kind" | "choices">): string {
  if (kind === "choice")
    return choices.find((choice) => choice.value === value)?.title ?? write(value);
  if (kind === "boolean") return value === true ? "yes" : "no";
  if ((kind === "choices" || kind === "list") && Array.isArray(value))
    return value.map(write).join(kind === "list" ? "\n" : ", ");
  return write(value);
}

function write(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
