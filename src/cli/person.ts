import { randomInt } from "node:crypto";
import { HallError } from "../base/errors.ts";
import { isStartedByGuildhall } from "../base/processes.ts";
import { readUserTrust } from "../config/unattended.ts";
import type { Reviewer } from "../hall/review.ts";
import { askAtTerminal } from "./terminal.ts";

/**
 * Approving needs a person: someone who types a word that appears only on the terminal of this
 * process. A program that runs commands, such as a model's shell, has none. Machines without people
 * are allowed by `trust.unattended` in the user's own file.
 */
export interface Person {
  /** Resolves when a person has confirmed, once for the whole command. Throws DENIED or CANCELLED. */
  confirm(what: string): Promise<void>;
}

export function createPerson(): Person {
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
    const start = attempt === 1 ? `\n${what}\n` : "";
    const answer = await askAtTerminal(`${start}Type ${word} to confirm: `);
    if (answer === word) return;
    if (answer === "") break;
    if (answer === undefined)
      throw new HallError("DENIED", "approving needs a person at a terminal", {
        hint: "Run the command in a terminal. For a machine that nobody attends, its user can allow approvals in their own config file; a variable or a project's file does not count.",
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
  person: Person = createPerson(),
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
    mayLoadModules: async (patterns) => (await inner.mayLoadModules(patterns)) && isConfirmed(),
    mayUseTexts: async (texts) => (await inner.mayUseTexts(texts)) && isConfirmed(),
    async review(reviews) {
      const decisions = await inner.review(reviews);
      return decisions.size > 0 && (await isConfirmed()) ? decisions : new Map();
    },
  };
}
