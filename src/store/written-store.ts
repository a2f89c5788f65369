import type { Json } from "../base/json.ts";
import type { Log, Secrets } from "../base/log.ts";
import { type PackedValue, packCall } from "./call-row.ts";
import type { ShelfName } from "./document-table.ts";
import { nameDatabase } from "./postgres/url.ts";
import type { Place } from "./protocol.ts";
import { createScrub } from "./scrub.ts";
import { defaultRetention, type Retention, type Shelf, type Store } from "./store.ts";
import { createWriterThread, type WriterThread } from "./writer-thread.ts";

export interface WrittenOptions {
  readonly place: Place;
  readonly log: Pick<Log, "warn" | "error">;
  /** What no row may contain. */
  readonly secrets?: Secrets | undefined;
  readonly retention?: Retention;
  /** Only looks: a file that cannot be read is left where it is. */
  readonly isReader?: boolean;
  readonly worker?: URL | undefined;
  readonly fullAt?: number | undefined;
}

/** A store that a thread of its own writes, into a file or a database that several processes may share. Opened by the first row, not before. */
export function createWrittenStore({
  place,
  log,
  secrets,
  retention = defaultRetention,
  isReader = false,
  worker,
  fullAt,
}: WrittenOptions): Store {
  const where =
    "url" in place
      ? ({ kind: "postgresql", url: nameDatabase(place.url) } as const)
      : ({ kind: "sqlite", path: place.path } as const);
  const name = where.kind === "sqlite" ? where.path : where.url;
  const scrub = createScrub(secrets);
  const thread = createWriterThread({ place, name, log, retention, isReader, worker, fullAt });
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
    registrations: createShelf("registrations", thread),
    discoveries: createShelf("discoveries", thread),
    runs: createShelf("runs", thread),
    statistics: (since = 0) => thread.read({ what: "statistics", since }),
    prune: () => thread.read({ what: "prune", now: Date.now() }),
    flush: thread.flush,
    get isFull() {
      return thread.isFull;
    },
    onFull: thread.onFull,
    state: () => ({ ...where, ...thread.state() }),
    close: thread.close,
  };
}

function createShelf(shelf: ShelfName, thread: WriterThread): Shelf {
  const putText: Shelf["putText"] = (key, text, { ttlMs } = {}) =>
    thread.write({
      what: "put",
      shelf,
      key,
      body: text,
      expiresAt: ttlMs === undefined ? null : Date.now() + ttlMs,
    });
  return {
    put: (key, value, options) => putText(key, JSON.stringify(value), options),
    putText,
    find: (key) => thread.read<Json | undefined>({ what: "find", shelf, key }),
    list: (prefix = "") => thread.read({ what: "documents", shelf, prefix }),
    remove: (key) => thread.write({ what: "remove", shelf, key }),
  };
}
