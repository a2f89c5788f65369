import type { Json } from "../base/json.ts";
import type { Secrets } from "../base/log.ts";
import { createScrub, digestArguments } from "./calls.ts";
import {
  type Anchor,
  type ChainedRow,
  ChainWalk,
  chainHash,
  chainStart,
  prunedEntry,
} from "./chain.ts";
import {
  hoursKeptMs,
  isOf,
  listPeople,
  listPeriods,
  PeriodTallies,
  type PeriodTally,
  periodMs,
  periodSince,
  sumStatistics,
  tallyOf,
} from "./periods.ts";
import {
  type AuditEntry,
  type AuditStore,
  type CallFilter,
  type CallRow,
  type CallStore,
  type DocumentStore,
  defaultRetention,
  type KeptCall,
  listLimit,
  type Store,
} from "./store.ts";

export interface MemoryStoreOptions {
  /** Default 10,000. */
  readonly callsMax?: number;
  readonly auditMax?: number;
  /** Removed from every row. */
  readonly secrets?: Secrets | undefined;
  now?(): number;
}

/** A store that ends with the process, for a hall without a project. Only the last rows are kept. */
export function createMemoryStore({
  callsMax = 10_000,
  auditMax = 10_000,
  secrets,
  now = Date.now,
}: MemoryStoreOptions = {}): Store {
  const tallies = new PeriodTallies();
  const scrub = createScrub(secrets);
  const calls = createCalls(callsMax, tallies);
  let prunePeriodsAt = now() + periodMs.hour;

  function prunePeriods(): void {
    tallies.pruneBefore("hour", now() - hoursKeptMs - periodMs.hour);
    tallies.pruneBefore("day", now() - defaultRetention.keepDays * periodMs.day);
    prunePeriodsAt = now() + periodMs.hour;
  }
  const audit = createAudit(auditMax, now);
  return {
    calls: {
      ...calls,
      add(given) {
        const row = typeof given === "function" ? given() : given;
        if (row.at > prunePeriodsAt) prunePeriods();
        calls.add(scrub.call(row));
      },
      begin: (row) => calls.begin(scrub.call(row)),
    },
    audit: { ...audit, append: (entry) => audit.append(scrub.entry(entry)) },
    registrations: createDocuments(now),
    discoveries: createDocuments(now),
    runs: createDocuments(now),
    retries: createDocuments(now),
    async statistics(since = 0, person) {
      const wanted = periodSince(since, now());
      const isWanted = ({ period, start }: PeriodTally): boolean =>
        period === wanted && start + periodMs[wanted] > since;
      if (person !== undefined) {
        const own = calls.all().filter((row) => row.person === person);
        return sumStatistics(tallyAll(own).filter(isWanted), wanted);
      }
      const named = calls.all().flatMap((row) => {
        const { person: name } = row;
        return name === null ? [] : [{ ...row, toolkit: name, tool: name }];
      });
      return {
        ...sumStatistics([...tallies.all()].filter(isWanted), wanted),
        ...listPeople(tallyAll(named).filter(isWanted), wanted),
      };
    },
    async series(since, of) {
      const wanted = periodSince(since, now());
      const isWanted = (tally: PeriodTally): boolean =>
        tally.period === wanted && tally.start + periodMs[wanted] > since && isOf(tally, of);
      return listPeriods([...tallies.all()].filter(isWanted), wanted);
    },
    async prune() {
      prunePeriods();
      return { calls: calls.prune(), audit: audit.prune() };
    },
    flush: async () => {},
    isFull: false,
    onFull: () => () => {},
    state: () => ({ kind: "memory", problem: undefined, waiting: 0, lost: 0 }),
    close: async () => {},
  };
}

function tallyAll(rows: readonly CallRow[]): readonly PeriodTally[] {
  const tallies = new PeriodTallies();
  for (const row of rows) if (row.outcome !== "running") tallies.add(row, tallyOf(row));
  return [...tallies.all()];
}

/** How far a list may exceed its limit before it is cut: cutting one by one would move every row each time. */
const slack = 1.25;

interface MemoryCalls extends CallStore {
  add(row: CallRow): void;
  all(): readonly CallRow[];
  prune(): number;
}

function createCalls(countMax: number, tallies: PeriodTallies): MemoryCalls {
  let rows: StoredCall[] = [];
  const begun = new Map<string, StoredCall>();
  let seq = 0;

  function prune(): number {
    const over = Math.max(0, rows.length - countMax);
    rows = rows.slice(over);
    return over;
  }

  function put(row: CallRow): StoredCall {
    const stored = { seq: ++seq, row: slim(row) };
    rows.push(stored);
    if (rows.length > countMax * slack) prune();
    return stored;
  }

  return {
    all: () => rows.map(({ row }) => row),
    prune,
    add(row) {
      tallies.add(row, tallyOf(row));
      // Usually none is running, and hashing a new id costs more than the row.
      const running = begun.size === 0 ? undefined : begun.get(row.id);
      if (!running) put(row);
      else {
        running.row = slim(row);
        begun.delete(row.id);
      }
    },
    async begin(row) {
      begun.set(row.id, put(row));
    },
    async list(filter = {}) {
      return select(rows, filter, ({ row }) => matchesCall(filter, row)).map(keep);
    },
  };
}

function matchesCall(
  { since, tool, outcome, person, root }: CallFilter,
  row: Pick<CallRow, "root" | "at" | "tool" | "toolkit" | "outcome" | "code" | "person">,
): boolean {
  if (person !== undefined && row.person !== person) return false;
  if (root !== undefined && row.root !== root) return false;
  if (since !== undefined && row.at < since) return false;
  if (tool !== undefined && row.tool !== tool && row.toolkit !== tool) return false;
  return outcome === undefined || row.outcome === outcome || row.code === outcome;
}

interface StoredCall {
  readonly seq: number;
  row: CallRow & { readonly digest?: string | null };
}

const shortArguments = 1_024;

/** Short arguments are digested when they are listed, long ones at once to free their memory. */
function slim(row: CallRow): StoredCall["row"] {
  return row.arguments.length <= shortArguments
    ? row
    : { ...row, arguments: "", digest: digestArguments(row.arguments) };
}

function keep({
  seq,
  row: { kept, arguments: text, digest = digestArguments(text), ...row },
}: StoredCall): KeptCall {
  return { ...row, seq, digest, arguments: kept?.arguments ?? null, result: kept?.result ?? null };
}

/** The newest `limit`, or the first ones after `after`. */
function select<T extends { readonly seq: number }>(
  rows: readonly T[],
  { after, limit = listLimit }: CallFilter,
  isWanted: (row: T) => boolean,
): readonly T[] {
  const wanted = rows.filter((row) => row.seq > (after ?? 0) && isWanted(row));
  return after === undefined ? wanted.slice(-limit) : wanted.slice(0, limit);
}

function createAudit(countMax: number, now: () => number): AuditStore & { prune(): number } {
  let rows: ChainedRow[] = [];
  let anchor: Anchor = chainStart;
  let head = anchor;

  function append({ kind, subject, caller, reason, details = null }: AuditEntry): void {
    const row = {
      seq: head.seq + 1,
      at: now(),
      kind,
      subject,
      caller,
      reason,
      details: JSON.stringify(details),
    };
    head = { seq: row.seq, hash: chainHash(head.hash, row) };
    rows.push({ ...row, hash: head.hash });
  }

  function prune(): number {
    const over = Math.max(0, rows.length - countMax);
    const last = rows[over - 1];
    if (!last) return 0;
    anchor = { seq: last.seq, hash: last.hash };
    rows = rows.slice(over);
    append(prunedEntry(anchor, "more rows than are kept in memory"));
    return over;
  }

  return {
    prune,
    async append(entry) {
      append(entry);
      if (rows.length > countMax * slack) prune();
    },
    async list(filter = {}) {
      const { since, tool, outcome, person } = filter;
      const isWanted = (row: ChainedRow): boolean =>
        (person === undefined || row.caller === person) &&
        (since === undefined || row.at >= since) &&
        (tool === undefined || row.subject === tool) &&
        (outcome === undefined || row.kind === outcome);
      return select(rows, filter, isWanted).map((row) => ({
        ...row,
        details: JSON.parse(row.details) as Json,
      }));
    },
    async check() {},
    async accept() {
      return false;
    },
    async verify() {
      const walk = new ChainWalk({ anchor, head });
      for (const row of rows) {
        const broken = walk.step(row);
        if (broken) return broken;
      }
      return walk.end();
    },
  };
}

function createDocuments(now: () => number): DocumentStore {
  const documents = new Map<string, { readonly text: string; readonly expiresAt: number }>();
  const isCurrent = ({ expiresAt }: { readonly expiresAt: number }): boolean => expiresAt > now();
  const putText: DocumentStore["putText"] = async (
    key,
    text,
    { ttlMs = Number.POSITIVE_INFINITY } = {},
  ) => {
    documents.set(key, { text, expiresAt: now() + ttlMs });
  };
  return {
    put: (key, value, options) => putText(key, JSON.stringify(value), options),
    putText,
    async find(key) {
      const found = documents.get(key);
      return found && isCurrent(found) ? (JSON.parse(found.text) as Json) : undefined;
    },
    async list(prefix = "") {
      const current = [...documents]
        .filter(([key, document]) => key.startsWith(prefix) && isCurrent(document))
        .sort(([a], [b]) => (a < b ? -1 : 1));
      return current.map(([key, { text }]) => ({ key, value: JSON.parse(text) as Json }));
    },
    async remove(key) {
      documents.delete(key);
    },
  };
}
