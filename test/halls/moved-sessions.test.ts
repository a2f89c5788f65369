// Sessions that move between halls, in the orders of events that are rare. The halls are listeners
// in this process; the rows are in memory, and each hall has a copy that it updates when it asks.
import { expect, test } from "vitest";
import { HallError } from "../../src/base/errors.ts";
import type { SharedMoves } from "../../src/server/http/moved-sessions.ts";
import { OtherHalls } from "../../src/server/http/other-halls.ts";
import type { Message } from "../../src/wire/message.ts";
import { type Door, doorToken, openDoor } from "../servers/door.ts";
import { until } from "../servers/until.ts";
import { type HttpAnswer, post } from "./team.ts";

class Rows {
  readonly stored = new Map<string, string>();
  /** Edits wait for it. */
  gate: Promise<void> = Promise.resolve();
  waiting = 0;
  /** The next edits fail: before they are stored, or after it. */
  readonly failing: ("before" | "after")[] = [];
  #turn: Promise<unknown> = Promise.resolve();

  edit(hall: TestHall, id: string, change: (text?: string) => string | undefined) {
    const work = async (): Promise<boolean> => {
      await this.gate;
      const failing = this.failing.shift();
      if (failing === "before") throw away();
      const text = this.stored.get(id);
      const next = change(text);
      if (next === undefined) this.stored.delete(id);
      else this.stored.set(id, next);
      if (failing === "after") throw away();
      return next !== text;
    };
    this.waiting++;
    const edited = this.#turn.then(work).finally(() => this.waiting--);
    this.#turn = edited.catch(() => {});
    // The next edit does not wait until this hall has read what it has stored.
    return edited.then((hasChanged) => {
      if (hasChanged) hall.read();
      return hasChanged;
    });
  }
}

const away = () => new HallError("UNAVAILABLE", "the database does not answer");

interface TestHall {
  readonly name: string;
  readonly door: Door;
  readonly others: OtherHalls;
  /** Reads all rows, and which halls are there. */
  read(): void;
  /** How often it looked where another hall is. */
  looked: number;
}

interface Halls extends AsyncDisposable {
  readonly rows: Rows;
  readonly halls: readonly [TestHall, TestHall, TestHall];
  /** Those that listen and are not about to end. */
  readonly open: Set<string>;
}

async function openHalls(): Promise<Halls> {
  const rows = new Rows();
  const halls: TestHall[] = [];
  const open = new Set<string>();
  for (const letter of "abc") {
    const name = letter.repeat(12);
    let copy = new Map<string, string>();
    let known: readonly TestHall[] = [];
    const read = (): void => {
      copy = new Map(rows.stored);
      known = [...halls];
    };
    const refresh = async () => read();
    const others = new OtherHalls({
      hall: name,
      key: Buffer.alloc(32, "a key of the team"),
      find(named) {
        hall.looked++;
        return known.find((other) => other.name === named)?.door.url;
      },
      isThere: (hall) => known.some((other) => other.name === hall),
      any: () => known.findLast((other) => other.name !== name && open.has(other.name))?.name,
      refresh,
    });
    const moves: SharedMoves = {
      get: (id) => copy.get(id),
      edit: (id, change) => rows.edit(hall, id, change),
      refresh,
    };
    const door = await openDoor({ others, moves });
    const hall: TestHall = { name, read, others, looked: 0, door };
    halls.push(hall);
    open.add(name);
  }
  return {
    rows,
    halls: halls as unknown as Halls["halls"],
    open,
    async [Symbol.asyncDispose]() {
      await Promise.all(halls.map(({ door }) => door[Symbol.asyncDispose]()));
    },
  };
}

const authorization = `Bearer ${doorToken}`;
let ids = 0;

/** Opens a session in a hall. Returns a request about it. */
async function begin({ door }: TestHall): Promise<(hall: TestHall) => Promise<HttpAnswer>> {
  const params = {
    protocolVersion: "2025-11-25",
    capabilities: {},
    clientInfo: { name: "editor", version: "1" },
  };
  const greeting = { jsonrpc: "2.0", id: 0, method: "initialize", params };
  const greeted = await post(door.url, greeting, { authorization });
  const headers = { authorization, "mcp-session-id": String(greeted.headers["mcp-session-id"]) };
  const begun = { jsonrpc: "2.0", method: "notifications/initialized" };
  expect((await post(door.url, begun, headers)).status).toBe(202);
  return (hall) => post(hall.door.url, { jsonrpc: "2.0", id: ++ids, method: "ping" }, headers);
}

async function leave({ halls, open }: Halls, { name, door }: TestHall): Promise<void> {
  for (const hall of halls) hall.read();
  open.delete(name);
  door.hall.server.isLeaving = true;
  await door.listener.giveAwaySessions();
}

const statuses = (answers: readonly HttpAnswer[]) => answers.map(({ status }) => status);

test("requests that arrive at once are answered by the one hall that takes the session", async () => {
  await using team = await openHalls();
  const [first, second, third] = team.halls;
  const ping = await begin(first);
  await leave(team, first);
  for (const hall of [second, third]) hall.read();
  let start = (): void => {};
  team.rows.gate = new Promise((resolve) => {
    start = resolve;
  });
  const answers = [ping(second)];
  await until(() => team.rows.waiting === 1, "the second hall is about to take it");
  answers.push(...[second, third, third, first].map(ping));
  const haveCome = () => second.looked >= 2 && third.looked >= 2 && team.rows.waiting >= 2;
  await until(haveCome, "requests wait in both halls for one of them to take it");
  start();
  expect(statuses(await Promise.all(answers))).toEqual([200, 200, 200, 200, 200]);
  expect(statuses(await Promise.all(team.halls.map(ping)))).toEqual([200, 200, 200]);
});

test("a session is found though its hall ended before this one has read the row", async () => {
  await using team = await openHalls();
  const [first, second] = team.halls;
  const ping = await begin(first);
  await leave(team, first);
  await first.door[Symbol.asyncDispose]();
  expect((await ping(second)).status).toBe(200);
});

test("a hall that has just started is found by the others", async () => {
  await using team = await openHalls();
  const [first, second, third] = team.halls;
  for (const hall of [second, third]) {
    const ping = await begin(hall);
    expect((await ping(first)).status).toBe(200);
  }
  // So are its tasks.
  const params = { taskId: `${third.name}.task` };
  const asked: Message = { kind: "request", id: 1, method: "tasks/get", params };
  expect(await second.others.ownerOfRequest(asked)).toBe(third.name);
});

test.each([["before"], ["after"]] as const)(
  "a session whose claim fails %s it is stored is taken all the same",
  async (moment) => {
    await using team = await openHalls();
    const [first, second, third] = team.halls;
    const ping = await begin(first);
    await leave(team, first);
    second.read();
    team.rows.failing.push(moment);
    expect((await ping(second)).status).toBe(200);
    expect((await ping(third)).status).toBe(200);
    expect([...team.rows.stored.values()]).toEqual([JSON.stringify({ hall: second.name })]);
  },
);

test("while the database is away a session that waits in it is unavailable, not unknown", async () => {
  await using team = await openHalls();
  const [first, second] = team.halls;
  const ping = await begin(first);
  await leave(team, first);
  second.read();
  team.rows.failing.push("before", "before");
  const refused = await ping(second);
  expect(refused).toMatchObject({ status: 503, headers: { "retry-after": "1" } });
  expect((await ping(second)).status).toBe(200);
});

test("a hall that could not learn whether it gave a session away leaves it to the one that took it", async () => {
  await using team = await openHalls();
  const [first, second, third] = team.halls;
  const ping = await begin(first);
  team.rows.failing.push("after");
  await leave(team, first);
  second.read();
  expect((await ping(second)).status).toBe(200);
  await first.door.listener.giveAwaySessions();
  expect([...team.rows.stored.values()]).toEqual([JSON.stringify({ hall: second.name })]);
  expect(statuses(await Promise.all([first, second, third].map(ping)))).toEqual([200, 200, 200]);
});

test("a hall that leaves takes its session back when no other is there", async () => {
  await using team = await openHalls();
  const [first, second] = team.halls;
  const ping = await begin(first);
  await leave(team, first);
  const open = [...team.open];
  team.open.clear();
  expect((await ping(first)).status).toBe(200);
  for (const name of open) team.open.add(name);
  await first.door.listener.giveAwaySessions();
  expect((await ping(second)).status).toBe(200);
});
