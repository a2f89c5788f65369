import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { chainHash } from "../../src/store/chain.ts";
import { openStore, type StoreSettings } from "../../src/store/open-store.ts";
import { PostgresEngine } from "../../src/store/postgres/engine.ts";
import { tablesOf } from "../../src/store/schema.ts";
import type { Store } from "../../src/store/store.ts";
import { runCli, spawnHall } from "../servers/process.ts";
import { type Built, buildStore } from "./built.ts";
import { type Cluster, startCluster } from "./cluster.ts";
import { describeStore } from "./contract.ts";
import { crash, startWriting } from "./crashes.ts";
import { openProxy } from "./proxy.ts";
import { callRow } from "./rows.ts";

let built: Built;
let cluster: Cluster;

beforeAll(async () => {
  [built, cluster] = await Promise.all([
    buildStore({ writing: "test/store/writing.ts" }),
    startCluster(),
  ]);
});

afterAll(async () => {
  await cluster[Symbol.asyncDispose]();
  built.remove();
});

interface TestOptions extends Pick<StoreSettings, "fullAt" | "retention"> {
  readonly logged?: string[];
}

function open(url: string, { logged = [], ...options }: TestOptions = {}): Store & AsyncDisposable {
  const note = (details: unknown, message: string): void =>
    void logged.push(`${message} ${JSON.stringify(details)}`);
  const store = openStore(
    {
      url,
      worker: built.worker,
      sealFolder: fileURLToPath(new URL("seals", built.worker)),
      ...options,
    },
    { log: { warn: note, error: note } as never, secrets: undefined },
  );
  return Object.defineProperty(store, Symbol.asyncDispose, {
    value: () => store.close(),
  }) as Store & AsyncDisposable;
}

const entry = (subject: string) => ({
  kind: "approved",
  subject,
  caller: "test",
  reason: "because",
});

describeStore("in a database", async () => open(cluster.url()));

test("processes killed while writing to one database lose no acknowledged row, and the chain is intact", async () => {
  const { kills, acknowledged, missing, broken, warnings, alive, running } = await crash(
    built,
    cluster.url(),
    4,
    12,
  );
  expect([kills, missing, broken, warnings, alive]).toEqual([4, [], undefined, [], 0]);
  expect(running).toBe(0);
  expect(acknowledged).toBeGreaterThanOrEqual(4 * 12);
});

test("four processes that start at once create the tables once and write one chain", async () => {
  const url = cluster.url({ schema: "raced" });
  const children = ["a", "b", "c", "d"].map((name) => startWriting(built, url, name, 2));
  const codes = await Promise.all(children.map(async (child) => (await once(child, "close"))[0]));
  expect(codes).toEqual([0, 0, 0, 0]);
  await using store = open(url);
  expect(await store.audit.verify()).toMatchObject({ rows: 8, head: expect.any(String) });
  expect(await store.calls.list({ limit: 1_000 })).toHaveLength(4 * 2 * 21);
  expect(await cluster.query("SELECT * FROM raced.version")).toEqual([{ number: 2, added: 3 }]);
});

test("a hall of the last version continues after a new one has added to the tables", async () => {
  const before = tablesOf("postgresql", 2);
  await cluster.query(
    `CREATE SCHEMA rolling; SET search_path = rolling; ${before}
     CREATE TABLE version (number integer NOT NULL); INSERT INTO version VALUES (2);`,
  );
  await using store = open(cluster.url({ schema: "rolling" }));
  await store.calls.begin(callRow({ id: "new" }));
  // It reads the number that it knows, and writes the columns that it knows.
  expect(await cluster.query("SELECT number FROM rolling.version")).toEqual([{ number: 2 }]);
  await cluster.query(
    `INSERT INTO rolling.calls (id, root, at, caller, connection, tool, outcome, ms, bytes_in, bytes_out, bucket)
     VALUES ('old', 'old', 1, 'c', 'c', 't', 'ok', 1, 1, 1, 0)`,
  );
  expect((await store.calls.list()).map(({ id }) => id)).toEqual(["new", "old"]);
  // Additions of a later version do not stop this one.
  await cluster.query("UPDATE rolling.version SET added = 99");
  await using next = open(cluster.url({ schema: "rolling" }));
  expect(await next.calls.list()).toHaveLength(2);
});

test("the database of version 0.1 is taken over with its calls and its chain, and its hall writes on", async () => {
  const dump = new URL("../servers/version-0.1/postgres.sql", import.meta.url);
  await cluster.query(readFileSync(dump, "utf8"));
  await using store = open(cluster.url({ schema: "team" }));
  expect(await store.audit.verify()).toMatchObject({ rows: 4 });
  await store.audit.append(entry("new"));
  await store.calls.begin(callRow({ id: "new" }));

  const [head] = await cluster.query("SELECT seq, hash FROM team.chain WHERE name = 'head'");
  const row = { seq: Number(head?.seq) + 1, at: 7, kind: "granted", subject: "work.change" };
  const rest = { caller: "user root", reason: "until it is revoked", details: "null" };
  const hash = chainHash(String(head?.hash), { ...row, ...rest });
  const values = [...Object.values({ ...row, ...rest }), hash].map((value) => `'${value}'`);
  await cluster.query(
    `INSERT INTO team.audit VALUES (${values.join(", ")});
     UPDATE team.chain SET seq = ${row.seq}, hash = '${hash}' WHERE name = 'head';
     INSERT INTO team.calls (id, parent, root, at, caller, connection, face, toolkit, tool, digest, outcome, code,
       ms, bytes_in, bytes_out, planner, arguments, result, bucket)
     SELECT 'old', parent, root, at, caller, connection, face, toolkit, tool, digest, outcome, code,
       ms, bytes_in, bytes_out, planner, arguments, result, bucket FROM team.calls WHERE seq = 1;
     UPDATE team.calls SET outcome = 'ok' WHERE id = 'call_1LmbST5A4'`,
  );
  expect(await store.audit.verify()).toMatchObject({ rows: 6 });
  const calls = await store.calls.list();
  expect(calls.map(({ id, outcome }) => `${id} ${outcome}`)).toEqual([
    "call_1LmbST5A1 ok",
    "call_1LmbST5A2 ok",
    "call_1LmbST5A3 ok",
    "call_1LmbST5A4 ok",
    "new ok",
    "old ok",
  ]);
});

test("a database that was set back is reported and not written until a person accepts it", async () => {
  const url = cluster.url({ schema: "restored" });
  await using store = open(url);
  await store.audit.append(entry("a"));
  await store.audit.append(entry("b"));
  await cluster.query(`ALTER TABLE restored.audit DISABLE TRIGGER ALL; DELETE FROM restored.audit WHERE seq = 2;
    UPDATE restored.chain SET seq = 1, hash = (SELECT hash FROM restored.audit) WHERE name = 'head'`);
  const refused = { code: "UNAVAILABLE", message: expect.stringContaining("was set back") };
  await expect(store.audit.append(entry("refused"))).rejects.toMatchObject(refused);
  expect(store.state().problem).toContain("was set back");
  expect(await store.audit.verify()).toMatchObject({ broken: { seq: 2 } });
  expect(await store.audit.accept(entry("accepted"))).toBe(true);
  await store.audit.append(entry("c"));
  expect(await store.audit.list()).toMatchObject([
    { subject: "a" },
    { subject: "accepted", details: { seq: 2 } },
    { subject: "c" },
  ]);
  expect(await store.audit.verify()).toMatchObject({ rows: 3 });
});

test("while the database is down calls continue, durable writes are rejected, and rows are written afterwards", async () => {
  const url = cluster.url({ schema: "stopped" });
  const logged: string[] = [];
  await using store = open(url, { logged });
  await using small = open(url, { fullAt: 16 });
  await store.calls.begin(callRow({ id: "before", outcome: "running" }));
  await small.flush();
  await cluster.stop();
  try {
    const refused = [store, small].map((each) =>
      each.calls.begin(callRow({ id: "refused", outcome: "running" })),
    );
    expect(await Promise.allSettled(refused)).toMatchObject([
      { reason: { code: "UNAVAILABLE", details: { retryAfterSeconds: 1 } } },
      { reason: { code: "UNAVAILABLE", details: { retryAfterSeconds: 1 } } },
    ]);
    expect(store.state()).toMatchObject({
      kind: "postgresql",
      problem: expect.stringContaining("check that it is running, and host and port in store.url"),
    });
    for (let i = 0; i < 1_000; i++) store.calls.add(callRow({ id: `during_${i}` }));
    for (let i = 0; i < 100; i++) small.calls.add(callRow({ id: `small_${i}` }));
    store.calls.add(callRow({ id: "before", outcome: "ok" }));
    expect([store.isFull, small.isFull, store.state().lost, small.state().lost]).toEqual([
      false,
      false,
      0,
      36,
    ]);
  } finally {
    await cluster.start();
  }
  await expect
    .poll(() => [store.state().problem, small.state().problem])
    .toEqual([undefined, undefined]);
  await Promise.all([store.flush(), small.flush()]);
  const rows = await store.calls.list({ limit: 5_000 });
  expect(rows.filter(({ id }) => id.startsWith("during_"))).toHaveLength(1_000);
  expect(rows.filter(({ id }) => id.startsWith("small_"))).toHaveLength(64);
  expect(rows.filter(({ id }) => id === "before")).toMatchObject([{ outcome: "ok" }]);
  await expect
    .poll(() => store.audit.list())
    .toMatchObject([
      { kind: "gap", reason: expect.stringMatching(/^36 calls were not recorded: /) },
    ]);
  expect(await store.audit.verify()).toMatchObject({ rows: 1, head: expect.any(String) });
  expect(logged.join("\n")).not.toContain(cluster.password);
});

test("a commit whose answer was lost is not written twice", async () => {
  await using proxy = await openProxy(cluster);
  await using store = open(cluster.url({ port: proxy.port }));
  await store.flush();
  proxy.loseAnswerTo = "INSERT INTO writers";
  for (let i = 0; i < 10; i++) store.calls.add(callRow({ id: `call_${i}` }));
  await Promise.all([
    store.audit.append(entry("once")),
    store.calls.begin(callRow({ id: "begun", outcome: "running" })),
  ]);
  expect(proxy.loseAnswerTo).toBeUndefined();
  store.calls.add(callRow({ id: "begun", outcome: "ok" }));
  expect((await store.calls.list()).map(({ id, outcome }) => `${id} ${outcome}`)).toEqual([
    ...Array.from({ length: 10 }, (_, i) => `call_${i} ok`),
    "begun ok",
  ]);
  expect(await store.audit.verify()).toMatchObject({ rows: 1, head: expect.any(String) });
  expect((await store.statistics()).total.calls).toBe(11);
});

test("durable writes are rejected when the database does not answer", async () => {
  await using proxy = await openProxy(cluster);
  await using store = open(cluster.url({ port: proxy.port }));
  await store.flush();
  proxy.isSilent = true;
  await expect(store.audit.append(entry("lost"))).rejects.toMatchObject({
    code: "UNAVAILABLE",
    message: expect.stringContaining("no answer for 2 s"),
  });
  expect(store.state().problem).toBe("no answer for 2 s");
  proxy.isSilent = false;
  proxy.cut();
  await store.audit.append(entry("written"));
  expect(await store.audit.list()).toMatchObject([{ seq: 1, subject: "written" }]);
  expect(store.state().problem).toBeUndefined();
});

test("a hall that hangs in the middle of a write keeps no other hall from durable writes", async () => {
  const url = cluster.url();
  await using store = open(url);
  await store.flush();
  const hanging = new PostgresEngine(url);
  let written: Promise<void> | undefined;
  const ended = hanging.write(() => {
    written = store.audit.append(entry("meanwhile"));
    return written;
  });
  await expect(ended).rejects.toMatchObject({ code: "UNAVAILABLE" });
  await written;
  await hanging.close();
  expect(await store.audit.list()).toMatchObject([{ seq: 1, subject: "meanwhile" }]);
});

test("a wrong store.url is explained without the password", async () => {
  await cluster.query(`CREATE ROLE guest LOGIN PASSWORD '${cluster.password}'`);
  const here = `${cluster.host}:${cluster.port}`;
  const cases: readonly [string, string][] = [
    [
      cluster.url({ port: 1 }),
      `cannot connect to the database at ${cluster.host}:1 (ECONNREFUSED); check that it is running, and host and port in store.url`,
    ],
    [
      cluster.url().replace(":pass", ":miss"),
      `the database at ${here} rejected the password of "guild"; check store.url`,
    ],
    [
      cluster.url().replace("/postgres?", "/none?"),
      `no database "none" at ${here}; create it with \`createdb none\`, or correct store.url`,
    ],
    [
      cluster.url({ user: "guest", schema: "g" }),
      'its owner can run `CREATE SCHEMA IF NOT EXISTS g AUTHORIZATION "guest"`',
    ],
    [cluster.url({ more: "&sslmode=verify-full" }), "set sslrootcert in store.url"],
    [
      cluster.url({ more: "&sslmode=always" }),
      'store.url has an unknown sslmode "always" (expected: disable, allow, prefer, require, verify-ca, verify-full)',
    ],
    [
      cluster.url({ more: "&sslmode=require&sslrootcert=/none.pem" }),
      'cannot read "/none.pem" named in store.url',
    ],
    [
      cluster.url().replace("%2F", "/"),
      "(expected: postgres://user:password@host:5432/database, special characters percent-encoded)",
    ],
    [
      cluster.url({ schema: "Drop;" }),
      'store.url has an invalid schema "Drop;" (expected: lower-case letters, digits and _)',
    ],
  ];
  const found = await Promise.all(
    cases.map(async ([url]) => {
      const logged: string[] = [];
      await using store = open(url, { logged });
      store.calls.add(callRow({ id: "unwritten" }));
      const error = await store.audit.verify().catch((thrown: Error) => thrown);
      return {
        message: "message" in error ? error.message : "none",
        shown: JSON.stringify([error, logged, store.state()]),
      };
    }),
  );
  for (const [index, { message, shown }] of found.entries()) {
    expect(message).toContain(cases[index]?.[1]);
    for (const secret of [cluster.password, encodeURIComponent(cluster.password), "word"]) {
      expect(shown.replaceAll("password", "")).not.toContain(secret);
    }
  }
});

test("sslmode is respected", async () => {
  const checked = `&sslmode=verify-full&sslrootcert=${encodeURIComponent(cluster.rootFile)}`;
  const urls = [
    cluster.url({ schema: "secured", more: "&sslmode=require" }),
    cluster.url({ schema: "secured", more: checked }).replace(cluster.host, "localhost"),
    cluster.url({ schema: "secured", more: checked.replace("verify-full", "verify-ca") }),
  ];
  for (const [index, url] of urls.entries()) {
    await using store = open(url);
    await store.audit.append(entry(`tls_${index}`));
    const secured =
      "SELECT count(*)::int AS secured FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE ssl AND application_name = 'guildhall'";
    // The previous connection may still be closing.
    await expect.poll(() => cluster.query(secured)).toEqual([{ secured: 1 }]);
  }
  await using other = open(cluster.url({ schema: "secured", more: checked }));
  // The certificate is for a name, not for the address.
  await expect(other.audit.verify()).rejects.toThrow(/is not trusted .*127\.0\.0\.1/);
});

test("characters that PostgreSQL cannot store are replaced", async () => {
  await using store = open(cluster.url());
  store.calls.add(callRow({ id: "call_1", tool: "nul\0here", caller: "half \ud800 character" }));
  await store.audit.append({
    ...entry("nul\0here"),
    reason: "half \udfff character",
    details: { text: "\ud800 and 😀" },
  });
  await store.registrations.put("nul\0here", "value");
  expect(await store.calls.list()).toMatchObject([
    { tool: "nul\ufffdhere", caller: "half \ufffd character" },
  ]);
  expect(await store.audit.list()).toMatchObject([
    { subject: "nul\ufffdhere", details: { text: "\ud800 and 😀" } },
  ]);
  expect(await store.audit.verify()).toMatchObject({ rows: 1, head: expect.any(String) });
  expect(await store.registrations.find("nul\0here")).toBe("value");
});

test("the triggers refuse changes to the audit, and verify names a changed row", async () => {
  const url = cluster.url({ schema: "changed" });
  await using store = open(url);
  for (const subject of ["a", "b", "c"]) await store.audit.append(entry(subject));
  for (const change of [
    "UPDATE changed.audit SET reason = 'none'",
    "DELETE FROM changed.audit WHERE seq = 3",
    "TRUNCATE changed.audit",
  ]) {
    await expect(cluster.query(change)).rejects.toThrow("the audit is append-only");
  }
  await cluster.query(
    "ALTER TABLE changed.audit DISABLE TRIGGER USER; UPDATE changed.audit SET reason = 'none' WHERE seq = 2",
  );
  expect(await store.audit.verify()).toMatchObject({
    rows: 1,
    broken: { seq: 2, reason: "the row was changed" },
  });
});

test("retention removes calls by age and size, and keeps the statistics and the chain", async () => {
  const day = 86_400_000;
  const now = Date.now();
  const url = cluster.url({ schema: "pruned" });
  await using store = open(url, { retention: { keepDays: 30, auditKeepDays: 365, sizeMbMax: 1 } });
  await store.audit.append(entry("old"));
  await cluster.query(
    "ALTER TABLE pruned.audit DISABLE TRIGGER USER; UPDATE pruned.audit SET at = 0; ALTER TABLE pruned.audit ENABLE TRIGGER USER",
  );
  for (let i = 0; i < 20; i++) store.calls.add(callRow({ id: `old_${i}`, at: now - 40 * day }));
  const kept = {
    arguments: JSON.stringify(Array.from({ length: 300 }, (_, i) => (i * 7_919) % 10_007)),
    result: null,
  };
  for (let i = 0; i < 1_500; i++) store.calls.add(callRow({ id: `call_${i}`, at: now, kept }));
  const { calls, audit } = await store.prune();
  expect(audit).toBe(1);
  const left = await store.calls.list({ limit: 5_000 });
  expect(calls + left.length).toBe(1_520);
  expect(left.length).toBeGreaterThan(100);
  expect(left.length).toBeLessThan(1_000);
  expect(left.at(-1)).toMatchObject({ id: "call_1499" });
  expect(left.filter(({ id }) => id.startsWith("old_"))).toEqual([]);
  // Removed calls stay counted, once.
  expect((await store.statistics()).total.calls).toBe(1_520);
  expect(await store.audit.list()).toMatchObject([{ kind: "pruned" }]);
  // Nothing more is removed, although the table itself does not shrink.
  expect(await store.prune()).toEqual({ calls: 0, audit: 0 });
});

test("two halls record into the database named by the environment, and the commands show both", async () => {
  const env = { GUILDHALL__STORE__URL: cluster.url() };
  const folders = ["a", "b"].map(() => mkdtempSync(join(tmpdir(), "guildhall-shared-")));
  try {
    await Promise.all(
      folders.map(async (cwd) => {
        await using hall = spawnHall([], { cwd, env });
        await hall.greet();
        await hall.request("tools/call", { name: "time_tool.current_time", arguments: {} });
        hall.child.stdin.end();
        expect((await hall.exited).code).toBe(0);
      }),
    );
    const [cwd = ""] = folders;
    const stats = await runCli(["stats", "--json"], { cwd, env });
    expect(JSON.parse(stats.stdout)).toMatchObject({
      total: { calls: 2 },
      tools: [{ tool: "time_tool.current_time", calls: 2 }],
    });
    expect(await runCli(["audit", "verify"], { cwd, env })).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("rows verified"),
    });
    const wrong = {
      GUILDHALL__STORE__URL: env.GUILDHALL__STORE__URL.replace("/postgres?", "/none?"),
    };
    const refused = await runCli(["audit"], { cwd, env: wrong });
    expect(refused).toMatchObject({
      code: 69,
      stderr: expect.stringContaining('no database "none"'),
    });
    expect(refused.stderr).not.toContain(cluster.password);
  } finally {
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  }
});
