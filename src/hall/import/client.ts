import { isObject, type JsonObject } from "../../base/json.ts";
import type { Path } from "../../config/error.ts";
import { fieldAt } from "../../config/layer.ts";
import type { Meanings } from "./entry.ts";
import type { Machine, PlacePath } from "./machine.ts";
import type { References } from "./references.ts";

/** A program that keeps a list of MCP servers: where its files are, what stands in them, and how the hall is written there. */
export interface Client {
  /** As a person types it: `guildhall install claude-code`. */
  readonly id: string;
  readonly name: string;
  readonly places: readonly Place[];
  /** How its values name variables. */
  readonly references: References;
  /** What the keys of an entry mean. */
  readonly meanings: Meanings;
  /** The lists of servers in a file. Without it, the map at the place's `at`. */
  listsIn?(tree: unknown, place: Place, machine: Machine): readonly ServerList[];
  /** Where the map of servers is in a file, where that depends on the file. */
  mapIn?(tree: unknown): Path;
  /** Its entry for a program on this machine. Without it, `{command, args}`. */
  entryFor?(command: readonly [string, ...string[]]): JsonObject;
}

/** A file of a client. */
export interface Place {
  /** Whose servers these are: the project's, or the user's everywhere. */
  readonly scope: "project" | "user";
  /** A `*` in the last part stands for any name. */
  readonly path: PlacePath;
  /** Where the map of servers is in the file. */
  readonly at: Path;
  /** Read, but not written to: a place of old. */
  readonly isOld?: boolean;
}

/** Servers that stand together in a file. */
export interface ServerList {
  readonly entries: readonly ServerEntry[];
  /** The folder they are for, where that is another one than the project's. */
  readonly elsewhere?: string;
}

export interface ServerEntry {
  readonly name: string;
  readonly value: unknown;
  readonly path: Path;
}

/** The usual list: a map by name. */
export function mapAt(tree: unknown, at: Path): ServerList {
  const map = fieldAt(tree, at);
  return {
    entries: isObject(map)
      ? Object.entries(map).map(([name, value]) => ({ name, value, path: [...at, name] }))
      : [],
  };
}
