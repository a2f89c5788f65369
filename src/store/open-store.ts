import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Log, Secrets } from "../base/log.ts";
import { createMemoryStore } from "./memory-store.ts";
import type { Place } from "./protocol.ts";
import { defaultRetention, type Retention, type Store } from "./store.ts";
import { createWrittenStore } from "./written-store.ts";

/** A file, or a database. */
export type StorePlace = Place & StoreSettings;

interface StoreSettings {
  readonly retention?: Retention;
  /** Rows that may wait before nothing new is read. Default 16,384. */
  readonly fullAt?: number;
  /** The built worker. Default: beside the program. */
  readonly worker?: URL;
}

export interface OpenOptions {
  readonly log: Pick<Log, "warn" | "error">;
  readonly secrets: Secrets | undefined;
  /** Only looks: a file that cannot be read is left where it is. */
  readonly isReader?: boolean;
}

/** Where there is a place for one, else in memory. Nothing is opened before the first row. */
export function openStore(
  place: StorePlace | undefined,
  { log, secrets, isReader = false }: OpenOptions,
): Store {
  if (!place) return createMemoryStore({ secrets });
  const { retention = defaultRetention, fullAt, worker } = place;
  return createWrittenStore({
    place: "url" in place ? { url: place.url } : { path: place.path },
    retention,
    fullAt,
    worker,
    isReader,
    log,
    secrets,
  });
}

export interface Whereabouts {
  /** What the config names for all halls that are to share it. */
  readonly url: string | undefined;
  readonly folder: string;
  readonly hasConfig: boolean;
}

/**
 * The database of the config, else a project's own file. Undefined where nobody made the folder a project: a hall leaves nothing
 * in folders it only happens to run in.
 */
export function findStorePlace({ url, folder, hasConfig }: Whereabouts): Place | undefined {
  if (url !== undefined) return { url };
  const home = join(folder, ".guildhall");
  return hasConfig || existsSync(home) ? { path: join(home, "state.db") } : undefined;
}
