import { fileURLToPath } from "node:url";
import { findWorker } from "../base/bounded-worker.ts";
import { visible } from "../base/sanitize.ts";
import type { Config, ServerConfig } from "../config/schema.ts";
import type { AuditEntry } from "../store/store.ts";
import { ownValue } from "../trust/easing.ts";
import type { Entries, ReviewedSandbox, SandboxRights } from "../trust/ledger.ts";
import type { SandboxDenial } from "../upstream/sandbox/denials.ts";
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

/** The process of the project's modules in logs, the audit and `sandbox` commands; no server can have this name. */
export const modulesName = "project.toolkits";

type StdioConfig = Extract<ServerConfig, { readonly type: "stdio" }>;
export type SandboxField = Config["defaults"]["sandbox"];

/** The modules of a project as a server: one process for all, which lives as long as the hall. */
export function moduleServer(sandbox: SandboxField): StdioConfig {
  const host = findWorker("module-host", new URL("../author/module-host.ts", import.meta.url));
  return {
    type: "stdio",
    command: process.execPath,
    args: [fileURLToPath(host)],
    env: {},
    sandbox,
    start: "lazy",
    idleTimeoutSeconds: 0,
    tools: { include: ["*"], exclude: [] },
    disabled: false,
    allowPrivate: false,
  } as StdioConfig;
}

/** Rights beyond the usual ones; undefined if the config gives none. */
export function rightsOf(sandbox: SandboxField): unknown {
  return typeof sandbox === "object" ? sandbox : undefined;
}

/** How a server, or the process of the modules, was approved. */
export function reviewedSandbox(entries: Entries, name: string): ReviewedSandbox | undefined {
  return name === modulesName ? entries.moduleSandbox : ownValue(entries.servers, name)?.sandbox;
}

/** Servers run as they were approved. */
export function followReviews(
  entries: () => Entries,
  denied?: SandboxPolicy["denied"],
): SandboxPolicy {
  return {
    decide: (name, config) => decideSandbox(config, reviewedSandbox(entries(), name)),
    ...(denied ? { denied } : {}),
    runtime: createRuntime(),
  };
}

/** How servers run while they are reviewed. */
interface ReviewPlan {
  readonly policy: SandboxPolicy;
  sandboxOf(name: string): ReviewedSandbox | undefined;
  /** True if the server failed in its sandbox, and the config does not require one. */
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

export async function chooseSandbox(
  server: StdioConfig,
  runtime: SandboxPolicy["runtime"] = createRuntime(),
  learned: SandboxRights = noRights,
): Promise<ReviewedSandbox> {
  if (server.sandbox === "off") return { kind: "off", reason: "your config turns it off" };
  const { isContainer } = await import("../upstream/sandbox/container.ts");
  const found = isContainer(server) ? undefined : await runtime();
  return found && "reason" in found && isFree(server)
    ? { kind: "off", reason: found.reason }
    : { kind: "on", learned };
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
  const entries = await (await openProjectLedger(settings)).read();
  const { servers, moduleSandbox } = entries;
  const found = Object.entries(settings.config.mcpServers).flatMap(([name, config]) => {
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
  const hasModules = Object.keys(entries.modules ?? {}).length > 0;
  const config = moduleServer(settings.config.defaults.sandbox);
  if (!hasModules || config.sandbox === "off" || moduleSandbox?.kind === "on") return found;
  return [...found, { name: modulesName, reason: moduleSandbox?.reason ?? approvedBefore }];
}

/** Accesses that sandboxes denied since this hall started, each once in the audit and in the server's log. */
export interface Violations {
  add(server: string, denial: SandboxDenial): void;
  of(server: string): readonly SandboxDenial[];
}

/** More of one server are not recorded: it could fill the audit. */
const denialsMax = 100;

export const violationKind = "confined";

export function createViolations({
  printed,
  note,
}: {
  printed(server: string, line: string): void;
  note(entry: AuditEntry): Promise<void>;
}): Violations {
  const known = new Map<string, SandboxDenial[]>();
  return {
    add(server, denial) {
      const seen = known.get(server) ?? [];
      const isKnown = seen.some(({ kind, what }) => kind === denial.kind && what === denial.what);
      if (isKnown || seen.length >= denialsMax) return;
      known.set(server, [...seen, denial]);
      const { kind, what } = denial;
      const reason = `sandbox denied: ${kind} ${visible(what)}`;
      printed(server, `guildhall: ${reason}`);
      void note({
        kind: violationKind,
        subject: server,
        caller: `server ${server}`,
        reason,
        details: { kind, what },
      });
    },
    of: (server) => known.get(server) ?? [],
  };
}
