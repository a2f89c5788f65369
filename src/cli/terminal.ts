import { createInterface } from "node:readline/promises";
import { HallError } from "../base/errors.ts";

/** Asks a person for one line. Rejects when there is none to ask. */
export type AskLine = (question: string) => Promise<string>;

/** Whether a person can be asked: questions are never put to a pipe, nor into JSON. */
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
    // The end of the input answers nothing.
    const ended = new Promise<never>((_resolve, reject) =>
      lines.once("close", () => reject(new HallError("CANCELLED", "nobody answered"))),
    );
    return (await Promise.race([lines.question(question), ended])).trim();
  } finally {
    lines.close();
  }
};

/** Only a clear yes is one. */
export async function askYes(question: string, ask: AskLine = askLine): Promise<boolean> {
  return /^y(es)?$/i.test(await ask(`${question} [y/N] `));
}
