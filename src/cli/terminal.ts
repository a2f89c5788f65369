import { randomInt } from "node:crypto";
import { constants, openSync, readSync, writeSync } from "node:fs";
import { createInterface } from "node:readline/promises";
import { ReadStream } from "node:tty";
import { HallError } from "../base/errors.ts";
import { isObject, type JsonObject } from "../base/json.ts";
import { isStartedByGuildhall } from "../base/processes.ts";
import { visible, visibleLines } from "../base/sanitize.ts";
import { readUserTrust } from "../config/user-trust.ts";
import type { Reviewer } from "../hall/review.ts";
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
async function askAtTerminal(question: string): Promise<string | undefined> {
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

/**
 * Answers a question of a step at the terminal. A choice that also takes free text needs one line: a number, a letter,
 * "yes", or the answer itself. Every other question is shown as a form.
 */
export async function answerStep(
  params: JsonObject,
  ask: AskLine = askLine,
  show: (text: string) => void = (text) => void process.stderr.write(`${text}\n`),
): Promise<JsonObject> {
  const { message, requestedSchema } = params;
  const fields = isObject(requestedSchema) ? requestedSchema.properties : undefined;
  const { answer, other } = isObject(fields) ? fields : {};
  if (!isObject(answer) || !Array.isArray(answer.enum) || !isObject(other))
    return answerForm(params, ask, show);

  const options = answer.enum.map(String);
  const [recommended = ""] = options;
  const titles: readonly unknown[] = Array.isArray(answer.enumNames) ? answer.enumNames : options;
  show(visibleLines(String(message ?? "")));
  for (const [at, title] of titles.entries()) show(`  ${at + 1}. ${visible(String(title))}`);
  try {
    for (;;) {
      const line = (await ask(`A number, or your own answer [${visible(recommended)}]: `)).trim();
      const chosen = chooseOption(line, options);
      if (chosen !== undefined) return accept(chosen, "");
      if (!/^(?:\d+|\p{L})$/u.test(line)) return accept(recommended, line);
      show(`Enter a number from 1 to ${options.length}, or a few words.`);
    }
  } catch {
    // The input has ended.
    return { action: "cancel" };
  }
}

function accept(answer: string, other: string): JsonObject {
  return { action: "accept", content: { answer, other } };
}

function chooseOption(line: string, options: readonly string[]): string | undefined {
  if (/^(?:|y|yes|ok|recommended)$/i.test(line)) return options[0];
  if (/^\d+$/.test(line)) return options[Number(line) - 1];
  if (/^[a-z]$/i.test(line)) return options[line.toUpperCase().charCodeAt(0) - 65];
  return options.find((option) => option.toLowerCase() === line.toLowerCase());
}

/**
 * Approving needs a person: someone who types a word that appears only on the terminal of this
 * process. A program that runs commands, such as a model's shell, has none. Machines without people
 * are allowed by `trust.unattended` in the user's own file.
 */
export interface PersonAtTerminal {
  /** Resolves when a person has confirmed, once for the whole command. Throws DENIED or CANCELLED. */
  confirm(what: string): Promise<void>;
}

export function createPerson(): PersonAtTerminal {
  let confirmed: Promise<void> | undefined;
  return {
    confirm(what) {
      confirmed ??= requirePerson(what);
      return confirmed;
    },
  };
}

const attemptsMax = 3;

async function requirePerson(what: string): Promise<void> {
  await refuseIfStartedByGuildhall();
  const { file, isUnattended } = await readUserTrust();
  if (isUnattended) return;

  const word = pickWord();
  for (let attempt = 1; attempt <= attemptsMax; attempt++) {
    const start = attempt === 1 ? `\n${what}\n` : "That was not the word. ";
    const answer = await askAtTerminal(`${start}Type ${word} to confirm: `);
    if (answer === word) return;
    if (answer === "") break;
    if (answer === undefined)
      throw new HallError("DENIED", "approving needs a person at a terminal", {
        hint: "Run the command in a terminal. On an unattended machine, allow approvals in the user's own config file; variables and project files have no effect.",
        next: [{ do: "edit-config", field: "trust.unattended", file }],
      });
  }
  throw new HallError("CANCELLED", "nothing was approved: the word was not typed", {
    hint: "Run the command again and type the word that it shows.",
  });
}

/** Unpredictable, so that it cannot be typed without reading it. */
function pickWord(): string {
  const syllable = (): string => `${pick("bdfgklmnprstvz")}${pick("aeiou")}`;
  return `${syllable()}${syllable()}${syllable()}`;
}

function pick(letters: string): string {
  return letters.charAt(randomInt(letters.length));
}

/** Throws DENIED in a process that a hall has started, directly or not. */
export async function refuseIfStartedByGuildhall(): Promise<void> {
  if (await isStartedByGuildhall())
    throw new HallError("DENIED", "a process that a hall has started cannot approve anything", {
      hint: "Run the command in a terminal of your own.",
    });
}

/** A reviewer whose approvals count once a person has confirmed them. */
export interface ConfirmedReviewer extends Reviewer {
  /** Set if something was left open because nobody could confirm it. */
  refusal(): HallError | undefined;
}

export function requireConfirmation(
  inner: Reviewer,
  what: string,
  person: PersonAtTerminal = createPerson(),
): ConfirmedReviewer {
  let refusal: HallError | undefined;

  async function isConfirmed(): Promise<boolean> {
    try {
      await person.confirm(what);
      return true;
    } catch (error) {
      if (!(error instanceof HallError && error.code === "DENIED")) throw error;
      refusal = error;
      return false;
    }
  }

  return {
    refusal: () => refusal,
    async chooseStarts(requests) {
      const names = await inner.chooseStarts(requests);
      return names.length > 0 && (await isConfirmed()) ? names : [];
    },
    mayTakeOver: async (found) => (await inner.mayTakeOver(found)) && isConfirmed(),
    mayLoadModules: async (...asked) => (await inner.mayLoadModules(...asked)) && isConfirmed(),
    mayUseTexts: async (texts) => (await inner.mayUseTexts(texts)) && isConfirmed(),
    async review(reviews) {
      const decisions = await inner.review(reviews);
      return decisions.size > 0 && (await isConfirmed()) ? decisions : new Map();
    },
  };
}
