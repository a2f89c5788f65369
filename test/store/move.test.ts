import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { HallError } from "../../src/base/errors.ts";
import { type MoveOptions, moveStore } from "../../src/store/move.ts";
import { openStore } from "../../src/store/open-store.ts";
import { placeOf } from "../../src/store/postgres/url.ts";
import { openDatabase } from "../../src/store/sqlite.ts";
import type { Retention, Store } from "../../src/store/store.ts";
import { makeHome } from "../servers/home.ts";
import { builtCli } from "../servers/process.ts";
import { until } from "../servers/until.ts";
import { type Built, buildStore } from "./built.ts";
import { type Cluster, startCluster } from "./cluster.ts";
import { openProxy } from "./proxy.ts";
import { callRow } from "./rows.ts";
import { takeTriggers } from "./tampering.ts";

/** The rows of a file move to a database: all of them, or none. */
let built: Built;
let cluster: Cluster;
let folder: string;
let path: string;

beforeAll(async () => {
  [built, cluster] = await Promise.all([buildStore(), startCluster()]);
});

afterAll(async () => {
  await cluster[Symbol.asyncDispose]();
  built.remove();
});

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "guildhall-move-"));
  path = join(folder, "project", ".guildhall", "state.db");
  return () => rmSync(folder, { recursive: true, force: true });
});

async function withStore<T>(
  location: { readonly path: string } | { readonly url: string },
  use: (store: Store) => Promise<T>,
  retention?: Retention,
): Promise<T> {
  const log = { warn() {}, error() {} } as never;
  const settings = { worker: built.worker, sealFolder: join(folder, "seals"), retention };
  const store = openStore({ ...location, ...settings }, { log });
  try {
    return await use(store);
  } finally {
    await store.close();
  }
}

function move(url: string, onProgress: MoveOptions["onProgress"] = () => {}) {
  const seal = (place: string) => ({ folder: join(folder, "seals"), place });
  const seals = { file: seal(path), database: seal(placeOf(url)) };
  return moveStore({ path, url, seals, notify() {}, onProgress });
}

const entry = (subject: string) => ({ kind: "granted", subject, caller: "test", reason: "it" });

/** As callers do: beside other work, a database may confirm a row too late, and the row may then be there twice. */
const append = (store: Store, subject: string): Promise<true> =>
  until(
    () =>
      store.audit.append(entry(subject)).then(
        () => true as const,
        (error: HallError) => {
          if (error.code !== "UNAVAILABLE") throw error;
          return undefined;
        },
      ),
    "the row is written",
  );
const everything = { keepDays: 36_500, auditKeepDays: 0, sizeMbMax: 512 };

/** Some pages of calls, one that still runs, documents, and an audit whose first rows were pruned. */
async function fill(): Promise<void> {
  const old = async (store: Store) => {
    for (const subject of ["a", "b"]) await store.audit.append(entry(subject));
    const writtenAt = Date.now();
    await until(() => Date.now() > writtenAt + 1, "the rows are older than now");
    await store.prune();
  };
  await withStore({ path }, old, everything);
  await withStore({ path }, async (store) => {
    for (let index = 0; index < 6_500; index++)
      store.calls.add(callRow({ id: `c${index}`, ms: index % 50, tool: `github.t${index % 7}` }));
    await store.calls.begin(callRow({ id: "runs", outcome: "running" }));
    await store.audit.append({ ...entry("\0 and ü"), details: { a: [1, "\ud800"] } });
    await store.runs.put("run", { text: "\0ü" });
    await store.discoveries.put("later", 1, { ttlMs: 60_000 });
  });
}

async function readAll(store: Store) {
  const { people: _people, ...statistics } = await store.statistics();
  const decisions = await store.audit.list({ limit: 100 });
  return {
    calls: await store.calls.list({ limit: 100_000 }),
    decisions: decisions.map(({ hash: _hash, ...row }) => row),
    runs: await store.runs.list(),
    discoveries: await store.discoveries.list(),
    statistics,
  };
}

const tablesEmpty = async (url: string): Promise<boolean> => {
  const schema = new URL(url).searchParams.get("schema");
  const [row] = await cluster.query(
    `SELECT (SELECT count(*) FROM ${schema}.calls) + (SELECT count(*) FROM ${schema}.audit) AS rows`,
  );
  return Number(row?.rows) === 0;
};

test("the database has what the file had, one chain, and continues both", async () => {
  await fill();
  const before = await withStore({ path }, readAll);
  const url = cluster.url();
  const progress: number[] = [];
  const moved = await move(url, (done, total) => progress.push(done / total));
  expect(moved).toMatchObject({
    rows: { calls: 6_501, audit: before.decisions.length + 1, documents: 2 },
    wasMoved: false,
  });
  expect([progress.at(-1), progress.toSorted((a, b) => a - b)]).toEqual([1, progress]);

  await withStore({ url }, async (store) => {
    const { decisions, ...after } = await readAll(store);
    const { decisions: old, ...rest } = before;
    expect(after).toEqual(rest);
    expect(decisions.slice(0, -1)).toEqual(old);
    expect(decisions.at(-1)).toMatchObject({ kind: "moved", details: { seq: old.at(-1)?.seq } });
    expect(await store.audit.verify()).toEqual({
      rows: decisions.length,
      head: moved.head,
    });

    store.calls.add(callRow({ id: "next" }));
    await append(store, "next");
    const [next] = await store.calls.list({ limit: 1 });
    expect(next).toMatchObject({ id: "next", seq: 6_502 });
    expect((await store.statistics()).total.calls).toBe(before.statistics.total.calls + 1);
    expect((await store.audit.verify()).broken).toBeUndefined();
  });
  // The file is as it was, and moving it again changes nothing.
  expect(await withStore({ path }, (store) => store.audit.verify())).not.toHaveProperty("broken");
  expect(await move(url)).toMatchObject({ wasMoved: true, rows: { calls: 6_502 } });
});

test("a connection that is lost leaves nothing, and the next attempt moves everything", async () => {
  await fill();
  await using proxy = await openProxy(cluster);
  const schema = "interrupted";
  const url = cluster.url({ schema, port: proxy.port });
  await expect(move(url, () => proxy.cut())).rejects.toMatchObject({ code: "UNAVAILABLE" });
  expect(await tablesEmpty(url)).toBe(true);

  // The transaction succeeds and its answer is lost: the next attempt finds its rows.
  proxy.loseAnswerTo = "INSERT INTO writers";
  await expect(move(url)).rejects.toMatchObject({ code: "UNAVAILABLE" });
  expect(await move(url)).toMatchObject({ wasMoved: true, rows: { calls: 6_501 } });
});

test("a database with rows of another store is refused, and a file that was written since", async () => {
  await withStore({ path }, (store) => store.audit.append(entry("mine")));
  const taken = cluster.url();
  await withStore({ url: taken }, (store) => append(store, "theirs"));
  await expect(move(taken)).rejects.toMatchObject({
    code: "CONFLICT",
    message: "the database already has rows of another store",
  });

  const url = cluster.url();
  await move(url);
  await withStore({ path }, (store) => store.audit.append(entry("later")));
  await expect(move(url)).rejects.toMatchObject({
    code: "CONFLICT",
    message: "the file has new rows since it was moved to this database",
  });
});

test("a file whose audit was changed is refused", async () => {
  await withStore({ path }, (store) => store.audit.append(entry("mine")));
  const database = await openDatabase(path);
  const triggers = takeTriggers(database);
  database.exec(`UPDATE audit SET subject = 'other'; ${triggers}`);
  database.close();
  const url = cluster.url();
  await expect(move(url)).rejects.toMatchObject({
    code: "EXECUTION",
    message: "the audit of the file is broken at row 1: the row was changed",
  });
});

test("the command refuses while a hall writes to the file, and `stats` reads the database afterwards", async () => {
  using home = makeHome({ "./guildhall.json": {} });
  const url = cluster.url();
  const run = (...args: string[]) => home.run(builtCli(), args);
  expect(await run("migrate", "--to", url)).toMatchObject({ code: 66 });
  expect(await run("start", "--port", "0")).toMatchObject({ code: 0 });
  try {
    expect(await run("call", "time_tool.current_time")).toMatchObject({ code: 0 });
    const refused = await run("migrate", "--to", url);
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining("is running") });
  } finally {
    await run("stop");
  }
  const { stdout, stderr } = await run("migrate", "--to", url);
  expect(stdout).toContain("1 call, ");
  expect(stderr).toContain("[100 %]");
  expect(stdout + stderr).not.toContain(encodeURIComponent(cluster.password));
  const env = { GUILDHALL__STORE__URL: url };
  const again = await home.run(builtCli(), ["migrate", "--json"], env);
  expect(JSON.parse(again.stdout)).toMatchObject({ wasMoved: true, rows: { calls: 1 } });
  const stats = await home.run(builtCli(), ["stats", "--json"], env);
  expect(JSON.parse(stats.stdout)).toMatchObject({ total: { calls: 1 } });
});
