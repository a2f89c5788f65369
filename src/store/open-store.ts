import { createHash } from "node:crypto";
import { existsSync, realpathSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { dataFolder } from "../base/files.ts";
import type { Log, Secrets } from "../base/log.ts";
import { createScrub, packCalls } from "./calls.ts";
import type { Collection } from "./document-table.ts";
import { createMemoryStore } from "./memory-store.ts";
import type { Moved, MoveOptions } from "./move.ts";
import { placeOf, redactUrl } from "./postgres/url.ts";
import type { StoreLocation, WriterOptions } from "./protocol.ts";
import { markFile } from "./seal.ts";
import { type DocumentStore, defaultRetention, type Retention, type Store } from "./store.ts";
import { WriterThread } from "./writer-thread.ts";

/** Where the store is, and how it behaves. */
export type StoreSettings = StoreLocation & {
  readonly retention?: Retention | undefined;
  /** Waiting rows at which clients are no longer read. Default 16,384. */
  readonly fullAt?: number | undefined;
  /** The built worker. Default: beside the program. */
  readonly worker?: URL | undefined;
  /** Where the key and the marks of stores are kept. Default: in the user's data folder. */
  readonly sealFolder?: string | undefined;
};

export interface OpenStoreOptions {
  readonly log: Pick<Log, "warn" | "error">;
  /** Removed from every row. */
  readonly secrets?: Secrets | undefined;
  /** Only reads: a damaged file is left in place. */
  readonly isReader?: boolean | undefined;
}

/**
 * In memory if there are no settings; else in a file or a database, which several processes may share.
 * A thread of its own opens it with the first row.
 */
export function openStore(
  settings: StoreSettings | undefined,
  { log, secrets, isReader = false }: OpenStoreOptions,
): Store {
  if (!settings) return createMemoryStore({ secrets });
  const { retention = defaultRetention, fullAt, worker } = settings;
  const location = "url" in settings ? { url: settings.url } : { path: settings.path };
  const identity =
    "url" in location
      ? ({ kind: "postgresql", url: redactUrl(location.url) } as const)
      : ({ kind: "sqlite", path: location.path } as const);
  const name = identity.kind === "sqlite" ? identity.path : identity.url;
  const scrub = createScrub(secrets);
  const thread = new WriterThread({
    location,
    seal: sealOf(settings),
    name,
    retention,
    isReader,
    fullAt,
    worker,
    log,
    scrub: scrub.call,
  });

  return {
    calls: {
      add: thread.add,
      begin: (row) => thread.write({ what: "begin", call: packCalls([scrub.call(row)]) }),
      list: (filter = {}) => thread.read({ what: "calls", filter }),
    },
    audit: {
      append: (entry) =>
        thread.write({ what: "append", entry: scrub.entry(entry), at: Date.now() }),
      list: (filter = {}) => thread.read({ what: "audit", filter }),
      check: () => thread.read({ what: "check" }),
      verify: () => thread.read({ what: "verify" }),
      accept: (entry) => thread.read({ what: "accept", entry, at: Date.now() }),
    },
    registrations: createDocuments("registrations", thread),
    discoveries: createDocuments("discoveries", thread),
    runs: createDocuments("runs", thread),
    retries: createDocuments("retries", thread),
    statistics: (since = 0, person) => thread.read({ what: "statistics", since, person }),
    series: (since, of) => thread.read({ what: "series", since, of }),
    prune: () => thread.read({ what: "prune", now: Date.now() }),
    flush: () => thread.flush(),
    get isFull() {
      return thread.isFull;
    },
    onFull: (listener) => thread.onFull(listener),
    state: () => ({ ...identity, ...thread.state() }),
    close: () => thread.close(),
  };
}

function sealOf(settings: StoreSettings): WriterOptions["seal"] {
  const { sealFolder = join(dataFolder(), "store") } = settings;
  const place = "url" in settings ? placeOf(settings.url) : realPath(settings.path);
  return { folder: sealFolder, place };
}

/** The folder of the project may be reached through links. The store and its own folder may not exist. */
function realPath(path: string): string {
  const project = dirname(dirname(resolve(path)));
  try {
    return join(realpathSync(project), relative(project, resolve(path)));
  } catch {
    return resolve(path);
  }
}

/** Copies the rows of a file into an empty database. See `moveStore`. */
export async function moveToDatabase(
  path: string,
  url: string,
  events: Pick<MoveOptions, "notify" | "onProgress">,
): Promise<Moved> {
  const { moveStore } = await import("./move.ts");
  const seals = { file: sealOf({ path }), database: sealOf({ url }) };
  return moveStore({ path, url, seals, ...events });
}

/** False if nothing was ever written there, as far as this user knows. */
export function mayHaveRows(settings: StoreSettings): boolean {
  return "url" in settings || existsSync(settings.path) || existsSync(markFile(sealOf(settings)));
}

function createDocuments(collection: Collection, thread: WriterThread): DocumentStore {
  const putText: DocumentStore["putText"] = (key, body, { ttlMs } = {}) => {
    const expiresAt = ttlMs === undefined ? null : Date.now() + ttlMs;
    return thread.write({ what: "put", collection, key, body, expiresAt });
  };
  return {
    put: (key, value, options) => putText(key, JSON.stringify(value), options),
    putText,
    find: (key) => thread.read({ what: "find", collection, key }),
    list: (prefix = "") => thread.read({ what: "documents", collection, prefix }),
    remove: (key) => thread.write({ what: "remove", collection, key }),
  };
}

/**
 * The configured database, or the project's own file. For a folder that is not a project it is in the
 * user's data folder, so that a hall leaves no files in folders it was only started in.
 */
export function findStoreLocation({
  url,
  folder,
  hasConfig,
}: {
  readonly url: string | undefined;
  readonly folder: string;
  readonly hasConfig: boolean;
}): StoreLocation {
  if (url !== undefined) return { url };
  const home = join(folder, ".guildhall");
  if (hasConfig || existsSync(home)) return { path: join(home, "state.db") };
  const name = createHash("sha256").update(realpathSync(folder)).digest("hex").slice(0, 32);
  return { path: join(dataFolder(), "folders", name, "state.db") };
}
