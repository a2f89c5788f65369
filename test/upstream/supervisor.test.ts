import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { HallError } from "../../src/base/errors.ts";
import { Scope } from "../../src/base/scope.ts";
import type { ServerConnection } from "../../src/client/connection.ts";
import {
  reasonOf,
  Supervisor,
  type SupervisorOptions,
  type SupervisorState,
} from "../../src/upstream/supervisor.ts";

/** Starts, rests, and starts again: on a clock and with a die of our own, and a line that is nothing but a name. */
interface Bench {
  readonly supervisor: Supervisor;
  /** How often a line was opened. */
  opened: number;
  closed: number;
  readonly states: SupervisorState["kind"][];
  /** Ends the newest line from its own side. */
  lose(reason: string): void;
}

type Open = (scope: Scope) => Promise<void>;

function createBench(options: Partial<SupervisorOptions> & { readonly opens?: Open } = {}): Bench {
  const { opens = async () => {}, ...rest } = options;
  let lost: (reason: string) => void = () => {};
  const bench: Bench = {
    opened: 0,
    closed: 0,
    states: [],
    lose: (reason) => lost(reason),
    supervisor: new Supervisor({
      name: "box",
      startMs: 20_000,
      idleMs: 0,
      isEager: false,
      evidence: () => ["one", "two", "three", "four", "five", "six"],
      changed: ({ kind }) => void bench.states.push(kind),
      random: () => 0.5,
      async open(scope, heard) {
        bench.opened++;
        lost = heard;
        await opens(scope);
        return createLine(bench);
      },
      ...rest,
    }),
  };
  return bench;
}

function createLine(bench: Bench): ServerConnection {
  const line = {
    handshake: {
      era: "legacy" as const,
      version: "2025-11-25",
      capabilities: {},
      info: {},
      instructions: undefined,
    },
    relay: async () => ({}),
    request: async () => ({}),
    listen: async () => [],
    isFreeFor: () => true,
    clientChanged() {},
    isLost: true,
    junkCount: 0,
    leave: async () => {},
    async close() {
      bench.closed++;
    },
  };
  return line;
}

const broken = async (): Promise<void> => {
  throw new Error("no licence");
};

function use(
  bench: Bench,
  work: (line: ServerConnection) => Promise<unknown> = async () => "done",
): Promise<unknown> {
  return bench.supervisor.use(new Scope(), work);
}

async function failureOf(work: Promise<unknown>): Promise<HallError> {
  const error = await work.then(
    (value) => new Error(`no failure but ${JSON.stringify(value)}`),
    (reason: unknown) => reason,
  );
  if (error instanceof HallError) return error;
  throw error;
}

/** How long it rests from now on, in milliseconds. */
function restMs({ supervisor }: Bench): number {
  const state = supervisor.state();
  if (state.kind !== "down") throw new Error(`it is ${state.kind}`);
  return state.retryAt - Date.now();
}

beforeEach(() => {
  // The clock of deadlines is left alone: all scopes of the process share it.
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date", "performance"] });
});
afterEach(() => {
  vi.useRealTimers();
});

describe("a start", () => {
  test("happens at the first use, once for all waiting calls", async () => {
    const bench = createBench();
    expect(bench.supervisor.state()).toEqual({ kind: "stopped" });
    expect(await Promise.all(Array.from({ length: 10 }, () => use(bench)))).toEqual(
      Array.from({ length: 10 }, () => "done"),
    );
    expect(bench.opened).toBe(1);
    expect(bench.states).toEqual(["starting", "ready"]);
  });

  test("after a failed one keeps the reason until the server is up", async () => {
    let mayOpen = false;
    const bench = createBench({ opens: async () => (mayOpen ? undefined : broken()) });
    await failureOf(use(bench));
    expect(reasonOf(bench.supervisor.state())).toBe("no licence");
    vi.advanceTimersByTime(60_000);
    mayOpen = true;
    const used = use(bench);
    expect(bench.supervisor.state()).toMatchObject({ kind: "starting", after: "no licence" });
    await used;
    expect(reasonOf(bench.supervisor.state())).toBeUndefined();
  });

  test("that fails is reported to all waiting calls, with the reason, the last output and the next try", async () => {
    const bench = createBench({ opens: broken });
    const failures = await Promise.all(Array.from({ length: 10 }, () => failureOf(use(bench))));
    expect(bench.opened).toBe(1);
    for (const { code, message, next, details } of failures) {
      expect({ code, message, next, details }).toEqual({
        code: "UNAVAILABLE",
        message: 'server "box" is down: no licence',
        next: [
          { do: "retry-after", seconds: 0.3 },
          { do: "run-command", command: "logs box" },
        ],
        details: {
          upstream: "box",
          reason: "no licence",
          retryAfterSeconds: 0.3,
          stderr: ["two", "three", "four", "five", "six"],
        },
      });
    }
  });

  test("that does not end is called off at its deadline", async () => {
    let calledOff: HallError | undefined;
    const bench = createBench({
      startMs: 100,
      opens: (scope) =>
        new Promise(() => {
          scope.onCancel((reason) => {
            calledOff = reason;
          });
        }),
    });
    const failure = failureOf(use(bench));
    // Scopes read this clock, and look at it by a timer of their own.
    vi.advanceTimersByTime(100);
    expect((await failure).message).toBe('server "box" is down: did not start within 0.1 s');
    expect(calledOff).toBeInstanceOf(HallError);
  });

  test("continues when one waiting call is cancelled", async () => {
    let finish = (): void => {};
    const bench = createBench({
      opens: () =>
        new Promise((resolve) => {
          finish = resolve;
        }),
    });
    const scope = new Scope();
    const left = failureOf(bench.supervisor.use(scope, async () => "never"));
    const stayed = use(bench);
    scope.cancel(new HallError("CANCELLED", "withdrawn"));
    expect((await left).code).toBe("CANCELLED");
    finish();
    expect(await stayed).toBe("done");
    expect(bench.opened).toBe(1);
  });
});

describe("after a failure", () => {
  test("uses are turned away at once until the rest is over, and nothing is started for them", async () => {
    const bench = createBench({ opens: broken });
    await failureOf(use(bench));
    await vi.advanceTimersByTimeAsync(240);
    expect((await failureOf(use(bench))).code).toBe("UNAVAILABLE");
    expect(bench.opened).toBe(1);
    await vi.advanceTimersByTimeAsync(20);
    await failureOf(use(bench));
    expect(bench.opened).toBe(2);
  });

  test.each([
    ["nothing at all, for the lowest throw", 0, [0, 0, 0, 0]],
    ["half of twice as long each time, for a middling one", 0.5, [250, 500, 1_000, 2_000]],
    ["twice as long each time, for the highest", 0.999_999, [500, 1_000, 2_000, 4_000]],
  ])(
    "the rest is %s; from the fifth in a row on it is half a minute",
    async (_what, thrown, rests) => {
      const bench = createBench({ opens: broken, random: () => thrown });
      for (const expected of [...rests, 30_000, 30_000]) {
        await failureOf(use(bench));
        expect(restMs(bench)).toBeCloseTo(expected, -1);
        await vi.advanceTimersByTimeAsync(restMs(bench) + 1);
      }
    },
  );

  test("one probe decides for all: its success closes the breaker and forgets the failures", async () => {
    let isBroken = true;
    let finish = (): void => {};
    const slow = (): Promise<void> =>
      new Promise((resolve) => {
        finish = resolve;
      });
    const bench = createBench({ opens: () => (isBroken ? broken() : slow()) });
    for (let n = 0; n < 5; n++) {
      await failureOf(use(bench));
      await vi.advanceTimersByTimeAsync(restMs(bench) + 1);
    }
    expect(bench.opened).toBe(5);
    isBroken = false;
    const uses = Array.from({ length: 20 }, () => use(bench));
    await vi.advanceTimersByTimeAsync(10);
    expect(bench.opened).toBe(6);
    finish();
    expect(await Promise.all(uses)).toEqual(uses.map(() => "done"));
    bench.lose("exited with code 1");
    expect(bench.supervisor.state()).toMatchObject({ kind: "down", failures: 1 });
    expect(restMs(bench)).toBe(250);
  });

  test("a probe that fails opens the breaker again", async () => {
    const bench = createBench({ opens: broken });
    for (let n = 0; n < 6; n++) {
      await failureOf(use(bench));
      await vi.advanceTimersByTimeAsync(restMs(bench) + 1);
    }
    expect(bench.supervisor.state()).toMatchObject({ kind: "down", failures: 6 });
  });

  test("a line that opens and breaks before it answers anything counts as well", async () => {
    const bench = createBench();
    for (let n = 1; n <= 5; n++) {
      const failure = failureOf(
        use(bench, async () => {
          bench.lose("exited with code 7");
          throw new HallError("UNAVAILABLE", "the connection closed");
        }),
      );
      expect((await failure).message).toBe('server "box" is down: exited with code 7');
      expect(bench.supervisor.state()).toMatchObject({ failures: n });
      await vi.advanceTimersByTimeAsync(restMs(bench) + 1);
    }
    expect(bench.opened).toBe(5);
  });

  test("an upstream that answers, be it with an error of its own, is alive: failures are counted in a row only", async () => {
    const bench = createBench();
    for (let n = 0; n < 6; n++) {
      const refusal = failureOf(
        use(bench, async () => {
          throw new HallError("EXECUTION", "no luck", {
            relayed: { code: -32050, message: "no luck" },
          });
        }),
      );
      expect((await refusal).message).toBe("no luck");
      bench.lose("exited with code 1");
      expect(bench.supervisor.state()).toMatchObject({ kind: "down", failures: 1 });
      await vi.advanceTimersByTimeAsync(restMs(bench) + 1);
    }
  });

  test("an eager one is opened again by itself", async () => {
    let failing = 2;
    const bench = createBench({
      isEager: true,
      opens: () => (failing-- > 0 ? broken() : Promise.resolve()),
    });
    await failureOf(use(bench));
    await vi.advanceTimersByTimeAsync(5_000);
    expect(bench.opened).toBe(3);
    expect(bench.supervisor.state().kind).toBe("ready");
    bench.lose("exited with code 1");
    await vi.advanceTimersByTimeAsync(5_000);
    expect(bench.opened).toBe(4);
  });

  test("the rest is as long when the clock is set back", async () => {
    const bench = createBench({ opens: broken });
    await failureOf(use(bench));
    vi.setSystemTime(Date.now() - 3_600_000);
    expect((await failureOf(use(bench))).details?.retryAfterSeconds).toBeLessThanOrEqual(30);
    vi.advanceTimersByTime(30_000);
    await failureOf(use(bench));
    expect(bench.opened).toBe(2);
  });

  test("a lazy one waits for a use", async () => {
    const bench = createBench({ opens: broken });
    await failureOf(use(bench));
    await vi.advanceTimersByTimeAsync(600_000);
    expect(bench.opened).toBe(1);
  });
});

describe("a line that goes away", () => {
  test("during a call is explained with its reason, whichever event comes first", async () => {
    for (const order of ["reason first", "line first"]) {
      const bench = createBench();
      const failure = failureOf(
        use(bench, async () => {
          if (order === "reason first") bench.lose("ended by SIGKILL");
          else setTimeout(() => bench.lose("ended by SIGKILL"), 20);
          throw new HallError("UNAVAILABLE", "the other side closed its end");
        }),
      );
      await vi.advanceTimersByTimeAsync(1_000);
      expect((await failure).message).toBe('server "box" is down: ended by SIGKILL');
    }
  });

  test("is opened anew at the next use, and the old one's end does not touch the new one", async () => {
    const ends: ((reason: string) => void)[] = [];
    const bench = createBench();
    const supervisor = new Supervisor({
      name: "box",
      startMs: 1_000,
      idleMs: 0,
      isEager: false,
      evidence: () => [],
      changed: () => {},
      random: () => 0,
      async open(_scope, lost) {
        ends.push(lost);
        return createLine(bench);
      },
    });
    await supervisor.use(new Scope(), async () => "done");
    ends[0]?.("exited with code 1");
    await supervisor.use(new Scope(), async () => "done");
    ends[0]?.("exited with code 1, again");
    expect(supervisor.state().kind).toBe("ready");
    expect(ends).toHaveLength(2);
  });
});

describe("an idle line", () => {
  test("is closed when it is idle, and opened again at the next use", async () => {
    const bench = createBench({ idleMs: 10_000 });
    await use(bench);
    await vi.advanceTimersByTimeAsync(9_000);
    await use(bench);
    await vi.advanceTimersByTimeAsync(9_000);
    expect(bench.supervisor.state().kind).toBe("ready");
    await vi.advanceTimersByTimeAsync(1_100);
    expect(bench.supervisor.state().kind).toBe("stopped");
    expect(bench.closed).toBe(1);
    expect(await use(bench)).toBe("done");
    expect(bench.opened).toBe(2);
  });

  test("is not idle while a call runs", async () => {
    const bench = createBench({ idleMs: 1_000 });
    const long = use(
      bench,
      () => new Promise((resolve) => setTimeout(() => resolve("late"), 60_000)),
    );
    await vi.advanceTimersByTimeAsync(59_000);
    expect(bench.supervisor.state().kind).toBe("ready");
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await long).toBe("late");
    await vi.advanceTimersByTimeAsync(1_100);
    expect(bench.supervisor.state().kind).toBe("stopped");
  });

  test.each([
    ["that may idle for ever", { idleMs: 0 }],
    ["that is eager", { idleMs: 1_000, isEager: true }],
  ])("%s stays", async (_what, options) => {
    const bench = createBench(options);
    await use(bench);
    await vi.advanceTimersByTimeAsync(1_000_000);
    expect(bench.supervisor.state().kind).toBe("ready");
  });
});

describe("told to", () => {
  test("restart, it closes the line and forgets the failures", async () => {
    const bench = createBench({ opens: broken });
    for (let n = 0; n < 5; n++) {
      await failureOf(use(bench));
      await vi.advanceTimersByTimeAsync(restMs(bench) + 1);
    }
    await bench.supervisor.restart();
    expect(bench.supervisor.state()).toEqual({ kind: "stopped" });
    await failureOf(use(bench));
    expect(restMs(bench)).toBe(250);
  });

  test("restart in the middle of a start, it leaves the start after it alone", async () => {
    const open: (() => void)[] = [];
    const bench = createBench({ opens: () => new Promise((resolve) => void open.push(resolve)) });
    const first = failureOf(use(bench));
    const restarted = bench.supervisor.restart();
    const second = use(bench);
    await restarted;
    expect((await first).message).toBe('server "box" is not running');
    const third = use(bench);
    open[1]?.();
    expect(await Promise.all([second, third])).toEqual(["done", "done"]);
    expect(bench.opened).toBe(2);
    expect(bench.states).toEqual(["starting", "stopped", "starting", "ready"]);
  });

  test("close, it closes the line, calls a start off, and turns every use away", async () => {
    const open = createBench();
    await use(open);
    await open.supervisor.close();
    expect(open.closed).toBe(1);
    expect((await failureOf(use(open))).message).toBe('server "box" was closed');
    const starting = createBench({
      opens: (scope) => new Promise((_resolve, reject) => void scope.onCancel(reject)),
    });
    const waiting = failureOf(use(starting));
    await vi.advanceTimersByTimeAsync(1);
    await starting.supervisor.close();
    expect((await waiting).code).toBe("UNAVAILABLE");
    expect(starting.supervisor.state()).toEqual({ kind: "closed" });
    await vi.advanceTimersByTimeAsync(100_000);
    expect(starting.opened).toBe(1);
  });
});
