import type { ServerConfig } from "../../config/schema.ts";
import type { ReviewedSandbox, SandboxRights } from "../../trust/ledger.ts";
import type { NoRuntime, Runtime } from "./bubblewrap.ts";
import type { SandboxDenial } from "./denials.ts";

/** Decides how the servers of a hall are confined, and receives the accesses that were denied. */
export interface SandboxPolicy {
  decide(name: string, config: ServerConfig): SandboxDecision;
  denied?(name: string, denial: SandboxDenial): void;
  readonly runtime: () => Promise<Runtime | NoRuntime>;
  readonly isLearning?: boolean | undefined;
  /** A program that records what the server does, with its arguments. */
  readonly tracer?: readonly string[] | undefined;
}

export type SandboxDecision =
  | { readonly kind: "open" }
  | { readonly kind: "box"; readonly learned: SandboxRights };

export const noRights: SandboxRights = { read: [], write: [], hosts: [] };

/** Looks for the runtime once, when it is needed. */
export function createRuntime(): () => Promise<Runtime | NoRuntime> {
  let found: Promise<Runtime | NoRuntime> | undefined;
  return () => {
    found ??= import("./bubblewrap.ts").then(({ findRuntime }) => findRuntime());
    return found;
  };
}

/**
 * A server runs as it was approved, unless the config is stricter. One that was approved by a version without
 * sandboxes runs without one.
 */
export function decideSandbox(
  config: ServerConfig,
  reviewed: ReviewedSandbox | undefined,
): SandboxDecision {
  if (config.type !== "stdio" || config.sandbox === "off") return { kind: "open" };
  const learned = reviewed?.kind === "on" ? reviewed.learned : noRights;
  return config.sandbox !== undefined || reviewed?.kind === "on"
    ? { kind: "box", learned }
    : { kind: "open" };
}
