import { hostname } from "node:os";
import { findBirth } from "../base/processes.ts";
import {
  appendAudit,
  type DatedEntry,
  findSetBack,
  listAudit,
  pruneAudit,
  verifyAudit,
} from "./audit-table.ts";
import { CallTable, endLostCalls, listCalls, pruneCalls } from "./call-table.ts";
import { findDocument, listDocuments, pruneDocuments, writeDocuments } from "./document-table.ts";
import { prunePeriods, readSeries, readStatistics } from "./period-table.ts";
import { hoursKeptMs, periodMs } from "./periods.ts";
import type { PendingWrite, Read, Write } from "./protocol.ts";
import { type Seal, type SealRecord, StoreChanged } from "./seal.ts";
import type { Engine, Sql } from "./sql.ts";
import type { Pruned, Retention, Verification } from "./store.ts";

export interface ArchiveOptions {
  readonly engine: Engine;
  readonly seal: Seal;
  /** Names this process. */
  readonly writer: string;
  readonly retention: Retention;
}

/** The tables of a store in one engine. Callers wait for one operation before they start the next. */
export class Archive {
  readonly #options: ArchiveOptions;
  readonly #engine: Engine;
  readonly #seal: Seal;
  readonly #calls: CallTable;
  /** Items that are durable, although their commit may have seemed to fail: they must not be written twice. */
  readonly #written = new WeakSet<PendingWrite>();
  /** The mark as this process has saved it last. */
  #mark: SealRecord | undefined;

  constructor(options: ArchiveOptions) {
    this.#options = options;
    this.#engine = options.engine;
    this.#seal = options.seal;
    this.#calls = new CallTable(options.writer);
  }

  /** All of the batch or nothing; durable when it resolves. */
  async commit(batch: readonly PendingWrite[]): Promise<void> {
    // The check costs a query, so it is skipped for batches without a durable write.
    const isChecked = this.#mark === undefined || batch.some(({ kind }) => kind === "write");
    const { mark } = await this.#engine.write(
      async (sql) => {
        if (isChecked) await this.#check(sql);
        if (!this.#mark) await endLostCalls(sql, hasWriterEnded);
        const items = batch.filter((item) => !this.#written.has(item));
        const writes = items.flatMap((item): Write[] =>
          item.kind === "write" ? [item.write] : [],
        );
        const onCommitted = await this.#calls.write(sql, items);
        const entries = writes.filter((write) => write.what === "append");
        const mark = isChecked ? await appendAudit(sql, entries, this.#seal) : undefined;
        await writeDocuments(
          sql,
          writes.filter((write) => write.what === "put" || write.what === "remove"),
        );
        return { items, onCommitted, mark };
      },
      ({ items, onCommitted }) => {
        for (const item of items) this.#written.add(item);
        onCommitted();
      },
    );
    if (mark) await this.#save(mark);
  }

  async read(read: Read): Promise<unknown> {
    if (read.what === "prune") return this.#prune(read.now);
    if (read.what === "accept") return this.#accept(read);
    if (read.what === "verify") return this.#verify();
    return this.#engine.read((sql) => this.#readFrom(sql, read));
  }

  #readFrom(
    sql: Sql,
    read: Exclude<Read, { what: "prune" | "accept" | "verify" }>,
  ): Promise<unknown> {
    switch (read.what) {
      case "calls":
        return listCalls(sql, read.filter);
      case "audit":
        return listAudit(sql, read.filter);
      case "check":
        return this.#check(sql);
      case "statistics":
        return readStatistics(sql, read, Date.now());
      case "series":
        return readSeries(sql, read, Date.now());
      case "find":
        return findDocument(sql, read.collection, read.key);
      case "documents":
        return listDocuments(sql, read.collection, read.prefix);
    }
  }

  async #verify(): Promise<Verification> {
    try {
      return await this.#engine.read((sql) => verifyAudit(sql, this.#seal));
    } catch (error) {
      if (!(error instanceof StoreChanged)) throw error;
      const mark = await this.#seal.readMark();
      return { rows: 0, head: null, broken: { seq: mark?.seq ?? 0, reason: error.message } };
    }
  }

  /** Throws if this is not the store that was written before. */
  async #check(sql: Sql): Promise<void> {
    const what = await findSetBack(sql, await this.#seal.readMark());
    if (what !== undefined) throw new StoreChanged(what);
  }

  /** Begins a new audit after the store was changed. Returns false if it was not. */
  async #accept({ entry, at }: DatedEntry): Promise<boolean> {
    const mark = await this.#seal.readMark();
    if (await this.#isAsWritten()) return false;
    await this.#engine.startAnew();
    this.#seal.forgetMark();
    const details = mark && { seq: mark.seq, hash: mark.hash };
    const row = { entry: { ...entry, details }, at };
    await this.#save(await this.#engine.write((sql) => appendAudit(sql, [row], this.#seal)));
    return true;
  }

  async #isAsWritten(): Promise<boolean> {
    try {
      await this.#engine.read((sql) => this.#check(sql));
      return true;
    } catch (error) {
      if (error instanceof StoreChanged) return false;
      throw error;
    }
  }

  async #prune(now: number): Promise<Pruned> {
    const pruned = await pruneStore(this.#options, now);
    await this.#save(await this.#engine.write((sql) => appendAudit(sql, [], this.#seal)));
    return pruned;
  }

  async #save(mark: SealRecord): Promise<void> {
    if (mark.store === this.#mark?.store && mark.hash === this.#mark.hash) return;
    await this.#seal.saveMark(mark);
    this.#mark = mark;
  }

  isRowError(error: unknown): boolean {
    return this.#engine.isRowError(error);
  }

  close(): Promise<void> {
    return this.#engine.close();
  }
}

/** Rows removed in one transaction, so that other writers get their turn in between. */
const sliceRows = 5_000;

/** Removes calls by age, then by size, oldest first. The audit is pruned by age only, and records that it was. */
async function pruneStore(
  { engine, retention, seal }: ArchiveOptions,
  now: number,
): Promise<Pruned> {
  const auditBefore = now - retention.auditKeepDays * periodMs.day;
  let calls = await pruneInSlices(engine, { before: now - retention.keepDays * periodMs.day });
  calls += await pruneBySize(engine, retention.sizeMbMax * 1024 * 1024);

  const audit = await engine.write(async (sql) => {
    await prunePeriods(sql, "hour", now - hoursKeptMs - periodMs.hour);
    await prunePeriods(sql, "day", auditBefore);
    await pruneDocuments(sql, now);
    return pruneAudit(sql, { before: auditBefore, now, seal });
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

/** After this time the calls of a process on another machine count as ended. */
const otherMachineMs = 86_400_000;

/** Names this process, so that others can tell whether it still runs. */
export async function nameWriter(): Promise<string> {
  return [hostname(), process.pid, await findBirth(process.pid)].join(" ");
}

/** `since`: when the process was last known to run. */
async function hasWriterEnded(writer: string, since: number): Promise<boolean> {
  // The call was recorded by a version that did not name its process.
  if (writer === "") return true;
  const [host, pid, ...birth] = writer.split(" ");
  if (host !== hostname()) return since < Date.now() - otherMachineMs;
  return (await findBirth(Number(pid))) !== birth.join(" ");
}
