import { randomBytes } from "node:crypto";
import { HallError } from "../base/errors.ts";
import type { Target } from "../tool.ts";
import { pinOf } from "./pin.ts";

/**
 * Calls that wait for approval. A token identifies each one and is bound to the tool's definition at
 * that time, the arguments and the caller. The token alone is no permission: an answer arrives over
 * the control socket or from the client's own user, so a model cannot approve its own call.
 */
export interface Approvals {
  /** The call waits for the answer. Never shared: one approval lets one call through. */
  ask(subject: Subject): Waiting;
  /** The call has failed; an approval lets an identical call through once. Identical calls share it. */
  leave(subject: Subject): PendingApproval;
  /** The answer that waits for exactly this call; consumes it. */
  take(subject: Subject): "yes" | "no" | undefined;
  /** Resolves with the answer to what was left, with "judge" after `wake`, or with undefined when the time is over. */
  hear(pending: PendingApproval, timeoutMs: number): Promise<Heard | undefined>;
  /** Trust has changed: all calls that wait judge again. */
  wake(): void;
  /** The call needs no approval any more. */
  drop(pending: PendingApproval): void;
  /** Takes back the approvals that no call has used yet. */
  forget(): void;
  pending(): readonly PendingApproval[];
  /** A person's answer. Throws NOT_FOUND for a token that is unknown, used or expired. */
  answer(token: string, answer: ApprovalAnswer): PendingApproval;
}

export interface Subject {
  readonly target: Target;
  readonly argumentsHash: string;
  readonly caller: string;
  /** The name the client reports, on one line. Unverified: for display only. */
  readonly client: string;
  /** The call, formatted for the person who decides. */
  readonly preview: string;
  /** For the answer to the caller, which may be logged: secrets by their name are hidden. */
  readonly callerPreview: string;
  readonly why: string;
}

export interface PendingApproval extends Subject {
  readonly token: string;
  readonly askedAt: number;
  readonly expiresAt: number;
  /** The call is still waiting and applies the answer itself. */
  readonly isWaiting: boolean;
}

export interface Waiting {
  readonly pending: PendingApproval;
  /** Resolves when it is answered on another surface; otherwise never settles. */
  readonly answered: Promise<ApprovalAnswer>;
  /** Removes it from the list after an answer or when the call ends. */
  close(): void;
}

/** `hall`: until this hall stops. */
export type ApprovalAnswer = "once" | "hall" | "always" | "no";

type Heard = ApprovalAnswer | "judge";

export const answers: readonly ApprovalAnswer[] = ["once", "hall", "always", "no"];

/** How long a failed call can still be approved, and how long an answer waits for its call. */
export const approvalMsMax = 300_000;
/** Only a safety net: a waiting call has its own deadline. */
const waitingMsMax = 600_000;
const pendingMax = 1_000;
/** Of one caller, so that it leaves room for the others. */
const ownMax = 200;

interface Open {
  readonly pending: PendingApproval;
  readonly resolve?: ((answer: ApprovalAnswer) => void) | undefined;
  /** Calls that wait for the answer to what was left. */
  readonly listeners: Set<(heard: Heard) => void>;
}

interface Answered {
  readonly answer: "yes" | "no";
  readonly expiresAt: number;
}

/**
 * `left` is called for each new approval that no client asks its user for, `changed` whenever the list
 * of waiting calls changes.
 */
export function createApprovals(
  now: () => number = Date.now,
  left: (pending: PendingApproval) => void = () => {},
  changed: () => void = () => {},
): Approvals {
  const open = new Map<string, Open>();
  /** Answers that wait for their call. */
  const answered = new Map<string, Answered>();

  function sweep(): void {
    const time = now();
    for (const [token, { pending }] of open) if (pending.expiresAt <= time) open.delete(token);
    for (const [key, { expiresAt }] of answered) if (expiresAt <= time) answered.delete(key);
  }

  function put(subject: Subject, resolve?: (answer: ApprovalAnswer) => void): PendingApproval {
    if (open.size >= pendingMax)
      throw new HallError("OVERLOADED", `${pendingMax} calls are already waiting for approval`);
    const isOwn = ({ pending }: Open): boolean => pending.caller === subject.caller;
    if (open.size >= ownMax && [...open.values()].filter(isOwn).length >= ownMax)
      throw new HallError("OVERLOADED", `${ownMax} of its calls already wait for approval`);
    const isWaiting = resolve !== undefined;
    const askedAt = now();
    const expiresAt = askedAt + (isWaiting ? waitingMsMax : approvalMsMax);
    const pending: PendingApproval = {
      ...subject,
      token: randomBytes(12).toString("hex"),
      askedAt,
      expiresAt,
      isWaiting,
    };
    open.set(pending.token, { pending, resolve, listeners: new Set() });
    changed();
    return pending;
  }

  function remove(token: string): void {
    if (open.delete(token)) changed();
  }

  return {
    ask(subject) {
      sweep();
      let resolve = (_answer: ApprovalAnswer): void => {};
      const given = new Promise<ApprovalAnswer>((settle) => {
        resolve = settle;
      });
      const pending = put(subject, resolve);
      return { pending, answered: given, close: () => remove(pending.token) };
    },
    leave(subject) {
      sweep();
      const key = keyOf(subject);
      for (const { pending } of open.values())
        if (!pending.isWaiting && keyOf(pending) === key) return pending;
      const pending = put(subject);
      left(pending);
      return pending;
    },
    take(subject) {
      sweep();
      const key = keyOf(subject);
      const found = answered.get(key)?.answer;
      answered.delete(key);
      return found;
    },
    hear({ token }, timeoutMs) {
      return new Promise((resolve) => {
        const listeners = open.get(token)?.listeners;
        const end = (heard?: Heard): void => {
          clearTimeout(timer);
          listeners?.delete(end);
          resolve(heard);
        };
        const timer = setTimeout(end, timeoutMs).unref();
        listeners?.add(end);
      });
    },
    wake() {
      for (const { listeners } of open.values()) for (const tell of listeners) tell("judge");
    },
    drop: ({ token }) => remove(token),
    forget: () => answered.clear(),
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
          "no call is waiting for approval with this token: it is unknown, answered or expired",
          { next: [{ do: "run-command", command: "approvals" }] },
        );

      remove(token);
      if (found.resolve) found.resolve(answer);
      else {
        const expiresAt = now() + approvalMsMax;
        answered.set(keyOf(found.pending), { answer: answer === "no" ? "no" : "yes", expiresAt });
      }
      for (const tell of found.listeners) tell(answer);
      return found.pending;
    },
  };
}

function keyOf({ target: { toolkit, tool }, argumentsHash, caller }: Subject): string {
  return JSON.stringify([toolkit.id, tool.name, pinOf(tool), argumentsHash, caller]);
}
