import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { type ErrorCode, HallError } from "../../src/base/errors.ts";
import { createLog } from "../../src/base/log.ts";
import { Scope } from "../../src/base/scope.ts";
import { breakCircuits } from "../../src/gateway/breaker.ts";
import { compileStages } from "../../src/gateway/gateway.ts";
import { limitConcurrency, limitRates, type RateLimits } from "../../src/gateway/limits.ts";
import { guardReads } from "../../src/gateway/reads.ts";
import { retryIdempotent } from "../../src/gateway/retry.ts";
import type { Next as AnyNext, ResolvedCall, ResolvedStage } from "../../src/gateway/stage.ts";
import { refuseHeldBack, type TrustParts } from "../../src/gateway/trust.ts";
import { createHall } from "../../src/hall/hall.ts";
import { createHealthBook, type HealthBook } from "../../src/registry/health.ts";
import { createRegistry } from "../../src/registry/registry.ts";
import type { CallContext, Caller, Outcome, Toolkit } from "../../src/tool.ts";
import { createToolkit, text } from "../servers/toolkits.ts";

type Next = AnyNext<ResolvedCall>;

/** The stages that keep callers and toolkits from hurting each other, with a clock that the test turns. */
class Clock {
  ms = 0;
  readonly now = (): number => this.ms;
}

const ok: Outcome = text("ok");

function createCall(
  toolkit: Toolkit,
  caller: Partial<Caller> = {},
  annotations = {},
): ResolvedCall {
  const tool = { name: "run", inputSchema: { type: "object" }, annotations };
  return {
    id: "call",
    name: `${toolkit.id}.run`,
    arguments: {},
    caller: { connection: "c", principal: "local", client: "tester 1.0", ...caller },
    target: { toolkit, tool, fullName: `${toolkit.id}.run` },
  };
}

function contextIn(scope = new Scope()): CallContext {
  return { scope, progress() {}, log() {}, ask: async () => ({}) };
}

const kit = (id: string, source: Toolkit["source"], rest: Partial<Toolkit> = {}): Toolkit =>
  createToolkit(id, {}, { ...(source ? { source } : {}), ...rest });

/** Runs one call through a stage; gives "ok" or the code it failed with. */
async function run(
  stage: Next,
  call: ResolvedCall,
  context = contextIn(),
): Promise<"ok" | ErrorCode> {
  try {
    await stage(call, context);
    return "ok";
  } catch (error) {
    return (error as HallError).code;
  }
}

async function countOk(stage: Next, call: () => ResolvedCall, times: number): Promise<number> {
  let count = 0;
  for (let i = 0; i < times; i++) if ((await run(stage, call())) === "ok") count++;
  return count;
}

describe("rates", () => {
  const client = { perSecond: 10, burst: 20 };
  const open = (limits: RateLimits, clock: Clock): Next =>
    limitRates(limits, clock.now)(async () => ok);

  test("a client from the network has its burst, then its rate, and learns when to retry", async () => {
    const clock = new Clock();
    const stage = open({ client }, clock);
    const call = (): ResolvedCall => createCall(kit("a", "upstream"), { quota: "one" });
    expect(await countOk(stage, call, 30)).toBe(20);
    await expect(async () => stage(call(), contextIn())).rejects.toMatchObject({
      code: "RATE_LIMITED",
      details: { retryAfterSeconds: 0.1 },
    });
    clock.ms += 1_000;
    expect(await countOk(stage, call, 30)).toBe(10);
    clock.ms += 60_000;
    expect(await countOk(stage, call, 30)).toBe(20);
  });

  test("clients do not use up each other's, and a client on stdio has no limit", async () => {
    const stage = open({ client }, new Clock());
    expect(await countOk(stage, () => createCall(kit("a", "upstream"), { quota: "one" }), 30)).toBe(
      20,
    );
    expect(await countOk(stage, () => createCall(kit("a", "upstream"), { quota: "two" }), 30)).toBe(
      20,
    );
    expect(await countOk(stage, () => createCall(kit("a", "upstream")), 1_000)).toBe(1_000);
  });

  test("a registered toolkit has one, built-in ones and servers have none", async () => {
    const stage = open({ registered: { perSecond: 5, burst: 5 } }, new Clock());
    for (const [source, passed] of [
      ["registered", 5],
      ["built-in", 50],
      ["upstream", 50],
      ["module", 50],
    ] as const) {
      const toolkit = kit("a", source);
      expect.soft(await countOk(stage, () => createCall(toolkit), 50), source).toBe(passed);
    }
  });

  test("the config may say otherwise for a client, a toolkit, a tool; 0 takes a limit away", async () => {
    const limits = {
      client,
      registered: { perSecond: 5, burst: 5 },
      clients: { greedy: { perSecond: 1, burst: 2 }, free: { perSecond: 0, burst: 1 } },
      toolkits: { calm: { perSecond: 1, burst: 3 }, wild: { perSecond: 0, burst: 1 } },
      tools: { "single.run": { perSecond: 1, burst: 1 } },
    };
    const stage = open(limits, new Clock());
    const [calm, wild, single, other] = [
      kit("calm", "built-in"),
      kit("wild", "registered"),
      kit("single", "built-in"),
      kit("other", "built-in"),
    ];
    expect(
      await countOk(stage, () => createCall(other, { quota: "q", client: "greedy 2.1" }), 30),
    ).toBe(2);
    expect(await countOk(stage, () => createCall(other, { quota: "q", client: "free" }), 100)).toBe(
      100,
    );
    expect(await countOk(stage, () => createCall(calm), 30)).toBe(3);
    expect(await countOk(stage, () => createCall(wild), 30)).toBe(30);
    expect(await countOk(stage, () => createCall(single), 30)).toBe(1);
  });

  test("a single client with another limit has it", async () => {
    const stage = open({ client, clients: { greedy: { perSecond: 1, burst: 2 } } }, new Clock());
    const call = (name: string): ResolvedCall =>
      createCall(kit("a", "upstream"), { quota: name, client: name });
    expect(await countOk(stage, () => call("greedy"), 30)).toBe(2);
    expect(await countOk(stage, () => call("other"), 30)).toBe(20);
  });

  test("with any number of clients, the state kept for them is bounded", async () => {
    const stage = open({ client: { perSecond: 1, burst: 1 } }, new Clock());
    for (let i = 0; i < 10_001; i++)
      await stage(createCall(kit("a", "built-in"), { quota: `client ${i}` }), contextIn());
    // The first was forgotten and starts anew; the last is still known.
    expect(await run(stage, createCall(kit("a", "built-in"), { quota: "client 0" }))).toBe("ok");
    expect(await run(stage, createCall(kit("a", "built-in"), { quota: "client 10000" }))).toBe(
      "RATE_LIMITED",
    );
  });
});

describe("breaker", () => {
  async function open(
    next: Next,
    toolkits: readonly Toolkit[] = [],
  ): Promise<{ stage: Next; clock: Clock; health: HealthBook }> {
    const clock = new Clock();
    const health = createHealthBook({ now: clock.now });
    const registry = createRegistry({ log: createLog({ level: "silent" }) });
    for (const toolkit of toolkits) await registry.add(toolkit);
    return {
      stage: compileStages(
        [breakCircuits({ health, registry, spell: ({ fullName }) => fullName })],
        next,
      ),
      clock,
      health,
    };
  }
  const fail =
    (code: ErrorCode): Next =>
    () =>
      Promise.reject(new HallError(code, "no"));

  test("five failures in a row open it; after 30 s one call tries; two successes close it", async () => {
    let isBroken = true;
    let reached = 0;
    const { stage, clock, health } = await open(() => {
      reached++;
      return isBroken ? Promise.reject(new HallError("TIMEOUT", "no answer")) : Promise.resolve(ok);
    });
    const toolkit = kit("a", "registered");
    const call = (): ResolvedCall => createCall(toolkit);
    for (let i = 0; i < 5; i++) expect(await run(stage, call())).toBe("TIMEOUT");
    expect(health.record(toolkit).health).toMatchObject({
      state: "unavailable",
      reason: "no answer",
    });
    expect(await run(stage, call())).toBe("UNAVAILABLE");
    expect(reached).toBe(5);
    clock.ms += 29_999;
    expect(await run(stage, call())).toBe("UNAVAILABLE");
    clock.ms += 1;
    expect([await run(stage, call()), await run(stage, call())]).toEqual([
      "TIMEOUT",
      "UNAVAILABLE",
    ]);
    expect(reached).toBe(6);
    clock.ms += 30_000;
    isBroken = false;
    expect(await run(stage, call())).toBe("ok");
    expect(health.record(toolkit).health.state).toBe("unavailable");
    expect(await run(stage, call())).toBe("ok");
    expect(health.record(toolkit).health.state).toBe("available");
    expect(await countOk(stage, call, 10)).toBe(10);
  });

  test("while one call tries, the others are answered at once", async () => {
    let finish = (): void => {};
    let isBroken = true;
    const { stage, clock } = await open(() =>
      isBroken
        ? Promise.reject(new HallError("UNAVAILABLE", "gone"))
        : new Promise((resolve) => (finish = () => resolve(ok))),
    );
    const toolkit = kit("a", "registered");
    for (let i = 0; i < 5; i++) await run(stage, createCall(toolkit));
    clock.ms += 30_000;
    isBroken = false;
    const trying = run(stage, createCall(toolkit));
    expect(await run(stage, createCall(toolkit))).toBe("UNAVAILABLE");
    finish();
    expect(await trying).toBe("ok");
  });

  test("an answer that says no is an answer, and starts the count anew", async () => {
    const codes: ErrorCode[] = [
      "TIMEOUT",
      "TIMEOUT",
      "TIMEOUT",
      "TIMEOUT",
      "EXECUTION",
      "TIMEOUT",
      "VALIDATION",
      "NOT_FOUND",
      "EXECUTION",
      "EXECUTION",
      "EXECUTION",
    ];
    let next = 0;
    const { stage, health } = await open(() =>
      Promise.reject(new HallError(codes[next++] as ErrorCode, "no")),
    );
    const toolkit = kit("a", "registered");
    for (const code of codes) expect(await run(stage, createCall(toolkit))).toBe(code);
    expect(health.record(toolkit).health.state).toBe("available");
  });

  test("a cancelled call or a short timeout of the caller does not count against the toolkit", async () => {
    const { stage, health } = await open(fail("TIMEOUT"));
    const toolkit = kit("a", "registered");
    const gone = new Scope();
    gone.cancel(new HallError("CANCELLED", "withdrawn"));
    for (let i = 0; i < 10; i++) await run(stage, createCall(toolkit), contextIn(gone));
    for (let i = 0; i < 10; i++) await run(stage, { ...createCall(toolkit), timeoutMs: 1 });
    expect(health.record(toolkit).health.state).toBe("available");
  });

  test("the breaker never opens for a built-in toolkit, whose own error says what is missing", async () => {
    const { stage } = await open(fail("UNAVAILABLE"));
    const toolkit = kit("a", "built-in");
    for (let i = 0; i < 20; i++)
      await expect(stage(createCall(toolkit), contextIn())).rejects.toMatchObject({
        message: "no",
      });
  });

  test("one that knows it is down is asked each time, because it knows when to try again", async () => {
    let reached = 0;
    const { stage, health } = await open(() => {
      reached++;
      return Promise.reject(new HallError("UNAVAILABLE", "down"));
    });
    const toolkit = kit("a", "upstream", { problem: () => "crashed" });
    for (let i = 0; i < 20; i++) await run(stage, createCall(toolkit));
    expect(reached).toBe(20);
    expect(health.record(toolkit).health).toEqual({ state: "unavailable", reason: "crashed" });
  });

  test("a refused call names tools of the same category that work", async () => {
    const down = kit("down", "registered", { category: "SEARCH" });
    const others = [
      createToolkit("up", { find: { run: () => ok } }, { category: "SEARCH" }),
      createToolkit("elsewhere", { find: { run: () => ok } }, { category: "TIME" }),
    ];
    const { stage } = await open(fail("UNAVAILABLE"), others);
    for (let i = 0; i < 7; i++) {
      await expect(async () => stage(createCall(down), contextIn())).rejects.toMatchObject({
        code: "UNAVAILABLE",
        details: { limited: "down.run", alternatives: ["up.find"] },
        message: expect.stringContaining("available instead: up.find"),
      });
    }
  });

  test("each change of state is reported once", async () => {
    const { stage, clock, health } = await open(fail("TIMEOUT"));
    const changes: string[] = [];
    health.onChange(({ toolkit, from, to }) =>
      changes.push(`${toolkit.id}: ${from} → ${to.state}`),
    );
    const toolkit = kit("a", "registered");
    for (let i = 0; i < 9; i++) await run(stage, createCall(toolkit));
    clock.ms += 30_000;
    health.record(toolkit).probed({ state: "available" }, 1);
    health.record(toolkit).probed({ state: "available" }, 1);
    expect(changes).toEqual([
      "a: available → degraded",
      "a: degraded → unavailable",
      "a: unavailable → available",
    ]);
  });
});

describe("concurrency", () => {
  /** Calls that end when the test says so. */
  function open(stage: ResolvedStage): {
    next: Next;
    running: (() => void)[];
    reached: () => number;
  } {
    const running: (() => void)[] = [];
    let reached = 0;
    const next = stage(() => {
      reached++;
      return new Promise((resolve) => running.push(() => resolve(ok)));
    });
    return { next, running, reached: () => reached };
  }

  test("so many run, so many wait in order, the rest is refused at once", async () => {
    const { next, running, reached } = open(
      limitConcurrency({ registered: { concurrent: 2, queue: 3 } }),
    );
    const toolkit = kit("a", "registered");
    const calls = Array.from({ length: 5 }, () => run(next, createCall(toolkit)));
    await expect(async () => next(createCall(toolkit), contextIn())).rejects.toMatchObject({
      code: "OVERLOADED",
      details: { retryAfterSeconds: 1 },
    });
    for (let i = 0; i < 5; i++) {
      expect(reached()).toBe(Math.min(5, 2 + i));
      running.shift()?.();
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(await Promise.all(calls)).toEqual(Array(5).fill("ok"));
    const later = run(next, createCall(toolkit));
    running.shift()?.();
    expect(await later).toBe("ok");
  });

  test("a waiting call that is withdrawn leaves its place to the next", async () => {
    const { next, running, reached } = open(
      limitConcurrency({ toolkits: { a: { concurrent: 1, queue: 2 } } }),
    );
    const toolkit = kit("a", "built-in");
    const scope = new Scope();
    const [first, second, third] = [
      run(next, createCall(toolkit)),
      run(next, createCall(toolkit), contextIn(scope)),
      run(next, createCall(toolkit)),
    ];
    scope.cancel(new HallError("CANCELLED", "withdrawn"));
    expect(await second).toBe("CANCELLED");
    running.shift()?.();
    expect(await first).toBe("ok");
    await new Promise((resolve) => setImmediate(resolve));
    expect(reached()).toBe(2);
    running.shift()?.();
    expect(await third).toBe("ok");
  });

  test("calls of toolkits without a capacity pass as they are", () => {
    const passed: Next = () => Promise.resolve(ok);
    const stage = limitConcurrency({ registered: { concurrent: 1, queue: 0 } })(passed);
    const calls = Array.from({ length: 100 }, () =>
      stage(createCall(kit("a", "upstream")), contextIn()),
    );
    return expect(Promise.all(calls)).resolves.toHaveLength(100);
  });
});

describe("retries", () => {
  const idempotent = { idempotentHint: true };
  const failing = (
    failures: number,
    code: ErrorCode = "UNAVAILABLE",
  ): { next: Next; tries: () => number } => {
    let tries = 0;
    return {
      next: () =>
        ++tries <= failures ? Promise.reject(new HallError(code, "no")) : Promise.resolve(ok),
      tries: () => tries,
    };
  };
  const never = (): number => 0;

  test("an idempotent call that could not be delivered is retried, three times at most", async () => {
    const twice = failing(2);
    const retried: unknown[] = [];
    expect(
      await run(
        retryIdempotent(never, (...retry) => void retried.push(retry))(twice.next),
        createCall(kit("a", "registered"), {}, idempotent),
      ),
    ).toBe("ok");
    expect(twice.tries()).toBe(3);
    expect(retried).toEqual([
      [expect.objectContaining({ id: expect.any(String) }), expect.any(Number), "no"],
      [expect.objectContaining({ id: expect.any(String) }), expect.any(Number), "no"],
    ]);
    const often = failing(9);
    expect(
      await run(
        retryIdempotent(never)(often.next),
        createCall(kit("a", "upstream"), {}, { readOnlyHint: true }),
      ),
    ).toBe("UNAVAILABLE");
    expect(often.tries()).toBe(4);
  });

  test("all layers of a call share one retry budget", async () => {
    const scope = new Scope();
    const inner = new Scope(scope);
    expect([inner.takeRetry(), scope.takeRetry(), inner.takeRetry()]).toEqual([true, true, true]);
    expect([inner.takeRetry(), scope.takeRetry()]).toEqual([false, false]);
  });

  test.each([
    ["not idempotent", kit("a", "registered"), {}, "UNAVAILABLE"],
    ["built in", kit("a", "built-in"), idempotent, "UNAVAILABLE"],
    [
      "known to be down",
      kit("a", "upstream", { problem: () => "down" }),
      idempotent,
      "UNAVAILABLE",
    ],
    ["answered with no", kit("a", "registered"), idempotent, "EXECUTION"],
    ["too slow", kit("a", "registered"), idempotent, "TIMEOUT"],
  ] as const)("never when it is %s", async (_why, toolkit, annotations, code) => {
    const { next, tries } = failing(1, code);
    const stage = compileStages([retryIdempotent(never)], next);
    expect(await run(stage, createCall(toolkit, {}, annotations))).toBe(code);
    expect(tries()).toBe(1);
  });

  test("not when the deadline would pass before", async () => {
    const { next, tries } = failing(1);
    const scope = new Scope(undefined, 50);
    expect(
      await run(
        retryIdempotent(() => 1)(next),
        createCall(kit("a", "registered"), {}, idempotent),
        contextIn(scope),
      ),
    ).toBe("UNAVAILABLE");
    expect(tries()).toBe(1);
    scope.close();
  });

  test("in the long run a fifth of the calls at most", async () => {
    const { next, tries } = failing(Number.POSITIVE_INFINITY);
    const toolkit = kit("a", "registered");
    const stage = retryIdempotent(never)(next);
    for (let i = 0; i < 500; i++) await run(stage, createCall(toolkit, {}, idempotent));
    expect(tries()).toBeLessThanOrEqual(500 * 1.2 + 3);
    expect(tries()).toBeGreaterThan(550);
  });
});

test("the time that a toolkit takes to load its code is not recorded as the tool's", async () => {
  let loadedMs = 0;
  const slow: Toolkit = {
    ...createToolkit("slow", { run: { run: async () => ok } }),
    prepare() {
      if (loadedMs > 0) return undefined;
      const started = performance.now();
      return sleep(100).then(() => {
        loadedMs = performance.now() - started;
      });
    },
  };
  const hall = await createHall({ toolkits: [slow], log: createLog({ level: "silent" }) });
  const started = performance.now();
  await hall.call("slow.run");
  const wholeMs = performance.now() - started;
  const [row] = await hall.store.calls.list();
  expect(row?.ms).toBeLessThanOrEqual(wholeMs - loadedMs);
  await hall.close();
});

test("a tool that is known is called while its server is still being discovered", async () => {
  const box = createToolkit(
    "box",
    { run: { run: () => ok } },
    { pendingDiscovery: () => new Promise(() => {}) },
  );
  const hall = await createHall({ toolkits: [box], log: createLog({ level: "silent" }) });
  expect(await hall.call("box.run")).toMatchObject(ok);
  await hall.close();
});

test("calls of one read share a look at the ledger; the next read sees what was taken back", async () => {
  let looks = 0;
  let held: string | undefined;
  let isRevoked = false;
  const trust = {
    judge: () => ({ held }),
    refresh() {
      looks++;
      if (isRevoked) held = "it was taken back";
    },
  } as unknown as TrustParts["trust"];
  const parts = { trust, audit: async () => {} } as unknown as TrustParts;
  const stage = refuseHeldBack(parts)(async () => ok);
  const call = createCall(kit("remote", "upstream"));

  const together = [run(stage, call), run(stage, call), run(stage, call)];
  isRevoked = true;
  expect(await Promise.all(together)).toEqual(["ok", "ok", "ok"]);
  expect(looks).toBe(1);
  expect(await run(stage, call)).toBe("DENIED");
  expect(looks).toBe(2);
});

test("a built-in tool that needs no trust does not read the ledger", async () => {
  let looks = 0;
  const trust = {
    judge: () => ({ level: "safe" }),
    refresh() {
      looks++;
    },
  } as unknown as TrustParts["trust"];
  const parts = { trust, audit: async () => {} } as unknown as TrustParts;
  const stage = refuseHeldBack(parts)(async () => ok);
  expect(await run(stage, createCall(kit("own", "built-in")))).toBe("ok");
  expect(looks).toBe(0);
});

test("reading a resource taints if it is of a server, and not if it is our own", () => {
  const tainted: Caller[] = [];
  const conversations = {
    taintOf: () => ({}),
    add: (caller: Caller) => void tainted.push(caller),
  } as unknown as Parameters<typeof guardReads>[2];
  const trust = { judge: () => ({ isGuarded: true }) } as unknown as TrustParts["trust"];
  const admit = guardReads({ trust }, { resources: () => [] }, conversations);
  const { caller } = createCall(kit("a", "upstream"));
  admit({ toolkit: kit("own", "built-in"), uri: "https://news.example/" }, caller);
  expect(tainted).toEqual([]);
  admit({ toolkit: kit("shelf", "upstream"), uri: "https://news.example/" }, caller);
  expect(tainted).toEqual([caller]);
});
