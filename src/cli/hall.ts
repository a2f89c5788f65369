import { HallError } from "../base/errors.ts";
import type { JsonObject } from "../base/json.ts";
import { visible } from "../base/sanitize.ts";
import { findNear } from "../base/text.ts";
import { anyTool, findFaults, type ProjectFault } from "../hall/faults.ts";
import type { HallClient, HallClientOptions } from "../hall/hall-client.ts";
import { getServer, loadSettings, matchTools, type Settings } from "../hall/settings.ts";
import { createToolFilter, disabledTool } from "../upstream/lists.ts";
import type { JsonOption } from "./declaration.ts";
import { type BusyNotice, below, createWaiting } from "./live.ts";
import { paint } from "./print.ts";

/**
 * Runs work as a client of the project's hall. The work prints its result itself, because stopping
 * servers may take seconds.
 */
export async function withHall(
  work: (client: HallClient, settings: Settings) => Promise<void>,
  { answer, tool }: Pick<HallClientOptions, "answer" | "tool"> = {},
): Promise<void> {
  const settings = await loadProject();
  const { connectHall } = await import("../hall/hall-client.ts");
  const waiting = createWaiting();
  const client = await waiting.during(
    "connecting to the hall",
    connectHall({
      folder: settings.folder,
      settings,
      answer: answer && below(waiting, answer),
      tool,
    }),
  );
  try {
    await work(showWaiting(client, waiting), settings);
  } finally {
    await waiting.during("stopping the servers", client.close());
  }
}

/** The same client; a terminal shows that an answer takes long, until there is news of it. */
function showWaiting(client: HallClient, waiting: BusyNotice): HallClient {
  const text = "waiting for the answer";
  const after = <T>(pass: ((news: T) => void) | undefined) =>
    pass &&
    ((news: T): void => {
      waiting.clear();
      pass(news);
    });
  return {
    ...client,
    list: (...args) => waiting.during(text, client.list(...args)),
    request: (method, params, { progress, log, ...options } = {}) =>
      waiting.during(
        text,
        client.request(method, params, { ...options, progress: after(progress), log: after(log) }),
      ),
  };
}

/** Names the servers whose tools this command does not know. */
export function noteUnlisted({ unlisted }: HallClient, { json }: JsonOption): void {
  if (!json && unlisted.length > 0) process.stderr.write(`${formatUnlisted(unlisted)}\n`);
}

export function formatUnlisted(names: readonly string[]): string {
  return `note: no tools of ${names.join(", ")} are known yet; run \`guildhall build\``;
}

export function formatFault({ name, reason }: ProjectFault): string {
  return paint("red", `cannot be used: ${visible(name)}: ${visible(reason)}`);
}

/** Names on stderr the modules and tools of the project that no client can use. */
export async function noteFaults(settings: Settings, { json }: JsonOption): Promise<void> {
  if (json) return;
  for (const fault of await findFaults(settings)) process.stderr.write(`${formatFault(fault)}\n`);
}

/** The settings of the project in the working directory, for a command that logs only errors. */
export function loadProject(): Promise<Settings> {
  return loadSettings({}, "error");
}

/**
 * A tool by any name that a call accepts. Throws NOT_FOUND with near names, UNAVAILABLE if its
 * server has an invalid entry.
 */
export async function getTool(
  name: string,
  client: HallClient,
  settings: Settings,
): Promise<JsonObject> {
  const { folder, loaded } = settings;
  const tools = await client.list("tools/list", "tools", "tools,agents");
  const names = tools.map((tool) => String(tool.name));
  const found = matchTools(name, names);
  if (found.length === 1) return tools[names.indexOf(found[0] ?? "")] ?? {};

  const [server = "", tool] = name.replace("__", ".").split(".", 2);
  if (Object.hasOwn(loaded.unusable, server)) getServer(server, loaded);
  if (tool !== undefined) refuseDisabled(server, tool, loaded);
  const { openBuiltins } = await import("../hall/known-tools.ts");
  const off = openBuiltins(folder, loaded).find(({ id }) => id === server)?.off;
  if (off) throw off();
  if (server === "programs" && tool !== undefined) {
    const { refuseHeldProgram } = await import("../hall/project-texts.ts");
    await refuseHeldProgram(folder, tool);
  }
  const near = found.length > 1 ? found : findNear(name, names);
  if (tool === undefined || names.some((each) => each.startsWith(`${server}.`)))
    throw unknownName("tool", name, { near, command: "tools" });
  const faults = await findFaults(settings);
  const denied = faults.find(({ name: faulty }) => faulty === anyTool);
  if (denied)
    throw new HallError("DENIED", visible(denied.reason), {
      hint: "Correct the policy file.",
      next: [{ do: "run-command", command: "policy check" }],
    });
  // The tools of a server that is down, or not approved, are not listed at all.
  const [id] = findByPrefix(server, loaded) ?? [];
  if (id !== undefined)
    throw unknownName("tool", name, {
      near: [],
      hint: `No tools of ${id} are known. A build shows what it offers, or why it fails.`,
      command: `build ${id}`,
    });
  if (faults.length === 0) throw unknownName("tool", name, { near, command: "tools" });
  const reasons = faults.map(({ name: faulty, reason }) => `${faulty}: ${reason}`);
  throw unknownName("tool", name, {
    near,
    hint: visible(`What cannot be used: ${reasons.join("; ")}`),
    command: "doctor",
  });
}

function findByPrefix(prefix: string, { config }: Settings["loaded"]) {
  return Object.entries(config.mcpServers).find(([id, server]) => (server.prefix ?? id) === prefix);
}

/** Throws UNAVAILABLE for a tool that the config leaves out. */
function refuseDisabled(prefix: string, tool: string, loaded: Settings["loaded"]): void {
  const [, entry] = findByPrefix(prefix, loaded) ?? [];
  if (entry && !createToolFilter(entry.tools)(tool)) throw disabledTool(`${prefix}.${tool}`);
}

interface UnknownOptions {
  /** The names that may be meant. */
  readonly near: readonly string[];
  /** The command that helps. */
  readonly command: string;
  readonly hint?: string;
}

/** NOT_FOUND with the names that may be meant. */
export function unknownName(
  what: string,
  name: string,
  { near, command, hint }: UnknownOptions,
): HallError {
  const question = near.length > 0 ? `; did you mean ${near.join(", ")}?` : "";
  return new HallError("NOT_FOUND", `unknown ${what} "${name}"${question}`, {
    hint,
    next: [{ do: "run-command", command }],
  });
}
