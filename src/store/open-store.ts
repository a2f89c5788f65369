import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Log, Secrets } from "../base/log.ts";
import { createMemoryStore } from "./memory-store.ts";
import type { StoreLocation } from "./protocol.ts";
import type { Retention, Store } from "./store.ts";
import { createWrittenStore } from "./written-store.ts";

export type { StoreLocation };

/** Where the store is, and how it behaves. */
export type StoreSettings = StoreLocation & {
  readonly retention?: Retention | undefined;
  /** Waiting rows at which clients are no longer read. Default 16,384. */
  readonly fullAt?: number | undefined;
  /** The built worker. Default: beside the program. */
  readonly worker?: URL | undefined;
};

export interface OpenStoreOptions {
  readonly log: Pick<Log, "warn" | "error">;
  readonly secrets: Secrets | undefined;
  /** Only reads: a damaged file is left in place. */
  readonly isReader?: boolean | undefined;
}

/** In memory if there are no settings. Nothing is opened before the first row. */
export function openStore(
  settings: StoreSettings | undefined,
  { log, secrets, isReader }: OpenStoreOptions,
): Store {
  if (!settings) return createMemoryStore({ secrets });
  const location = "url" in settings ? { url: settings.url } : { path: settings.path };
  const { retention, fullAt, worker } = settings;
  return createWrittenStore({ location, retention, fullAt, worker, isReader, log, secrets });
}

/**
 * The configured database, or the project's own file. Undefined for a folder that is not a project, so
 * that a hall leaves no files in folders it was only started in.
 */
export function findStoreLocation({
  url,
  folder,
  hasConfig,
}: {
  readonly url: string | undefined;
  readonly folder: string;
  readonly hasConfig: boolean;
}): StoreLocation | undefined {
  if (url !== undefined) return { url };
  const home = join(folder, ".guildhall");
  return hasConfig || existsSync(home) ? { path: join(home, "state.db") } : undefined;
}
