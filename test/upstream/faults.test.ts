import { setTimeout as wait } from "node:timers/promises";
import { describe, expect, test, vi } from "vitest";
import { isObject, type JsonObject } from "../../src/base/json.ts";
import type { HallOptions } from "../../src/hall/hall.ts";
import type { RawClient } from "../servers/client.ts";
import { said } from "../servers/toolkits.ts";
import { until } from "../servers/until.ts";
import {
  callTool,
  faulty,
  isAlive,
  locked,
  saidJson,
  startUpstreams,
  type UpstreamHall,
  untilAnswers,
} from "../servers/upstreams.ts";

/**
 * The fault catalogue, F1 to F30, as far as processes and stdio go. In each case a healthy upstream stands beside the one
 * in trouble and is called all the while: it must answer every time, at once.
 */
interface Health {
  readonly answers: number;
  readonly failures: readonly JsonObject[];
  readonly slowestMs: number;
}

/** Calls a tool again and again for as long as the work lasts, and tells how that went. */
async function beating(
  client: RawClient,
  name: string,
  work: () => Promise<void>,
): Promise<Health> {
  const failures: JsonObject[] = [];
  let isOver = false;
  let answers = 0;
  let slowestMs = 0;
  const beat = async (): Promise<void> => {
    for (let n = 0; !isOver; n++) {
      const startedAt = performance.now();
      const answer = await callTool(client, name, { n });
      slowestMs = Math.max(slowestMs, performance.now() - startedAt);
      if (said(answer) === JSON.stringify({ n })) answers++;
      else failures.push(answer);
      await wait(5);
    }
  };
  const working = work().finally(() => {
    isOver = true;
  });
  await Promise.all([working, beat()]);
  return { answers, failures, slowestMs };
}

interface Bench {
  readonly hall: UpstreamHall;
  readonly client: RawClient;
  call(tool: string, args?: JsonObject, meta?: JsonObject): Promise<JsonObject>;
}

interface BesideOptions extends HallOptions {
  /** The tools of the sick one when it is too sick to tell them. */
  readonly known?: readonly string[];
  /** How long a call of the sick one may take. */
  readonly sickMs?: number;
}

/** Runs work on a sick upstream while a healthy one is called all the time. */
async function beside(
  words: string,
  work: (bench: Bench) => Promise<void>,
  { known, sickMs, ...options }: BesideOptions = {},
): Promise<void> {
  const sick = faulty(words, sickMs === undefined ? {} : { timeoutSeconds: sickMs / 1_000 });
  const lock = known && { lockVersion: 1 as const, servers: { sick: locked(sick, known) } };
  await using hall = await startUpstreams(
    { sick, well: faulty() },
    { ...(lock ? { lock } : {}), ...options },
  );
  await Promise.all([
    hall.untilListed("well.echo"),
    ...(known || / ?hang-start/.test(words) ? [] : [hall.untilListed("sick.echo")]),
  ]);
  const healthy = hall.connect();
  await healthy.greet();
  await callTool(healthy, "well.echo");
  const bench: Bench = {
    hall,
    client: hall.client,
    call: (tool, args, meta) => callTool(hall.client, `sick.${tool}`, args, meta),
  };
  const { answers, failures, slowestMs } = await beating(healthy, "well.echo", () => work(bench));
  expect(failures).toEqual([]);
  expect(answers).toBeGreaterThan(0);
  expect(slowestMs).toBeLessThan(slowMs);
}

/** The failure of a call as a client of 2025-11-25 gets it. */
function failureOf(answer: JsonObject): JsonObject {
  const { result } = answer;
  if (!isObject(result) || result.isError !== true || !isObject(result.structuredContent))
    throw new Error(`not a failure: ${JSON.stringify(answer).slice(0, 500)}`);
  return result.structuredContent;
}

async function timed<T>(work: Promise<T>): Promise<[T, number]> {
  const startedAt = performance.now();
  const value = await work;
  return [value, performance.now() - startedAt];
}

/** Far below the half minute a call may take, so nobody waits for a sick upstream; far above what a busy machine needs. */
const slowMs = 3_000;
const atOnceMs = 10_000;

describe.concurrent("a process that ends", () => {
  test("F1: mid-call is told at once with the reason, its last words and when it is tried again; then it works again", () =>
    beside("crash", async ({ client, call, hall }) => {
      const [answer, ms] = await timed(call("crash"));
      expect(ms).toBeLessThan(atOnceMs);
      expect(failureOf(answer)).toMatchObject({
        error_type: "unavailable",
        message: "sick is down: exited with code 7",
        suggestion: expect.stringMatching(
          /^It is tried again in \d\.\d s; see `guildhall logs sick`\.$/,
        ),
        details: {
          upstream: "sick",
          reason: "exited with code 7",
          retryAfterSeconds: expect.any(Number),
          stderr: ["about to crash", "fatal: out of cheese"],
        },
      });
      expect(hall.hall.registry.findTool("sick.echo")).toBeDefined();
      await untilAnswers(client, "sick.echo");
    }));

  test.each(["SIGKILL", "SIGSEGV", "SIGABRT"])(
    "F2, F24: by %s with 50 calls in flight answers all of them, and works again",
    (signal) =>
      beside("wait crash", async ({ client, call }) => {
        const waiting = Array.from({ length: 50 }, () => call("wait", { ms: 60_000 }));
        await call("echo");
        const [answers, ms] = await timed(Promise.all([...waiting, call("crash", { signal })]));
        expect(ms).toBeLessThan(slowMs);
        for (const answer of answers)
          expect(failureOf(answer)).toMatchObject({
            error_type: "unavailable",
            message: `sick is down: ended by ${signal}`,
          });
        await untilAnswers(client, "sick.echo");
      }),
  );

  test("F3: at every start stays listed with its reason, and calls are turned away at once while it rests", () =>
    beside(
      "crash-start",
      async ({ client, call, hall }) => {
        expect(failureOf(await call("echo"))).toMatchObject({
          message: "sick is down: exited with code 9",
          details: { reason: "exited with code 9", stderr: ["cannot start: no licence"] },
        });
        await until(async () => {
          const state = hall.upstream("sick").state();
          if (state.kind === "down" && state.retryAt > Date.now() + 200) return true;
          await call("echo");
          return false;
        }, "a longer rest");
        const [answer, ms] = await timed(call("echo"));
        expect(ms).toBeLessThan(250);
        expect(failureOf(answer)).toMatchObject({
          error_type: "unavailable",
          message: "sick is down: exited with code 9",
        });
        expect((await client.result("tools/list")).tools).toMatchObject([
          { name: "sick.echo" },
          { name: "well.echo" },
        ]);
        expect(await hall.upstream("sick").health()).toEqual({
          state: "unavailable",
          reason: "exited with code 9",
        });
      },
      { known: ["echo"] },
    ));

  test("F3: that cannot be found says so", async () => {
    const sick = faulty("", { command: "no-such-program-anywhere" });
    await using hall = await startUpstreams(
      { sick, well: faulty() },
      { lock: { lockVersion: 1, servers: { sick: locked(sick, ["echo"]) } } },
    );
    expect(failureOf(await callTool(hall.client, "sick.echo"))).toMatchObject({
      error_type: "unavailable",
      message: 'sick is down: "no-such-program-anywhere" was not found',
    });
    await hall.untilListed("well.echo");
  });

  test("F8: after half a line gives the call its error, and the half line to nobody", () =>
    beside("half", async ({ client, call }) => {
      const [answer, ms] = await timed(call("half"));
      expect(ms).toBeLessThan(atOnceMs);
      expect(failureOf(answer)).toMatchObject({
        error_type: "unavailable",
        message: "sick is down: exited with code 0",
      });
      await untilAnswers(client, "sick.echo");
    }));

  test("F20: only by closing its output counts as ended: its calls fail at once, it is killed and started again", () =>
    beside("close_stdout whoami", async ({ client, call, hall }) => {
      const { pid } = saidJson(await call("whoami")) as { pid: number };
      const [answer, ms] = await timed(call("close_stdout"));
      expect(ms).toBeLessThan(atOnceMs);
      expect(failureOf(answer)).toMatchObject({
        error_type: "unavailable",
        message: expect.stringMatching(/^sick is down: /),
      });
      expect(hall.upstream("sick").state().kind).not.toBe("ready");
      expect(failureOf(await call("echo")).message).toMatch(/^sick is down: /);
      await untilAnswers(client, "sick.echo");
      await until(() => !isAlive(pid), "the old process is gone");
    }));
});

describe.concurrent("a process that hangs", () => {
  test("F4: mid-call is answered at the deadline and told to stop; the next call works at once", () =>
    beside(
      "hang heard",
      async ({ call }) => {
        const [answer, ms] = await timed(call("hang"));
        expect(failureOf(answer)).toMatchObject({
          error_type: "timeout",
          message: expect.stringContaining("sick.hang"),
        });
        expect(ms).toBeGreaterThan(490);
        expect(ms).toBeLessThan(1_500);
        const heard = saidJson(await call("heard")) as JsonObject[];
        const hung = heard.find(({ params }) => isObject(params) && params.name === "hang");
        expect(heard.filter(({ method }) => method === "notifications/cancelled")).toMatchObject([
          { params: { requestId: hung?.id } },
        ]);
      },
      { sickMs: 500 },
    ));

  test("F5: before its handshake delays neither the hall nor its neighbour", async () => {
    const startedAt = performance.now();
    await beside("hang-start", async ({ client, hall }) => {
      expect(performance.now() - startedAt).toBeLessThan(5_000);
      expect(hall.upstream("sick").state().kind).toBe("starting");
      expect((await client.result("tools/list")).tools).toMatchObject([{ name: "well.echo" }]);
    });
  });

  test("F6: for a while answers late to nobody, and goes on as if nothing had been", () =>
    beside(
      "whoami",
      async ({ call, client }) => {
        const { pid } = saidJson(await call("whoami")) as { pid: number };
        process.kill(pid, "SIGSTOP");
        const lost = await Promise.all(
          Array.from({ length: 10 }, (_, n) => call("echo", { lost: n })),
        );
        for (const answer of lost)
          expect(failureOf(answer)).toMatchObject({ error_type: "timeout" });
        process.kill(pid, "SIGCONT");
        const next = await Promise.all(
          Array.from({ length: 10 }, (_, n) => call("echo", { next: n })),
        );
        expect(next.map(said)).toEqual(next.map((_, n) => JSON.stringify({ next: n })));
        await wait(50);
        expect(client.unread.filter(({ id }) => id !== undefined)).toEqual([]);
      },
      { sickMs: 400 },
    ));

  test("F9: in the middle of a line is waited for", () =>
    beside("half_pause", async ({ call }) => {
      expect(said(await call("half_pause", { ms: 300 }))).toBe("whole");
    }));

  test("F21: without reading costs a bounded queue; past it calls are turned away, and it is started again", () =>
    beside(
      "deaf",
      async ({ client, call, hall }) => {
        const text = "x".repeat(50_000);
        const calls = [call("deaf")];
        const startedAt = performance.now();
        while (
          hall.upstream("sick").state().kind === "ready" &&
          performance.now() - startedAt < 8_000
        ) {
          calls.push(call("echo", { text }));
          await wait(10);
        }
        const answers = await Promise.all(calls);
        expect(performance.now() - startedAt).toBeLessThan(10_000);
        const failures = answers
          .filter((answer) => said(answer) !== JSON.stringify({ text }))
          .map((answer) => failureOf(answer).error_type);
        expect(new Set(failures)).toEqual(new Set(["unavailable", "overloaded"]));
        await untilAnswers(client, "sick.echo");
      },
      { limits: { writeQueueBytesMax: 256 * 1024, stalledMsMax: 500 } },
    ));
});

describe.concurrent("a process that writes what is no message", () => {
  test("F7: banners and colours are skipped, before the handshake and after", () =>
    beside("banner garbage invalid_lines", async ({ call, hall }) => {
      expect(said(await call("garbage"))).toBe("after garbage");
      expect(said(await call("invalid_lines"))).toBe("after invalid lines");
      expect(said(await call("echo", { a: 1 }))).toBe('{"a":1}');
      expect(hall.upstream("sick").state().kind).toBe("ready");
    }));

  test("F10: a line of 50 MB costs its own call, and the process stays", () =>
    beside("huge whoami", async ({ call }) => {
      const before = saidJson(await call("whoami")) as { pid: number };
      for (const isIdLast of [false, true]) {
        expect(
          failureOf(await call("huge", { isIdLast, megabytes: isIdLast ? 11 : 50 })),
        ).toMatchObject({
          error_type: "too_large",
          message: expect.stringContaining("tools/call"),
        });
      }
      expect(saidJson(await call("whoami"))).toMatchObject({ pid: before.pid });
    }));

  test("F11: bytes without end cost the server its line and the hall no memory; the next call finds it started again", () =>
    beside(
      "endless whoami",
      async ({ call }) => {
        const { pid } = saidJson(await call("whoami")) as { pid: number };
        const before = process.memoryUsage();
        const [answer, ms] = await timed(call("endless"));
        expect(failureOf(answer)).toMatchObject({ error_type: "unavailable" });
        expect(ms).toBeLessThan(10_000);
        await vi.waitFor(
          async () => expect((saidJson(await call("whoami")) as { pid: number }).pid).not.toBe(pid),
          10_000,
        );
        const after = process.memoryUsage();
        expect(
          after.heapUsed + after.arrayBuffers - before.heapUsed - before.arrayBuffers,
        ).toBeLessThan(64 * 1024 * 1024);
      },
      { sickMs: 20_000 },
    ));

  test.each(["invalid_utf8", "bom", "two_on_line"])(
    "F12, F13: an answer with %s is a bad answer at once",
    (tool) =>
      beside(tool, async ({ call }) => {
        const [answer, ms] = await timed(call(tool));
        expect(ms).toBeLessThan(atOnceMs);
        expect(failureOf(answer)).toMatchObject({ error_type: "bad_answer" });
        expect(said(await call("echo", { a: 1 }))).toBe('{"a":1}');
      }),
  );

  test.each(["crlf", "blank"])("F13: %s around an answer does no harm", (tool) =>
    beside(tool, async ({ call }) => {
      expect(said(await call(tool))).toBe(tool);
    }),
  );

  test("F22: a flood on stderr is drained, and its end is kept", () =>
    beside("stderr_flood", async ({ call, hall }) => {
      expect(said(await call("stderr_flood"))).toBe("flooded");
      await until(
        () => hall.upstream("sick").stderr().at(-1) === "half a line",
        "the end of the flood",
      );
      const kept = hall.upstream("sick").stderr();
      expect(kept).toHaveLength(200);
      expect(kept.slice(-3)).toEqual(["line 298", "line 299", "half a line"]);
    }));
});

describe.concurrent("a process whose answers are wrong", () => {
  test("F14: twice is heard once", () =>
    beside("twice", async ({ call, client }) => {
      expect(said(await call("twice"))).toBe("first");
      expect(said(await call("echo", { a: 1 }))).toBe('{"a":1}');
      expect(client.received.filter((message) => said(message) === "second")).toEqual([]);
    }));

  test("F15: to nobody are dropped", () =>
    beside("unknown_id", async ({ call, client }) => {
      expect(said(await call("unknown_id"))).toBe("after an unknown id");
      expect(client.received.filter((message) => said(message) === "for nobody")).toEqual([]);
    }));

  test("F16: under a string instead of a number are to nobody", () =>
    beside(
      "string_id",
      async ({ call }) => {
        expect(said(await call("string_id", { next: "right" }))).toBe("under a number");
        expect(failureOf(await call("string_id"))).toMatchObject({ error_type: "timeout" });
      },
      { sickMs: 400 },
    ));

  test.each([
    ["result_and_error", "legacy"],
    ["neither", "legacy"],
    ["wrong_jsonrpc", "legacy"],
    ["bad_error", "legacy"],
    ["no_object", "legacy"],
    ["no_content", "legacy"],
    ["result_type", "modern"],
    ["always_asks", "modern"],
  ])("F17: with %s is a bad answer at once (%s)", (tool, era) =>
    beside(`${era} ${tool}`, async ({ call }) => {
      const [answer, ms] = await timed(call(tool));
      expect(ms).toBeLessThan(atOnceMs);
      expect(failureOf(answer)).toMatchObject({ error_type: "bad_answer" });
      expect(said(await call("echo", { a: 1 }))).toBe('{"a":1}');
    }),
  );

  test("F18: when it asks what nobody may ask it is refused, and its call goes on", () =>
    beside("ask", async ({ call }) => {
      const requests = {
        alive: { method: "ping" },
        unknown: { method: "nobody/knows", params: {} },
      };
      expect(saidJson(await call("ask", { requests }))).toMatchObject({
        alive: {},
        unknown: { error: { code: -32601 } },
      });
    }));

  test("F19: in any order, a thousand at once, find their calls", () =>
    beside("delayed", async ({ hall }) => {
      const client = hall.connect();
      await client.greet();
      const answers = await Promise.all(
        Array.from({ length: 1_000 }, (_, n) => callTool(client, "sick.delayed", { n })),
      );
      expect(answers.map(said)).toEqual(answers.map((_, n) => JSON.stringify({ n })));
      expect(client.unread.filter(({ id }) => id !== undefined)).toEqual([]);
    }));
});

describe.concurrent("a process that does too much", () => {
  test("F23: forks, and ignores every request to end: the whole group is gone within five seconds", () =>
    beside("fork whoami stubborn", async ({ call, hall }) => {
      const [{ pid }, grandchild] = [
        saidJson(await call("whoami")) as { pid: number },
        saidJson(await call("fork")) as { pid: number },
      ];
      expect([pid, grandchild.pid].map(isAlive)).toEqual([true, true]);
      const [, ms] = await timed(hall.upstream("sick").restart());
      expect(ms).toBeLessThan(6_000);
      await until(() => ![pid, grandchild.pid].some(isAlive), "no survivors");
    }));

  test("F23: forks and crashes: what it leaves goes with it", () =>
    beside("fork crash", async ({ call }) => {
      const { pid } = saidJson(await call("fork")) as { pid: number };
      await call("crash");
      await until(() => !isAlive(pid), "no survivors");
    }));

  test("F25: a flood of progress arrives as a trickle that only grows", () =>
    beside("progress_flood", async ({ client, call }) => {
      const [answer, ms] = await timed(
        call("progress_flood", { count: 10_000 }, { progressToken: "p" }),
      );
      expect(said(answer)).toBe("flooded");
      const steps = client.received
        .filter(({ method }) => method === "notifications/progress")
        .map(({ params }) => (params as { progress: number }).progress);
      expect(steps.length).toBeGreaterThan(0);
      expect(steps.length).toBeLessThanOrEqual(2 + ms / 50);
      expect(steps).toEqual([...new Set(steps)].sort((a, b) => a - b));
    }));

  test("F26: a storm of list changes costs one reading a second and four notices a second", () =>
    beside("storm change heard", async ({ client, call, hall }) => {
      const lists = async (): Promise<number> =>
        (saidJson(await call("heard")) as JsonObject[]).filter(
          ({ method }) => method === "tools/list",
        ).length;
      const before = await lists();
      const notices = (): number =>
        client.received.filter(({ method }) => method === "notifications/tools/list_changed")
          .length;
      const noticesBefore = notices();
      const startedAt = performance.now();
      while (performance.now() - startedAt < 1_500) await call("storm", { count: 2_000 });
      await call("change", { add: ["late"] });
      await hall.untilListed("sick.late");
      const seconds = (performance.now() - startedAt) / 1_000;
      expect(seconds).toBeLessThan(5);
      expect((await lists()) - before).toBeLessThanOrEqual(seconds + 2);
      expect(notices() - noticesBefore).toBeLessThanOrEqual(4 * seconds + 2);
      expect(notices() - noticesBefore).toBeGreaterThan(0);
    }));

  test.each(["legacy", "modern"])(
    "F27: changes its tools between two lists: what is new can be called, what is gone is not found (%s)",
    (era) =>
      beside(`${era} change told`, async ({ client, call, hall }) => {
        await call("change", { add: ["fresh"], remove: ["told"] });
        await hall.untilListed("sick.fresh");
        await client.heard("notifications/tools/list_changed");
        expect(said(await call("fresh"))).toBe("fresh was called");
        expect(await call("told")).toMatchObject({
          error: { code: -32602, message: expect.stringContaining("told") },
        });
      }),
  );

  test.each(["endless-pages", "repeated-cursor"])("F28: %s end by themselves", (words) =>
    beside(words, async ({ call, hall }) => {
      expect(said(await call("echo", { a: 1 }))).toBe('{"a":1}');
      expect(hall.logged.join("")).toContain("tools/list does not end");
    }),
  );

  test("F30: one bad definition among five hundred is left out alone, and told", () =>
    beside("tools=499 bad-definition", async ({ client, hall }) => {
      const { tools } = await client.result("tools/list");
      expect(
        (tools as JsonObject[]).filter(({ name }) => String(name).startsWith("sick.")),
      ).toHaveLength(500);
      expect(hall.hall.registry.findTool("sick.no_schema")).toBeUndefined();
      expect(hall.logged.join("")).toContain("no_schema");
    }));
});

test("F29: ten thousand tools of a hundred servers are listed from the lock at once, in one order, with no process alive", async () => {
  const names = Array.from({ length: 100 }, (_, n) => `tool_${n}`);
  const servers = Object.fromEntries(
    Array.from({ length: 100 }, (_, n) => [`server-${n}`, faulty(`number=${n}`)]),
  );
  const lock = {
    lockVersion: 1 as const,
    servers: Object.fromEntries(
      Object.entries(servers).map(([name, config]) => [name, locked(config, names)]),
    ),
  };
  await using hall = await startUpstreams(servers, { lock });
  const list = async (): Promise<readonly string[]> => {
    const found: string[] = [];
    let cursor: unknown;
    do {
      const { tools, nextCursor } = await hall.client.result(
        "tools/list",
        cursor === undefined ? {} : { cursor },
      );
      found.push(...(tools as { name: string }[]).map(({ name }) => name));
      cursor = nextCursor;
    } while (cursor !== undefined);
    return found;
  };
  const first = await list();
  const [second, ms] = await timed(list());
  expect(first).toHaveLength(10_000);
  expect(second).toEqual(first);
  expect(first).toEqual([...first].sort());
  expect(ms).toBeLessThan(1_000);
  expect(hall.hall.fleet.all().map((upstream) => upstream.state().kind)).toEqual(
    Object.keys(servers).map(() => "stopped"),
  );
});

test("four broken upstreams beside a healthy one do not touch it, and each says what is wrong with it", async () => {
  const servers = {
    crashing: faulty("crash"),
    hanging: faulty("hang", { timeoutSeconds: 0.5 }),
    shouting: faulty("garbage huge banner"),
    dead: faulty("crash-start"),
    well: faulty(),
  };
  const lock = { lockVersion: 1 as const, servers: { dead: locked(servers.dead, ["echo"]) } };
  await using hall = await startUpstreams(servers, { lock });
  await Promise.all(
    ["crashing.crash", "hanging.hang", "shouting.huge", "well.echo"].map((name) =>
      hall.untilListed(name),
    ),
  );
  await callTool(hall.client, "well.echo");
  const troubled = hall.connect();
  await troubled.greet();
  const giveUpAt = performance.now() + 2_000;
  const seen = new Map<string, Set<unknown>>();
  const bother = async (server: string, tool: string): Promise<void> => {
    const types = new Set<unknown>();
    seen.set(server, types);
    while (performance.now() < giveUpAt) {
      const answer = await callTool(troubled, `${server}.${tool}`);
      const result = answer.result as JsonObject;
      types.add(result.isError === true ? failureOf(answer).error_type : "fine");
      await wait(10);
    }
  };
  const { answers, failures, slowestMs } = await beating(hall.client, "well.echo", async () => {
    const bothering = Array.from({ length: 20 }, () => bother("hanging", "hang"));
    await Promise.all([
      bother("crashing", "crash"),
      ...bothering,
      bother("shouting", "garbage"),
      bother("dead", "echo"),
    ]);
    await callTool(troubled, "shouting.huge");
  });
  expect(failures).toEqual([]);
  expect(answers).toBeGreaterThan(50);
  expect(slowestMs).toBeLessThan(slowMs);
  expect(Object.fromEntries([...seen].map(([server, types]) => [server, [...types]]))).toEqual({
    crashing: ["unavailable"],
    hanging: ["timeout"],
    shouting: ["fine"],
    dead: ["unavailable"],
  });
  expect(hall.hall.fleet.all().map(({ id }) => id)).toEqual(Object.keys(servers));
  expect(await hall.upstream("dead").health()).toMatchObject({
    state: "unavailable",
    reason: "exited with code 9",
  });
});
