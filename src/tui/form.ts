import { isObject, type JsonObject, parseJson } from "../base/json.ts";
import { sanitize, wordOf } from "../base/sanitize.ts";

/** A JSON Schema as input fields, with the text typed so far. Used for tools and for questions. */
export interface Form {
  readonly fields: readonly FormField[];
  /** Typed text by field; absent fields have their default. */
  readonly texts: Readonly<Record<string, string>>;
  /** Mistakes by field, found when the form was last sent. */
  readonly problems: Readonly<Record<string, string>>;
}

export interface FormField {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** `list`: one value per line. `json`: everything without an input of its own. */
  readonly kind: "text" | "number" | "integer" | "boolean" | "choice" | "choices" | "list" | "json";
  readonly choices: readonly FieldChoice[];
  readonly isRequired: boolean;
  /** As the user would type it. */
  readonly default: string;
}

export interface FieldChoice {
  readonly value: unknown;
  readonly title: string;
}

/** One field for each parameter, in their author's order. */
export function createForm(schema: unknown): Form {
  const { properties, required } = isObject(schema) ? schema : {};
  const needed: readonly unknown[] = Array.isArray(required) ? required : [];
  const entries = isObject(properties) ? Object.entries(properties) : [];
  return {
    fields: entries.map(([name, property]) =>
      describeField(name, isObject(property) ? property : {}, needed.includes(name)),
    ),
    texts: {},
    problems: {},
  };
}

function describeField(name: string, schema: JsonObject, isRequired: boolean): FormField {
  const isMany =
    schema.type === "array" && isObject(schema.items) && choicesOf(schema.items).length > 0;
  const choices = choicesOf(isMany ? (schema.items as JsonObject) : schema);
  const field = {
    name,
    title: readTitle(schema.title, name),
    description: sanitize(wordOf(schema.description, "")),
    kind: isMany ? ("choices" as const) : kindOf(schema, choices),
    choices,
    isRequired,
  };
  // The form sends what it shows, so a default with hidden characters is sanitised as well.
  return {
    ...field,
    default: schema.default === undefined ? "" : sanitize(writeValue(schema.default, field)),
  };
}

function kindOf({ type, items }: JsonObject, choices: readonly FieldChoice[]): FormField["kind"] {
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

/** Choices from `oneOf`, `anyOf` or `enum`, with their titles. */
function choicesOf({ oneOf, anyOf, enum: values, enumNames }: JsonObject): readonly FieldChoice[] {
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
  return sanitize(wordOf(title, write(value)))
    .replace(/\s+/g, " ")
    .trim();
}

/** The typed text, or the default. */
export function textOf({ texts }: Form, { name, default: byDefault }: FormField): string {
  // A field may be called `constructor`.
  return (Object.hasOwn(texts, name) ? texts[name] : undefined) ?? byDefault;
}

export function problemOf({ problems }: Form, { name }: FormField): string | undefined {
  return Object.hasOwn(problems, name) ? problems[name] : undefined;
}

export function fillForm(form: Form, field: string, text: string): Form {
  const { [field]: _fixed, ...problems } = form.problems;
  return { ...form, texts: { ...form.texts, [field]: text }, problems };
}

type ReadForm =
  | { readonly values: JsonObject }
  | { readonly problems: Readonly<Record<string, string>> };

/** The form's values, or its mistakes. Empty optional fields are left out. */
export function readForm(form: Form): ReadForm {
  const values: [string, unknown][] = [];
  const problems: [string, string][] = [];
  for (const field of form.fields) {
    const text = textOf(form, field);
    if (text.trim() === "") {
      if (field.isRequired) problems.push([field.name, "required"]);
      continue;
    }
    const value = readValue(text, field);
    if (value === unreadable) problems.push([field.name, `expected ${expectedValue(field)}`]);
    else values.push([field.name, value]);
  }
  return problems.length > 0
    ? { problems: Object.fromEntries(problems) }
    : { values: Object.fromEntries(values) };
}

const unreadable = Symbol("unreadable");

function readValue(text: string, field: FormField): unknown {
  const word = text.trim();
  switch (field.kind) {
    case "text":
      return text;
    case "list":
      return text.split("\n").filter((line) => line.trim() !== "");
    case "boolean":
      if (/^(y|yes|true|on|1)$/i.test(word)) return true;
      return /^(n|no|false|off|0)$/i.test(word) ? false : unreadable;
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

function readChoice(word: string, { choices }: FormField): unknown {
  const found = choices.find(({ value, title }) => write(value) === word || title === word);
  return found ? found.value : unreadable;
}

function readJson(word: string): unknown {
  const value = parseJson(word);
  if (value !== undefined) return value;
  // A bare word is taken as a string; anything that starts like JSON is not.
  return /^[[{"]/.test(word) ? unreadable : word;
}

/** What to type into a field, in words; empty for any text. */
export function expectedValue({ kind, choices }: FormField): string {
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
    case "list":
      return "one per line (Alt-Enter)";
    case "json":
      return "valid JSON";
    case "text":
      return "";
  }
}

function writeValue(
  value: unknown,
  { kind, choices }: Pick<FormField, "kind" | "choices">,
): string {
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
