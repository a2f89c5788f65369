import { isObject, type JsonObject } from "../base/json.ts";
import { discoverApproved } from "./discover.ts";
import type { HallClient } from "./hall-client.ts";
import { type Settings, unknownName } from "./settings.ts";

export interface ToolkitHealth {
  readonly toolkit: string;
  readonly source: string;
  /** As the hall knows it; `not running` for a server that starts at its next call, `not set up` for a built-in toolkit. */
  readonly state: string;
  readonly reason?: string | undefined;
  readonly responseMs?: number | undefined;
}

export interface HealthReport {
  readonly running: boolean;
  readonly store: JsonObject;
  readonly toolkits: readonly ToolkitHealth[];
}

/** Checks each toolkit, or one: through the running hall, else by starting each approved server once. */
export async function checkHealth(
  client: HallClient,
  settings: Settings,
  name: string | undefined,
): Promise<HealthReport> {
  const known = await readHealth(client);
  const described = known.toolkits.map(describeState);
  const chosen = name === undefined ? described : [getToolkit(name, described)];
  const toolkits = client.isEphemeral
    ? await startEach(chosen, settings)
    : await Promise.all(chosen.map((toolkit) => checkOne(toolkit, client)));
  return { running: !client.isEphemeral, store: known.store, toolkits };
}

type KnownHealth = Pick<HealthReport, "store"> & {
  readonly toolkits: readonly (ToolkitHealth & { readonly running?: false })[];
};

function describeState({ running, ...health }: KnownHealth["toolkits"][number]): ToolkitHealth {
  const { source, state } = health;
  if (running === false && state === "available") return { ...health, state: "not running" };
  return source === "built-in" && state === "unavailable"
    ? { ...health, state: "not set up" }
    : health;
}

async function readHealth(client: HallClient): Promise<KnownHealth> {
  const { contents } = await client.request("resources/read", { uri: "guildhall://health" });
  const [first] = Array.isArray(contents) ? contents : [];
  return JSON.parse(isObject(first) ? String(first.text) : "{}");
}

function getToolkit(name: string, toolkits: readonly ToolkitHealth[]): ToolkitHealth {
  const found = toolkits.find(({ toolkit }) => toolkit === name);
  if (found) return found;
  const names = toolkits.map(({ toolkit }) => toolkit);
  throw unknownName("server or toolkit", name, names);
}

/** The states of the registry's `health/check`. */
const states: Readonly<Record<string, string>> = {
  healthy: "available",
  degraded: "degraded",
  unhealthy: "unavailable",
  maintenance: "maintenance",
};

async function checkOne(known: ToolkitHealth, client: HallClient): Promise<ToolkitHealth> {
  const { toolkit, source } = known;
  // A check must not start a server, and a module that failed to load has nothing to check.
  if (known.state === "not running" || (source === "module" && known.state === "unavailable"))
    return known;
  const answer = await client.requestPlain("health/check", { tool_name: toolkit });
  const { response_time_ms: responseMs, last_error: lastError, status } = answer;
  const wasAvailable = known.state === "available";
  // A check does not lift a state the hall already knows to be bad.
  const state = wasAvailable ? (states[String(status)] ?? known.state) : known.state;
  const reason = known.reason ?? (typeof lastError === "string" ? lastError : undefined);
  return {
    toolkit,
    source,
    state,
    reason: state === "available" ? undefined : reason,
    responseMs: typeof responseMs === "number" ? responseMs : undefined,
  };
}

async function startEach(
  toolkits: readonly ToolkitHealth[],
  settings: Settings,
): Promise<readonly ToolkitHealth[]> {
  const upstreams = toolkits.filter(({ source }) => source === "upstream");
  if (upstreams.length === 0) return toolkits;
  const names = upstreams.map(({ toolkit }) => toolkit);
  const discoveries = await discoverApproved(settings, { names });
  return toolkits.map((health) => {
    const { toolkit, source } = health;
    const discovery = discoveries.find(({ name }) => name === toolkit);
    if (!discovery) return health;
    const responseMs = Math.round(discovery.ms);
    return "found" in discovery
      ? { toolkit, source, state: "available", responseMs }
      : { toolkit, source, state: "unavailable", reason: discovery.reason, responseMs };
  });
}
