import { HallError } from "../../base/errors.ts";
import { isObject, type JsonObject } from "../../base/json.ts";
import { findNear } from "../../base/near.ts";
import { type Discovery, discoverServers } from "../../hall/discover.ts";
import type { HallClient } from "../../hall/hall-client.ts";
import type { Settings } from "../../hall/settings.ts";
import { createTrust } from "../../trust/trust.ts";
import { paint, print, table } from "../print.ts";
import { openProjectLedger } from "./review.ts";
import { withHall } from "./tools.ts";

export interface HealthOptions {
  readonly json?: boolean;
}

/** How one toolkit is. */
interface ToolkitHealth {
  readonly toolkit: string;
  readonly source: string;
  readonly state: string;
  readonly reason?: string | undefined;
  readonly responseMs?: number | undefined;
}

/** Asks each toolkit how it is, or one: the running hall asks; without one, each server is started once to see. Fails where one is unavailable. */
export async function runHealth(name: string | undefined, options: HealthOptions): Promise<void> {
  await withHall(async (client, settings) => {
    const known = await readHealth(client);
    const chosen = name === undefined ? known.toolkits : [findToolkit(name, known.toolkits)];
    const toolkits = client.isEphemeral
      ? await lookAtAll(chosen, settings)
      : await Promise.all(chosen.map((toolkit) => check(toolkit, client)));
    // Of what is built in, some waits to be set up: that is no failure, unless it is what was asked for.
    const ill = toolkits.filter(
      ({ state, source }) =>
        state === "unavailable" && (name !== undefined || source !== "built-in"),
    );
    print(
      name === undefined
        ? { running: !client.isEphemeral, store: known.store, toolkits }
        : toolkits[0],
      {
        json: options.json,
        text: () => describe(toolkits),
        failure: ill.length === 0 ? undefined : describeIll(ill, toolkits.length),
      },
    );
  });
}

/** What the hall says of itself. */
async function readHealth(
  client: HallClient,
): Promise<{ readonly store: JsonObject; readonly toolkits: readonly ToolkitHealth[] }> {
  const { contents } = await client.request("resources/read", { uri: "guildhall://health" });
  const [first] = Array.isArray(contents) ? contents : [];
  return JSON.parse(isObject(first) ? String(first.text) : "{}");
}

/** Throws NOT_FOUND with near names. */
function findToolkit(name: string, toolkits: readonly ToolkitHealth[]): ToolkitHealth {
  const found = toolkits.find(({ toolkit }) => toolkit === name);
  if (found) return found;
  const names = toolkits.map(({ toolkit }) => toolkit);
  const near = findNear(name, names);
  throw new HallError(
    "NOT_FOUND",
    `there is no server or toolkit "${name}"${near.length > 0 ? `; did you mean ${near.join(", ")}?` : ""}`,
    {
      hint: `There is: ${names.join(", ")}.`,
    },
  );
}

async function check(toolkit: ToolkitHealth, client: HallClient): Promise<ToolkitHealth> {
  const {
    response_time_ms: responseMs,
    last_error: reason,
    status,
  } = await client.requestPlain("health/check", { tool_name: toolkit.toolkit });
  // A check that found nothing new leaves what the hall knew before.
  const state = states[String(status)] ?? toolkit.state;
  return {
    toolkit: toolkit.toolkit,
    source: toolkit.source,
    state: toolkit.state === "available" ? state : toolkit.state,
    ...(state === "available" && toolkit.state === "available"
      ? {}
      : { reason: toolkit.reason ?? (typeof reason === "string" ? reason : undefined) }),
    ...(typeof responseMs === "number" ? { responseMs } : {}),
  };
}

/** As the registry's dialect says it. */
const states: Readonly<Record<string, string>> = {
  healthy: "available",
  degraded: "degraded",
  unhealthy: "unavailable",
  maintenance: "maintenance",
};

/** A hall that has just begun knows nothing of its servers: they are started once, where a person has allowed it. */
async function lookAtAll(
  toolkits: readonly ToolkitHealth[],
  settings: Settings,
): Promise<readonly ToolkitHealth[]> {
  const names = toolkits
    .filter(({ source }) => source === "upstream")
    .map(({ toolkit }) => toolkit);
  if (names.length === 0) return toolkits;
  const trust = createTrust({ ledger: await openProjectLedger(settings) });
  await trust.refresh();
  const looks = await discoverServers(settings, { names, mayStart: trust.mayStart });
  return toolkits.map((toolkit) => {
    const look = looks.find(({ name }) => name === toolkit.toolkit);
    return look ? readLook(toolkit, look) : toolkit;
  });
}

function readLook({ toolkit, source }: ToolkitHealth, look: Discovery): ToolkitHealth {
  const found = { toolkit, source, responseMs: Math.round(look.ms) };
  return "found" in look
    ? { ...found, state: "available" }
    : { ...found, state: "unavailable", reason: look.reason };
}

function describe(toolkits: readonly ToolkitHealth[]): string {
  const isWell = ({ state }: ToolkitHealth): boolean => state === "available";
  const rows = [...toolkits]
    .sort((a, b) => Number(isWell(a)) - Number(isWell(b)))
    .map(({ toolkit, source, state, reason, responseMs }) => [
      toolkit,
      source,
      state === "unavailable" ? paint("red", state) : state,
      responseMs === undefined ? "" : `${responseMs} ms`,
      reason ?? "",
    ]);
  return table(["toolkit", "source", "health", "answered in", "because"], rows);
}

function describeIll(ill: readonly ToolkitHealth[], total: number): HallError {
  const names = ill.map(({ toolkit }) => toolkit).join(", ");
  return new HallError(
    "UNAVAILABLE",
    `${total === 1 ? names : `${ill.length} of ${total}: ${names}`} cannot be used now`,
    {
      hint: "`guildhall doctor` says what to do.",
    },
  );
}
