import { randomBytes } from "node:crypto";
import { HallError } from "../base/errors.ts";
import type { Target } from "../tool.ts";
import { pinOf } from "./pin.ts";

/**
 * Calls that wait for a person's yes. Each is known by a token, bound to one tool as it was then, one set of arguments and one caller. The
 * token only names the question: answering it takes the control socket or the client's own user, so a model that is told to approve its own
 * call cannot.
 */
export interface Approvals {
  /** A question whose call waits for the answer. No two calls share one: a yes lets one call through. */
  ask(subject: Subject): Waiting;
  /** A question whose call has failed for want of a yes: a yes lets the same call through once. Calls that are the same share it. */
  leave(subject: Subject): Pending;
  /** Whether a yes was given for exactly this call; it is used up. */
  take(subject: Subject): boolean;
  pending(): readonly Pending[];
  /** A person's answer. Throws NOT_FOUND for a token that is unknown, used or expired. */
  answer(token: string, answer: Answer): Pending;
}

export interface Subject {
  readonly target: Target;
  readonly argumentsHash: string;
  readonly caller: string;
  /** What the client says of itself, on one line that can be shown. It may say anything: nothing is decided by it. */
  readonly client: string;
  /** The call as a person reads it. */
  readonly preview: string;
  readonly why: string;
}

export interface Pending extends Subject {
  readonly token: string;
  readonly askedAt: number;
  readonly expiresAt: number;
  /** Its call waits, and does itself what the answer says. */
  readonly isWaiting: boolean;
}

export interface Waiting {
  readonly pending: Pending;
  /** Settles when somebody answers it elsewhere; never when nobody does. */
  readonly answered: Promise<Answer>;
  /** Takes it off the list: it was answered, or its call is gone. */
  close(): void;
}

/** `hall`: as long as this hall runs. */
export type Answer = "once" | "hall" | "always" | "no";

export const answers: readonly Answer[] = ["once", "hall", "always", "no"];

/** How long a question whose call has failed stays open, and how long a yes waits for its call. */
export const approvalMsMax = 60_000;
/** A call that waits has a deadline of its own. */
const waitingMsMax = 600_000;
const pendingMax = 1_000;

interface Open {
  readonly pending: Pending;
  resolve?(answer: Answer): void;
}

export function createApprovals(now: () => number = Date.now): Approvals {
  const open = new Map<string, Open>();
  /** Calls that may run once, and until when. */
  const granted = new Map<string, number>();

  function sweep(): void {
    const time = now();
    for (const [token, { pending }] of open) if (pending.expiresAt <= time) open.delete(token);
    for (const [key, expiresAt] of granted) if (expiresAt <= time) granted.delete(key);
  }

  function put(subject: Subject, resolve?: (answer: Answer) => void): Pending {
    if (open.size >= pendingMax)
      throw new HallError("OVERLOADED", `${pendingMax} calls already wait for approval`);
    const isWaiting = resolve !== undefined;
    const askedAt = now();
    const expiresAt = askedAt + (isWaiting ? waitingMsMax : approvalMsMax);
    const pending: Pending = {
      ...subject,
      token: randomBytes(12).toString("hex"),
      askedAt,
      expiresAt,
      isWaiting,
    };
    open.set(pending.token, { pending, ...(resolve ? { resolve } : {}) });
    return pending;
  }

  return {
    ask(subject) {
      sweep();
      let resolve = (_answer: Answer): void => {};
      const answered = new Promise<Answer>((settle) => {
        resolve = settle;
      });
      const pending = put(subject, resolve);
      return { pending, answered, close: () => void open.delete(pending.token) };
    },
    leave(subject) {
      sweep();
      const key = keyOf(subject);
      for (const { pending } of open.values())
        if (!pending.isWaiting && keyOf(pending) === key) return pending;
      return put(subject);
    },
    take(subject) {
      sweep();
      return granted.delete(keyOf(subject));
    },
    pending() {
      sweep();
      return [...open.values()].map(({ pending }) => pending);
    },
    answer(token, answer) {
      sweep();
      const found = open.get(token);
      if (!found)
        throw new HallError(
          "NOT_FOUND",
          "no call waits under this token: it is unknown, answered or expired",
          { hint: "See `guildhall approvals`." },
        );
      open.delete(token);
      if (found.resolve) found.resolve(answer);
      else if (answer !== "no") granted.set(keyOf(found.pending), now() + approvalMsMax);
      return found.pending;
    },
  };
}

function keyOf({ target: { toolkit, tool }, argumentsHash, caller }: Subject): string {
  return JSON.stringify([toolkit.id, tool.name, pinOf(tool), argumentsHash, caller]);
}
