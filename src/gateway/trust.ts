import { randomUUID } from "node:crypto";
import { type Advice, adviceForModel, contentForModel } from "../base/advice.ts";
import { type ErrorCode, HallError } from "../base/errors.ts";
import { hashOf, isObject } from "../base/json.ts";
import { Scope } from "../base/scope.ts";
import type { Call, CallContext, Flow, Outcome, Target } from "../tool.ts";
import {
  type ApprovalAnswer,
  type Approvals,
  answers,
  approvalMsMax,
  type PendingApproval,
  type Subject,
  type Waiting,
} from "../trust/approvals.ts";
import { oneLine, previewCall } from "../trust/preview.ts";
import { serverNotReviewed, type Trust, toolChanged, type Verdict } from "../trust/trust.ts";
import type { ResolvedCall, ResolvedStage } from "./stage.ts";

export interface TrustParts {
  readonly trust: Trust;
  readonly approvals: Approvals;
  /** Records the decision; resolves when it is on disk. */
  audit(entry: Decision, call: Call): Promise<void>;
}

export interface Decision {
  readonly kind: "blocked" | "approved" | "refused" | "destructive call";
  readonly tool: string;
  readonly caller: string;
  readonly call: string;
  readonly argumentsHash: string;
  readonly reason: string;
}

function decisionOf(call: ResolvedCall, kind: Decision["kind"], reason: string): Decision {
  return {
    kind,
    tool: call.target.fullName,
    caller: call.caller.principal,
    call: call.id,
    argumentsHash: hashOf(call.arguments),
    reason,
  };
}

/** True if a review or a grant allows the call; any process of the user may have taken it back. */
function reliesOnLedger(target: Target, trust: Trust): boolean {
  const { source } = target.toolkit;
  return source === "upstream" || (source !== "hall" && trust.judge(target).level === "trusted");
}

/** Refuses tools that are held back, before validation: its errors would quote the untrusted schema. */
export const refuseHeldBack =
  ({ trust, audit }: TrustParts): ResolvedStage =>
  (next) =>
  (call, context) => {
    const { target } = call;
    if (reliesOnLedger(target, trust)) trust.refresh();
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

/**
 * Requires approval for destructive calls of untrusted tools, also for nested calls. Arguments are
 * already validated. It is also the flow guard: once a root call has read untrusted content, an
 * injected instruction may steer every later step, so destructive and sending tools need approval
 * even if trusted. That covers the root call with all nested calls and ends with it.
 */
export const requireTrust = (parts: TrustParts): ResolvedStage => {
  const blocked: Blocked = new WeakMap();
  /** Root calls that have read untrusted content, with the first tool that did. */
  const tainted = new WeakMap<Call, string>();
  const taint = (root: Call, tool: string): void => {
    if (!tainted.has(root)) tainted.set(root, tool);
  };

  return (next) => (call, context) => {
    const { target } = call;
    const verdict = parts.trust.judge(target);
    const root = call.rootCall ?? call;
    const reason =
      verdict.ask ??
      (asksEachTime(target)
        ? "this tool asks before every call"
        : flowReason(verdict, tainted.get(root)));
    const pass = (): ReturnType<typeof next> => {
      if (verdict.marks.bringsIn && verdict.isGuarded) taint(root, target.fullName);
      if (!mayNest(target)) return next(call, context);
      const flow: Flow = {
        taintedBy: () => tainted.get(root),
        taint: (tool) => taint(root, tool),
      };
      const running = next(call, { ...context, flow });
      return root === call
        ? running.then((outcome) => reportBlocked(outcome, blocked.get(call)))
        : running;
    };
    if (reason === undefined && !verdict.marks.destructive) return pass();
    return decide(call, context, { verdict, reason, blocked }, parts).then(pass);
  };
};

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
  const approvals = blocked.map(({ pending: { target, preview, why }, next }) => ({
    tool: target.fullName,
    preview,
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

function flowReason(
  { marks, isGuarded }: Verdict,
  taintedBy: string | undefined,
): string | undefined {
  if (taintedBy === undefined || !isGuarded || !(marks.destructive || marks.sendsOut))
    return undefined;
  const effect = marks.destructive ? "is destructive" : "sends data out";
  return `this task has read untrusted content through ${taintedBy}, and the tool ${effect}`;
}

interface Case {
  readonly verdict: Verdict;
  readonly reason: string | undefined;
  readonly blocked: Blocked;
}

/** Resolves when the call may run; throws DENIED or APPROVAL_NEEDED. */
async function decide(
  call: ResolvedCall,
  context: CallContext,
  { verdict, reason, blocked }: Case,
  parts: TrustParts,
): Promise<void> {
  const { target } = call;
  const subject: Subject = {
    target,
    argumentsHash: hashOf(call.arguments),
    caller: call.caller.principal,
    client: oneLine(call.caller.client),
    preview: previewCall(target, call.arguments),
    why: reason ?? "",
  };
  const audit = (kind: Decision["kind"], why: string): Promise<void> =>
    parts.audit(decisionOf(call, kind, why), call);
  // Refuse even if the audit write fails.
  const auditRefusal = (kind: "blocked" | "refused", why: string): Promise<void> =>
    audit(kind, why).catch(() => {});
  // Trusted but destructive: recorded before it runs.
  if (reason === undefined) return audit("destructive call", "trusted");
  if (parts.approvals.take(subject)) return audit("approved", "approved before the call");

  const { rootCall } = call;
  const isClosed = (rootCall && !asksEachTime(target)) || !hasForms(context);
  const answer = isClosed
    ? undefined
    : await askPerson(
        parts.approvals.ask(subject),
        context,
        asksEachTime(target) ? ["once", "no"] : answers,
      );

  if (answer === undefined) {
    const pending = parts.approvals.leave(subject);
    const next = approvalAdvice(pending, verdict.level);
    if (rootCall) {
      const others = (blocked.get(rootCall) ?? []).filter(
        (other) => other.pending.token !== pending.token,
      );
      blocked.set(rootCall, [...others, { pending, next }]);
    }
    await auditRefusal("blocked", reason);
    throw approvalNeeded(pending, next);
  }

  if (answer === "no") {
    await auditRefusal("refused", reason);
    throw new HallError("DENIED", `the user denied the call of ${target.fullName}`, {
      hint: "Do not call it again with the same arguments.",
    });
  }

  await audit("approved", answer);
  await parts.trust.grant(target, answer);
}

/** True if the client can show its user a form; a client that names no mode supports forms. */
function hasForms({ capabilities }: CallContext): boolean {
  const elicitation = capabilities?.elicitation;
  return isObject(elicitation) && (isObject(elicitation.form) || !isObject(elicitation.url));
}

/** Approve this call, or allow the tool from now on. A tool that always asks has no second way. */
function approvalAdvice({ target }: PendingApproval, level: Verdict["level"]): readonly Advice[] {
  const tool = target.fullName;
  const approve: Advice = { do: "approve", tool, withinSeconds: approvalMsMax / 1000 };
  if (asksEachTime(target)) return [approve];
  // A tool must be reviewed before it can be trusted.
  const allow: Advice =
    level === "untrusted" ? { do: "verify", server: target.toolkit.id } : { do: "trust", tool };
  return [approve, allow];
}

function approvalNeeded(
  { preview, why, expiresAt, target: { fullName } }: PendingApproval,
  next: readonly Advice[],
): HallError {
  return new HallError("APPROVAL_NEEDED", `${fullName} requires approval: ${why}`, {
    next,
    details: { preview, expiresAt: new Date(expiresAt).toISOString() },
  });
}

const labels: Readonly<Record<ApprovalAnswer, string>> = {
  once: "Yes, this once",
  hall: "Yes, for this tool while the hall runs",
  always: "Yes, always for this tool",
  no: "No",
};

/** Asks the client's user; an answer from another terminal may come first. Undefined if the client cannot ask after all. */
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
