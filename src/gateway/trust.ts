import { HallError } from "../base/errors.ts";
import { isObject } from "../base/json.ts";
import type { Call, CallContext, Target } from "../tool.ts";
import { type Answer, type Approvals, answers, type Pending, type Subject } from "../trust/approvals.ts";
import type { FlowGuard } from "../trust/flow.ts";
import { hashOf } from "../trust/pin.ts";
import { previewCall } from "../trust/preview.ts";
import { heldBack, type Trust, type Verdict } from "../trust/trust.ts";
import { getTarget, type Stage } from "./stage.ts";

export interface TrustParts {
  readonly trust: Trust;
  readonly approvals: Approvals;
  readonly flow: FlowGuard;
  /** Writes down what was decided, and resolves when it is safe on disk. */
  audit(entry: Decision): Promise<void>;
}

export interface Decision {
  readonly kind: "blocked" | "approved" | "refused" | "destructive call";
  readonly tool: string;
  readonly caller: string;
  readonly call: string;
  readonly argumentsHash: string;
  readonly reason: string;
}

/** No destructive call of an untrusted tool without a person's yes, whoever makes it; arguments have been checked before. */
export const requireTrust =
  (parts: TrustParts): Stage =>
  (next) =>
  (call, context) => {
    const target = getTarget(call);
    const verdict = parts.trust.judge(target);
    const { root } = call;
    const reason = verdict.ask ?? flowReason(verdict, root === undefined ? undefined : parts.flow.taintedBy(root));
    const pass = (): ReturnType<typeof next> => {
      if (root !== undefined && verdict.marks.bringsIn && verdict.isGuarded) parts.flow.taint(root, target.fullName);
      return next(call, context);
    };
    if (!verdict.held && reason === undefined && !verdict.marks.destructive) return pass();
    return decide(call, context, { target, verdict, reason }, parts).then(pass);
  };

function flowReason({ marks, isGuarded }: Verdict, taintedBy: string | undefined): string | undefined {
  if (taintedBy === undefined || !isGuarded || !(marks.destructive || marks.sendsOut)) return undefined;
  return `this work has read what others wrote, through ${taintedBy}, and the tool ${marks.destructive ? "may destroy or send" : "sends out"}`;
}

interface Case {
  readonly target: Target;
  readonly verdict: Verdict;
  readonly reason: string | undefined;
}

/** Resolves when the call may run; throws DENIED or APPROVAL_NEEDED. */
async function decide(call: Call, context: CallContext, { target, verdict, reason }: Case, parts: TrustParts): Promise<void> {
  const subject: Subject = {
    tool: target.fullName,
    argumentsHash: hashOf(call.arguments),
    caller: call.caller.principal,
    preview: previewCall(target.fullName, call.arguments),
    why: reason ?? "",
  };
  const say = (kind: Decision["kind"], why: string): Promise<void> =>
    parts.audit({ kind, tool: subject.tool, caller: subject.caller, call: call.id, argumentsHash: subject.argumentsHash, reason: why });
  if (verdict.held) {
    await say("blocked", verdict.held);
    throw heldBack(verdict.held);
  }
  // Trusted, and still of consequence: what it is about to do is written down before it does it.
  if (reason === undefined) return say("destructive call", "trusted");
  if (parts.approvals.take(subject)) return say("approved", "approved before the call");
  const pending = parts.approvals.open(subject);
  const canAsk = call.root === undefined && isObject(context.capabilities?.elicitation);
  if (!canAsk) {
    await say("blocked", reason);
    throw approvalNeeded(pending);
  }
  const answer = await askPerson(pending, context, parts.approvals);
  if (answer === "no") {
    await say("refused", reason);
    throw new HallError("DENIED", `${subject.tool} was not allowed`, { hint: "The user said no. Do not call it again with the same arguments." });
  }
  await say("approved", answer);
  if (answer === "hall") parts.trust.trustHere(target);
  if (answer === "always") await parts.trust.trustAlways(target);
}

function approvalNeeded({ token, preview, why, expiresAt, tool }: Pending): HallError {
  return new HallError("APPROVAL_NEEDED", `${tool} needs a person's yes: ${why}`, {
    hint: `A person runs \`guildhall approve ${token}\` within 60 s, or \`guildhall trust ${tool}\`; then the same call goes through.`,
    details: { token, preview, command: `guildhall approve ${token}`, expiresAt: new Date(expiresAt).toISOString() },
  });
}

const labels: Readonly<Record<Answer, string>> = {
  once: "Yes, this once",
  hall: "Yes, for this tool while the hall runs",
  always: "Yes, always for this tool",
  no: "No",
};

/** Asks the client's user; somebody may answer in another terminal first. */
async function askPerson(pending: Pending, context: CallContext, approvals: Approvals): Promise<Answer> {
  const params = {
    mode: "form",
    message: `Allow this call?\n\n${pending.preview}\n\nAsked because ${pending.why}.`,
    requestedSchema: {
      type: "object",
      properties: { decision: { type: "string", title: "Decision", oneOf: answers.map((value) => ({ const: value, title: labels[value] })), default: "no" } },
      required: ["decision"],
    },
  };
  const asked = context.ask({ approval: { method: "elicitation/create", params } }).then(({ approval }) => readAnswer(approval));
  const answer = await Promise.race([asked, pending.answered]);
  // Answered here: the question is off the list of those who might answer it elsewhere, and its yes is used up by this call.
  if (approvals.pending().some(({ token }) => token === pending.token)) approvals.answer(pending.token, answer);
  approvals.take(pending);
  return answer;
}

/** Whatever is not a clear yes is a no. */
function readAnswer(result: unknown): Answer {
  if (!isObject(result) || result.action !== "accept" || !isObject(result.content)) return "no";
  const { decision } = result.content;
  return answers.find((known) => known === decision) ?? "no";
}
