import { randomUUID } from "node:crypto";
import { type Advice, adviceForModel, contentForModel } from "../base/advice.ts";
import { type ErrorCode, HallError } from "../base/errors.ts";
import { hashOf, isObject } from "../base/json.ts";
import { Scope } from "../base/scope.ts";
import {
  type Call,
  type CallContext,
  type Flow,
  type FlowMarks,
  type Outcome,
  supportsForms,
  type Taint,
  type Target,
} from "../tool.ts";
import {
  type ApprovalAnswer,
  type ApprovalSubject,
  type Approvals,
  answers,
  type PendingApproval,
  type Waiting,
} from "../trust/approvals.ts";
import { oneLine, previewCall } from "../trust/preview.ts";
import {
  type Conversations,
  serverNotReviewed,
  type Trust,
  taintReason,
  toolChanged,
  type Verdict,
} from "../trust/trust.ts";
import { type Decision, decisionOf } from "./audit.ts";
import type { ResolvedCall, ResolvedStage } from "./stage.ts";

export interface TrustParts {
  readonly trust: Trust;
  readonly approvals: Approvals;
  /** Records the decision; resolves when it is on disk. */
  audit(entry: Decision, call: Call): Promise<void>;
  /** Default: Date.now. */
  readonly now?: (() => number) | undefined;
  /** False if a policy keeps the caller from answering for its own call. Default: true. */
  mayApproveOwn?(call: ResolvedCall): boolean;
  /** Calls wait for people who answer elsewhere, such as at a terminal. Default: they fail at once. */
  readonly waits?: boolean;
  /**
   * Of several halls: undefined if this one knows what was decided anywhere, else resolves once it does. Throws
   * UNAVAILABLE if the call needs that; any other continues without the other halls.
   */
  confirm?: ((isNeeded: boolean) => Promise<void> | undefined) | undefined;
}

/** True if a review or a grant allows the call; any process of the user may have taken it back. */
function reliesOnLedger(target: Target, trust: Trust): boolean {
  const { source } = target.toolkit;
  return source === "upstream" || (source !== "hall" && trust.judge(target).level === "trusted");
}

/** Refuses tools that are held back, before validation: its errors would quote the untrusted schema. */
export const refuseHeldBack =
  (
    { trust, audit, confirm }: TrustParts,
    refresh = oncePerRead(() => trust.refresh()),
  ): ResolvedStage =>
  (next) => {
    const admit: typeof next = (call, context) => {
      const { target } = call;
      if (reliesOnLedger(target, trust)) refresh();
      const { held, refused } = trust.judge(target);
      const reason = held ?? refused;
      if (reason === undefined) return next(call, context);
      const refuse = (): never => {
        const server = target.toolkit.id;
        throw held === undefined ? serverNotReviewed(reason, server) : toolChanged(reason, server);
      };
      // Refuse even if the audit write fails.
      return audit(decisionOf(call, "blocked", reason), call).then(refuse, refuse);
    };
    return (call, context) => {
      const stale = confirm?.(mayHaveChanged(call.target, trust));
      return stale ? stale.then(() => admit(call, context)) : admit(call, context);
    };
  };

/**
 * Reads the ledger once for all calls that arrived in the same read of the socket: they were sent before the
 * first of them read it, so a later change cannot concern them.
 */
function oncePerRead(look: () => void): () => void {
  const now = Promise.resolve();
  let hasLooked = false;
  const forget = (): void => {
    hasLooked = false;
  };
  return () => {
    if (hasLooked) return;
    look();
    hasLooked = true;
    void now.then(forget);
  };
}

/**
 * True if a revocation in another hall could change the decision. Calls that only read continue without asking
 * the other halls.
 */
function mayHaveChanged(target: Target, trust: Trust): boolean {
  const { level, marks } = trust.judge(target);
  return target.toolkit.source !== "hall" && (level === "trusted" || marks.effect === "changes");
}

/**
 * Requires approval for changing calls of untrusted tools; for nested calls also if the tool's effect
 * is unknown. Arguments are already validated. It is also the flow guard: once a conversation has
 * read outside content or private data, what follows may need approval even if it is trusted.
 */
export const requireTrust = (parts: TrustParts, conversations: Conversations): ResolvedStage => {
  const blocked: Blocked = new WeakMap();

  return (next) => (call, context) => {
    const { target, caller } = call;
    const verdict = parts.trust.judge(target);
    const isInside = call.rootCall !== undefined;
    const flowMarks = target.tool.facts?.flow?.(call.arguments) ?? verdict.marks;
    const askOf = ({ ask, askInside }: Verdict): string | undefined => (isInside ? askInside : ask);
    const reasonFor = (judged: Verdict): string | undefined =>
      askOf(judged) ??
      (asksEachTime(target)
        ? "this tool asks before every call"
        : flowReason(judged, flowMarks, conversations.taintOf(caller)));
    const reason = reasonFor(verdict);
    const isAllowed = (): boolean => {
      const now = parts.trust.judge(target);
      return (now.held ?? now.refused ?? reasonFor(now)) === undefined;
    };
    const pass = (): ReturnType<typeof next> => {
      if (verdict.isGuarded) conversations.add(caller, taintBy(target.fullName, flowMarks));
      if (!mayNest(target)) return next(call, context);
      const flow: Flow = {
        read: () => conversations.taintOf(caller),
        add: (taint) => conversations.add(caller, taint),
      };
      const running = next(call, { ...context, flow });
      return isInside
        ? running
        : running.then((outcome) => reportBlocked(outcome, blocked.get(call)));
    };
    if (reason === undefined && verdict.marks.effect !== "changes") return pass();
    if (reason === undefined)
      call.requireStillTrusted = () => {
        parts.trust.refresh();
        const now = parts.trust.judge(target);
        // Not the flow guard: this call has itself added to what its conversation has read.
        const refusal = now.held ?? now.refused ?? askOf(now);
        if (refusal !== undefined)
          throw new HallError(
            "DENIED",
            `${call.name} was no longer allowed when its turn came: ${refusal}`,
          );
      };
    return decide(call, context, { verdict, reason, blocked, isAllowed }, parts).then(pass);
  };
};

function flowReason(
  { marks, isGuarded }: Verdict,
  flowMarks: Partial<FlowMarks>,
  taint: Taint,
): string | undefined {
  return isGuarded ? taintReason(marks, flowMarks, taint) : undefined;
}

function taintBy(tool: string, { bringsIn, readsPrivate }: Partial<FlowMarks>): Taint {
  return { outside: bringsIn ? tool : undefined, private: readsPrivate ? tool : undefined };
}

/** Nested calls that were refused because they need approval, by their root call. */
type Blocked = WeakMap<Call, BlockedCall[]>;

interface BlockedCall {
  readonly pending: PendingApproval;
  readonly next: readonly Advice[];
}

/** Such a tool needs approval for each call even if it is trusted. */
function asksEachTime({ tool }: Target): boolean {
  return tool.facts?.asksEachTime === true;
}

/** Only tools that run in this process can call other tools through us. */
function mayNest({ toolkit }: Target): boolean {
  return toolkit.source !== "upstream" && toolkit.source !== "registered";
}

/** Nested calls cannot ask: the root call's result lists what was blocked and how to allow it. */
function reportBlocked(outcome: Outcome, blocked: readonly BlockedCall[] = []): Outcome {
  if (blocked.length === 0) return outcome;
  const approvals = blocked.map(({ pending: { target, callerPreview, why }, next }) => ({
    tool: target.fullName,
    preview: callerPreview,
    why,
    next,
  }));
  const lines = approvals.map(({ tool, next }) => `- ${tool}: ${adviceForModel(next)}`);
  const text = `Not done; the user must approve these calls first:\n${lines.join("\n")}`;
  return {
    ...outcome,
    content: [...outcome.content, contentForModel(text)],
    _meta: { ...outcome._meta, "guildhall/approvals": approvals },
  };
}

interface Case {
  readonly verdict: Verdict;
  readonly reason: string | undefined;
  readonly blocked: Blocked;
  /** Judges again: a person may have trusted the tool since. */
  isAllowed(): boolean;
}

/** Resolves when the call may run; throws DENIED or APPROVAL_NEEDED. */
async function decide(
  call: ResolvedCall,
  context: CallContext,
  { verdict, reason, blocked, isAllowed }: Case,
  parts: TrustParts,
): Promise<void> {
  const { target } = call;
  const subject: ApprovalSubject = {
    target,
    argumentsHash: hashOf(call.arguments),
    caller: call.caller.principal,
    person: call.caller.person,
    client: oneLine(call.caller.client),
    callerPreview: previewCall(target, call.arguments),
    preview: previewCall(target, call.arguments, {
      showsSecrets: verdict.marks.effect === "changes",
    }),
    why: reason ?? "",
  };
  const audit = (kind: Decision["kind"], why: string): Promise<void> =>
    parts.audit(decisionOf(call, kind, why), call);
  // Refuse even if the audit write fails.
  const auditRefusal = (kind: "blocked" | "refused", why: string): Promise<void> =>
    audit(kind, why).catch(() => {});
  // Trusted but destructive: recorded before it runs.
  if (reason === undefined) return audit("destructive call", "trusted");
  // The approval may have been taken back.
  parts.trust.refresh();
  const before = await parts.approvals.take(subject);
  if (before === "yes") return audit("approved", "approved before the call");

  const { rootCall, caller } = call;
  const canAsk =
    supportsForms(context.capabilities) &&
    caller.mayAnswer !== "nothing" &&
    (parts.mayApproveOwn?.(call) ?? true);
  const isClosed = (rootCall && !asksEachTime(target)) || !canAsk;
  const asked =
    before ??
    (isClosed
      ? undefined
      : await askPerson(
          parts.approvals.ask(subject),
          context,
          asksEachTime(target) || verdict.level === "trusted" || caller.mayAnswer !== "lasting"
            ? ["once", "no"]
            : answers,
        ));
  const isWaiting = asked === undefined && !rootCall && parts.waits === true;
  const answer = isWaiting
    ? await waitForAnswer({ subject, isAllowed, timeoutMs: call.timeoutMs }, context, parts)
    : asked;
  if (answer === "yes") return audit("approved", "approved while the call waited");
  if (answer === "trusted") return audit("approved", "the tool was trusted while the call waited");

  if (answer === undefined) {
    const pending = parts.approvals.leave(subject);
    const next = approvalAdvice(pending, verdict.level, parts.now);
    if (rootCall) {
      const others = (blocked.get(rootCall) ?? []).filter(
        (other) => other.pending.token !== pending.token,
      );
      blocked.set(rootCall, [...others, { pending, next }]);
    }
    await auditRefusal("blocked", reason);
    throw approvalNeeded(
      `${call.name} ${isWaiting ? "waits for" : "requires"} approval`,
      pending,
      next,
    );
  }

  if (answer === "no") {
    await auditRefusal("refused", reason);
    throw new HallError("DENIED", `the user denied the call of ${call.name}`, {
      hint: "Do not call it again with the same arguments.",
    });
  }

  await audit("approved", answer);
  await parts.trust.grant(target, answer);
  parts.approvals.wake();
}

/** Approve this call, or allow the tool from now on, if that can help. */
function approvalAdvice(
  { target, expiresAt }: PendingApproval,
  level: Verdict["level"],
  now: () => number = Date.now,
): readonly Advice[] {
  const tool = target.fullName;
  const withinSeconds = Math.ceil((expiresAt - now()) / 1000);
  const approve: Advice = { do: "approve", tool, withinSeconds };
  if (asksEachTime(target) || level === "trusted") return [approve];
  // A tool must be reviewed before it can be trusted.
  const allow: Advice =
    level === "untrusted" ? { do: "verify", server: target.toolkit.id } : { do: "trust", tool };
  return [approve, allow];
}

function approvalNeeded(
  message: string,
  { callerPreview, why, expiresAt }: PendingApproval,
  next: readonly Advice[],
): HallError {
  return new HallError("APPROVAL_NEEDED", `${message}: ${why}`, {
    next,
    details: { preview: callerPreview, expiresAt: new Date(expiresAt).toISOString() },
  });
}

/** Many clients give up on a silent call after 60 s. */
const silentMsMax = 50_000;
const progressMs = 5_000;

/**
 * Waits for an answer from elsewhere: with a progress token until the approval expires, else not
 * longer than clients wait, and never longer than the caller's own timeout. Of several identical
 * calls, one approval lets one through. "trusted": a person has trusted the tool meanwhile.
 */
async function waitForAnswer(
  {
    subject,
    isAllowed,
    timeoutMs = Number.POSITIVE_INFINITY,
  }: Pick<Case, "isAllowed"> & Pick<Call, "timeoutMs"> & { readonly subject: ApprovalSubject },
  { scope, takesProgress, progress }: CallContext,
  { approvals, now = Date.now }: TrustParts,
): Promise<"yes" | "no" | "trusted" | undefined> {
  const startedAt = now();
  const report = (): void => {
    // Tiny, because the tool's own progress must be greater.
    const waited = (1 + now() - startedAt) / 1e9;
    progress({ progress: waited, message: "waiting for approval: guildhall approvals" });
  };
  const timer = setInterval(report, progressMs).unref();
  if (takesProgress) report();
  try {
    for (;;) {
      const pending = approvals.leave(subject);
      const patientUntil = takesProgress ? pending.expiresAt : startedAt + silentMsMax;
      const endsAt = Math.min(patientUntil, startedAt + timeoutMs);
      const heard = await scope.race(approvals.hear(pending, endsAt - now()));
      const answer = await approvals.take(subject);
      if (heard === "no") return "no";
      if (answer !== undefined || heard === undefined) return answer;
      if (isAllowed()) {
        approvals.drop(pending);
        return "trusted";
      }
    }
  } finally {
    clearInterval(timer);
  }
}

const labels: Readonly<Record<ApprovalAnswer, string>> = {
  once: "Yes, this once",
  hall: "Yes, for this tool while the hall runs",
  always: "Yes, always for this tool",
  no: "No",
};

/**
 * Asks the client's user; an answer from another terminal may come first. Undefined if the client
 * cannot ask after all.
 */
async function askPerson(
  { pending, answered, close }: Waiting,
  context: CallContext,
  choices: readonly ApprovalAnswer[],
): Promise<ApprovalAnswer | undefined> {
  // An unguessable key: a client could send answers to questions that were not asked yet.
  const key = `approval-${randomUUID()}`;
  const params = {
    mode: "form",
    message: `Allow this call?\n\n${pending.preview}\n\nAsked because ${pending.why}.`,
    requestedSchema: {
      type: "object",
      properties: {
        decision: {
          type: "string",
          title: "Decision",
          enum: choices,
          enumNames: choices.map((value) => labels[value]),
          default: "no",
        },
      },
      required: ["decision"],
    },
  };
  const question = new Scope(context.scope);
  try {
    const asked = context
      .ask({ [key]: { method: "elicitation/create", params } }, question)
      .then((given) => readAnswer(given[key], choices));
    return await context.scope.race(Promise.race([asked, answered]));
  } catch (error) {
    if (error instanceof HallError && cannotAsk.has(error.code)) return undefined;
    throw error;
  } finally {
    // Answered, or the call has ended: withdraw the question everywhere.
    question.cancel(new HallError("CANCELLED", "the question was answered elsewhere"));
    close();
  }
}

/** Errors of clients that declare forms but do not support them. */
const cannotAsk: ReadonlySet<ErrorCode> = new Set([
  "EXECUTION",
  "BAD_ANSWER",
  "MISSING_CAPABILITY",
]);

/** Anything but a clear approval is a denial. */
function readAnswer(result: unknown, choices: readonly ApprovalAnswer[]): ApprovalAnswer {
  if (!isObject(result) || result.action !== "accept" || !isObject(result.content)) return "no";
  const { decision } = result.content;
  return choices.find((known) => known === decision) ?? "no";
}
