import type { Json } from "../base/json.ts";
import type { Log, Secrets } from "../base/log.ts";
import { type PackedValue, packCall } from "./call-row.ts";
import type { Collection } from "./document-table.ts";
import { redactUrl } from "./postgres/url.ts";
import type { StoreLocation } from "./protocol.ts";
import { createScrub } from "./scrub.ts";
import { type DocumentStore, defaultRetention, type Retention, type Store } from "./store.ts";
import { WriterThread } from "./writer-thread.ts";

export interface WrittenStoreOptions {
  readonly location: StoreLocation;
  readonly log: Pick<Log, "warn" | "error">;
  /** Removed from every row. */
  readonly secrets?: Secrets | undefined;
  readonly retention?: Retention | undefined;
  /** Only reads: a damaged file is left in place. */
  readonly isReader?: boolean | undefined;
  readonly worker?: URL | undefined;
  readonly fullAt?: number | undefined;
}

/** A store in a file or a database, which several processes may share. A thread of its own opens it with the first row. */
export function createWrittenStore({
  location,
  secrets,
  retention = defaultRetention,
  isReader = false,
  ...options
}: WrittenStoreOptions): Store {
  const identity =
    "url" in location
      ? ({ kind: "postgresql", url: redactUrl(location.url) } as const)
      : ({ kind: "sqlite", path: location.path } as const);
  const name = identity.kind === "sqlite" ? identity.path : identity.url;
  const scrub = createScrub(secrets);
  const thread = new WriterThread({ ...options, location, name, retention, isReader });

  return {
    calls: {
      add: (row) => thread.add(scrub.call(row)),
      begin(row) {
        const values: PackedValue[] = [];
        packCall(scrub.call(row), values);
        return thread.write({ what: "begin", values });
      },
      list: (filter = {}) => thread.read({ what: "calls", filter }),
    },
    audit: {
      append: (entry) =>
        thread.write({ what: "append", entry: scrub.entry(entry), at: Date.now() }),
      list: (filter = {}) => thread.read({ what: "audit", filter }),
      verify: () => thread.read({ what: "verify" }),
    },
    registrations: createDocuments("registrations", thread),
    discoveries: createDocuments("discoveries", thread),
    runs: createDocuments("runs", thread),
    statistics: (since = 0) => thread.read({ what: "statistics", since }),
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

function createDocuments(collection: Collection, thread: WriterThread): DocumentStore {
  const putText: DocumentStore["putText"] = (key, body, { ttlMs } = {}) => {
    const expiresAt = ttlMs === undefined ? null : Date.now() + ttlMs;
    return thread.write({ what: "put", collection, key, body, expiresAt });
  };
  return {
    put: (key, value, options) => putText(key, JSON.stringify(value), options),
    putText,
    find: (key) => thread.read<Json | undefined>({ what: "find", collection, key }),
    list: (prefix = "") => thread.read({ what: "documents", collection, prefix }),
    remove: (key) => thread.write({ what: "remove", collection, key }),
  };
}
