import { randomBytes } from "node:crypto";
import { HallError } from "../base/errors.ts";
import { withResolvers } from "../base/timing.ts";
import type { Person, Target } from "../tool.ts";
import { pinOf } from "./pin.ts";

/**
 * Calls that wait for approval. A token identifies each one and is bound to the tool's definition at
 * that time, the arguments and the caller. The token alone is no permission: an answer arrives over
 * the control socket or from the client's own user, so a model cannot approve its own call.
 */
export interface Approvals {
  /** The call waits for the answer. Never shared: one approval lets one call through. */
  ask(subject: ApprovalSubject): Waiting;
  /** The call has failed; an approval lets an identical call through once. Identical calls share it. */
  leave(subject: ApprovalSubject): PendingApproval;
  /** The answer that waits for exactly this call; consumes it. A promise if other halls know of it too. */
  take(subject: ApprovalSubject): Given | undefined | Promise<Given | undefined>;
  /** Resolves with the answer to what was left, with "judge" after `wake`, or with undefined when the time is over. */
  hear(pending: PendingApproval, timeoutMs: number): Promise<Heard | undefined>;
  /** Trust has changed: all calls that wait judge again. */
  wake(): void;
  /** The call needs no approval any more. */
  drop(pending: PendingApproval): void;
  /** Takes back the approvals that no call has used yet. */
  forget(): void;
  pending(): readonly PendingApproval[];
  /** Another hall has an answer to the calls with this key, or it was taken there. */
  learn(key: string, answer: Given | undefined): void;
  /** A person's answer. Throws NOT_FOUND for a token that is unknown, used or expired. */
  answer(token: string, answer: ApprovalAnswer): PendingApproval;
}

export interface ApprovalSubject {
  readonly target: Target;
  readonly argumentsHash: string;
  readonly caller: string;
  readonly person?: Person | undefined;
  /** The name the client reports, on one line. Unverified: for display only. */
  readonly client: string;
  /** The call, formatted for the person who decides. */
  readonly preview: string;
  /** For the answer to the caller, which may be logged: secrets by their name are hidden. */
  readonly callerPreview: string;
  readonly why: string;
}

export interface PendingApproval extends ApprovalSubject {
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

type Given = "yes" | "no";

/** Answers that any of several halls may use, once. */
export interface SharedAnswers {
  /** Every hall learns of it. Rejects with UNAVAILABLE. */
  put(key: string, answer: Given, ttlMs: number): Promise<unknown>;
  /** True for one hall only. */
  take(key: string): Promise<boolean>;
}

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
  readonly answer: Given;
  readonly expiresAt: number;
  readonly isShared?: boolean | undefined;
}

/**
 * `left` is called for each new approval that no client asks its user for, `changed` whenever the list
 * of waiting calls changes.
 */
export function createApprovals(
  now: () => number = Date.now,
  left: (pending: PendingApproval) => void = () => {},
  changed: () => void = () => {},
  shared?: SharedAnswers,
): Approvals {
  const open = new Map<string, Open>();
  /** Answers that wait for their call. */
  const answered = new Map<string, Answered>();

  function sweep(): void {
    const time = now();
    for (const [token, { pending }] of open) if (pending.expiresAt <= time) open.delete(token);
    for (const [key, { expiresAt }] of answered) if (expiresAt <= time) answered.delete(key);
  }

  function put(
    subject: ApprovalSubject,
    resolve?: (answer: ApprovalAnswer) => void,
  ): PendingApproval {
    refuseTooMany(open, subject);
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
      const { promise, resolve } = withResolvers<ApprovalAnswer>();
      const pending = put(subject, resolve);
      return { pending, answered: promise, close: () => remove(pending.token) };
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
      const found = answered.get(key);
      answered.delete(key);
      if (!shared || !found?.isShared) return found?.answer;
      return shared.take(key).then((isOurs) => (isOurs ? found.answer : undefined));
    },
    hear: ({ token }, timeoutMs) => hearFrom(open.get(token)?.listeners, timeoutMs),
    wake() {
      for (const { listeners } of open.values()) for (const tell of listeners) tell("judge");
    },
    drop: ({ token }) => remove(token),
    forget: () => answered.clear(),
    pending() {
      sweep();
      return [...open.values()].map(({ pending }) => pending);
    },
    learn(key, answer) {
      if (answer === undefined) {
        answered.delete(key);
        return;
      }
      answered.set(key, { answer, expiresAt: now() + approvalMsMax, isShared: true });
      for (const { pending, listeners } of [...open.values()])
        if (!pending.isWaiting && keyOf(pending) === key) {
          remove(pending.token);
          for (const tell of listeners) tell(answer === "yes" ? "once" : "no");
        }
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
        const given = answer === "no" ? "no" : "yes";
        const expiresAt = now() + approvalMsMax;
        const keep = (): void => {
          answered.set(keyOf(found.pending), { answer: given, expiresAt });
          for (const tell of found.listeners) tell(answer);
        };
        // In several halls, the call that waits here gets the answer once it is stored for all. If that fails,
        // or there are no other halls, the answer is kept here.
        if (shared)
          void shared
            .put(keyOf(found.pending), given, approvalMsMax)
            .then(() => found.listeners.forEach((tell) => void tell(answer)), keep);
        else keep();
      }
      return found.pending;
    },
  };
}

function hearFrom(
  listeners: Open["listeners"] | undefined,
  timeoutMs: number,
): Promise<Heard | undefined> {
  return new Promise((resolve) => {
    const end = (heard?: Heard): void => {
      clearTimeout(timer);
      listeners?.delete(end);
      resolve(heard);
    };
    const timer = setTimeout(end, timeoutMs).unref();
    listeners?.add(end);
  });
}

function refuseTooMany(open: ReadonlyMap<string, Open>, { caller }: ApprovalSubject): void {
  if (open.size >= pendingMax)
    throw new HallError("OVERLOADED", `${pendingMax} calls are already waiting for approval`);
  const isOwn = ({ pending }: Open): boolean => pending.caller === caller;
  if (open.size >= ownMax && [...open.values()].filter(isOwn).length >= ownMax)
    throw new HallError("OVERLOADED", `${ownMax} of its calls already wait for approval`);
}

function keyOf({ target: { toolkit, tool }, argumentsHash, caller }: ApprovalSubject): string {
  return JSON.stringify([toolkit.id, tool.name, pinOf(tool), argumentsHash, caller]);
}
