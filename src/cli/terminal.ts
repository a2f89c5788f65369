import { constants, openSync, readSync, writeSync } from "node:fs";
import { createInterface } from "node:readline/promises";
import { ReadStream } from "node:tty";
import { HallError } from "../base/errors.ts";
import type { JsonObject } from "../base/json.ts";
import { visibleLines } from "../base/sanitize.ts";
import {
  createForm,
  type Form,
  type FormField,
  fillForm,
  problemOf,
  readForm,
} from "../tui/form.ts";

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

/** Asks a question about trust: keys typed before it was shown do not answer it. */
export const askFresh: AskLine = (question) => {
  dropTypeAhead();
  return askLine(question);
};

/** Drops the keys that were typed and not read yet. */
export function dropTypeAhead(): void {
  const { stdin } = process;
  if (stdin.isTTY && stdin.readableLength > 0) {
    stdin.read();
    // Reading has started it again.
    stdin.resume().pause();
  }
  const terminal = openTerminal(constants.O_RDWR | constants.O_NONBLOCK);
  if (terminal === undefined) return;
  const input = new ReadStream(terminal);
  // Otherwise the beginning of a line could not be read.
  input.setRawMode(true);
  try {
    while (readSync(terminal, Buffer.alloc(4_096)) > 0);
  } catch {
    // EAGAIN: nothing is left.
  } finally {
    input.setRawMode(false);
    input.destroy();
  }
}

/**
 * Asks on the terminal that this process belongs to, wherever its input and output go. Undefined if it
 * has none, or if the terminal was closed.
 */
export async function askAtTerminal(question: string): Promise<string | undefined> {
  dropTypeAhead();
  const terminal = openTerminal();
  if (terminal === undefined) return undefined;
  writeSync(terminal, question);
  const input = new ReadStream(terminal);
  try {
    for await (const line of createInterface({ input })) return line.trim();
    return undefined;
  } finally {
    input.destroy();
  }
}

function openTerminal(flags: number = constants.O_RDWR): number | undefined {
  try {
    return openSync("/dev/tty", flags);
  } catch {
    return undefined;
  }
}

/** True only for "y" or "yes". */
export async function askYes(question: string, ask: AskLine = askLine): Promise<boolean> {
  return /^y(es)?$/i.test(await ask(`${question} [y/N] `));
}

/** Throws INVALID_PARAMS where nobody can be asked, CANCELLED unless the answer is yes. */
export async function requireYes(
  what: string,
  question: string,
  options: Parameters<typeof isAttended>[0],
): Promise<void> {
  if (options.yes) return;
  if (!isAttended(options)) throw confirmationMissing(what);
  if (!(await askYes(question)))
    throw new HallError("CANCELLED", "nothing was changed", { hint: "Answer y to confirm." });
}

export function confirmationMissing(what: string): HallError {
  return new HallError("INVALID_PARAMS", `${what} must be confirmed`, {
    hint: "Run it in a terminal, or with --yes.",
  });
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
  let form = createForm(requestedSchema);
  try {
    for (const field of form.fields) form = await askField(form, field, ask, show);
  } catch {
    return { action: "cancel" };
  }
  const read = readForm(form);
  return { action: "accept", content: "values" in read ? read.values : {} };
}

function showOnStderr(text: string): void {
  process.stderr.write(`${text}\n`);
}

/** Asks until the line fits the field. A choice may be given by its number. */
async function askField(
  form: Form,
  field: FormField,
  ask: AskLine,
  show: (text: string) => void,
): Promise<Form> {
  const { name, title, choices, default: byDefault } = field;
  for (const [at, choice] of choices.entries()) show(`  ${at + 1}. ${choice.title}`);
  const hint = byDefault === "" ? "" : ` [${byDefault}]`;
  for (;;) {
    const line = await ask(`${title}${hint}: `);
    const text = choices[Number(line) - 1]?.title ?? line;
    const filled = fillForm(form, name, line === "" ? byDefault : text);
    const read = readForm(filled);
    const problem = "problems" in read ? problemOf({ ...filled, ...read }, field) : undefined;
    if (problem === undefined) return filled;
    show(problem);
  }
}
