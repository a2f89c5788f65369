import { setImmediate as nextTurn } from "node:timers/promises";
import { beforeAll, expect, test } from "vitest";
import { isObject, type JsonObject } from "../../src/base/json.ts";
import { startHall } from "../servers/hall.ts";
import { buildTestCli, spawnHall } from "../servers/process.ts";
import { createEchoToolkit, createToolkit, said, text } from "../servers/toolkits.ts";
import { until } from "../servers/until.ts";

/** Many calls at once: limits, cancels, clients that leave and signals. */
let cli: string;
beforeAll(async () => {
  cli = await buildTestCli();
});

/** A tool that takes ten at a time, by itself, and counts. */
function createCounter(): {
  readonly toolkit: ReturnType<typeof createToolkit>;
  readonly order: number[];
  release(): void;
  readonly running: () => number;
} {
  const order: number[] = [];
  let running = 0;
  let release = (): void => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const toolkit = createToolkit("counter", {
    count: {
      run: async ({ n }) => {
        running++;
        order.push(Number(n));
        await released;
        running--;
        return text(String(n));
      },
    },
  });
  return { toolkit, order, release, running: () => running };
}

function errorOf({ result }: JsonObject): unknown {
  return isObject(result) && isObject(result.structuredContent)
    ? result.structuredContent.error_type
    : undefined;
}

test("of a thousand calls at once ten run, the queued ones follow in order, and the rest are refused", async () => {
  const { toolkit, order, release, running } = createCounter();
  await using hall = await startHall({
    toolkits: [toolkit],
    capacities: { toolkits: { counter: { concurrent: 10, queue: 490 } } },
  });
  const client = hall.connect();
  await client.greet();
  const ids = Array.from({ length: 1_000 }, (_, n) =>
    client.ask("tools/call", { name: "counter.count", arguments: { n } }),
  );
  const refused = await Promise.all(ids.slice(500).map((id) => client.answer(id)));
  expect(new Set(refused.map(errorOf))).toEqual(new Set(["overloaded"]));
  expect(running()).toBe(10);
  release();
  const served = await Promise.all(ids.slice(0, 500).map((id) => client.answer(id)));
  expect(served.map(said)).toEqual(ids.slice(0, 500).map((_, n) => String(n)));
  expect(order).toEqual(ids.slice(0, 500).map((_, n) => n));
  expect(client.unread).toEqual([]);
});

test("four times as many callers as a toolkit can take never exceed its limit, and all are served in the end", async () => {
  let running = 0;
  let most = 0;
  const toolkit = createToolkit("worker", {
    work: {
      async run() {
        most = Math.max(most, ++running);
        await nextTurn();
        running--;
        return text("done");
      },
    },
  });
  await using hall = await startHall({
    toolkits: [toolkit],
    capacities: { toolkits: { worker: { concurrent: 10, queue: 10 } } },
  });
  const client = hall.connect();
  await client.greet();
  let refused = 0;
  const call = async (): Promise<boolean> => {
    const answer = await client.request("tools/call", { name: "worker.work", arguments: {} });
    if (errorOf(answer) === "overloaded") refused++;
    return said(answer) === "done";
  };
  await Promise.all(Array.from({ length: 80 }, () => until(call)));
  expect(most).toBe(10);
  expect(refused).toBeGreaterThan(0);
  expect(await call()).toBe(true);
});

test("a cancel before, during or after the answer, or of an unknown request, never causes a second answer", async () => {
  const waiting = createToolkit("waiting", {
    wait: { run: (_args, { scope }) => new Promise((_, reject) => scope.onCancel(reject)) },
  });
  await using hall = await startHall({ toolkits: [createEchoToolkit(), waiting] });
  const client = hall.connect();
  await client.greet();
  const cancel = (requestId: unknown): void =>
    client.notify("notifications/cancelled", { requestId });
  cancel("never sent");
  cancel(1_000_000);
  const cancelled = Array.from({ length: 50 }, () =>
    client.ask("tools/call", { name: "waiting.wait" }),
  );
  for (const id of cancelled) {
    cancel(id);
    cancel(id);
  }
  const raced = Array.from({ length: 50 }, () =>
    client.ask("tools/call", { name: "echo.echo", arguments: { a: 1 } }),
  );
  for (const id of raced) cancel(id);
  const answered = client.ask("tools/call", { name: "echo.echo", arguments: { a: 2 } });
  expect(said(await client.answer(answered))).toBe('{"a":2}');
  cancel(answered);
  await client.request("ping");
  const counts = new Map<unknown, number>();
  for (const { id, method } of client.received)
    if (method === undefined) counts.set(id, (counts.get(id) ?? 0) + 1);
  expect([...counts.values()].every((count) => count === 1)).toBe(true);
  for (const id of cancelled) expect(counts.has(id)).toBe(false);
});

test("a client that closes its end with a hundred calls running gets their answers, and the process ends", async () => {
  await using hall = spawnHall([], { cli });
  await hall.greet();
  const ids = Array.from({ length: 100 }, () =>
    hall.ask("tools/call", { name: "slow.wait", arguments: { ms: 300 } }),
  );
  await hall.request("ping");
  hall.child.stdin.end();
  expect(await hall.exited).toEqual({ code: 0, signal: null });
  for (const id of ids) expect(said(await hall.answer(id))).toBe("waited");
});

test("a signal with 900 calls in flight lets them end and refuses new ones; a second signal ends the process", async () => {
  await using hall = spawnHall([], { cli });
  await hall.greet();
  const ids = Array.from({ length: 900 }, () => hall.ask("tools/call", { name: "slow.wait" }));
  await hall.request("ping");
  hall.kill("SIGTERM");
  let refusal: unknown;
  while (refusal === undefined)
    refusal = errorOf(await hall.request("tools/call", { name: "echo.echo" }));
  expect(refusal).toBe("unavailable");
  hall.kill("SIGTERM");
  expect(await hall.exited).toEqual({ code: 0, signal: null });
  expect(new Set(await Promise.all(ids.map(async (id) => errorOf(await hall.answer(id)))))).toEqual(
    new Set(["unavailable"]),
  );
});
