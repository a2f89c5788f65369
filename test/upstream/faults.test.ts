import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { isObject, type JsonObject } from "../../src/base/json.ts";
import type { HallOptions } from "../../src/hall/hall-options.ts";
import type { RawClient } from "../servers/client.ts";
import { said } from "../servers/toolkits.ts";
import { until } from "../servers/until.ts";
import {
  callTool,
  faulty,
  isAlive,
  locked,
  readStarts,
  saidJson,
  startUpstreams,
  type UpstreamHall,
  untilAnswers,
} from "../servers/upstreams.ts";

/**
 * Faults of stdio servers. In each test a healthy upstream runs beside the faulty one and is called
 * until the test ends: each of its calls must be answered.
 */
interface Health {
  readonly answers: number;
  readonly failures: readonly JsonObject[];
}

/** Calls a tool repeatedly while the work lasts, and counts the results. */
async function beating(
  client: RawClient,
  name: string,
  work: () => Promise<void>,
): Promise<Health> {
  const failures: JsonObject[] = [];
  let isOver = false;
  let answers = 0;
  const beat = async (): Promise<void> => {
    for (let n = 0; !isOver; n++) {
      const answer = await callTool(client, name, { n });
      if (said(answer) === JSON.stringify({ n })) answers++;
      else failures.push(answer);
      await wait(5);
    }
  };
  const working = work().finally(() => {
    isOver = true;
  });
  await Promise.all([working, beat()]);
  return { answers, failures };
}

interface Bench {
  readonly hall: UpstreamHall;
  readonly client: RawClient;
  call(tool: string, args?: JsonObject, meta?: JsonObject): Promise<JsonObject>;
}

interface BesideOptions extends HallOptions {
  /** The tools of the faulty server when it cannot list them itself. */
  readonly known?: readonly string[];
  /** The deadline of calls to the faulty server. */
  readonly sickMs?: number;
}

/** Runs work on a faulty upstream while a healthy one is called repeatedly. */
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
  const { answers, failures } = await beating(healthy, "well.echo", () => work(bench));
  expect(failures).toEqual([]);
  expect(answers).toBeGreaterThan(0);
}

async function withStarts(work: (file: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "guildhall-"));
  await work(join(folder, "starts")).finally(() => rmSync(folder, { recursive: true }));
}

/** The failure of a call as a client of 2025-11-25 gets it. */
function failureOf(answer: JsonObject): JsonObject {
  const { result } = answer;
  if (!isObject(result) || result.isError !== true || !isObject(result.structuredContent))
    throw new Error(`not a failure: ${JSON.stringify(answer).slice(0, 500)}`);
  return result.structuredContent;
}

describe.concurrent("a process that ends", () => {
  test("during a call fails the call with the reason, its last stderr lines and the time of the next start; then it works again", () =>
    beside("crash", async ({ client, call, hall }) => {
      const answer = await call("crash");
      expect(failureOf(answer)).toMatchObject({
        error_type: "unavailable",
        message: 'server "sick" is down: exited with code 7',
        suggestion: expect.stringMatching(
          /^Retry in \d(\.\d)? s\. The user can run `guildhall logs sick`\.$/,
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
    "by %s with 50 calls in flight fails all of them, and works again",
    (signal) =>
      beside("wait crash", async ({ client, call }) => {
        // The clock of a call runs while its server starts, which takes long when all tests here begin.
        await call("echo");
        const waiting = Array.from({ length: 50 }, () => call("wait", { ms: 60_000 }));
        await call("echo");
        const answers = await Promise.all([...waiting, call("crash", { signal })]);
        // Writing a core dump may take longer than the hall waits for the signal.
        const message = expect.stringMatching(
          `^server "sick" is down: (ended by ${signal}|closed its output)$`,
        );
        for (const answer of answers)
          expect(failureOf(answer)).toMatchObject({ error_type: "unavailable", message });
        await untilAnswers(client, "sick.echo");
      }),
  );

  test("at every start stays listed with its reason, and calls are refused without a start while it rests", () =>
    withStarts((starts) =>
      beside(
        `crash-start starts=${starts}`,
        async ({ client, call, hall }) => {
          expect(failureOf(await call("echo"))).toMatchObject({
            message: 'server "sick" is down: exited with code 9',
            details: { reason: "exited with code 9", stderr: ["cannot start: no licence"] },
          });
          let calls = 1;
          const answer = await until(async () => {
            const refused = await call("echo");
            // Fewer starts than calls: this one was refused without a start.
            return ++calls > readStarts(starts).length ? refused : undefined;
          }, "a call is refused while the server rests");
          expect(failureOf(answer)).toMatchObject({
            error_type: "unavailable",
            message: 'server "sick" is down: exited with code 9',
          });
          expect((await client.result("tools/list")).tools).toMatchObject([
            { name: "sick__echo" },
            { name: "well__echo" },
          ]);
          expect(await hall.upstream("sick").health()).toEqual({
            state: "unavailable",
            reason: "exited with code 9",
          });
        },
        { known: ["echo"] },
      ),
    ));

  test("because its program does not exist is reported as such", async () => {
    const sick = faulty("", { command: "no-such-program-anywhere" });
    await using hall = await startUpstreams(
      { sick, well: faulty() },
      { lock: { lockVersion: 1, servers: { sick: locked(sick, ["echo"]) } } },
    );
    expect(failureOf(await callTool(hall.client, "sick.echo"))).toMatchObject({
      error_type: "unavailable",
      message: 'server "sick" is down: "no-such-program-anywhere" was not found',
    });
    await hall.untilListed("well.echo");
  });

  test("after half a line fails the call, and the half line is dropped", () =>
    beside("half", async ({ client, call }) => {
      const answer = await call("half");
      expect(failureOf(answer)).toMatchObject({
        error_type: "unavailable",
        // Its output may close before its exit is known.
        message: expect.stringMatching(
          /^server "sick" is down: (exited with code 0|closed its output)$/,
        ),
      });
      await untilAnswers(client, "sick.echo");
    }));

  test("by closing only its output counts as ended: its calls fail, it is killed and started again", () =>
    beside("close_stdout whoami", async ({ client, call }) => {
      const { pid } = saidJson(await call("whoami")) as { pid: number };
      const answer = await call("close_stdout");
      expect(failureOf(answer)).toMatchObject({
        error_type: "unavailable",
        message: expect.stringMatching(/^server "sick" is down: /),
      });
      await untilAnswers(client, "sick.echo");
      await until(() => !isAlive(pid), "the old process is gone");
      expect(saidJson(await call("whoami"))).not.toMatchObject({ pid });
    }));
});

describe.concurrent("a process that hangs", () => {
  test("during a call times out and receives a cancellation; the next call works", () =>
    beside(
      "hang heard",
      async ({ call }) => {
        const answer = await call("hang");
        expect(failureOf(answer)).toMatchObject({
          error_type: "timeout",
          message: expect.stringContaining("sick.hang"),
        });
        const heard = saidJson(await call("heard")) as JsonObject[];
        const hung = heard.find(({ params }) => isObject(params) && params.name === "hang");
        expect(heard.filter(({ method }) => method === "notifications/cancelled")).toMatchObject([
          { params: { requestId: hung?.id } },
        ]);
      },
      { sickMs: 3_000 },
    ));

  test("before its handshake delays neither the hall nor other servers", async () => {
    await beside("hang-start", async ({ client, hall }) => {
      expect(hall.upstream("sick").state().kind).toBe("starting");
      expect((await client.result("tools/list")).tools).toMatchObject([{ name: "well__echo" }]);
    });
  });

  test("for a while has its late answers dropped, and works again afterwards", () =>
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
        // The late answers came before those of the next calls.
        expect(client.unread.filter(({ id }) => id !== undefined)).toEqual([]);
      },
      { sickMs: 3_000 },
    ));

  test("in the middle of a line is waited for", () =>
    beside("half_pause", async ({ call }) => {
      expect(said(await call("half_pause", { ms: 300 }))).toBe("whole");
    }));

  test("without reading its input fills a bounded queue; further calls are refused, and it is restarted", () =>
    beside(
      "deaf",
      async ({ client, call, hall }) => {
        const text = "x".repeat(50_000);
        const calls = [call("deaf")];
        await until(() => {
          for (let n = 0; n < 10; n++) calls.push(call("echo", { text }));
          return hall.upstream("sick").state().kind !== "ready";
        }, "the server is given up");
        const answers = await Promise.all(calls);
        const failures = answers
          .filter((answer) => said(answer) !== JSON.stringify({ text }))
          .map((answer) => failureOf(answer).error_type);
        expect(new Set(failures)).toEqual(new Set(["unavailable", "overloaded"]));
        await untilAnswers(client, "sick.echo");
      },
      { limits: { writeQueueBytesMax: 256 * 1024, stalledMsMax: 500 } },
    ));
});

/** A tenth of the usual limit: long lines cost less to write. */
const smallLines = { limits: { messageBytesMax: 1024 * 1024 } };

describe.concurrent("a process that writes invalid lines", () => {
  test("banners and colours are skipped, before the handshake and after", () =>
    beside("banner garbage invalid_lines", async ({ call, hall }) => {
      expect(said(await call("garbage"))).toBe("after garbage");
      expect(said(await call("invalid_lines"))).toBe("after invalid lines");
      expect(said(await call("echo", { a: 1 }))).toBe('{"a":1}');
      expect(hall.upstream("sick").state().kind).toBe("ready");
    }));

  test("a line over the limit fails only its own call, and the process stays", () =>
    beside(
      "huge whoami",
      async ({ call }) => {
        const before = saidJson(await call("whoami")) as { pid: number };
        for (const isIdLast of [false, true]) {
          expect(
            failureOf(await call("huge", { isIdLast, megabytes: isIdLast ? 2 : 5 })),
          ).toMatchObject({
            error_type: "too_large",
            message: expect.stringContaining("tools/call"),
          });
        }
        expect(saidJson(await call("whoami"))).toMatchObject({ pid: before.pid });
      },
      smallLines,
    ));

  test("an endless line ends the connection, and the next call restarts the server", () =>
    beside(
      "endless whoami",
      async ({ client, call }) => {
        const { pid } = saidJson(await call("whoami")) as { pid: number };
        expect(failureOf(await call("endless"))).toMatchObject({ error_type: "unavailable" });
        await untilAnswers(client, "sick.whoami");
        expect((saidJson(await call("whoami")) as { pid: number }).pid).not.toBe(pid);
      },
      // Short enough for a busy machine: the line has no end only at ten times the limit.
      { limits: { messageBytesMax: 65_536 } },
    ));

  test.each(["invalid_utf8", "bom", "two_on_line"])("an answer with %s is a bad answer", (tool) =>
    beside(tool, async ({ call }) => {
      const answer = await call(tool);
      expect(failureOf(answer)).toMatchObject({ error_type: "bad_answer" });
      expect(said(await call("echo", { a: 1 }))).toBe('{"a":1}');
    }),
  );

  test.each(["crlf", "blank"])("%s around an answer is accepted", (tool) =>
    beside(tool, async ({ call }) => {
      expect(said(await call(tool))).toBe(tool);
    }),
  );

  test("a flood on stderr is drained, and its end is kept", () =>
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
  test("given twice is delivered once", () =>
    beside("twice", async ({ call, client }) => {
      expect(said(await call("twice"))).toBe("first");
      expect(said(await call("echo", { a: 1 }))).toBe('{"a":1}');
      expect(client.received.filter((message) => said(message) === "second")).toEqual([]);
    }));

  test("to unknown requests are dropped", () =>
    beside("unknown_id", async ({ call, client }) => {
      expect(said(await call("unknown_id"))).toBe("after an unknown id");
      expect(client.received.filter((message) => said(message) === "for nobody")).toEqual([]);
    }));

  test("with a string id instead of a number are dropped", () =>
    beside(
      "string_id",
      async ({ call }) => {
        expect(said(await call("string_id", { next: "right" }))).toBe("under a number");
        expect(failureOf(await call("string_id"))).toMatchObject({ error_type: "timeout" });
      },
      { sickMs: 3_000 },
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
  ])("with %s is a bad answer (%s)", (tool, era) =>
    beside(`${era} ${tool}`, async ({ call }) => {
      const answer = await call(tool);
      expect(failureOf(answer)).toMatchObject({ error_type: "bad_answer" });
      expect(said(await call("echo", { a: 1 }))).toBe('{"a":1}');
    }),
  );

  test("after unknown requests to the client get an error for those, and the call continues", () =>
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

  test("in any order, a thousand at once, reach their calls", () =>
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
  test("forks and ignores every request to end: the whole process group is killed", () =>
    beside("fork whoami stubborn", async ({ call, hall }) => {
      const [{ pid }, grandchild] = [
        saidJson(await call("whoami")) as { pid: number },
        saidJson(await call("fork")) as { pid: number },
      ];
      expect([pid, grandchild.pid].map(isAlive)).toEqual([true, true]);
      await hall.upstream("sick").restart();
      await until(() => ![pid, grandchild.pid].some(isAlive), "no survivors");
    }));

  test("forks and crashes: the processes it leaves behind are killed", () =>
    beside("fork crash", async ({ call }) => {
      const { pid } = saidJson(await call("fork")) as { pid: number };
      await call("crash");
      await until(() => !isAlive(pid), "no survivors");
    }));

  test("floods progress: it is thinned out and only grows", () =>
    beside("progress_flood", async ({ client, call }) => {
      const startedAt = performance.now();
      const answer = await call("progress_flood", { count: 10_000 }, { progressToken: "p" });
      const elapsedMs = performance.now() - startedAt;
      expect(said(answer)).toBe("flooded");
      const steps = client.received
        .filter(({ method }) => method === "notifications/progress")
        .map(({ params }) => (params as { progress: number }).progress);
      expect(steps.length).toBeGreaterThan(0);
      // 20 at once, 20 a second after that, and always the last.
      expect(steps.length).toBeLessThanOrEqual(22 + elapsedMs / 50);
      expect(steps.at(-1)).toBe(10_000);
      expect(steps).toEqual([...new Set(steps)].sort((a, b) => a - b));
    }));

  test("sends a storm of list changes: at most one listing and four notifications a second follow", () =>
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
      for (let n = 0; n < 5; n++) await call("storm", { count: 2_000 });
      await call("change", { add: ["late"] });
      await hall.untilListed("sick.late");
      const seconds = (performance.now() - startedAt) / 1_000;
      expect((await lists()) - before).toBeLessThanOrEqual(seconds + 2);
      expect(notices() - noticesBefore).toBeLessThanOrEqual(4 * seconds + 2);
      expect(notices() - noticesBefore).toBeGreaterThan(0);
    }));

  test.each(["legacy", "modern"])(
    "changes its tools between two lists: new ones can be called, removed ones are not found (%s)",
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

  test.each(["endless-pages", "repeated-cursor"])("has %s: listing ends", (words) =>
    beside(words, async ({ call, hall }) => {
      expect(said(await call("echo", { a: 1 }))).toBe('{"a":1}');
      expect(hall.logged.join("")).toContain("tools/list has too many pages");
    }),
  );

  test("has one bad definition among five hundred: only that one is left out, and logged", () =>
    beside("tools=499 bad-definition", async ({ client, hall }) => {
      const { tools } = await client.result("tools/list");
      expect(
        (tools as JsonObject[]).filter(({ name }) => String(name).startsWith("sick__")),
      ).toHaveLength(500);
      expect(hall.hall.registry.findTool("sick.no_schema")).toBeUndefined();
      expect(hall.logged.join("")).toContain("no_schema");
    }));
});

test("ten thousand tools of a hundred servers are listed from the lock, always in the same order, without starting a process", async () => {
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
  const second = await list();
  expect(first).toHaveLength(10_000);
  expect(second).toEqual(first);
  expect(first).toEqual([...first].sort());
  expect(hall.hall.fleet.all().map((upstream) => upstream.state().kind)).toEqual(
    Object.keys(servers).map(() => "stopped"),
  );
});

test("four broken upstreams do not affect a healthy one, and each reports its own failure", async () => {
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
  const seen = new Map<string, Set<unknown>>();
  const bother = async (server: string, tool: string, calls = 20): Promise<void> => {
    const types = seen.get(server) ?? new Set();
    seen.set(server, types);
    for (let n = 0; n < calls; n++) {
      const answer = await callTool(troubled, `${server}.${tool}`);
      const result = answer.result as JsonObject;
      types.add(result.isError === true ? failureOf(answer).error_type : "fine");
      await wait(10);
    }
  };
  const { answers, failures } = await beating(hall.client, "well.echo", async () => {
    const bothering = Array.from({ length: 20 }, () => bother("hanging", "hang", 3));
    await Promise.all([
      bother("crashing", "crash"),
      ...bothering,
      bother("shouting", "garbage"),
      bother("dead", "echo"),
    ]);
    await callTool(troubled, "shouting.huge");
  });
  expect(failures).toEqual([]);
  expect(answers).toBeGreaterThan(0);
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
