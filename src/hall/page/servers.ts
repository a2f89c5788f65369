import type { Advice } from "../../base/advice.ts";
import { collectServers } from "../../config/configured-servers.ts";
import { loginTarget } from "../../upstream/issuer.ts";
import type { SandboxDenial } from "../../upstream/sandbox/denials.ts";
import { adviseUnset } from "../../upstream/unusable.ts";
import type { UpstreamState } from "../../upstream/upstream.ts";
import type { UpstreamStatus } from "../admin-contract.ts";
import { openProjectSecrets } from "../secrets.ts";
import { readServerLogs } from "../server-logs.ts";
import { getServer } from "../settings.ts";
import { type ListedServer, listServers } from "../status.ts";
import { method, type PageParts } from "./area.ts";

/** A configured server and what the hall knows of it. */
export interface PageServer
  extends Omit<ListedServer, "tools">,
    Pick<UpstreamStatus, "protocol" | "tools" | "calls" | "errors" | "lastError"> {
  readonly isRemote: boolean;
  /** Undefined if the hall does not have it: it is disabled. */
  readonly run: UpstreamState | undefined;
  /** As the server reports it. */
  readonly version: string | undefined;
  /** Variables of its entry that have no value. */
  readonly missing: readonly string[];
  readonly next: readonly Advice[];
  /** Accesses that its sandbox denied since the hall started. */
  readonly denied: readonly SandboxDenial[];
}

const linesMax = 500;

/** The servers: their state, their logs, and what a person can do with them. */
export function serverArea(parts: PageParts) {
  const { hall, folder, settings } = parts;
  const act = (work: (server: string) => Promise<unknown>) =>
    method("admin", { server: "string" }, async ({ server }) => {
      await work(server);
      return { state: hall.fleet.get(server).state() };
    });
  return {
    servers: method("read", {}, async () => ({ servers: await describeServers(parts) })),
    /** The last lines that a server wrote. */
    logs: method("admin", { server: "string" }, async ({ server }) => {
      getServer(server, (await settings()).loaded);
      const lines = (await readServerLogs(folder, server)).read();
      return { lines: lines.slice(-linesMax) };
    }),
    startServer: act((server) => hall.fleet.get(server).discover()),
    /** A server that starts on use stops until the next call; an eager one starts again. */
    stopServer: act((server) => hall.fleet.get(server).restart()),
    restartServer: act(async (server) => {
      await hall.fleet.get(server).restart();
      await hall.fleet.get(server).discover();
    }),
    /** Stores a secret of the project. */
    setSecret: method("admin", { name: "string", value: "string" }, async ({ name, value }) => {
      await (await openProjectSecrets(folder)).set(name, value);
      return {};
    }),
  };
}

async function describeServers({ hall, settings }: PageParts): Promise<readonly PageServer[]> {
  const current = await settings();
  const configured = collectServers(current.loaded);
  const running = new Map(hall.fleet.all().map((upstream) => [upstream.id, upstream]));
  const offeredBy = (name: string): readonly string[] | undefined =>
    running
      .get(name)
      ?.offer()
      .tools.map((tool) => tool.name);
  const all = await listServers(current, { trust: hall.trust, offeredBy });
  return all.map(({ tools, disabledTools, ...listed }) => {
    const upstream = running.get(listed.name);
    const entry = configured[listed.name];
    const unset = entry?.type === "unusable" ? entry.unset : [];
    const run = upstream?.state();
    const { calls = 0, errors = 0, lastError } = upstream?.counts ?? {};
    return {
      ...listed,
      isRemote:
        entry !== undefined && entry.type !== "unusable" && loginTarget(entry) !== undefined,
      run,
      version: versionOf(upstream?.handshake()?.info),
      protocol: upstream?.handshake()?.version,
      tools: tools?.length ?? 0,
      disabledTools,
      calls,
      errors,
      lastError,
      missing: unset.map(({ name }) => name),
      denied: hall.violations.of(listed.name),
      next: run?.kind === "down" ? (run.next ?? []) : adviseUnset(unset),
    };
  });
}

function versionOf(info: unknown): string | undefined {
  const { version } = (info ?? {}) as { readonly version?: unknown };
  return typeof version === "string" ? version : undefined;
}
