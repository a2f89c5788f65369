import { expect, test } from "vitest";
import { HallError } from "../../src/base/errors.ts";
import { Scope } from "../../src/base/scope.ts";
import type { Caller } from "../../src/tool.ts";
import { ProgramSessions, refuseCalls } from "../../src/toolkits/programs/sessions.ts";
import type { ProgramThread } from "../../src/toolkits/programs/thread.ts";
import { until } from "../servers/until.ts";
import { workers } from "./lisp-hall.ts";

const caller = (principal: string): Caller => ({ connection: "c", principal, client: "test" });

interface Fixture extends AsyncDisposable {
  readonly sessions: ProgramSessions;
  /** Opens a session, or uses the one with the handle; returns its handle. */
  use(principal: string, handle?: string): Promise<string>;
}

function openSessions(
  sessionsMax: number,
  ownMax: number,
  idleMsMax?: number,
  heapMbMax?: number,
): Fixture {
  const sessions = new ProgramSessions({
    workers,
    limits: { timeoutMs: 1_000, outputCharacters: 1_000, calls: 1 },
    sessionsMax,
    ownMax,
    idleMsMax,
    heapMbMax,
  });
  return {
    sessions,
    use: (principal, handle) =>
      sessions.use(
        { caller: caller(principal), scope: new Scope(), language: "lisp", handle },
        async (session) => session.handle,
      ),
    [Symbol.asyncDispose]: () => sessions.close(),
  };
}

test("a caller over its own limit loses its longest unused session, and no other caller does", async () => {
  await using fixture = openSessions(8, 2);
  const others = await fixture.use("ann");
  const first = await fixture.use("bob");
  const second = await fixture.use("bob");
  await fixture.use("bob", first);
  for (let n = 0; n < 4; n++) await fixture.use("bob");
  expect(await fixture.use("ann", others)).toBe(others);
  // A session that was used again outlives those that were not.
  expect(await fixture.use("bob", first)).toBe(first);
  await expect(fixture.use("bob", second)).rejects.toMatchObject({ code: "NOT_FOUND" });
});

test("at the total limit a new caller replaces a session of the caller with most, others replace their own", async () => {
  await using fixture = openSessions(4, 3);
  const anns = [await fixture.use("ann"), await fixture.use("ann"), await fixture.use("ann")];
  const bobs = await fixture.use("bob");
  const carls = await fixture.use("carl");
  await expect(fixture.use("ann", anns[0])).rejects.toMatchObject({ code: "NOT_FOUND" });
  const next = await fixture.use("bob");
  await expect(fixture.use("bob", bobs)).rejects.toMatchObject({ code: "NOT_FOUND" });
  expect(
    await Promise.all([
      fixture.use("ann", anns[1]),
      fixture.use("ann", anns[2]),
      fixture.use("bob", next),
      fixture.use("carl", carls),
    ]),
  ).toHaveLength(4);
});

test("if all callers have one session, a new caller replaces the longest unused one", async () => {
  await using fixture = openSessions(2, 2);
  const anns = await fixture.use("ann");
  const bobs = await fixture.use("bob");
  await fixture.use("ann", anns);
  await fixture.use("carl");
  expect(await fixture.use("ann", anns)).toBe(anns);
  await expect(fixture.use("bob", bobs)).rejects.toMatchObject({ code: "NOT_FOUND" });
});

test("a caller whose sessions are all busy gets OVERLOADED, and no work is ended", async () => {
  await using fixture = openSessions(4, 1);
  let leave = (): void => {};
  const busy = fixture.sessions.use(
    { caller: caller("ann"), scope: new Scope(), language: "lisp" },
    async () => new Promise<string>((resolve) => (leave = () => resolve("done"))),
  );
  await expect(fixture.use("ann")).rejects.toMatchObject({
    code: "OVERLOADED",
    message: expect.stringContaining("your"),
  });
  expect(await fixture.use("bob")).toMatch(/^lisp-/);
  leave();
  expect(await busy).toBe("done");
});

test("an idle session ends by itself, a busy one does not", async () => {
  await using fixture = openSessions(4, 2, 20);
  let leave = (): void => {};
  const busy = fixture.sessions.use(
    { caller: caller("ann"), scope: new Scope(), language: "lisp" },
    async ({ thread }) => {
      await new Promise<void>((resolve) => {
        leave = resolve;
      });
      return thread.isAlive;
    },
  );
  const left = await fixture.sessions.use(
    { caller: caller("bob"), scope: new Scope(), language: "lisp" },
    async ({ thread }) => thread,
  );
  await until(() => !left.isAlive, "the idle session ends");
  leave();
  expect(await busy).toBe(true);
});

test("another caller cannot use a handle", async () => {
  await using fixture = openSessions(4, 2);
  const handle = await fixture.use("ann");
  await expect(fixture.use("bob", handle)).rejects.toMatchObject({ code: "NOT_FOUND" });
});

test("a session in a spare thread starts like the first one: nothing is defined, counted or drawn yet", async () => {
  await using fixture = openSessions(4, 4);
  const begin = (principal: string): Promise<readonly string[]> =>
    fixture.sessions.use(
      { caller: caller(principal), scope: new Scope(), language: "lisp" },
      async ({ thread }) => {
        const work = {
          scope: new Scope(),
          serve: () => Promise.reject(new Error("unexpected call")),
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
      },
    );
  const first = await begin("ann");
  expect(first).toHaveLength(1);
  // The second takes the spare thread, which starts after the first answer.
  await new Promise((resolve) => setImmediate(resolve));
  expect(await begin("bob")).toEqual(first);
});

test("a replaced session ends after the answer of the one that replaced it", async () => {
  await using fixture = openSessions(1, 1);
  const threadOf = (work: () => void = () => {}): Promise<ProgramThread> =>
    fixture.sessions.use(
      { caller: caller("ann"), scope: new Scope(), language: "lisp" },
      async ({ thread }) => {
        work();
        return thread;
      },
    );
  const first = await threadOf();
  let wasAlive = false;
  await threadOf(() => {
    wasAlive = first.isAlive;
  });
  expect(wasAlive).toBe(true);
  await until(() => !first.isAlive, "the replaced thread ends");
});

const evaluateOrder = {
  kind: "evaluate",
  mode: "explore",
  limits: { timeoutMs: 20_000, outputCharacters: 1_000, calls: 0 },
  tools: [],
} as const;

test("sessions that need too much memory together end: idle ones first, then the largest that runs", async () => {
  await using fixture = openSessions(8, 8, undefined, 100);
  const scope = new Scope();
  const evaluate = (code: string, handle?: string) =>
    fixture.sessions.use(
      { caller: caller("ann"), scope, language: "lisp", handle },
      async (session) => {
        await session.thread.run({ ...evaluateOrder, code }, "evaluated", {
          scope,
          serve: refuseCalls,
        });
        return session.handle;
      },
    );
  const keep = "(defvar *kept* (make-list 300000))";
  const idle = await evaluate(keep);
  expect(await evaluate("(length *kept*)", idle)).toBe(idle);
  const spin = Array.from({ length: 4 }, () => evaluate(`${keep} (loop)`));
  await expect(Promise.race(spin)).rejects.toMatchObject({
    code: "BUDGET",
    message: expect.stringContaining("together"),
  });
  await expect(evaluate("1", idle)).rejects.toMatchObject({ code: "NOT_FOUND" });
  scope.cancel(new HallError("CANCELLED", "enough"));
  await Promise.allSettled(spin);
});
