import { join } from "node:path";
import { messageOf } from "../base/errors.ts";
import { isObject, type JsonObject, sortKeys } from "../base/json.ts";
import { readProjectFile, replaceProjectFile } from "../base/project-files.ts";
import type { Handshake } from "../client/handshake.ts";
import { pinOf } from "../trust/pin.ts";
import type { Offer } from "./lists.ts";

/**
 * `.guildhall/tools.lock.json`: what every upstream offered at the last discovery, with a hash of each
 * tool (its pin). The hall answers the first list from it, with no server running. Sorted, for stable diffs.
 */
export interface Lock {
  readonly lockVersion: 1;
  readonly servers: Readonly<Record<string, LockedServer>>;
}

export interface LockedServer {
  /** Hash of command or URL; if the config changes, the entry is invalid. */
  readonly source: string;
  readonly era: Handshake["era"];
  readonly protocol: string;
  readonly info: JsonObject;
  readonly instructions?: string;
  readonly capabilities: JsonObject;
  readonly pins: Readonly<Record<string, string>>;
  readonly offer: Offer;
}

export const emptyLock: Lock = { lockVersion: 1, servers: {} };

const lockName = join(".guildhall", "tools.lock.json");
/** Enough for 10,000 tools. */
const lockBytesMax = 32 * 1024 * 1024;

export function lockPath(folder: string): string {
  return join(folder, lockName);
}

/** The lock of a project, empty if there is none. An unreadable one is reported and treated as empty. */
export async function readLock(folder: string, warn: (message: string) => void): Promise<Lock> {
  const file = lockPath(folder);
  try {
    const text = await readProjectFile(folder, lockName, lockBytesMax);
    if (text === undefined) return emptyLock;
    const value: unknown = JSON.parse(text);
    if (isObject(value) && value.lockVersion === 1 && isObject(value.servers))
      return value as unknown as Lock;
    warn(`"${file}" has another format version: run \`guildhall build\``);
  } catch (error) {
    warn(`cannot use "${file}" (${messageOf(error)}): run \`guildhall build\``);
  }
  return emptyLock;
}

/** The names of a server's tools; undefined if the lock does not have them. */
export function lockedTools({ servers }: Lock, server: string): readonly string[] | undefined {
  const locked = Object.hasOwn(servers, server) ? servers[server] : undefined;
  return isLockedServer(locked) ? locked.offer.tools.map(({ name }) => name) : undefined;
}

/** Checks an entry: a file that was merged by hand may contain anything. */
export function isLockedServer(value: unknown): value is LockedServer {
  if (
    !isObject(value) ||
    !isObject(value.offer) ||
    !isObject(value.info) ||
    !isObject(value.capabilities)
  )
    return false;
  const { tools, resources, templates, prompts, skipped = [] } = value.offer;
  const hasEra = value.era === "legacy" || value.era === "modern";
  const hasTools =
    Array.isArray(tools) &&
    tools.every(
      (tool) =>
        isObject(tool) &&
        typeof tool.name === "string" &&
        isObject(tool.inputSchema) &&
        // The hall's own facts about a tool come from no file.
        tool.facts === undefined,
    );
  return (
    hasEra &&
    typeof value.protocol === "string" &&
    hasTools &&
    [resources, templates, prompts, skipped].every(
      (list) => Array.isArray(list) && list.every(isObject),
    )
  );
}

/** Returns the path of the file. */
export async function writeLock(folder: string, lock: Lock): Promise<string> {
  // Indented down to the lists of an offer; each item is one line. Parameters keep their author's order.
  await replaceProjectFile(folder, lockName, `${writeJson(sortKeys(lock, "properties"), 5)}\n`);
  return lockPath(folder);
}

/** Indents `levels` levels and writes one line per item below, for readable diffs. */
function writeJson(value: unknown, levels: number, indent = ""): string {
  const isList = Array.isArray(value);
  if (levels === 0 || !(isList || isObject(value)) || Object.keys(value).length === 0)
    return JSON.stringify(value);
  const inner = `${indent}  `;
  const parts = Object.entries(value).map(
    ([key, part]) =>
      `${isList ? "" : `${JSON.stringify(key)}: `}${writeJson(part, levels - 1, inner)}`,
  );
  const [open, close] = isList ? "[]" : "{}";
  return `${open}\n${inner}${parts.join(`,\n${inner}`)}\n${indent}${close}`;
}

export function lockServer(source: string, handshake: Handshake, offer: Offer): LockedServer {
  return {
    source,
    era: handshake.era,
    protocol: handshake.version,
    info: handshake.info,
    ...(handshake.instructions === undefined ? {} : { instructions: handshake.instructions }),
    capabilities: handshake.capabilities,
    pins: Object.fromEntries(offer.tools.map((tool) => [tool.name, pinOf(tool)])),
    offer: {
      tools: sorted(offer.tools, ({ name }) => name),
      resources: sorted(offer.resources, ({ uri }) => uri),
      templates: sorted(offer.templates, ({ uriTemplate }) => String(uriTemplate)),
      prompts: sorted(offer.prompts, ({ name }) => name),
      ...(offer.skipped?.length ? { skipped: sorted(offer.skipped, ({ name }) => name) } : {}),
    },
  };
}

function sorted<T>(items: readonly T[], key: (item: T) => string): readonly T[] {
  return [...items].sort((a, b) => (key(a) < key(b) ? -1 : 1));
}

/** The server's answer to the handshake, as the lock recorded it. */
export function handshakeOf(server: LockedServer): Handshake {
  const { era, protocol, info, capabilities, instructions } = server;
  return { era, version: protocol, info, capabilities, instructions };
}
