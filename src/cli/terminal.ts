import { createInterface } from "node:readline/promises";
import { HallError } from "../base/errors.ts";
import { isObject, type JsonObject } from "../base/json.ts";
import { visible, visibleLines } from "../base/sanitize.ts";

/** Questions to the person at the terminal. */

/** Asks for one line. Rejects at the end of the input. */
export type AskLine = (question: string) => Promise<string>;

/** True if a person can be asked: not in a pipe, and not with --json or --yes. */
export function isAttended({
  yes = false,
  json = false,
}: {
  readonly yes?: boolean | undefined;
  readonly json?: boolean | undefined;
}): boolean {
  return !yes && !json && process.stdin.isTTY === true && process.stdout.isTTY === true;
}

export const askLine: AskLine = async (question) => {
  const lines = createInterface({ input: process.stdin, output: process.stdout });
  try {
    const ended = new Promise<never>((_resolve, reject) =>
      lines.once("close", () => reject(new HallError("CANCELLED", "no answer was given"))),
    );
    return (await Promise.race([lines.question(question), ended])).trim();
  } finally {
    lines.close();
  }
};

/** True only for "y" or "yes". */
export async function askYes(question: string, ask: AskLine = askLine): Promise<boolean> {
  return /^y(es)?$/i.test(await ask(`${question} [y/N] `));
}

/**
 * Answers an elicitation: shows the message, then asks for each field. An empty line takes the
 * default; the end of the input cancels.
 */
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
        ? `Enter a number from 1 to ${choices.length}.`
        : `Enter ${expectedValue(schema.type)}.`,
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

/** Undefined for a line that does not fit the field. */
function readValue(line: string, { type }: JsonObject, choices: readonly Choice[]): unknown {
  if (choices.length > 0)
    return (choices[Number(line) - 1] ?? choices.find(({ value }) => value === line))?.value;
  if (type === "boolean") return readBoolean(line);
  if (type !== "number" && type !== "integer") return line;
  const number = Number(line);
  const isValid = Number.isFinite(number) && (type === "number" || Number.isInteger(number));
  return isValid ? number : undefined;
}

function readBoolean(line: string): boolean | undefined {
  if (/^(y(es)?|true)$/i.test(line)) return true;
  return /^(no?|false)$/i.test(line) ? false : undefined;
}

function expectedValue(type: unknown): string {
  if (type === "boolean") return "yes or no";
  return type === "integer" ? "a whole number" : "a number";
}
