import { setTimeout as sleep } from "node:timers/promises";
import { HallError } from "../base/errors.ts";
import { isObject, type JsonObject } from "../base/json.ts";
import { Scope } from "../base/scope.ts";
import { version as ownVersion } from "../base/version.ts";
import type { Peer } from "../wire/peer.ts";

/** Which era an upstream speaks, and what it says of itself. */
export interface Greeting {
  readonly era: "legacy" | "modern";
  readonly version: string;
  readonly capabilities: JsonObject;
  /** Self-reported: for display only, names are the config's. */
  readonly info: JsonObject;
  readonly instructions: string | undefined;
}

export interface GreetOptions {
  readonly scope: Scope;
  /** The verdict of an earlier start: a known legacy server is not probed again. */
  readonly knownEra?: "legacy" | "modern" | undefined;
  /** How long silence may last before it means "legacy". */
  readonly probeMs?: number;
  /** What the server may ask. Default: whatever a client behind us might be asked. */
  readonly capabilities?: JsonObject | undefined;
}

const clientInfo = { name: "guildhall", title: "Guildhall", version: ownVersion } as const;
/** What an upstream may ask: each question goes to the client whose call caused it, and is refused where that client cannot be asked. */
const clientCapabilities = { roots: {}, sampling: {}, elicitation: { form: {}, url: {} } } as const;

const modernVersion = "2026-07-28";
const legacyVersion = "2025-11-25";
const legacyVersions: readonly unknown[] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

/** The envelope a modern server wants on every request. */
export function envelope(capabilities: JsonObject = clientCapabilities): JsonObject {
  return {
    "io.modelcontextprotocol/protocolVersion": modernVersion,
    "io.modelcontextprotocol/clientInfo": clientInfo,
    "io.modelcontextprotocol/clientCapabilities": capabilities,
  };
}

/**
 * Finds out in place: a modern server answers `server/discover`, and a refusal means a handshake. One that is silent is
 * old, or slow to start: it gets the handshake as well, and what it answers first says which.
 */
export async function greet(peer: Peer, options: GreetOptions): Promise<Greeting> {
  const { scope, knownEra, probeMs = 3_000, capabilities } = options;
  const probe = new Scope(scope);
  const probing = knownEra === "legacy" ? undefined : discover(peer, probe, capabilities);
  // Whoever is not waited for any more may fail in peace.
  probing?.catch(() => {});
  const early = await Promise.race([probing, sleep(probeMs, silence)]);
  if (early !== undefined && early !== silence) return early;
  const shaking = initialize(peer, scope, capabilities);
  shaking.catch(() => {});
  const late =
    early === silence
      ? await Promise.race([
          probing,
          shaking.then(
            () => undefined,
            () => undefined,
          ),
        ])
      : undefined;
  if (late) return late;
  try {
    const greeting = await shaking;
    probe.cancel(new HallError("CANCELLED", "answered with a handshake"));
    peer.notify("notifications/initialized", undefined);
    return greeting;
  } catch (error) {
    // A modern server refuses the handshake, also one that was legacy the last time.
    const isRefused = error instanceof HallError && error.relayed !== undefined;
    const modern = isRefused ? await (probing ?? discover(peer, scope, capabilities)) : undefined;
    if (modern) return modern;
    throw error;
  }
}

const silence = Symbol("silence");

async function discover(
  peer: Peer,
  scope: Scope,
  capabilities: JsonObject | undefined,
  isRetry = false,
): Promise<Greeting | undefined> {
  let found: unknown;
  try {
    found = await peer.request("server/discover", { _meta: envelope(capabilities) }, { scope });
  } catch (error) {
    // Any refusal, and silence, mean legacy; a line that is gone, a missing login or a start that was called off means neither.
    if (
      scope.cancelled ||
      !(error instanceof HallError) ||
      error.code === "UNAVAILABLE" ||
      wantsToken(error)
    )
      throw error;
    return !isRetry && wantsOurVersion(error)
      ? discover(peer, scope, capabilities, true)
      : undefined;
  }
  if (
    !isObject(found) ||
    !Array.isArray(found.supportedVersions) ||
    !found.supportedVersions.includes(modernVersion)
  )
    return undefined;
  const meta = isObject(found._meta) ? found._meta : {};
  return {
    era: "modern",
    version: modernVersion,
    capabilities: isObject(found.capabilities) ? found.capabilities : {},
    info: readInfo(meta["io.modelcontextprotocol/serverInfo"]),
    instructions: typeof found.instructions === "string" ? found.instructions : undefined,
  };
}

/** Without a token it would refuse a handshake as well; a 403 may be its way to say that it does not know the method. */
function wantsToken({ code, details }: HallError): boolean {
  return code === "DENIED" && details?.status !== 403;
}

/** UnsupportedProtocolVersion, with a list that names the version we asked for: it is modern after all. */
function wantsOurVersion({ relayed }: HallError): boolean {
  const { supported } = relayed?.code === -32022 && isObject(relayed.data) ? relayed.data : {};
  return Array.isArray(supported) && supported.includes(modernVersion);
}

async function initialize(
  peer: Peer,
  scope: Scope,
  capabilities: JsonObject = clientCapabilities,
): Promise<Greeting> {
  const result = await peer.request(
    "initialize",
    { protocolVersion: legacyVersion, capabilities, clientInfo },
    { scope },
  );
  if (!isObject(result) || !legacyVersions.includes(result.protocolVersion)) {
    throw new HallError(
      "BAD_ANSWER",
      `initialize was answered with protocol version ${JSON.stringify(isObject(result) ? result.protocolVersion : result)}`,
    );
  }
  return {
    era: "legacy",
    version: String(result.protocolVersion),
    capabilities: isObject(result.capabilities) ? result.capabilities : {},
    info: readInfo(result.serverInfo),
    instructions: typeof result.instructions === "string" ? result.instructions : undefined,
  };
}

function readInfo(info: unknown): JsonObject {
  return isObject(info) && typeof info.name === "string" ? info : { name: "unnamed" };
}
