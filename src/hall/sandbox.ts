import type { ServerConfig } from "../config/schema.ts";
import { ownValue } from "../trust/easing.ts";
import type { Entries, ReviewedSandbox } from "../trust/ledger.ts";
import {
  createRuntime,
  decideSandbox,
  noRights,
  type SandboxPolicy,
} from "../upstream/sandbox/policy.ts";
import { approvalOf } from "../upstream/source.ts";
import type { Discovery } from "./discover.ts";
import { openProjectLedger } from "./project-store.ts";
import type { Settings } from "./settings.ts";

/** Servers run as they were approved. */
export function followReviews(
  entries: () => Entries,
  denied?: SandboxPolicy["denied"],
): SandboxPolicy {
  return {
    decide: (name, config) => decideSandbox(config, ownValue(entries().servers, name)?.sandbox),
    ...(denied ? { denied } : {}),
    runtime: createRuntime(),
  };
}

/** How servers run while they are reviewed. */
export interface ReviewPlan {
  readonly policy: SandboxPolicy;
  sandboxOf(name: string): ReviewedSandbox | undefined;
  /** True for a server that failed in a sandbox which nobody has asked for. */
  mayRetry(failed: Discovery): boolean;
}

/** A start that took longer has probably waited for something else than the sandbox. */
const retryMsMax = 15_000;

export async function planReview(
  { config }: Pick<Settings, "config">,
  { servers }: Entries,
  names: readonly string[] = Object.keys(config.mcpServers),
): Promise<ReviewPlan> {
  const runtime = createRuntime();
  const chosen = new Map<string, ReviewedSandbox | undefined>();
  const isNew = new Set<string>();
  for (const name of names) {
    const server = ownValue(config.mcpServers, name);
    if (server?.type !== "stdio" || server.disabled) continue;
    const review = ownValue(servers, name);
    if (review?.source === approvalOf(server)) chosen.set(name, review.sandbox);
    else {
      isNew.add(name);
      chosen.set(name, await chooseSandbox(server, runtime));
    }
  }
  return {
    policy: {
      decide: (name, server) => decideSandbox(server, chosen.get(name)),
      runtime,
    },
    sandboxOf: (name) => chosen.get(name),
    mayRetry: ({ name, ms, ...failed }) =>
      isNew.has(name) &&
      chosen.get(name)?.kind === "on" &&
      isFree(ownValue(config.mcpServers, name)) &&
      "isDenied" in failed &&
      !failed.isDenied &&
      !failed.isInstalling &&
      ms < retryMsMax,
  };
}

/** The config leaves it to the hall. */
function isFree(server: ServerConfig | undefined): boolean {
  return server?.type === "stdio" && server.sandbox === undefined;
}

async function chooseSandbox(
  server: Extract<ServerConfig, { readonly type: "stdio" }>,
  runtime: SandboxPolicy["runtime"],
): Promise<ReviewedSandbox> {
  if (server.sandbox === "off") return { kind: "off", reason: "your config turns it off" };
  const { isContainer } = await import("../upstream/sandbox/container.ts");
  const found = isContainer(server) ? undefined : await runtime();
  return found && "reason" in found && isFree(server)
    ? { kind: "off", reason: found.reason }
    : { kind: "on", learned: noRights };
}

export function failedInside(reason: string): ReviewedSandbox {
  return { kind: "off", reason: `it did not start in one (${reason})` };
}

/** The sandbox of a server in plain words; undefined for a remote server, or where the user's config says off. */
export async function describeSandbox(
  name: string,
  config: ServerConfig,
  sandbox: ReviewedSandbox | undefined,
): Promise<string | undefined> {
  if (config.type !== "stdio" || config.sandbox === "off") return undefined;
  const decision = decideSandbox(config, sandbox);
  if (decision.kind === "open")
    return sandbox?.kind === "off" ? `not in a sandbox: ${sandbox.reason}` : undefined;
  const { createProfile, describeProfile } = await import("../upstream/sandbox/profile.ts");
  const clauses = describeProfile(createProfile(name, config, decision.learned));
  return `in a sandbox: ${clauses.join("; ")}`;
}

export const approvedBefore = "approved before Guildhall had sandboxes";

/** Enabled servers that run without a sandbox, each with the reason; not those whose config says so. */
export async function findUnconfined(
  settings: Settings,
): Promise<readonly { readonly name: string; readonly reason: string }[]> {
  const { servers } = await (await openProjectLedger(settings)).read();
  return Object.entries(settings.config.mcpServers).flatMap(([name, config]) => {
    const review = ownValue(servers, name);
    const isOpen =
      config.type === "stdio" &&
      !config.disabled &&
      config.sandbox !== "off" &&
      review?.source === approvalOf(config) &&
      decideSandbox(config, review.sandbox).kind === "open";
    const reason = review?.sandbox?.kind === "off" ? review.sandbox.reason : approvedBefore;
    return isOpen ? [{ name, reason }] : [];
  });
}
