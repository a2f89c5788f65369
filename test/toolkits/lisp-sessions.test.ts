import { expect, test } from "vitest";
import { Scope } from "../../src/base/scope.ts";
import type { Caller } from "../../src/tool.ts";
import { createSessions, type Sessions } from "../../src/toolkits/lisp/sessions.ts";
import type { LispThread } from "../../src/toolkits/lisp/thread.ts";
import { until } from "../servers/until.ts";
import { worker } from "./lisp-hall.ts";

const caller = (principal: string): Caller => ({ connection: "c", principal, client: "test" });

interface Room extends AsyncDisposable {
  readonly sessions: Sessions;
  /** Opens a session, or comes back to one; gives its handle. */
  visit(principal: string, handle?: string): Promise<string>;
}

function openRoom(sessionsMax: number, ownMax: number, idleMsMax?: number): Room {
  const sessions = createSessions({
    worker,
    limits: { timeoutMs: 1_000, outputCharacters: 1_000, calls: 1 },
    sessionsMax,
    ownMax,
    idleMsMax,
  });
  return {
    sessions,
    visit: (principal, handle) =>
      sessions.use(
        { caller: caller(principal), scope: new Scope(), handle },
        async (session) => session.handle,
      ),
    [Symbol.asyncDispose]: () => sessions.close(),
  };
}

test("who opens more than the own bound loses the session unused the longest, and nobody else loses one", async () => {
  await using room = openRoom(8, 2);
  const others = await room.visit("ann");
  const first = await room.visit("bob");
  const second = await room.visit("bob");
  await room.visit("bob", first);
  for (let n = 0; n < 4; n++) await room.visit("bob");
  expect(await room.visit("ann", others)).toBe(others);
  // The one that was come back to outlived those that were not.
  expect(await room.visit("bob", first)).toBe(first);
  await expect(room.visit("bob", second)).rejects.toMatchObject({ code: "NOT_FOUND" });
});

test("where all places are taken, who has none gets one from who has most, and who has some gives up the own", async () => {
  await using room = openRoom(4, 3);
  const anns = [await room.visit("ann"), await room.visit("ann"), await room.visit("ann")];
  const bobs = await room.visit("bob");
  const carls = await room.visit("carl");
  await expect(room.visit("ann", anns[0])).rejects.toMatchObject({ code: "NOT_FOUND" });
  const next = await room.visit("bob");
  await expect(room.visit("bob", bobs)).rejects.toMatchObject({ code: "NOT_FOUND" });
  expect(
    await Promise.all([
      room.visit("ann", anns[1]),
      room.visit("ann", anns[2]),
      room.visit("bob", next),
      room.visit("carl", carls),
    ]),
  ).toHaveLength(4);
});

test("where everybody has one, who comes new gets the place that was unused the longest", async () => {
  await using room = openRoom(2, 2);
  const anns = await room.visit("ann");
  const bobs = await room.visit("bob");
  await room.visit("ann", anns);
  await room.visit("carl");
  expect(await room.visit("ann", anns)).toBe(anns);
  await expect(room.visit("bob", bobs)).rejects.toMatchObject({ code: "NOT_FOUND" });
});

test("whose sessions are all busy is told so, and nobody's work is ended for it", async () => {
  await using room = openRoom(4, 1);
  let leave = (): void => {};
  const busy = room.sessions.use(
    { caller: caller("ann"), scope: new Scope() },
    async () => new Promise<string>((resolve) => (leave = () => resolve("done"))),
  );
  await expect(room.visit("ann")).rejects.toMatchObject({
    code: "OVERLOADED",
    message: expect.stringContaining("your"),
  });
  expect(await room.visit("bob")).toMatch(/^lisp-/);
  leave();
  expect(await busy).toBe("done");
});

test("a session that nobody comes back to is ended by itself, and one at work is not", async () => {
  await using room = openRoom(4, 2, 20);
  let leave = (): void => {};
  const busy = room.sessions.use(
    { caller: caller("ann"), scope: new Scope() },
    async ({ thread }) => {
      await new Promise<void>((resolve) => {
        leave = resolve;
      });
      return thread.isAlive;
    },
  );
  const left = await room.sessions.use(
    { caller: caller("bob"), scope: new Scope() },
    async ({ thread }) => thread,
  );
  await until(() => !left.isAlive, "ended");
  leave();
  expect(await busy).toBe(true);
});

test("a handle is worth nothing to another caller", async () => {
  await using room = openRoom(4, 2);
  const handle = await room.visit("ann");
  await expect(room.visit("bob", handle)).rejects.toMatchObject({ code: "NOT_FOUND" });
});

test("a session in a thread that was kept ready begins like the first one: nothing is defined, counted or drawn yet", async () => {
  await using room = openRoom(4, 4);
  const begin = (principal: string): Promise<readonly string[]> =>
    room.sessions.use({ caller: caller(principal), scope: new Scope() }, async ({ thread }) => {
      const work = {
        scope: new Scope(),
        serve: () => Promise.reject(new Error("nothing is called")),
      };
      const { definitions } = await thread.run(
        { kind: "definitions", type: "all" },
        "definitions",
        work,
      );
      const order = {
        kind: "evaluate",
        mode: "explore",
        limits: { timeoutMs: 10_000, outputCharacters: 1_000, calls: 0 },
      } as const;
      const { evaluation } = await thread.run(
        { ...order, code: "(list (gensym) (fboundp 'doubled) *package* * +)" },
        "evaluated",
        work,
      );
      return [...definitions.map(({ name }) => name), ...evaluation.values];
    });
  const first = await begin("ann");
  expect(first).toHaveLength(1);
  // The second takes the thread that was started when the first had its answer.
  await new Promise((resolve) => setImmediate(resolve));
  expect(await begin("bob")).toEqual(first);
});

test("who makes room is ended once the one who needed it has an answer", async () => {
  await using room = openRoom(1, 1);
  const threadOf = (work: () => void = () => {}): Promise<LispThread> =>
    room.sessions.use({ caller: caller("ann"), scope: new Scope() }, async ({ thread }) => {
      work();
      return thread;
    });
  const first = await threadOf();
  let wasAlive = false;
  await threadOf(() => {
    wasAlive = first.isAlive;
  });
  expect(wasAlive).toBe(true);
  await expect.poll(() => first.isAlive, { timeout: 20_000 }).toBe(false);
});
