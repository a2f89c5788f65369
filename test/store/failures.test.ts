import { execFileSync, spawnSync } from "node:child_process";
import fs, {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { hashOf } from "../../src/base/json.ts";
import type { Decision } from "../../src/gateway/audit.ts";
import { auditDecisions } from "../../src/gateway/audit.ts";
import { Archive } from "../../src/store/archive.ts";
import {
  appendAudit,
  type DatedEntry,
  listAudit,
  verifyAudit,
} from "../../src/store/audit-table.ts";
import { packCalls } from "../../src/store/calls.ts";
import {
  type OpenStoreOptions,
  openStore,
  type StoreSettings,
} from "../../src/store/open-store.ts";
import { Seal } from "../../src/store/seal.ts";
import { openDatabase } from "../../src/store/sqlite.ts";
import { SqliteEngine } from "../../src/store/sqlite-engine.ts";
import { defaultRetention, type Store } from "../../src/store/store.ts";
import { Writer } from "../../src/store/writer.ts";
import type { Call, Target } from "../../src/tool.ts";
import { until } from "../servers/until.ts";
import { type Built, buildStore } from "./built.ts";
import { callRow } from "./rows.ts";

let built: Built;
let folder: string;
const stores: Store[] = [];

beforeAll(async () => {
  built = await buildStore({ "full-disk": "test/store/full-disk.ts" });
  folder = mkdtempSync(join(tmpdir(), "guildhall-store-"));
});

afterEach(async () => {
  for (const store of stores.splice(0)) await store.close();
});

afterAll(() => {
  built.remove();
  rmSync(folder, { recursive: true, force: true });
});

let files = 0;
const newPath = (): string => join(folder, String(++files), "state.db");

interface Opened extends Store {
  readonly logged: string[];
}

function open(path: string, options: Partial<StoreSettings & OpenStoreOptions> = {}): Opened {
  const logged: string[] = [];
  const note = (_: unknown, message: string): void => void logged.push(message);
  const log = { warn: note, error: note } as unknown as OpenStoreOptions["log"];
  const store = openStore(
    { worker: built.worker, sealFolder: join(folder, "seals"), ...options, path },
    { log, ...options },
  );
  stores.push(store);
  return Object.defineProperty(store, "logged", { value: logged }) as Opened;
}

function sealFor(path: string): Seal {
  return new Seal({ folder: join(folder, "seals"), place: path, notify() {} });
}

/** Writes audit rows with given times. */
async function append(path: string, entries: readonly DatedEntry[]): Promise<void> {
  const seal = sealFor(path);
  const engine = new SqliteEngine({ path, isReader: false, seal, notify() {} });
  await engine.write((sql) => appendAudit(sql, entries, seal));
  await engine.close();
}

describe("a damaged file", () => {
  test("is renamed unchanged, and the new file records that", async () => {
    const path = newPath();
    mkdirSync(join(path, ".."));
    const junk = "this is not a database, whatever its name says. ".repeat(100);
    writeFileSync(path, junk);
    const store = open(path);
    store.calls.add(callRow({ id: "call_1" }));
    await store.flush();
    const aside =
      readdirSync(join(path, "..")).find((name) => name.startsWith("state.db.corrupt-")) ?? "";
    expect(readFileSync(join(path, "..", aside), "utf8")).toBe(junk);
    expect(store.logged).toEqual([expect.stringContaining("it was renamed to")]);
    expect(await store.calls.list()).toMatchObject([{ id: "call_1" }]);
    expect(await store.audit.list()).toMatchObject([{ kind: "replaced", subject: "store" }]);
    expect(await store.audit.verify()).toMatchObject({ rows: 1 });
  });

  test("is noticed if it is cut while it is used, and what is confirmed after that is kept", async () => {
    const path = newPath();
    const store = open(path);
    const entry = (subject: string) => ({ kind: "a", subject, caller: "test", reason: "" });
    for (let row = 0; row < 300; row++) store.calls.add(callRow({ id: `call_${row}` }));
    await store.audit.append(entry("before"));
    // Only what a checkpoint has moved out of the log can be cut off.
    const other = await openDatabase(path);
    other.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    other.close();
    await store.audit.append(entry("as it was"));
    truncateSync(path, 100);
    await store.audit.append(entry("after"));
    expect(await store.audit.list()).toMatchObject([{ kind: "replaced" }, { subject: "after" }]);
    expect(store.logged).toContainEqual(expect.stringContaining("was damaged"));
    expect(await store.audit.verify()).toMatchObject({ rows: 2 });
  });

  test("is left in place by a reader", async () => {
    const path = newPath();
    mkdirSync(join(path, ".."));
    const junk = "this is not a database, whatever its name says. ".repeat(100);
    writeFileSync(path, junk);
    await expect(open(path, { isReader: true }).audit.verify()).rejects.toMatchObject({
      code: "UNAVAILABLE",
      message: expect.stringContaining("not a database"),
    });
    expect(readdirSync(join(path, ".."))).toEqual(["state.db"]);
    expect(readFileSync(path, "utf8")).toBe(junk);
  });

  test("with torn pages is renamed by the first write that fails, and the row is kept", async () => {
    const path = newPath();
    const first = open(path);
    for (let i = 0; i < 2_000; i++) first.calls.add(callRow({ id: `call_${i}` }));
    await first.close();
    const bytes = readFileSync(path);
    // The first page lists the tables; all others are torn.
    writeFileSync(
      path,
      Buffer.concat([bytes.subarray(0, 4_096), Buffer.alloc(bytes.length - 4_096, 0x5a)]),
    );
    const second = open(path);
    second.calls.add(callRow({ id: "call_new" }));
    await second.flush();
    expect(await second.calls.list()).toMatchObject([{ id: "call_new" }]);
    expect(second.logged.join()).toContain("was renamed to");
    expect(
      readdirSync(join(path, "..")).filter((name) => /corrupt-[^-]+-[^-]+-[\dTZ-]+$/.test(name)),
    ).toHaveLength(1);
  });

  test("that was truncated is detected", async () => {
    const path = newPath();
    const first = open(path);
    for (let i = 0; i < 2_000; i++) first.calls.add(callRow({ id: `call_${i}` }));
    await first.close();
    truncateSync(path, 3 * 4_096 + 100);
    const second = open(path);
    second.calls.add(callRow({ id: "call_new" }));
    await second.flush();
    expect(await second.calls.list()).toMatchObject([{ id: "call_new" }]);
    expect(second.logged.join()).toContain("was renamed to");
  });

  test("that a newer Guildhall wrote is left as it is, and the problem is reported", async () => {
    const path = newPath();
    await open(path).audit.append({
      kind: "granted",
      subject: "a.b",
      caller: "test",
      reason: "because",
    });
    await stores.pop()?.close();
    const database = await openDatabase(path);
    database.exec("PRAGMA user_version = 99");
    database.close();
    const store = open(path);
    store.calls.add(callRow({ id: "call_1" }));
    await until(() => store.state().problem !== undefined, "the problem");
    expect(store.state()).toMatchObject({
      problem: expect.stringContaining("written by a newer Guildhall"),
      waiting: 1,
    });
    expect(readdirSync(join(path, "..")).filter((name) => name.includes("corrupt"))).toEqual([]);
  });
});

test("while another process locks the file, rows wait and are written afterwards", async () => {
  const path = newPath();
  const store = open(path);
  await store.flush();
  const other = await openDatabase(path);
  other.exec("BEGIN EXCLUSIVE");
  for (let i = 0; i < 100; i++) store.calls.add(callRow({ id: `call_${i}` }));
  const begun = store.calls.begin(callRow({ id: "call_begun", outcome: "running" }));
  await until(() => store.state().problem !== undefined, "the problem");
  expect(store.state().problem).toContain("locked");
  expect(store.logged).toEqual([expect.stringContaining("cannot write to the store")]);
  other.exec("ROLLBACK");
  other.close();
  await begun;
  await store.flush();
  expect(store.state()).toMatchObject({ problem: undefined, waiting: 0, lost: 0 });
  expect(await store.calls.list({ limit: 200 })).toHaveLength(101);
});

test("while the file is locked, durable writes are rejected at any clock time, and dropped rows are counted in the audit", async () => {
  const { now } = Date;
  // Set back for the writer's thread, as seen from this one.
  vi.spyOn(Date, "now").mockImplementation(() => now() + 3_600_000);
  const path = newPath();
  const store = open(path, { fullAt: 100 });
  await store.flush();
  const other = await openDatabase(path);
  other.exec("BEGIN EXCLUSIVE");
  const refused = expect(
    store.audit.append({
      kind: "approved",
      subject: "a.b",
      caller: "test",
      reason: "never written",
    }),
  ).rejects.toMatchObject({
    code: "UNAVAILABLE",
    message: expect.stringContaining("locked"),
  });
  await until(() => store.state().problem !== undefined, "the problem");
  for (let i = 0; i < 1_000; i++) store.calls.add(callRow({ id: `call_${i}` }));
  expect(store.isFull).toBe(false);
  expect(store.state()).toMatchObject({ waiting: 400, lost: 600 });
  await refused;
  vi.restoreAllMocks();
  other.exec("ROLLBACK");
  other.close();
  await until(() => store.state().problem === undefined, "the end of the problem");
  await store.flush();
  expect(await store.calls.list({ limit: 1_000 })).toHaveLength(400);
  expect(await store.audit.list()).toMatchObject([
    { kind: "gap", reason: expect.stringContaining("600 calls were not recorded") },
  ]);
});

test("on a full disk calls continue, durable writes are rejected, and the file stays intact", async () => {
  const path = newPath();
  mkdirSync(join(path, ".."));
  const mounted =
    spawnSync("mount", ["-t", "tmpfs", "-o", "size=1m", "none", join(path, "..")]).status === 0;
  try {
    if (mounted) await fillDisk(path);
    else fillLimit(path);
  } finally {
    for (const store of stores.splice(0)) await store.close();
    if (mounted) execFileSync("umount", [join(path, "..")]);
  }
});

/** A file system of one megabyte that is enlarged afterwards. */
async function fillDisk(path: string): Promise<void> {
  const store = open(path);
  const text = JSON.stringify({ text: "x".repeat(2_000) });
  let count = 0;
  while (store.state().problem === undefined && count < 100_000) {
    for (let i = 0; i < 20; i++)
      store.calls.add(callRow({ id: `call_${count++}`, kept: { arguments: text, result: null } }));
    await sleep(1);
  }
  expect(store.state().problem).toContain("full");
  await expect(store.calls.begin(callRow({ id: "call_begun" }))).rejects.toMatchObject({
    code: "UNAVAILABLE",
  });
  expect(store.logged).toEqual([expect.stringContaining("cannot write to the store")]);
  execFileSync("mount", ["-o", "remount,size=64m", join(path, "..")]);
  await until(() => store.state().problem === undefined, "the end of the problem");
  await store.flush();
  expect(await store.calls.list({ limit: 100_000 })).toHaveLength(count);
  await store.close();
  // Checks a copy, because a closed file may stay open until it is collected and would block the unmount.
  for (const suffix of ["", "-wal"])
    if (existsSync(path + suffix)) copyFileSync(path + suffix, join(folder, `copy.db${suffix}`));
  expect(await quickCheck(join(folder, "copy.db"))).toBe("ok");
}

/** Without the right to mount: a process whose files may not grow. */
function fillLimit(path: string): void {
  const script = `trap "" XFSZ; ulimit -f 1024; exec "$0" "$@"`;
  const { stdout } = spawnSync(
    "sh",
    ["-c", script, process.execPath, built.file("full-disk"), path, String(built.worker)],
    { encoding: "utf8" },
  );
  expect(JSON.parse(stdout)).toEqual({
    problem: expect.any(String),
    refused: "UNAVAILABLE",
    check: "ok",
  });
}

async function quickCheck(path: string): Promise<unknown> {
  const database = await openDatabase(path);
  const verdict = database.prepare("PRAGMA quick_check").get()?.quick_check;
  database.close();
  return verdict;
}

describe("a change to the audit", () => {
  const rows = 20;

  async function writeAudit(path: string): Promise<void> {
    await append(
      path,
      Array.from({ length: rows }, (_, index) => {
        const i = index + 1;
        const entry = {
          kind: `kind-${i}.`,
          subject: `subject-${i}.`,
          caller: `caller-${i}.`,
          reason: `reason-${i}.`,
          details: { number: `detail-${i}.` },
        };
        return { entry, at: 1_000 + i };
      }),
    );
  }

  /** The result of `verify` for a file with these bytes. */
  async function verifyAfter(
    path: string,
    bytes: Buffer,
  ): Promise<{ readonly seq: number } | "unreadable" | undefined> {
    writeFileSync(path, bytes);
    const seal = sealFor(path);
    const engine = new SqliteEngine({ path, isReader: true, seal, notify() {} });
    try {
      return (await engine.read((sql) => verifyAudit(sql, seal))).broken;
    } catch {
      return "unreadable";
    } finally {
      await engine.close();
    }
  }

  test("is found in the right row, whichever field has a flipped bit", async () => {
    const path = newPath();
    await writeAudit(path);
    const bytes = readFileSync(path);
    for (let i = 1; i <= rows; i++) {
      for (const field of ["kind", "subject", "caller", "reason", "detail"]) {
        const changed = Buffer.from(bytes);
        const at = changed.indexOf(`${field}-${i}.`);
        expect(at).toBeGreaterThan(0);
        changed[at + 1] = (changed[at + 1] ?? 0) ^ 1;
        expect(await verifyAfter(path, changed)).toMatchObject({
          seq: i,
          reason: "the row was changed",
        });
      }
    }
    expect(await verifyAfter(path, bytes)).toBeUndefined();
  });

  test("is found for every single byte of a row, including its header", async () => {
    const path = newPath();
    await writeAudit(path);
    const bytes = readFileSync(path);
    // Before the text: the row's length, its number, the types of its fields, the time. After it: its hash.
    const [from, to] = [
      bytes.indexOf("kind-10.") - 19,
      bytes.indexOf('{"number":"detail-10."}') + 23 + 64,
    ];
    expect(to - from).toBeGreaterThan(120);
    for (let at = from; at < to; at++) {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] ?? 0) ^ 0x04;
      expect(await verifyAfter(path, changed), `byte ${at - from}`).toBeDefined();
    }
  });

  test("is found when rows are removed, added or swapped", async () => {
    const path = newPath();
    await writeAudit(path);
    const bytes = readFileSync(path);
    const changes: Record<string, [string, number]> = {
      removed: ["DELETE FROM audit WHERE seq = 7", 7],
      "removed from the start": ["DELETE FROM audit WHERE seq <= 3", 1],
      "removed from the end": ["DELETE FROM audit WHERE seq > 18", 19],
      added: ["INSERT INTO audit VALUES (21, 1, 'a', 'b', 'c', 'd', 'null', 'e')", 21],
      swapped: [
        "UPDATE audit SET seq = 99 WHERE seq = 4; UPDATE audit SET seq = 4 WHERE seq = 5; UPDATE audit SET seq = 5 WHERE seq = 99",
        4,
      ],
      "removed with a moved anchor": [
        "UPDATE chain SET seq = 3, hash = (SELECT hash FROM audit WHERE seq = 3) WHERE name = 'anchor'; DELETE FROM audit WHERE seq <= 3",
        3,
      ],
    };
    for (const [what, [sql, seq]] of Object.entries(changes)) {
      writeFileSync(path, bytes);
      const database = await openDatabase(path);
      const triggers = database
        .prepare("SELECT sql FROM sqlite_schema WHERE type = 'trigger'")
        .all()
        .map((trigger) => `${trigger.sql};`);
      database.exec(
        `DROP TRIGGER audit_stays; DROP TRIGGER audit_keeps; ${sql}; ${triggers.join("")}`,
      );
      database.close();
      expect(await verifyAfter(path, readFileSync(path)), what).toMatchObject({ seq });
    }
  });

  test("is refused by the triggers", async () => {
    const path = newPath();
    await writeAudit(path);
    const database = await openDatabase(path);
    expect(() => database.exec("UPDATE audit SET reason = 'none' WHERE seq = 1")).toThrow(
      "append-only",
    );
    expect(() => database.exec("DELETE FROM audit WHERE seq = 20")).toThrow("append-only");
    database.close();
  });
});

describe("retention", () => {
  const day = 86_400_000;

  test("removes rows by age, keeps their statistics, and records it in the audit", async () => {
    const path = newPath();
    await append(
      path,
      [400, 366, 364, 1].map((age) => ({
        entry: { kind: "granted", subject: `${age}`, caller: "test", reason: "" },
        at: Date.now() - age * day,
      })),
    );
    const store = open(path);
    for (const age of [100, 31, 29, 0])
      store.calls.add(callRow({ id: `call_${age}`, at: Date.now() - age * day }));
    expect(await store.prune()).toEqual({ calls: 2, audit: 2 });
    expect((await store.calls.list()).map(({ id }) => id)).toEqual(["call_29", "call_0"]);
    expect((await store.statistics()).total.calls).toBe(4);
    expect((await store.audit.list()).map(({ seq, kind }) => [seq, kind])).toEqual([
      [3, "granted"],
      [4, "granted"],
      [5, "pruned"],
    ]);
    expect(await store.audit.verify()).toMatchObject({ rows: 3 });
    expect(await store.prune()).toEqual({ calls: 0, audit: 0 });
  });

  test("removes the oldest calls by size, and the file shrinks", async () => {
    const path = newPath();
    const store = open(path, { retention: { ...defaultRetention, sizeMbMax: 1 } });
    const kept = { arguments: JSON.stringify({ text: "x".repeat(400) }), result: null };
    for (let i = 0; i < 12_000; i++)
      store.calls.add(callRow({ id: `call_${i}`, at: Date.now(), kept }));
    await store.flush();
    const { calls } = await store.prune();
    expect(calls).toBeGreaterThanOrEqual(5_000);
    const left = await store.calls.list({ limit: 20_000 });
    expect([left.length, left.at(-1)?.id]).toEqual([12_000 - calls, "call_11999"]);
    expect((await store.statistics()).total.calls).toBe(12_000);
    await store.close();
    expect(statSync(path).size).toBeLessThan(1.5 * 1024 * 1024);
  });
});

test("a store reports when it is full and when it is not any more", async () => {
  const store = open(newPath(), { fullAt: 500 });
  const reported: boolean[] = [];
  store.onFull((isFull) => reported.push(isFull));
  for (let i = 0; i < 1_000; i++) store.calls.add(callRow({ id: `call_${i}` }));
  expect([store.isFull, reported]).toEqual([true, [true]]);
  await store.flush();
  expect([store.isFull, reported]).toEqual([false, [true, false]]);
  expect(await store.calls.list({ limit: 2_000 })).toHaveLength(1_000);
});

test("a writer thread that ends is restarted, and nothing is lost", async () => {
  const path = newPath();
  const broken = new URL(
    `data:text/javascript,${encodeURIComponent(`import { workerData } from "node:worker_threads"; import { existsSync, writeFileSync } from "node:fs";
    const mark = workerData.location.path + ".once"; if (!existsSync(mark)) { writeFileSync(mark, ""); throw new Error("first"); } await import(${JSON.stringify(String(built.worker))});`)}`,
  );
  mkdirSync(join(path, ".."));
  const store = open(path, { worker: broken });
  for (let i = 0; i < 300; i++) store.calls.add(callRow({ id: `call_${i}` }));
  await store.audit.append({ kind: "granted", subject: "a.b", caller: "test", reason: "because" });
  expect(await store.calls.list({ limit: 1_000 })).toHaveLength(300);
  expect(store.logged).toContain("the store can be written again");
  expect(store.state()).toMatchObject({ problem: undefined, waiting: 0 });
});

test("where the writer thread cannot start, reads and durable writes fail instead of waiting for ever", async () => {
  const store = open(newPath(), { worker: new URL("data:text/javascript,throw new Error()") });
  await expect(store.audit.check()).rejects.toMatchObject({ code: "UNAVAILABLE" });
  const entry = { kind: "granted", subject: "a.b", caller: "test", reason: "because" };
  await expect(store.audit.append(entry)).rejects.toMatchObject({ code: "UNAVAILABLE" });
});

test("nothing is written to a file while it is put aside, so no row goes with it", async () => {
  const path = newPath();
  await append(path, [{ entry: { kind: "a", subject: "a", caller: "test", reason: "" }, at: 1 }]);
  await sealFor(path).saveMark({ store: "another", seq: 4, hash: "x" });
  const seal = sealFor(path);
  const other = new Archive({
    engine: new SqliteEngine({ path, isReader: false, seal, notify() {} }),
    seal,
    writer: "other",
    retention: defaultRetention,
  });
  const batch = [
    { kind: "calls", batch: 1, calls: packCalls([callRow({ id: "call_1" })]) },
  ] as const;
  class BusyEngine extends SqliteEngine {
    override async startAnew(): Promise<void> {
      await expect(other.commit(batch)).rejects.toThrow("was replaced");
      await super.startAnew();
    }
  }
  const engine = new BusyEngine({ path, isReader: false, seal, notify() {} });
  const archive = new Archive({ engine, seal, writer: "test", retention: defaultRetention });
  const entry = { kind: "accepted", subject: "store", caller: "test", reason: "" };
  expect(await archive.read({ what: "accept", entry, at: 2 })).toBe(true);
  await other.commit(batch);
  expect(await archive.read({ what: "calls", filter: {} })).toMatchObject([{ id: "call_1" }]);
  await archive.close();
  await other.close();
});

test("the mark that forbids writing is removed after the file was put aside, not before", async () => {
  const path = newPath();
  await append(path, [{ entry: { kind: "a", subject: "a", caller: "test", reason: "" }, at: 1 }]);
  const seal = sealFor(path);
  await seal.saveMark({ store: "another", seq: 4, hash: "x" });
  const seen: boolean[] = [];
  vi.spyOn(seal, "forgetMark").mockImplementation(() => void seen.push(existsSync(path)));
  const engine = new SqliteEngine({ path, isReader: false, seal, notify() {} });
  await engine.startAnew();
  expect(seen).toEqual([false]);
});

test("a transaction whose file was put aside meanwhile is rolled back", async () => {
  const path = newPath();
  const seal = sealFor(path);
  const engine = new SqliteEngine({ path, isReader: false, seal, notify() {} });
  const write = (subject: string, meanwhile = (): void => {}): Promise<unknown> =>
    engine.write(async (sql) => {
      const entry = { kind: "a", subject, caller: "test", reason: "" };
      await appendAudit(sql, [{ entry, at: 1 }], seal);
      meanwhile();
    });
  await write("before");
  await expect(write("lost", () => renameSync(path, `${path}.aside`))).rejects.toThrow(
    "was replaced while it was written",
  );
  renameSync(`${path}.aside`, path);
  await write("after");
  const rows = await engine.read((sql) => listAudit(sql, {}));
  expect(rows.map(({ subject }) => subject)).toEqual(["before", "after"]);
  await engine.close();
});

test("a writer that closes with rows to write leaves no timer, which would delay the end of the process", async () => {
  const path = newPath();
  const seal = sealFor(path);
  const engine = new SqliteEngine({ path, isReader: false, seal, notify() {} });
  const archive = new Archive({ engine, seal, writer: "test", retention: defaultRetention });
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  try {
    await new Promise<void>((resolve) => {
      const writer = new Writer(archive, ({ kind }) => kind === "closed" && resolve());
      writer.receive({
        kind: "calls",
        batch: 1,
        calls: packCalls([callRow({ id: "call_1" })]),
      });
      writer.receive({ kind: "close" });
    });
    expect(vi.getTimerCount()).toBe(0);
  } finally {
    vi.useRealTimers();
  }
});

test("a row of a call that ends after the store was closed is reported, and starts no thread", async () => {
  const path = newPath();
  const store = open(path);
  store.calls.add(callRow({ id: "before" }));
  await store.close();
  store.calls.add(callRow({ id: "after" }));
  await until(() => store.logged.length > 0, "the log");
  expect(store.logged).toEqual(["calls ended after the store was closed and are not recorded"]);
  expect((await open(path).calls.list()).map(({ id }) => id)).toEqual(["before"]);
});

describe("a decision that allows a call", () => {
  const target = {
    toolkit: { id: "github" },
    tool: { name: "delete" },
    fullName: "github.delete",
  } as Target;
  const call: Call = {
    id: "call_1",
    name: "github.delete",
    arguments: { b: 1, a: 2 },
    caller: { connection: "c", principal: "local", client: "t 1" },
    target,
  };
  const decision: Decision = {
    kind: "destructive call",
    tool: "github.delete",
    caller: "local",
    call: "call_1",
    argumentsHash: hashOf(call.arguments),
    reason: "trusted",
  };

  test("is durable, with the row of the call, before the call runs", async () => {
    const path = newPath();
    const store = open(path);
    await auditDecisions(store)(decision, call);
    // Another process sees what a crash would leave.
    const other = open(path);
    expect(await other.calls.list()).toMatchObject([
      { id: "call_1", outcome: "running", digest: decision.argumentsHash },
    ]);
    expect(await other.audit.list()).toMatchObject([
      { kind: "destructive call", subject: "github.delete", details: { call: "call_1" } },
    ]);
  });

  test("is rejected if it cannot be written", async () => {
    const path = newPath();
    const store = open(path);
    await store.flush();
    const lock = await openDatabase(path);
    lock.exec("BEGIN EXCLUSIVE");
    await expect(auditDecisions(store)(decision, call)).rejects.toMatchObject({
      code: "UNAVAILABLE",
    });
    lock.exec("ROLLBACK");
    lock.close();
  });
});

test("errors of the disk and of locks are no fault of a row, others are", () => {
  const seal = new Seal({ folder: "seal", place: "state.db", notify() {} });
  const engine = new SqliteEngine({ path: "state.db", isReader: false, seal, notify() {} });
  const isRowError = (errcode: number): boolean =>
    engine.isRowError(Object.assign(new Error("simulated"), { errcode }));
  // 261 is an extended code of BUSY.
  expect([5, 6, 8, 10, 13, 14, 261].filter(isRowError)).toEqual([]);
  expect([1, 7, 18, 19, 20].filter((code) => !isRowError(code))).toEqual([]);
  // The addon says it without a code.
  expect(engine.isRowError(new Error("database table is locked"))).toBe(false);
});

test("a file in a folder that cannot be written is read from a copy", async () => {
  const path = newPath();
  const seal = new Seal({ folder: join(folder, "seals"), place: path, notify() {} });
  const options = { path, seal, notify() {} };
  const writer = new SqliteEngine({ ...options, isReader: false });
  await writer.write((sql) => sql.query("SELECT 1"));
  await writer.close();
  const before = readdirSync(dirname(path));
  // Opening a file makes it private.
  chmodSync(path, 0o644);

  // Every folder can be written by root, as whom the tests may run.
  const denied = vi.spyOn(fs, "accessSync").mockImplementation(() => {
    throw Object.assign(new Error("EACCES (simulated)"), { code: "EACCES" });
  });
  syncBuiltinESMExports();
  const reader = new SqliteEngine({ ...options, isReader: true });
  try {
    expect(await reader.read((sql) => sql.query("SELECT 1 AS one"))).toMatchObject([{ one: 1 }]);
    expect(readdirSync(dirname(path))).toEqual(before);
    expect(statSync(path).mode & 0o777).toBe(0o644);
  } finally {
    denied.mockRestore();
    syncBuiltinESMExports();
    await reader.close();
  }
});
