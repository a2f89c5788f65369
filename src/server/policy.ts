import type { Registry } from "../registry/registry.ts";
import { visibleTo } from "../registry/visible.ts";
import type { Caller, Toolkit } from "../tool.ts";
import type { Subject } from "../trust/policy/request.ts";
import type { ServerParts } from "./server.ts";

/** The registry as policies show it to the caller. */
export function seenBy(
  caller: Caller,
  { registry, policies }: Pick<ServerParts, "registry" | "policies">,
): Registry {
  return visibleTo(registry, caller, policies);
}

/** A prompt or a resource. */
export type ReadSubject = Extract<Subject, { readonly toolkit: Toolkit }>;

/** Throws DENIED for a prompt or resource that a policy denies. */
export function requireRead(
  subject: ReadSubject,
  caller: Caller,
  { policies, gateway }: Pick<ServerParts, "policies" | "gateway">,
): void {
  if (!policies.isOn) return;
  policies.require({ caller, action: "read", subject, taint: gateway.taintOf(caller) });
}
