import { callColumns, type PackedValue, unpackCalls } from "./calls.ts";
import { countCalls, countLateCalls } from "./period-table.ts";
import type { PendingWrite } from "./protocol.ts";
import { listRows, type Sql, type SqlRow } from "./sql.ts";
import type { CallFilter, KeptCall } from "./store.ts";

/** The columns that change when a running call ends. */
const endedColumns = [
  // A call that waited for approval began before its row.
  "at",
  "toolkit",
  "tool",
  "outcome",
  "code",
  "ms",
  "bytes_out",
  "planner",
  "arguments",
  "result",
  "bucket",
];
const endedIndexes = endedColumns.map((column) => callColumns.indexOf(column));
const insertCalls = `INSERT INTO calls (${callColumns.join(", ")}) {rows}`;
const updateColumns = ["seq", "id", ...endedColumns];
const updateCalls = `WITH given (${updateColumns.join(", ")}) AS ({rows})
  UPDATE calls SET ${endedColumns.map((column) => `${column} = given.${column}`).join(", ")}
  FROM given WHERE calls.seq = given.seq AND calls.id = given.id`;

/** Counting has a fixed cost, so it waits for this many calls. */
const countEvery = 5_000;

/** Writes calls. It remembers which rows belong to running calls, so that their end updates them. */
export class CallTable {
  /** Row numbers of calls that have begun and not ended, by call id. */
  readonly #running = new Map<string, number>();
  readonly #writer: string;
  #uncounted = 0;

  /** `writer` names this process. */
  constructor(writer: string) {
    this.#writer = writer;
  }

  /** Returns what to run once the transaction is committed. */
  async write(sql: Sql, batch: readonly PendingWrite[]): Promise<() => void> {
    const { rows, begun, ended } = this.#sort(batch);
    const inserted = await sql.withRows(
      callColumns,
      rows,
      begun.size === 0 ? insertCalls : `${insertCalls} RETURNING seq, id`,
    );
    const started = inserted.filter(({ id }) => begun.has(String(id)));
    await sql.withRows(
      ["seq", "writer"],
      started.map(({ seq }) => [Number(seq), this.#writer]),
      "INSERT INTO running (seq, writer) {rows}",
    );
    if (ended.size > 0) await this.#end(sql, ended);

    const uncounted = this.#uncounted + rows.length;
    const isCounted = uncounted >= countEvery;
    if (isCounted) await countCalls(sql);

    return () => {
      for (const { id, seq } of started) this.#running.set(String(id), Number(seq));
      for (const id of ended.keys()) this.#running.delete(id);
      this.#uncounted = isCounted ? 0 : uncounted;
    };
  }

  #sort(batch: readonly PendingWrite[]): SortedCalls {
    const rows: PackedValue[][] = [];
    const begun = new Map<string, PackedValue[]>();
    const ended = new Map<string, PackedValue[]>();

    const add = (row: PackedValue[]): void => {
      const id = row[0] as string;
      const start = begun.get(id);
      if (start) {
        for (const index of endedIndexes) start[index] = row[index] ?? null;
        begun.delete(id);
      } else if (this.#running.has(id))
        ended.set(
          id,
          endedIndexes.map((index) => row[index] ?? null),
        );
      else rows.push(row);
    };

    for (const item of batch) {
      if (item.kind === "calls") unpackCalls(item.calls).forEach(add);
      else if (item.write.what === "begin")
        for (const row of unpackCalls(item.write.call)) {
          rows.push(row);
          begun.set(row[0] as string, row);
        }
    }
    return { rows, begun, ended };
  }

  async #end(sql: Sql, ended: ReadonlyMap<string, PackedValue[]>): Promise<void> {
    const ends = [...ended].map(([id, end]) => [this.#running.get(id) as number, id, ...end]);
    const seqs = ends.map(([seq]) => seq as number);
    await sql.withRows(updateColumns, ends, updateCalls);
    await stopRunning(sql, seqs);
  }
}

/** Calls that no longer run are counted, if the count has passed them. */
async function stopRunning(sql: Sql, seqs: readonly number[]): Promise<void> {
  const rows = seqs.map((seq) => [seq]);
  await sql.withRows(["seq"], rows, "DELETE FROM running WHERE seq IN ({rows})");
  await countLateCalls(sql, seqs);
}

/** Ends the calls of processes that have ended without it: nobody knows whether they did their work. */
export async function endLostCalls(
  sql: Sql,
  hasEnded: (writer: string, begunAt: number) => Promise<boolean>,
): Promise<void> {
  const lost: number[] = [];
  const begun = await sql.query(
    "SELECT running.seq AS seq, writer, coalesce(at, 0) AS at FROM running LEFT JOIN calls USING (seq)",
  );
  for (const { seq, writer, at } of begun)
    if (await hasEnded(String(writer), Number(at))) lost.push(Number(seq));
  const rows = lost.map((seq) => [seq]);
  await sql.withRows(
    ["seq"],
    rows,
    "UPDATE calls SET outcome = 'lost' WHERE outcome = 'running' AND seq IN ({rows})",
  );
  await stopRunning(sql, lost);
}

interface SortedCalls {
  /** New rows. */
  readonly rows: PackedValue[][];
  /** Those of them whose calls are still running, by call id. */
  readonly begun: ReadonlyMap<string, PackedValue[]>;
  /** How calls ended that began in an earlier transaction, by call id. */
  readonly ended: ReadonlyMap<string, PackedValue[]>;
}

export async function listCalls(sql: Sql, filter: CallFilter): Promise<readonly KeptCall[]> {
  const { tool, outcome, person, root } = filter;
  const rows = await listRows(sql, filter, {
    table: "calls",
    columns: callColumns,
    conditions: [
      tool !== undefined && ["(tool = ? OR toolkit = ?)", tool, tool],
      outcome !== undefined && ["(outcome = ? OR code = ?)", outcome, outcome],
      person !== undefined && ["person = ?", person],
      root !== undefined && ["root = ?", root],
    ],
  });
  return rows.map(readCall);
}

function readCall({ bytes_in, bytes_out, bucket: _bucket, ...row }: SqlRow): KeptCall {
  return { ...row, bytesIn: bytes_in, bytesOut: bytes_out } as unknown as KeptCall;
}

/** Removes up to `limit` calls, oldest first, after counting them. */
export async function pruneCalls(
  sql: Sql,
  limit: number,
  until: { readonly before: number } | { readonly seq: number },
): Promise<number> {
  await countCalls(sql);
  const [oldest, value] =
    "seq" in until ? ["seq <= ? ORDER BY seq", until.seq] : ["at < ? ORDER BY at", until.before];
  return sql.change(
    `DELETE FROM calls WHERE seq IN (SELECT seq FROM calls WHERE ${oldest} LIMIT ?)`,
    [value, limit],
  );
}
