import { plural } from "../base/text.ts";
import { askHall } from "./admin-client.ts";
import { type ListedServer, listServers } from "./server-list.ts";
import { hasProjectFile, loadSettings } from "./settings.ts";

/** Where a person is, what is wrong, and what to do next. */
export interface Overview {
  readonly folder: string;
  /** The config files that count. */
  readonly files: readonly string[];
  /** Number of servers by state. */
  readonly servers: Readonly<Record<"enabled" | "disabled" | "held" | "unusable", number>>;
  readonly tools: number;
  readonly hall: { readonly pid: number; readonly clients: number } | undefined;
  readonly problems: readonly string[];
  /** Commands without the program's name, the most important one first. */
  readonly next: readonly string[];
}

/** Starts nothing. Throws ConfigError. */
export async function readOverview(folder: string): Promise<Overview> {
  const settings = await loadSettings({ folder, logLevel: "silent" }, "silent");
  const [listed, status, waiting] = await Promise.all([
    listServers(settings),
    askHall(folder, "status", {}),
    askHall(folder, "approvals", {}),
  ]);
  const inState = (wanted: ListedServer["state"]): readonly string[] =>
    listed.filter(({ state }) => state === wanted).map(({ name }) => name);
  const [held, unusable] = [inState("held"), inState("unusable")];
  const down = (status?.upstreams ?? [])
    .filter(({ state }) => state.kind === "down" && state.code !== "DENIED")
    .map(({ name }) => name);
  const unknown = listed.filter(({ state, tools }) => state === "enabled" && !tools);
  const pending = waiting?.pending.length ?? 0;
  const found = [
    problem(pending > 0, `${plural(pending, "call")} waiting for approval`, "approvals"),
    problem(unusable.length > 0, `cannot be used: ${unusable.join(", ")}`, "doctor"),
    problem(down.length > 0, `not answering: ${down.join(", ")}`, "doctor"),
    problem(held.length > 0, `held until you review them: ${held.join(", ")}`, "verify"),
    problem(
      unknown.length > 0,
      `no tools known of ${unknown.map(({ name }) => name).join(", ")}`,
      "build",
    ),
  ].flat();
  const usual =
    hasProjectFile(settings) || listed.length > 0 ? ["install CLIENT", "tui"] : ["init"];
  return {
    folder,
    files: settings.loaded.files,
    servers: {
      enabled: inState("enabled").length,
      disabled: inState("disabled").length,
      held: held.length,
      unusable: unusable.length,
    },
    tools: listed.reduce((sum, { tools = [] }) => sum + tools.length, 0),
    hall: status && { pid: status.pid, clients: status.clients },
    problems: found.map(({ text }) => text),
    next: found.length > 0 ? [...new Set(found.map(({ command }) => command))] : usual,
  };
}

function problem(
  isThere: boolean,
  text: string,
  command: string,
): readonly { readonly text: string; readonly command: string }[] {
  return isThere ? [{ text, command }] : [];
}
