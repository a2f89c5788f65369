import { hashOf } from "../base/json.ts";
import type { RegisteredToolkit } from "../registry/registered.ts";
import type { Registrations } from "../registry/registrations.ts";
import type { AuditEntry, Store } from "../store/store.ts";
import type { Call } from "../tool.ts";
import { describeBegun } from "./record.ts";
import type { ResolvedCall } from "./stage.ts";
import type { TrustParts } from "./trust.ts";

export interface Decision {
  readonly kind: "blocked" | "denied" | "approved" | "refused" | "destructive call";
  readonly tool: string;
  readonly caller: string;
  readonly call: string;
  readonly argumentsHash: string;
  readonly reason: string;
}

export function decisionOf(call: ResolvedCall, kind: Decision["kind"], reason: string): Decision {
  return {
    kind,
    tool: call.target.fullName,
    caller: call.caller.principal,
    call: call.id,
    argumentsHash: hashOf(call.arguments),
    reason,
  };
}

/** Writes a decision to the audit log and, if the call may run, its call row: both are on disk before it runs. */
export function auditDecisions(store: Store): TrustParts["audit"] {
  return async ({ kind, tool, caller, call: id, argumentsHash, reason }, call) => {
    const entry: AuditEntry = {
      kind,
      subject: tool,
      caller,
      reason,
      details: { call: id, argumentsHash, client: call.caller.client, ...tokenOf(call) },
    };
    const mayRun = kind === "approved" || kind === "destructive call";
    await Promise.all([
      store.audit.append(entry),
      ...(mayRun ? [store.calls.begin(describeBegun(call))] : []),
    ]);
  };
}

function tokenOf({ caller: { person } }: Call): { readonly token?: string } {
  return person?.token === undefined ? {} : { token: person.token };
}

/** Registrations with an audit row for each change. Registering does not wait for the write. */
export function auditRegistrations(
  registrations: Registrations,
  note: (entry: AuditEntry) => Promise<void>,
): Registrations {
  const seen = new WeakSet<RegisteredToolkit>();
  return {
    ...registrations,
    async register(params, runner) {
      const toolkit = await registrations.register(params, runner);
      // Repeating a registration changes nothing.
      if (!seen.has(toolkit)) void note(describe("registered", toolkit, runner?.id));
      seen.add(toolkit);
      return toolkit;
    },
    async unregister(name) {
      const toolkit = await registrations.unregister(name);
      void note(describe("unregistered", toolkit));
      return toolkit;
    },
  };
}

function describe(
  kind: string,
  { id, toolId }: RegisteredToolkit,
  caller = "a service",
): AuditEntry {
  return { kind, subject: id, caller, reason: toolId };
}
