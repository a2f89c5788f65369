import { HallError } from "../base/errors.ts";
import { isObject, type JsonObject } from "../base/json.ts";
import { type LogLevel, logLevels } from "../tool.ts";
import type { Exchange } from "../wire/exchange.ts";
import { type Era, isModernVersion, metaKeys, modernVersions, type Version } from "./versions.ts";

/** One request of a client as its handler sees it: what the client speaks and can do, and the way back to it. */
export interface Visit {
  readonly era: Era;
  readonly version: Version;
  readonly capabilities: JsonObject;
  /** What the client says of itself: for logs, never for decisions. */
  readonly client: string;
  readonly connection: string;
  /** Who is on the line, as far as the listener can tell. */
  readonly principal: string;
  /** Whose allowance its calls are counted against; undefined where nothing is counted. */
  readonly quota: string | undefined;
  readonly exchange: Exchange;
  /** The least level the client wants to hear of; undefined for nothing. */
  readonly logLevel: LogLevel | undefined;
  /** Progress tokens in use on this connection. */
  readonly progressTokens: Set<string | number>;
}

/** What a modern request says of itself in `_meta`. */
export type Envelope = Pick<Visit, "era" | "version" | "capabilities" | "client" | "logLevel">;

/** The envelope of a modern request, or undefined for a legacy one. Throws when it is there and wrong. */
export function readEnvelope(params: JsonObject | undefined): Envelope | undefined {
  const meta = params?._meta;
  if (!isObject(meta) || !hasEnvelope(params)) return undefined;
  const version = meta[metaKeys.version];
  const capabilities = meta[metaKeys.capabilities];
  if (typeof version !== "string")
    throw new HallError("INVALID_PARAMS", `params._meta needs "${metaKeys.version}"`);
  if (!isModernVersion(version)) {
    throw new HallError(
      "UNSUPPORTED_VERSION",
      `protocol version ${version.slice(0, 40)} is not served this way`,
      {
        details: { supported: modernVersions, requested: version.slice(0, 40) },
      },
    );
  }
  if (!isObject(capabilities))
    throw new HallError(
      "INVALID_PARAMS",
      `params._meta needs "${metaKeys.capabilities}", at least {}`,
    );
  return {
    era: "modern",
    version,
    capabilities,
    client: nameOf(meta[metaKeys.clientInfo]),
    logLevel: readLogLevel(meta[metaKeys.logLevel]),
  };
}

/** True when a request speaks the modern way, well or badly. */
export function hasEnvelope(params: JsonObject | undefined): boolean {
  const meta = params?._meta;
  return (
    isObject(meta) &&
    (metaKeys.version in meta || metaKeys.capabilities in meta || metaKeys.clientInfo in meta)
  );
}

export function nameOf(clientInfo: unknown): string {
  if (!isObject(clientInfo) || typeof clientInfo.name !== "string") return "unnamed client";
  return `${clientInfo.name} ${typeof clientInfo.version === "string" ? clientInfo.version : ""}`
    .trim()
    .slice(0, 100);
}

export function readLogLevel(level: unknown): LogLevel | undefined {
  if (level === undefined) return undefined;
  const found = logLevels.find((known) => known === level);
  if (!found)
    throw new HallError("INVALID_PARAMS", `a log level is one of ${logLevels.join(", ")}`);
  return found;
}
