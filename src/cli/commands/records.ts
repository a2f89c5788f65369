import { errorTable, HallError, messageOf } from "../../base/errors.ts";
import { formatBytes, formatTime, plural } from "../../base/text.ts";
import { askHall } from "../../hall/admin-client.ts";
import {
  localUser,
  moveProjectStore,
  openProjectStore,
  withProjectStore,
} from "../../hall/project-store.ts";
import { loadSettings } from "../../hall/settings.ts";
import type {
  AuditRow,
  CallFilter,
  Figures,
  KeptCall,
  Statistics,
  Store,
} from "../../store/store.ts";
import type { JsonOption } from "../declaration.ts";
import { createLive, quiet } from "../live.ts";
import { type Cell, paint, print, table } from "../print.ts";
import { createPerson } from "../terminal.ts";

interface StatsOptions extends JsonOption {
  readonly since?: number;
  readonly person?: string;
}

export async function runStats(options: StatsOptions): Promise<void> {
  const statistics = await readStatistics(options);
  const hasCalls = statistics && statistics.total.calls > 0;
  const text = hasCalls ? describe(statistics) : "no calls recorded in this folder";
  print(statistics ?? null, text, options);
}

/** From the project's store, or from a running hall that keeps its calls in memory. */
async function readStatistics({ since, person }: StatsOptions): Promise<Statistics | undefined> {
  const store = await openProjectStore();
  if (store) {
    try {
      return await store.statistics(since, person);
    } finally {
      await store.close();
    }
  }
  return askHall(process.cwd(), "statistics", { since, person });
}

const head = "calls errors p50 p95 p99 in out timeouts cancelled trend".split(" ");
const extra = ["trend", "cancelled", "timeouts", "in", "out", "p99"];

function describe({ from, to, total, toolkits, tools, people }: Statistics): string {
  const tableOf = (title: string, rows: readonly (readonly [string, Figures])[]): string => {
    const written = rows.map(([name, figures]) => [name, ...cells(figures)]);
    return table([title, ...head], written, { extra });
  };
  return [
    paint("dim", `${formatTime(from ?? 0)} to ${formatTime(to ?? 0)}`),
    tableOf("tool", [...tools.map((each) => [each.tool, each] as const), ["all", total]]),
    tableOf(
      "toolkit",
      toolkits.map((each) => [each.toolkit, each]),
    ),
    ...(people
      ? [
          tableOf(
            "person",
            people.map((each) => [each.person, each]),
          ),
        ]
      : []),
  ].join("\n\n");
}

function cells(figures: Figures): readonly string[] {
  return [
    String(figures.calls),
    `${(100 * figures.errorRate).toFixed(1)} %`,
    formatMs(figures.p50Ms),
    formatMs(figures.p95Ms),
    formatMs(figures.p99Ms),
    formatBytes(figures.bytesIn),
    formatBytes(figures.bytesOut),
    String(figures.timeouts),
    String(figures.cancelled),
    sparkline(figures.trend),
  ];
}

/** "350 µs", "12.5 ms", "1.42 s". */
function formatMs(ms: number): string {
  if (ms < 1) return `${Math.round(ms * 1_000)} µs`;
  return ms < 1_000
    ? `${Number(ms.toPrecision(3))} ms`
    : `${Number((ms / 1_000).toPrecision(3))} s`;
}

const bars = "▁▂▃▄▅▆▇█";

/** A part without calls is blank. */
function sparkline(values: readonly number[]): string {
  const most = Math.max(...values, 1);
  return values
    .map((value) => (value === 0 ? " " : (bars[Math.ceil((value / most) * bars.length) - 1] ?? "")))
    .join("");
}

export async function runMigrate(options: JsonOption & { readonly to?: string }): Promise<void> {
  const live = options.json ? quiet : createLive();
  let shown = -1;
  const moved = await moveProjectStore(await loadSettings({}, "error"), {
    to: options.to,
    onProgress(done, total) {
      const tenth = Math.floor((10 * done) / total);
      if (tenth === shown) return;
      shown = tenth;
      live.progress({ progress: done, total, message: `${done} of ${plural(total, "row")}` });
    },
  }).finally(() => live.clear());

  const { from, to, rows, head, wasMoved, logins, secrets } = moved;
  const own = `${plural(logins, "login")} and ${plural(secrets, "secret")} of single people`;
  const counts = `${plural(rows.calls, "call")}, ${plural(rows.audit, "decision")}, ${plural(rows.documents, "document")}, ${plural(rows.statistics, "row")} of statistics`;
  const text = wasMoved
    ? `an earlier attempt moved everything to ${to}; it has ${counts}`
    : `moved ${from} to ${to}: ${counts}\n${next}`;
  print(moved, `${text}\ncopied ${own}\naudit verified; last hash ${head}`, options);
}

const next =
  "The file is unchanged. Set store.url in your own config file to the database, then delete the file or keep it.";

interface AuditOptions extends JsonOption, Omit<CallFilter, "root" | "after"> {
  readonly export?: string;
}

/** Calls and decisions in the order they happened. */
export async function runAudit(options: AuditOptions): Promise<void> {
  const { since, tool, person, limit = 50 } = options;
  const filters = outcomesOf(options.outcome).map(
    (outcome): CallFilter => ({ since, tool, outcome, person, limit }),
  );
  await withProjectStore(async (store) => {
    if (options.export !== undefined) {
      for (const filter of filters) await exportAll(store, filter);
      return;
    }
    const found = await Promise.all(filters.map((filter) => readAll(store, filter)));
    const events = found
      .flat()
      .sort((a, b) => a.at - b.at)
      .slice(-limit);
    const rows = events.map((event) => [formatTime(event.at), ...cellsOf(event)]);
    print(
      { events },
      table(auditHead, rows, { empty: "no matching rows", extra: auditExtra }),
      options,
    );
  });
}

const outcomes = ["ok", "error", "failed", "running", "lost"];
/** Kinds of rows in the audit. */
const decisions =
  "accepted approved blocked changed confined destructive granted refused registered reset reviewed revoked".split(
    " ",
  );
/** Refused calls, by whatever refused them. */
const denied = ["DENIED", "APPROVAL_NEEDED", "blocked", "confined", "refused", "denied"];

/** The outcomes in the store that an outcome on the command line stands for. Throws INVALID_PARAMS. */
function outcomesOf(word: string | undefined): readonly (string | undefined)[] {
  if (word === undefined) return [undefined];
  const lower = word.toLowerCase();
  if (lower === "denied") return denied;
  if (lower === "destructive") return ["destructive call"];
  if ([...outcomes, ...decisions].includes(lower)) return [lower];
  if (Object.hasOwn(errorTable, word.toUpperCase())) return [word.toUpperCase()];
  const words = [...outcomes, "denied", ...decisions].join(", ");
  throw new HallError(
    "INVALID_PARAMS",
    `unknown outcome "${word}" (expected: ${words}, or an error code such as TIMEOUT)`,
  );
}

const auditHead = ["time", "event", "tool", "caller", "face", "outcome", "duration", "reason"];
const auditExtra = ["face", "duration", "caller", "event"];

export async function runAuditVerify(options: JsonOption): Promise<void> {
  const found = await withProjectStore((store) => store.audit.verify());
  const { rows, head: last, broken } = found;
  if (broken) {
    const intact = rows === 0 ? "" : `The ${plural(rows, "row")} before it are intact. `;
    throw new HallError("EXECUTION", `the audit is broken at row ${broken.seq}: ${broken.reason}`, {
      hint: `${intact}Keep what is left as evidence (.guildhall/state.db, or the database in store.url) and find out who can write to it.`,
      details: { ok: false, ...found },
    });
  }
  const text = `${plural(rows, "row")} verified${last === null ? "" : `; last hash ${last}`}`;
  print({ ok: true, ...found }, text, options);
}

/** Only a person may accept a loss: what was lost may be the record of what a model did. */
export async function runAuditAccept(options: JsonOption): Promise<void> {
  const isNew = await withProjectStore(async (store) => {
    const problem = await store.audit.check().then(() => undefined, messageOf);
    if (problem === undefined) return false;
    await createPerson().confirm(`You are about to begin a new audit, because ${problem}.`);
    return store.audit.accept({
      kind: "accepted",
      subject: "store",
      caller: localUser(),
      reason: `${problem}; details name its last known row`,
    });
  });
  const text = isNew
    ? "a new audit has begun; its first row names the last known row of the old one"
    : "nothing to accept: the store is as it was written";
  print({ accepted: isNew }, text, options);
}

type Event = (KeptCall & { readonly event: "call" }) | (AuditRow & { readonly event: "audit" });

async function readAll(store: Store, filter: CallFilter): Promise<readonly Event[]> {
  const [calls, rows] = await Promise.all([store.calls.list(filter), store.audit.list(filter)]);
  return [...calls.map(asCall), ...rows.map(asRow)].sort((a, b) => a.at - b.at);
}

const asCall = (call: KeptCall): Event => ({ event: "call", ...call });
const asRow = (row: AuditRow): Event => ({ event: "audit", ...row });
const pageRows = 1_000;

/** One line of JSON per row: decisions first, then calls. Reads page by page to bound memory. */
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

function cellsOf(event: Event): readonly Cell[] {
  if (event.event === "audit")
    return [event.kind, event.subject, event.caller, "", "", "", event.reason];
  const outcome = event.code === null ? event.outcome : `${event.outcome} ${event.code}`;
  return [
    "call",
    event.tool,
    event.person === null ? event.caller : `${event.person} (${event.caller})`,
    event.face ?? "",
    event.outcome === "ok" ? outcome : { text: outcome, style: "red" },
    formatMs(event.ms),
    "",
  ];
}
