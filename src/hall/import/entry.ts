import { isObject, type JsonObject } from "../../base/json.ts";
import { mergeTrees } from "../../config/layer.ts";

/** What a key of another client's entry says in our words: a part of a server. */
export type Meaning = (value: unknown) => JsonObject;
export type Meanings = Readonly<Record<string, Meaning>>;

export interface Draft {
  /** As our config has it, before the schema has seen it. */
  readonly server: JsonObject;
  /** Keys that say nothing here. */
  readonly leftOut: readonly string[];
}

/** The keys of an entry, each said in our words, and put together. */
export function draftServer(entry: JsonObject, meanings: Meanings): Draft {
  const present = Object.entries(entry).filter(
    ([, value]) => value !== undefined && value !== null,
  );
  const said = present.flatMap(([key, value]) =>
    Object.hasOwn(meanings, key) ? [meanings[key]?.(value) ?? {}] : [],
  );
  const server = tidy(said.reduce<JsonObject>(mergeTrees, {}));
  return {
    server,
    leftOut: present.map(([key]) => key).filter((key) => !Object.hasOwn(meanings, key)),
  };
}

export const as =
  (key: string): Meaning =>
  (value) => ({ [key]: value });

/** For keys that mean something only to people or to the client's own window. */
export const nothing: Meaning = () => ({});

/** Clients take numbers and truth values where an environment has only text. */
export const texts =
  (key: string): Meaning =>
  (value) => ({ [key]: isObject(value) ? mapValues(value, textOf) : value });

export const includeTools: Meaning = (names) => ({ tools: { include: names } });
export const excludeTools: Meaning = (names) =>
  Array.isArray(names) && names.length === 0 ? {} : { tools: { exclude: names } };
const enabled: Meaning = (isEnabled) => (isEnabled === false ? { disabled: true } : {});

/** A time limit, held within what our config takes. */
export const timeout =
  (perSecond: number): Meaning =>
  (value) =>
    typeof value === "number" && value > 0
      ? { timeoutSeconds: Math.min(600, Math.max(1, Math.round(value / perSecond))) }
      : {};

/** The keys almost every client has. */
export const usualMeanings: Meanings = {
  type: (type) => ({ type: transports[String(type).toLowerCase().replaceAll("_", "-")] ?? type }),
  command: as("command"),
  args: (args) => ({ args: Array.isArray(args) ? args.map(textOf) : args }),
  env: texts("env"),
  cwd: as("cwd"),
  url: as("url"),
  headers: texts("headers"),
  disabled: (isDisabled) => (isDisabled === true ? { disabled: true } : {}),
  enabled,
  name: nothing,
  description: nothing,
  icon: nothing,
  version: nothing,
};

const transports: Readonly<Record<string, string>> = {
  stdio: "stdio",
  local: "stdio",
  http: "http",
  https: "http",
  remote: "http",
  "streamable-http": "http",
  streamablehttp: "http",
  sse: "sse",
  ws: "ws",
  websocket: "ws",
};

/** Without what says nothing: the defaults, and what belongs to the other kind of server. */
function tidy(server: JsonObject): JsonObject {
  const foreign = typeof server.url === "string" ? ["args", "env", "cwd"] : ["headers"];
  const kept = Object.entries(server).filter(([key, value]) => {
    if (key === "type") return value !== "stdio" && value !== "http";
    const isEmpty = Array.isArray(value)
      ? value.length === 0
      : isObject(value) && Object.keys(value).length === 0;
    return !isEmpty && !(foreign.includes(key) && !("command" in server && "url" in server));
  });
  return Object.fromEntries(kept);
}

function mapValues(map: JsonObject, change: (value: unknown) => unknown): JsonObject {
  return Object.fromEntries(
    Object.entries(map).flatMap(([key, value]) => (value === null ? [] : [[key, change(value)]])),
  );
}

function textOf(value: unknown): unknown {
  return typeof value === "number" || typeof value === "boolean" ? String(value) : value;
}
