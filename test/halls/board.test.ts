import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { shareBuckets } from "../../src/hall/together/shared-limits.ts";
import { SharedValues } from "../../src/hall/together/shared-values.ts";
import { createTogether } from "../../src/hall/together/together.ts";
import { Board, type Listener, type Topic } from "../../src/store/shared/board.ts";
import { TeamKey } from "../../src/store/shared/team-key.ts";
import { until } from "../servers/until.ts";
import { type Cluster, startCluster } from "../store/cluster.ts";
import { openProxy } from "../store/proxy.ts";

/** Rows that several halls share, in a real database. */
let cluster: Cluster;

beforeAll(async () => {
  cluster = await startCluster();
});

afterAll(() => cluster[Symbol.asyncDispose]());

const key = new TeamKey("a secret of the team", "/srv/project");
const log = { warn() {}, info() {} } as never;

type TestBoard = Board & AsyncDisposable & { readonly heard: string[] };

async function join(
  url: string,
  { team = key, listener }: { readonly team?: TeamKey; readonly listener?: Listener } = {},
): Promise<TestBoard> {
  const board = new Board({ url, key: team, log });
  const heard: string[] = [];
  const topics: readonly Topic[] = ["trust", "approvals", "registrations"];
  for (const topic of topics)
    board.on(topic, async (name, text) => {
      await listener?.(name, text);
      heard.push(`${topic} ${name} ${text ?? "removed"}`);
    });
  board.url = "http://127.0.0.1:1";
  await board.join();
  return Object.assign(board, { heard, [Symbol.asyncDispose]: () => board.close() });
}

test("a change is confirmed when every hall has applied it", async () => {
  const url = cluster.url();
  await using one = await join(url);
  let mayApply = (): void => {};
  const held = new Promise<void>((resolve) => {
    mayApply = resolve;
  });
  await using other = await join(url, { listener: () => held });
  const order: string[] = [];
  const confirmed = one.put("trust", "grants", "first").then(() => order.push("confirmed"));
  await until(() => one.heard.length === 1, "the hall that wrote it has applied it");
  order.push(`waits, the other has ${other.heard.length}`);
  mayApply();
  await confirmed;
  expect(order).toEqual(["waits, the other has 0", "confirmed"]);
  expect(other.heard).toEqual(["trust grants first"]);
});

test("changes of several halls are applied in one order, and one hall takes a row", async () => {
  const url = cluster.url();
  await using one = await join(url);
  await using other = await join(url);
  const count = (text: string | undefined): string => String(Number(text ?? 0) + 1);
  const edits = Array.from({ length: 10 }, (_, index) =>
    (index % 2 === 0 ? one : other).edit("trust", "count", count, { isQuick: true }),
  );
  await Promise.all(edits);
  await Promise.all([one.refresh(), other.refresh()]);
  expect(one.heard.at(-1)).toBe("trust count 10");
  expect(other.heard.at(-1)).toBe("trust count 10");
  const taken = await Promise.all([one.take("trust", "count"), other.take("trust", "count")]);
  expect(taken.sort()).toEqual([false, true]);
});

test("a hall that was cut off has no lease, and reads the missed rows, removed ones too", async () => {
  const url = cluster.url();
  await using proxy = await openProxy(cluster);
  await using one = await join(url);
  const { schema } = Object.fromEntries(new URL(url).searchParams);
  await using other = await join(cluster.url({ schema: String(schema), port: proxy.port }));
  await one.put("approvals", "old", "waits");
  proxy.isSilent = true;
  // Confirmed once the lease of the other hall is over.
  await one.put("trust", "grants", "revoked");
  await one.put("approvals", "old", undefined);
  await cluster.query(`DELETE FROM ${schema}.board WHERE body IS NULL`);
  expect(other.isCurrent).toBe(false);
  expect(other.heard).toEqual(["approvals old waits"]);
  await expect(other.refresh()).rejects.toMatchObject({
    code: "UNAVAILABLE",
    details: { retryAfterSeconds: 1 },
  });
  proxy.isSilent = false;
  proxy.cut();
  await until(() => other.isCurrent, "it has a lease again");
  expect(other.heard.slice(1).sort()).toEqual(["approvals old removed", "trust grants revoked"]);
});

test("rows of another team, forged and moved rows do not count", async () => {
  const url = cluster.url();
  const { schema } = Object.fromEntries(new URL(url).searchParams);
  await using one = await join(url);
  await using stranger = await join(url, { team: new TeamKey("another secret", "/srv/project") });
  await stranger.put("trust", "grants", "all");
  await one.put("approvals", "a", "waits");
  // Moved to another place, and with a new number, as somebody with the database's password could do.
  await cluster.query(
    `INSERT INTO ${schema}.board SELECT team, 'trust', 'a', nextval('${schema}.board_seq'), body, NULL
     FROM ${schema}.board WHERE topic = 'approvals'`,
  );
  await one.put("approvals", "b", "waits");
  expect(one.heard).toEqual(["approvals a waits", "trust a removed", "approvals b waits"]);
  expect(one.colleagues).toEqual([]);
});

test("halls find each other while they are there", async () => {
  const url = cluster.url();
  await using one = await join(url);
  const other = await join(url);
  await one.refresh();
  expect(one.colleagues).toEqual([
    { id: other.hall, url: "http://127.0.0.1:1", isLeaving: false, isThere: true },
  ]);
  await other.leave();
  await one.refresh();
  expect(one.colleagues).toMatchObject([{ isLeaving: true }]);
  await other.close();
  await one.refresh();
  expect(one.colleagues).toEqual([]);
});

test("the tokens of a bucket are given out once, whichever hall draws", async () => {
  const url = cluster.url();
  await using one = await join(url);
  await using other = await join(url);
  const limit = { perSecond: 0.001, burst: 10 };
  const draws = Array.from({ length: 8 }, (_, index) =>
    (index % 2 === 0 ? one : other).draw("client", limit, 3),
  );
  const taken = (await Promise.all(draws)).map((draw) => draw.taken);
  expect(taken.reduce((sum, count) => sum + count, 0)).toBe(10);
});

test("calls of all halls together stay within a rate limit", async () => {
  const url = cluster.url();
  const boards = await Promise.all([join(url), join(url), join(url)]);
  const limit = { perSecond: 200, burst: 200 };
  const buckets = boards.map((board) => shareBuckets(board)("client", limit, performance.now()));
  const since = performance.now();
  let allowed = 0;
  while (performance.now() - since < 1_500) {
    const waits = await Promise.all(buckets.map((bucket) => bucket.take(performance.now())));
    allowed += waits.filter((ms) => ms === 0).length;
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  const seconds = (performance.now() - since) / 1_000;
  await Promise.all(boards.map((board) => board.close()));
  expect(allowed).toBeGreaterThan(limit.burst);
  expect(allowed).toBeLessThanOrEqual((limit.burst + limit.perSecond * seconds) * 1.05);
});

test("without the database, a hall allows its part of a limit", async () => {
  const alone = { isCurrent: false, colleagues: [{}, {}] as never, draw: () => Promise.reject() };
  const bucket = shareBuckets(alone)("client", { perSecond: 3, burst: 30 }, 0);
  const waits = Array.from({ length: 12 }, () => bucket.take(0));
  expect(waits.filter((ms) => ms === 0)).toHaveLength(10);
});

test("a hall that loses the database after the limit was reached does not begin it again", async () => {
  let tokens = 30;
  const draw = async (_key: string, _limit: unknown, wanted: number) => {
    const taken = Math.min(wanted, tokens);
    tokens -= taken;
    return { taken, left: tokens };
  };
  const board = { isCurrent: true, colleagues: [{}, {}] as never, draw };
  const bucket = shareBuckets(board)("client", { perSecond: 3, burst: 30 }, 0);
  const take = async (at: number, count: number): Promise<number> => {
    const waits = await Promise.all(Array.from({ length: count }, () => bucket.take(at)));
    return waits.filter((ms) => ms === 0).length;
  };
  expect(await take(0, 40)).toBe(30);
  board.isCurrent = false;
  expect(await take(400, 40)).toBe(0);
  // Its part of the limit, from when the bucket was empty.
  expect(await take(2_000, 40)).toBe(2);
});

test("after two minutes without the database a hall trusts no session and no named token, until it is back", async () => {
  await using proxy = await openProxy(cluster);
  const schema = "cutoff";
  const near = new Board({ url: cluster.url({ schema, port: proxy.port }), key, log });
  const far = new Board({ url: cluster.url({ schema }), key, log });
  const { page, findOwner: find } = createTogether(near);
  const [here, there] = [page.sessions, new SharedValues(far, "sessions")];
  await Promise.all([near.join(), far.join()]);
  const named = { find: () => ({ principal: "ci", rights: { scopes: ["call"] } }) };
  const findOwner = async (): Promise<unknown> => find(named, "token");
  await there.put("anna", "signed in", 60_000);
  expect(here.get("anna")).toBe("signed in");

  proxy.isSilent = true;
  // A hall without a lease is not waited for.
  await there.remove("anna");
  const now = performance.now();
  const clock = vi.spyOn(performance, "now").mockReturnValue(now + 100_000);
  expect(here.get("anna")).toBe("signed in");
  expect(await findOwner()).toHaveProperty("principal", "ci");
  clock.mockReturnValue(now + 121_000);
  expect(() => here.get("anna")).toThrow("does not answer");
  const refused = {
    status: 503,
    details: { retryAfterSeconds: 1 },
    headers: { "retry-after": "1" },
  };
  expect(await findOwner()).toMatchObject({ refusal: refused });
  clock.mockRestore();

  proxy.isSilent = false;
  proxy.cut();
  await until(
    () =>
      near.refresh().then(
        () => true,
        () => false,
      ),
    "connected again",
  );
  expect(here.get("anna")).toBeUndefined();
  expect(await findOwner()).toHaveProperty("principal", "ci");
  await Promise.all([near.close(), far.close()]);
});

test("one hall at a time works under a name, and one that ended loses its turn", async () => {
  const url = cluster.url();
  await using one = await join(url);
  await using other = await join(url);
  let running = 0;
  const work = async (): Promise<number> => {
    const together = ++running;
    await new Promise((resolve) => setImmediate(resolve));
    running--;
    return together;
  };
  const all = [one, other, one, other].map((board) => board.exclusively("renew", work));
  expect(await Promise.all(all)).toEqual([1, 1, 1, 1]);

  const ended = await join(url);
  let hasBegun = (): void => {};
  const begun = new Promise<void>((resolve) => {
    hasBegun = resolve;
  });
  const never = ended.exclusively("renew", () => {
    hasBegun();
    return new Promise(() => {});
  });
  never.catch(() => {});
  await begun;
  await ended.close();
  expect(await one.exclusively("renew", work)).toBe(1);
});
