import { HallError } from "../base/errors.ts";
import { withProjectStore } from "../hall/project-store.ts";
import type { AuditRow, CallFilter, KeptCall, Store } from "../store/store.ts";
import { paint, print, table } from "./print.ts";
import { parseSince } from "./since.ts";

export interface AuditOptions {
  readonly since?: string;
  readonly tool?: string;
  readonly outcome?: string;
  readonly export?: string;
  readonly limit?: string;
  readonly json?: boolean;
}

/** What was called and what was decided, in the order it happened. */
export async function runAudit(options: AuditOptions): Promise<void> {
  const filter: CallFilter = {
    since: options.since === undefined ? undefined : parseSince(options.since),
    tool: options.tool,
    outcome: options.outcome,
    limit: parseLimit(options.limit ?? "50"),
  };
  if (options.export !== undefined && options.export !== "jsonl")
    throw new HallError(
      "INVALID_PARAMS",
      `there is no export "${options.export}"; there is: jsonl`,
    );
  await withProjectStore(async (store) => {
    if (options.export !== undefined) return exportAll(store, filter);
    const events = await readNewest(store, filter);
    print(
      { events },
      {
        json: options.json,
        text: () => (events.length > 0 ? describe(events) : "nothing that matches was recorded"),
      },
    );
  });
}

/** Walks the whole chain. Fails naming the first row that is not what was written. */
export async function runAuditVerify(options: Pick<AuditOptions, "json">): Promise<void> {
  const found = await withProjectStore((store) => store.audit.verify());
  const { rows, head, broken } = found;
  if (broken) {
    throw new HallError("EXECUTION", `the audit is broken at row ${broken.seq}: ${broken.reason}`, {
      hint: `The ${rows} rows before it are as they were written. Keep the store as it is (.guildhall/state.db, or the database of store.url), and find out who could write to it.`,
      details: { ok: false, ...found },
    });
  }
  print(
    { ok: true, ...found },
    {
      json: options.json,
      text: () =>
        `${rows} rows, all as they were written; the last one's hash is ${head ?? "none yet"}`,
    },
  );
}

/** Either kind of row, with the words of both. */
type Event = (KeptCall & { readonly event: "call" }) | (AuditRow & { readonly event: "audit" });

function parseLimit(text: string): number {
  const limit = Number(text);
  if (!Number.isInteger(limit) || limit < 1 || limit > 100_000)
    throw new HallError(
      "INVALID_PARAMS",
      `--limit must be a number from 1 to 100000, not "${text}"`,
    );
  return limit;
}

async function readNewest(store: Store, filter: CallFilter): Promise<readonly Event[]> {
  const [calls, rows] = await Promise.all([store.calls.list(filter), store.audit.list(filter)]);
  return [...calls.map(asCall), ...rows.map(asRow)]
    .sort((a, b) => a.at - b.at)
    .slice(-(filter.limit ?? 0));
}

const asCall = (call: KeptCall): Event => ({ event: "call", ...call });
const asRow = (row: AuditRow): Event => ({ event: "audit", ...row });
const pageRows = 1_000;

/** Everything that matches, one line of JSON each: first what was decided, then what was called. Never more than a page in memory. */
async function exportAll(store: Store, filter: CallFilter): Promise<void> {
  await exportPages((after) => store.audit.list({ ...filter, after, limit: pageRows }), asRow);
  await exportPages((after) => store.calls.list({ ...filter, after, limit: pageRows }), asCall);
}

async function exportPages<T extends { readonly seq: number }>(
  read: (after: number) => Promise<readonly T[]>,
  as: (row: T) => Event,
): Promise<void> {
  for (let after = 0; ; ) {
    const page = await read(after);
    const last = page.at(-1);
    if (!last) return;
    await writeOut(page.map((row) => `${JSON.stringify(as(row))}\n`).join(""));
    after = last.seq;
  }
}

function writeOut(text: string): Promise<void> {
  return new Promise((resolve, reject) =>
    process.stdout.write(text, (error) => (error ? reject(error) : resolve())),
  );
}

function describe(events: readonly Event[]): string {
  return table(
    ["time", "what", "tool", "caller", "face", "outcome", "took", "why"],
    events.map((event) => [
      new Date(event.at).toISOString().slice(0, 23).replace("T", " "),
      ...cells(event),
    ]),
  );
}

function cells(event: Event): readonly string[] {
  if (event.event === "audit")
    return [event.kind, event.subject, event.caller, "", "", "", event.reason];
  const outcome = event.code === null ? event.outcome : `${event.outcome} ${event.code}`;
  return [
    "call",
    event.tool,
    event.caller,
    event.face ?? "",
    event.outcome === "ok" ? outcome : paint("red", outcome),
    `${event.ms.toFixed(1)} ms`,
    "",
  ];
}
