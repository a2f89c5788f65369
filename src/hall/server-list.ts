import { visible } from "../base/sanitize.ts";
import { collectServers } from "../config/configured-servers.ts";
import { written } from "../config/variables.ts";
import { createToolFilter } from "../upstream/lists.ts";
import { lockedTools, readLock } from "../upstream/lock.ts";
import { describeTarget } from "../upstream/source.ts";
import { findUnapproved } from "./discover.ts";
import type { Settings } from "./settings.ts";

/** A configured server, as far as the config, the lock and the approvals tell. */
export interface ListedServer {
  readonly name: string;
  readonly state: "enabled" | "disabled" | "held" | "unusable";
  /** Why it is held or unusable. */
  readonly reason?: string | undefined;
  /** Its command line or URL as written, without secrets. */
  readonly target: string;
  /** Names of the tools that it offers; undefined if it was never started. */
  readonly tools: readonly string[] | undefined;
  /** Names of its tools that the config leaves out. */
  readonly disabledTools: readonly string[];
}

/** All configured servers. None is started. */
export async function listServers(settings: Settings): Promise<readonly ListedServer[]> {
  const { folder, loaded } = settings;
  const [lock, unapproved] = await Promise.all([
    readLock(folder, () => {}),
    findUnapproved(settings),
  ]);
  const servers = Object.entries(collectServers(loaded)).sort(([a], [b]) => a.localeCompare(b));
  return servers.map(([name, server]) => {
    const entry = server.type === "unusable" ? server.entry : server;
    const isShown = createToolFilter(entry?.tools ?? { include: ["*"], exclude: [] });
    const tools = lockedTools(lock, name);
    const held = unapproved.get(name);
    return {
      name,
      ...stateOf(),
      target: entry ? visible(describeTarget({ ...entry, ...entry[written] })) : "",
      tools: tools?.filter(isShown),
      disabledTools: tools?.filter((tool) => !isShown(tool)) ?? [],
    };

    function stateOf(): Pick<ListedServer, "state" | "reason"> {
      if (server.type === "unusable")
        return { state: "unusable", reason: server.problems.join("; ") };
      if (server.disabled) return { state: "disabled" };
      return held === undefined ? { state: "enabled" } : { state: "held", reason: held };
    }
  });
}
