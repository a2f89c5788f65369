// What was recorded cannot be forged by a clone, and cannot vanish unnoticed.
import {
  chmodSync,
  chownSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { openStore } from "../../src/store/open-store.ts";
import { openDatabase } from "../../src/store/sqlite.ts";
import type { Store } from "../../src/store/store.ts";
import { allowUnattended, makeHome } from "../servers/home.ts";
import { until } from "../servers/until.ts";
import { type Built, buildStore } from "../store/built.ts";
import { callRow } from "../store/rows.ts";
import { rehash, takeTriggers } from "../store/tampering.ts";

const cli = fileURLToPath(new URL("../../dist/cli.js", import.meta.url));
let built: Built;
const folder = mkdtempSync(join(tmpdir(), "guildhall-records-"));
const open: Opened[] = [];
let projects = 0;

beforeAll(async () => {
  built = await buildStore();
});

afterEach(async () => {
  for (const { store } of open.splice(0)) await store.close();
});

afterAll(() => {
  built.remove();
  rmSync(folder, { recursive: true, force: true });
});

const newPath = (): string => join(folder, `project${++projects}`, ".guildhall", "state.db");

interface Opened {
  readonly store: Store;
  readonly logged: string[];
}

/** A hall of a user; each user has a data folder. */
function openAs(user: string, path: string, isReader = false): Opened {
  const logged: string[] = [];
  const note = (_: unknown, message: string): void => void logged.push(message);
  const log = { warn: note, error: note } as never;
  const sealFolder = join(folder, user, "store");
  const store = openStore({ path, worker: built.worker, sealFolder }, { log, isReader });
  const opened = { store, logged };
  open.push(opened);
  return opened;
}

async function close({ store }: Opened): Promise<void> {
  await store.close();
}

const entry = (subject: string) => ({
  kind: "destructive call",
  subject,
  caller: "test",
  reason: "trusted",
});

/** A store with three decisions. */
async function write(user: string, path: string): Promise<void> {
  const opened = openAs(user, path);
  for (const name of ["a", "b", "c"]) await opened.store.audit.append(entry(name));
  await close(opened);
}

async function change(path: string, sql: string): Promise<void> {
  const database = await openDatabase(path);
  database.exec(sql);
  database.close();
}

const filesBeside = (path: string): readonly string[] =>
  readdirSync(dirname(path)).filter((name) => name !== ".gitignore");

describe("a store that a clone brought", () => {
  const hostile = {
    "a trigger that drops rows":
      "CREATE TRIGGER t BEFORE INSERT ON audit BEGIN SELECT RAISE(IGNORE); END",
    "a trigger that never ends": `CREATE TRIGGER t BEFORE INSERT ON calls BEGIN SELECT count(*) FROM
      (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n); END`,
    "a view in place of a table": `DROP TABLE documents; CREATE VIEW documents AS
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT '' AS shelf, '' AS key, i AS body, 0 AS expires_at FROM n`,
    "a column that computes": "ALTER TABLE counted ADD COLUMN x AS (length(seq))",
    "an index that computes": "CREATE INDEX i ON calls (length(arguments))",
    "a check that computes": `DROP TABLE counted; CREATE TABLE counted (seq bigint NOT NULL CHECK (seq < 5));
      INSERT INTO counted VALUES (0)`,
    "our tables with another user's rows": "SELECT 1",
    "the rows of a version without a key": "DELETE FROM chain WHERE name = 'sealed'",
  };

  test.each(Object.entries(hostile))("is set aside: %s", async (_, sql) => {
    const path = newPath();
    await write("victim", newPath());
    await write("attacker", path);
    await change(path, sql);

    const { store, logged } = openAs("victim", path);
    store.calls.add(callRow({ id: "call_1" }));
    await store.audit.append(entry("mine"));
    expect(await store.audit.list()).toMatchObject([
      { kind: "replaced", reason: expect.stringContaining("was not made by this user") },
      { subject: "mine" },
    ]);
    expect(await store.audit.verify()).toMatchObject({ rows: 2 });
    expect(await store.calls.list()).toMatchObject([{ id: "call_1" }]);
    expect(logged).toEqual([expect.stringContaining("was not made by this user")]);
    expect(filesBeside(path).filter((name) => /\.foreign-[\dTZ-]+$/.test(name))).toHaveLength(1);
  });

  test("does not run when a command only reads it", async () => {
    const path = newPath();
    await write("attacker", path);
    await change(path, hostile["a view in place of a table"]);
    const { store } = openAs("victim", path, true);
    await expect(store.registrations.list()).rejects.toMatchObject({
      code: "UNAVAILABLE",
      message: expect.stringContaining("was not made by this user"),
    });
  });
});

test("a store of version 0.1 that was there before this user's key keeps its rows and gets a key", async () => {
  mkdirSync(join(folder, "upgrading", "trust"), { recursive: true });
  writeFileSync(join(folder, "upgrading", "trust", "key"), "made by the first approval");
  const path = newPath();
  await write("somebody", path);
  await toVersion2(path);
  // The key for stores is made when the store is opened, so it is younger than the file.
  const { store } = openAs("upgrading", path);
  expect(await store.audit.verify()).toMatchObject({ rows: 3 });
  await store.audit.append(entry("new"));
  expect(await store.audit.verify()).toMatchObject({ rows: 4 });
  expect(filesBeside(path).filter((name) => name.includes("foreign"))).toEqual([]);
  await close({ store, logged: [] });
  await change(path, "UPDATE chain SET seq = 99 WHERE name = 'sealed'");
  expect((await openAs("upgrading", path, true).store.audit.verify()).broken).toBeDefined();
});

test("a store of version 0.1 in the first clone of a new user is set aside", async () => {
  const path = newPath();
  await write("attacker", path);
  await toVersion2(path);
  const { store } = openAs("new", path);
  await store.audit.append(entry("mine"));
  expect(await store.audit.list()).toMatchObject([{ kind: "replaced" }, { subject: "mine" }]);
});

/** Rewrites the file as version 0.1 wrote it: without keys. */
async function toVersion2(path: string): Promise<void> {
  const database = await openDatabase(path);
  const triggers = takeTriggers(database);
  database.exec(`DELETE FROM chain WHERE name = 'sealed'; DROP TABLE running;
    DROP INDEX calls_person; ALTER TABLE calls DROP COLUMN token; ALTER TABLE calls DROP COLUMN person`);
  rehash(database);
  database.exec(`PRAGMA user_version = 2; ${triggers}`);
  database.close();
}

test("an audit rewritten with all its hashes is found, because its hashes need this user's key", async () => {
  const path = newPath();
  await write("victim", path);
  const database = await openDatabase(path);
  const triggers = takeTriggers(database);
  database.exec("UPDATE audit SET subject = 'harmless' WHERE seq = 2");
  rehash(database);
  database.exec(triggers);
  database.close();
  expect(await openAs("victim", path, true).store.audit.verify()).toMatchObject({
    broken: { seq: 1, reason: "the row was changed" },
  });
});

describe("a store that is not the one that was written", () => {
  /** What happens to the file, and the words that say so. */
  const losses: Record<string, [(path: string, older: string) => void, string]> = {
    removed: [(path) => rmSync(dirname(path), { recursive: true }), "was removed"],
    emptied: [(path) => truncateSync(path, 0), "was emptied"],
    replaced: [
      (path) => {
        const other = join(dirname(dirname(path)), "other.db");
        renameSync(other, path);
      },
      "was replaced",
    ],
    "set back": [(path, older) => copyFileSync(older, path), "was set back"],
  };

  async function prepare(): Promise<{ readonly path: string; readonly older: string }> {
    const path = newPath();
    await write("victim", path);
    const older = join(dirname(dirname(path)), "older.db");
    copyFileSync(path, older);
    const second = openAs("victim", path);
    await second.store.audit.append(entry("d"));
    await close(second);
    const other = newPath();
    await write("victim", other);
    copyFileSync(other, join(dirname(dirname(path)), "other.db"));
    return { path, older };
  }

  test.each(Object.entries(losses))(
    "is reported and not written until a person accepts it: %s",
    async (_, [lose, words]) => {
      const { path, older } = await prepare();
      lose(path, older);
      const { store, logged } = openAs("victim", path);
      store.calls.add(callRow({ id: "call_1" }));
      const refused = { code: "UNAVAILABLE", message: expect.stringContaining(words) };
      await expect(store.audit.append(entry("refused"))).rejects.toMatchObject({
        ...refused,
        next: [{ do: "run-command", command: "audit accept" }],
      });
      await expect(
        store.calls.begin(callRow({ id: "call_2", outcome: "running" })),
      ).rejects.toMatchObject(refused);
      expect(store.state()).toMatchObject({ problem: expect.stringContaining(words), waiting: 1 });
      expect(logged).toEqual([expect.stringContaining("cannot write to the store")]);
      await expect(openAs("victim", path, true).store.audit.check()).rejects.toMatchObject(refused);
      expect(await openAs("victim", path, true).store.audit.verify()).toMatchObject({
        broken: { seq: 4, reason: expect.stringContaining(words) },
      });

      expect(await openAs("victim", path, true).store.audit.accept(entry("accepted"))).toBe(true);
      await store.audit.append(entry("e"));
      expect(await store.audit.list()).toMatchObject([
        { seq: 1, subject: "accepted", details: { seq: 4 } },
        { seq: 2, subject: "e" },
      ]);
      expect(await store.calls.list()).toMatchObject([{ id: "call_1" }]);
      expect(await store.audit.verify()).toMatchObject({ rows: 2 });
      expect(await store.audit.accept(entry("again"))).toBe(false);
    },
  );

  test("is noticed while the hall runs, and used again when it is put back", async () => {
    const path = newPath();
    const { store, logged } = openAs("victim", path);
    await store.audit.append(entry("a"));
    renameSync(dirname(path), `${dirname(path)}-gone`);
    store.calls.add(callRow({ id: "call_1" }));
    await expect(store.audit.append(entry("refused"))).rejects.toMatchObject({
      message: expect.stringContaining("was removed"),
    });
    expect(logged).toHaveLength(1);

    renameSync(`${dirname(path)}-gone`, dirname(path));
    await until(() => store.state().problem === undefined, "the end of the problem");
    await store.audit.append(entry("b"));
    expect(await store.audit.list()).toMatchObject([{ subject: "a" }, { subject: "b" }]);
    expect(await store.calls.list()).toMatchObject([{ id: "call_1" }]);
  });

  test("is noticed while the hall runs, when it is emptied", async () => {
    const path = newPath();
    const { store } = openAs("victim", path);
    await store.audit.append(entry("a"));
    writeFileSync(path, "");
    await expect(store.audit.append(entry("refused"))).rejects.toMatchObject({
      message: expect.stringContaining("was emptied"),
    });
  });
});

test("`status`, `doctor` and `audit verify` name a store that was removed, and `audit accept` begins a new one", async () => {
  const server = { command: process.execPath, args: ["-e", "process.exit(1)"] };
  using home = makeHome({ "./guildhall.json": { mcpServers: { gone: server }, builtin: "all" } });
  const run = (line: string) => home.run(cli, line.split(" "));
  expect(await run("call calculator.calculate expression=1+1")).toMatchObject({ code: 0 });
  expect(await run("audit verify")).toMatchObject({ code: 0 });
  rmSync(home.locate("./.guildhall"), { recursive: true });

  expect((await run("status")).stdout).toContain("the store was removed");
  expect((await run("doctor")).stdout).toContain("the store was removed");
  expect(await run("audit verify")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("the store was removed"),
  });
  expect(await run("call calculator.calculate expression=1+1")).toMatchObject({ code: 0 });
  expect(readdirSync(home.project)).toEqual(["guildhall.json"]);

  // A model's shell cannot accept the loss: that needs a person.
  allowUnattended(join(home.path, ".config"), { trust: { unattended: false } });
  expect(await run("audit accept")).toMatchObject({ code: 77 });
  allowUnattended(join(home.path, ".config"));
  expect(await run("audit accept")).toMatchObject({ code: 0 });
  expect((await run("audit verify")).stdout).toContain("1 row verified");
});

test("the audit of a read-only folder can be verified, and nothing is written there", async () => {
  const path = join(folder, "evidence", "state.db");
  const original = newPath();
  await write("reader", original);
  mkdirSync(dirname(path));
  copyFileSync(original, path);
  chmodSync(path, 0o444);
  chmodSync(dirname(path), 0o555);
  const isRoot = process.geteuid?.() === 0;
  const nobody = 65_534;
  if (isRoot) {
    chmodSync(folder, 0o755);
    chmodSync(dirname(built.file("store-worker")), 0o755);
    for (const name of ["", "store", "store/key"])
      chownSync(join(folder, "reader", name), nobody, nobody);
    process.seteuid?.(nobody);
  }
  try {
    const opened = openAs("reader", path, true);
    expect(await opened.store.audit.verify()).toMatchObject({ rows: 3, head: expect.any(String) });
    await close(opened);
    expect(readdirSync(dirname(path))).toEqual(["state.db"]);
  } finally {
    if (isRoot) process.seteuid?.(0);
    chmodSync(dirname(path), 0o755);
  }
});
