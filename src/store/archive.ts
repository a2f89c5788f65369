import { appendAudit, listAudit, pruneAudit, verifyAudit } from "./audit-table.ts";
import { CallTable, listCalls, pruneCalls } from "./call-table.ts";
import { findDocument, listDocuments, pruneDocuments, writeDocuments } from "./document-table.ts";
import type { PendingWrite, Read, Write } from "./protocol.ts";
import { pruneSpans, readStatistics } from "./span-table.ts";
import { hoursKeptMs, spanMs } from "./spans.ts";
import type { Engine, Sql } from "./sql.ts";
import type { Pruned, Retention } from "./store.ts";

/** The tables of a store in one engine. Callers wait for one operation before they start the next. */
export class Archive {
  readonly #engine: Engine;
  readonly #retention: Retention;
  readonly #calls = new CallTable();
  /** Items that are durable, although their commit may have seemed to fail: they must not be written twice. */
  readonly #written = new WeakSet<PendingWrite>();

  constructor(engine: Engine, retention: Retention) {
    this.#engine = engine;
    this.#retention = retention;
  }

  /** All of the batch or nothing; durable when it resolves. */
  async commit(batch: readonly PendingWrite[]): Promise<void> {
    await this.#engine.write(
      async (sql) => {
        const items = batch.filter((item) => !this.#written.has(item));
        const writes = items.flatMap((item): Write[] =>
          item.kind === "write" ? [item.write] : [],
        );
        const onCommitted = await this.#calls.write(sql, items);
        await appendAudit(
          sql,
          writes.filter((write) => write.what === "append"),
        );
        await writeDocuments(
          sql,
          writes.filter((write) => write.what === "put" || write.what === "remove"),
        );
        return { items, onCommitted };
      },
      ({ items, onCommitted }) => {
        for (const item of items) this.#written.add(item);
        onCommitted();
      },
    );
  }

  read(read: Read): Promise<unknown> {
    if (read.what === "prune") return pruneStore(this.#engine, this.#retention, read.now);
    return this.#engine.read((sql) => readFrom(sql, read));
  }

  isRowError(error: unknown): boolean {
    return this.#engine.isRowError(error);
  }

  close(): Promise<void> {
    return this.#engine.close();
  }
}

function readFrom(sql: Sql, read: Exclude<Read, { what: "prune" }>): Promise<unknown> {
  switch (read.what) {
    case "calls":
      return listCalls(sql, read.filter);
    case "audit":
      return listAudit(sql, read.filter);
    case "verify":
      return verifyAudit(sql);
    case "statistics":
      return readStatistics(sql, read.since, Date.now());
    case "find":
      return findDocument(sql, read.collection, read.key);
    case "documents":
      return listDocuments(sql, read.collection, read.prefix);
  }
}

/** Rows removed in one transaction, so that other writers get their turn in between. */
const sliceRows = 5_000;

/** Removes calls by age, then by size, oldest first. The audit is pruned by age only, and records that it was. */
async function pruneStore(engine: Engine, retention: Retention, now: number): Promise<Pruned> {
  const auditBefore = now - retention.auditKeepDays * spanMs.day;
  let calls = await pruneInSlices(engine, { before: now - retention.keepDays * spanMs.day });
  calls += await pruneBySize(engine, retention.sizeMbMax * 1024 * 1024);

  const audit = await engine.write(async (sql) => {
    await pruneSpans(sql, "hour", now - hoursKeptMs - spanMs.hour);
    await pruneSpans(sql, "day", auditBefore);
    await pruneDocuments(sql, now);
    return pruneAudit(sql, auditBefore, now);
  });
  await engine.cleanUp(now);
  return { calls, audit };
}

async function pruneBySize(engine: Engine, bytesMax: number): Promise<number> {
  for (let removed = 0; ; ) {
    const seq = await engine.read((sql) => engine.findExcess(sql, bytesMax));
    const slice = seq === undefined ? 0 : await pruneInSlices(engine, { seq });
    if (slice === 0) return removed;
    removed += slice;
  }
}

async function pruneInSlices(
  engine: Engine,
  until: Parameters<typeof pruneCalls>[2],
): Promise<number> {
  let removed = 0;
  for (let slice = sliceRows; slice === sliceRows; removed += slice)
    slice = await engine.write((sql) => pruneCalls(sql, sliceRows, until));
  return removed;
}
