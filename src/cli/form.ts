import { isObject, type JsonObject } from "../base/json.ts";
import { visible, visibleLines } from "../base/text.ts";
import { type AskLine, askLine } from "./terminal.ts";

/** Answers an elicitation at a terminal: the message, then one line for each field. An empty line takes the default; the end of the input cancels. */
export async function answerForm(
  params: JsonObject,
  ask: AskLine = askLine,
  show: (text: string) => void = showOnStderr,
): Promise<JsonObject> {
  const { message, requestedSchema } = params;
  show(visibleLines(String(message ?? "The tool asks:")));
  const properties =
    isObject(requestedSchema) && isObject(requestedSchema.properties)
      ? requestedSchema.properties
      : {};
  const content: Record<string, unknown> = {};
  try {
    for (const [name, schema] of Object.entries(properties))
      content[name] = await askField(name, isObject(schema) ? schema : {}, ask, show);
  } catch {
    // Nobody answers any more.
    return { action: "cancel" };
  }
  return { action: "accept", content };
}

function showOnStderr(text: string): void {
  process.stderr.write(`${text}\n`);
}

async function askField(
  name: string,
  schema: JsonObject,
  ask: AskLine,
  show: (text: string) => void,
): Promise<unknown> {
  const choices = choicesOf(schema);
  choices.forEach(({ title }, index) => void show(`  ${index + 1}. ${visible(title)}`));
  const fallback = schema.default === undefined ? "" : ` [${visible(String(schema.default))}]`;
  for (;;) {
    const line = await ask(`${visible(String(schema.title ?? name))}${fallback}: `);
    const value = line === "" ? schema.default : readValue(line, schema, choices);
    if (value !== undefined) return value;
    show(
      choices.length > 0
        ? `Answer with a number from 1 to ${choices.length}.`
        : `That is not ${describe(schema.type)}.`,
    );
  }
}

interface Choice {
  readonly value: unknown;
  readonly title: string;
}

function choicesOf({ oneOf, enum: values, enumNames }: JsonObject): readonly Choice[] {
  const titles: readonly unknown[] = Array.isArray(enumNames) ? enumNames : [];
  if (Array.isArray(oneOf))
    return oneOf
      .filter(isObject)
      .map((choice) => ({ value: choice.const, title: String(choice.title ?? choice.const) }));
  return Array.isArray(values)
    ? values.map((value, index) => ({ value, title: String(titles[index] ?? value) }))
    : [];
}

/** Undefined for what does not fit. */
function readValue(line: string, { type }: JsonObject, choices: readonly Choice[]): unknown {
  if (choices.length > 0)
    return (choices[Number(line) - 1] ?? choices.find(({ value }) => value === line))?.value;
  if (type === "boolean")
    return /^y(es)?$|^true$/i.test(line) ? true : /^no?$|^false$/i.test(line) ? false : undefined;
  if (type !== "number" && type !== "integer") return line;
  const number = Number(line);
  return Number.isFinite(number) && (type === "number" || Number.isInteger(number))
    ? number
    : undefined;
}

function describe(type: unknown): string {
  return type === "boolean" ? "yes or no" : type === "integer" ? "a whole number" : "a number";
}
