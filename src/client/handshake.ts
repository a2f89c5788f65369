import { setTimeout as sleep } from "node:timers/promises";
import { HallError } from "../base/errors.ts";
import { isObject, type JsonObject } from "../base/json.ts";
import { Scope } from "../base/scope.ts";
import { version as ownVersion } from "../base/version.ts";
import type { Peer } from "../wire/peer.ts";

/** The protocol a server speaks, and how it describes itself. */
export interface Handshake {
  readonly era: "legacy" | "modern";
  readonly version: string;
  readonly capabilities: JsonObject;
  /** Self-reported, for display only; names come from the config. */
  readonly info: JsonObject;
  readonly instructions: string | undefined;
}

export interface HandshakeOptions {
  readonly scope: Scope;
  /** `legacy`: tries `initialize` first, and `server/discover` only if it is refused or not answered. */
  readonly prefers?: "legacy" | "modern" | undefined;
  /** How long silence may last before the server counts as legacy. Default 3 s. */
  readonly probeMs?: number | undefined;
  /** The questions that the server may ask. Default: anything a client behind us might support. */
  readonly capabilities?: JsonObject | undefined;
}

const clientInfo = { name: "guildhall", title: "Guildhall", version: ownVersion } as const;
/**
 * A question goes to the client whose call caused it, and is refused if that client lacks support.
 * Pages of MCP Apps are passed on to every client, and shown by those that can.
 */
const clientCapabilities = {
  roots: { listChanged: true },
  sampling: { tools: {} },
  elicitation: { form: {}, url: {} },
  extensions: { "io.modelcontextprotocol/ui": { mimeTypes: ["text/html;profile=mcp-app"] } },
} as const;

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
 * Probes with `server/discover`, which a modern server answers; a refusal means `initialize`. A
 * silent server is old or slow to start: it gets both, and its first answer decides.
 */
export async function shakeHands(peer: Peer, options: HandshakeOptions): Promise<Handshake> {
  const probe = new Scope(options.scope);
  try {
    return await negotiate(peer, probe, options);
  } finally {
    probe.close();
  }
}

async function negotiate(
  peer: Peer,
  probe: Scope,
  { scope, prefers, probeMs = 3_000, capabilities }: HandshakeOptions,
): Promise<Handshake> {
  const probing = prefers === "legacy" ? undefined : discover(peer, probe, capabilities);
  // Avoid an unhandled rejection once we stop waiting for the probe.
  probing?.catch(() => {});
  const early = await Promise.race([probing, sleep(probeMs, silence, { ref: false })]);
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
    const handshake = await shaking;
    probe.cancel(new HallError("CANCELLED", "answered with a handshake"));
    peer.notify("notifications/initialized", undefined);
    return handshake;
  } catch (error) {
    // A server that speaks the newest version only refuses `initialize`.
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
): Promise<Handshake | undefined> {
  let found: unknown;
  try {
    found = await peer.request("server/discover", { _meta: envelope(capabilities) }, { scope });
  } catch (error) {
    // A refusal means legacy; a lost connection, a missing login or a cancelled start means neither.
    if (
      scope.cancelReason ||
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

/** Without a token `initialize` would fail too; a 403 may only mean an unknown method. */
function wantsToken({ code, details }: HallError): boolean {
  return code === "DENIED" && details?.status !== 403;
}

/** UnsupportedProtocolVersion whose list contains our version: the server is modern after all. */
function wantsOurVersion({ relayed }: HallError): boolean {
  const { supported } = relayed?.code === -32022 && isObject(relayed.data) ? relayed.data : {};
  return Array.isArray(supported) && supported.includes(modernVersion);
}

async function initialize(
  peer: Peer,
  scope: Scope,
  capabilities: JsonObject = clientCapabilities,
): Promise<Handshake> {
  const result = await peer.request(
    "initialize",
    { protocolVersion: legacyVersion, capabilities, clientInfo },
    { scope },
  );
  if (!isObject(result) || !legacyVersions.includes(result.protocolVersion)) {
    throw new HallError(
      "BAD_ANSWER",
      `unsupported protocol version in the answer to initialize: ${JSON.stringify(isObject(result) ? result.protocolVersion : result)}`,
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
