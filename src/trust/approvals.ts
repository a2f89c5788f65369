import { randomBytes } from "node:crypto";
import { HallError } from "../base/errors.ts";

/**
 * Calls that wait for a person's yes. Each is known by a token, bound to one tool, one set of arguments and one caller. The token only
 * names the question: answering it takes the control socket or the client's own user, so a model that is told to approve its own call cannot.
 */
export interface Approvals {
  /** Opens a question, or finds the open one about the same call. */
  open(subject: Subject): Pending;
  /** A yes that was given for exactly this call; it is used up. */
  take(subject: Subject): boolean;
  pending(): readonly Pending[];
  /** A person's answer. Throws NOT_FOUND for a token that is unknown, used or expired. */
  answer(token: string, answer: Answer): Pending;
}

export interface Subject {
  readonly tool: string;
  readonly argumentsHash: string;
  readonly caller: string;
  /** The call as a person reads it. */
  readonly preview: string;
  readonly why: string;
}

export interface Pending extends Subject {
  readonly token: string;
  readonly askedAt: number;
  readonly expiresAt: number;
  /** Settles when somebody answers it elsewhere; never when nobody does. */
  readonly answered: Promise<Answer>;
}

/** `hall`: as long as this hall runs. */
export type Answer = "once" | "hall" | "always" | "no";

export const answers: readonly Answer[] = ["once", "hall", "always", "no"];

/** How long a question stays open, and how long a yes waits for its call. */
export const approvalMsMax = 60_000;
const pendingMax = 1_000;

interface Open extends Pending {
  resolve(answer: Answer): void;
}

export function createApprovals(now: () => number = Date.now): Approvals {
  const open = new Map<string, Open>();
  const granted = new Map<string, number>();

  function sweep(): void {
    const time = now();
    for (const [token, { expiresAt }] of open) if (expiresAt <= time) open.delete(token);
    for (const [key, expiresAt] of granted) if (expiresAt <= time) granted.delete(key);
  }

  return {
    open(subject) {
      sweep();
      const same = [...open.values()].find((pending) => keyOf(pending) === keyOf(subject));
      if (same) return same;
      if (open.size >= pendingMax) throw new HallError("OVERLOADED", `${pendingMax} calls already wait for approval`);
      let resolve = (_answer: Answer): void => {};
      const answered = new Promise<Answer>((settle) => {
        resolve = settle;
      });
      const pending: Open = { ...subject, token: randomBytes(12).toString("base64url"), askedAt: now(), expiresAt: now() + approvalMsMax, answered, resolve };
      open.set(pending.token, pending);
      return pending;
    },
    take(subject) {
      sweep();
      return granted.delete(keyOf(subject));
    },
    pending() {
      sweep();
      return [...open.values()];
    },
    answer(token, answer) {
      sweep();
      const pending = open.get(token);
      if (!pending)
        throw new HallError("NOT_FOUND", "no call waits under this token: it is unknown, answered or expired", { hint: "See `guildhall approvals`." });
      open.delete(token);
      if (answer !== "no") granted.set(keyOf(pending), now() + approvalMsMax);
      pending.resolve(answer);
      return pending;
    },
  };
}

function keyOf({ tool, argumentsHash, caller }: Subject): string {
  return `${tool}\n${argumentsHash}\n${caller}`;
}
