import type { Call } from "../tool.ts";
import { type Denial, deniedError, type Policies } from "../trust/policy/policies.ts";
import type { PolicyRequest } from "../trust/policy/request.ts";
import type { Conversations } from "../trust/trust.ts";
import { isListed } from "./allow-list.ts";
import { decisionOf } from "./audit.ts";
import type { ResolvedCall, ResolvedStage } from "./stage.ts";
import type { TrustParts } from "./trust.ts";

export interface PolicyParts extends Pick<TrustParts, "audit"> {
  readonly policies: Policies;
}

/** Refuses tools that no arguments could make allowed, before validation: its errors would quote their schema. */
export const refuseForbidden =
  (parts: PolicyParts): ResolvedStage =>
  (next) =>
  (call, context) => {
    const { policies } = parts;
    if (!policies.isOn) return next(call, context);
    const denial = policies.refusesAlways(requestOf(call));
    return denial ? refuse(call, denial, parts) : next(call, context);
  };

/**
 * Refuses calls by their arguments, with the defaults filled in, by the time, and by what the
 * conversation has read.
 */
export const checkSituation =
  (parts: PolicyParts, conversations: Conversations): ResolvedStage =>
  (next) =>
  (call, context) => {
    const { policies } = parts;
    if (!policies.isOn) return next(call, context);
    const denial = policies.refuses({
      ...requestOf(call),
      arguments: call.arguments,
      taint: conversations.taintOf(call.caller),
    });
    return denial ? refuse(call, denial, parts) : next(call, context);
  };

function requestOf({ caller, target, name }: ResolvedCall): PolicyRequest {
  return { caller, action: "call", subject: { tool: target }, name };
}

/** Refuses even if the audit write fails. No policy has decided what is refused only for now. */
async function refuse(call: ResolvedCall, denial: Denial, { audit }: PolicyParts): Promise<never> {
  if (denial.retryAfterSeconds === undefined)
    await audit(decisionOf(call, "denied", denial.reason), call).catch(() => {});
  throw deniedError(denial);
}

/** True if the caller may approve its own call. */
export function mayApproveOwn(policies: Policies): (call: ResolvedCall) => boolean {
  return ({ caller, target }) =>
    policies.refuses({
      caller,
      action: "approve",
      subject: { tool: target },
      approvedFor: caller.person,
    }) === undefined;
}

/** The tools that errors may name to the caller of a call. */
export function offeredTo(
  policies: Policies | undefined,
  { caller }: Pick<Call, "caller">,
): ((target: NonNullable<Call["target"]>) => boolean) | undefined {
  const { tools } = caller;
  if (!policies?.isOn && tools === undefined) return undefined;
  return (tool) =>
    (tools === undefined || isListed(tools, tool.fullName)) &&
    (!policies?.isOn || policies.shows(caller, { tool }));
}
