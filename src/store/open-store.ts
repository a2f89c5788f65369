import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Log, Secrets } from "../base/log.ts";
import { createMemoryStore } from "./memory-store.ts";
import { createSqliteStore } from "./sqlite-store.ts";
import { defaultRetention, type Retention, type Store } from "./store.ts";

export interface StorePlace {
  readonly path: string;
  readonly retention?: Retention;
  /** Rows that may wait before nothing new is read. Default 16,384. */
  readonly fullAt?: number;
  /** The built worker. Default: beside the program. */
  readonly worker?: URL;
}

/** In the file where there is a place for one, else in memory. Nothing is opened before the first row. */
export function openStore(
  place: StorePlace | undefined,
  { log, secrets }: { readonly log: Pick<Log, "warn" | "error">; readonly secrets: Secrets | undefined },
): Store {
  if (!place) return createMemoryStore({ secrets });
  return createSqliteStore({ retention: defaultRetention, ...place, log, secrets });
}

/** A project's own file. Undefined where nobody made the folder a project: a hall leaves nothing in folders it only happens to run in. */
export function findStatePath(folder: string, hasConfig: boolean): string | undefined {
  const home = join(folder, ".guildhall");
  return hasConfig || existsSync(home) ? join(home, "state.db") : undefined;
}
