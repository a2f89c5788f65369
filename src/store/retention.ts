import { pruneAudit } from "./audit-table.ts";
import { pruneCalls } from "./call-table.ts";
import { pruneDocuments } from "./document-table.ts";
import { pruneSpans } from "./span-table.ts";
import type { Engine } from "./sql.ts";
import type { Pruned, Retention } from "./store.ts";
import { hoursKeptMs, spanMs } from "./tally.ts";

/** Rows removed in one transaction, so that other writers get their turn in between. */
const sliceRows = 5_000;

/** Removes calls by age, then by size, oldest first. The audit is pruned by age only, and records that it was. */
export async function pruneStore(
  engine: Engine,
  retention: Retention,
  now: number,
): Promise<Pruned> {
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
