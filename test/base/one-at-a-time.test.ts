import { expect, test } from "vitest";
import { createOneAtATime } from "../../src/base/one-at-a-time.ts";
import { until } from "../servers/until.ts";

/** Work that ends when the test says so; `log` has the order of events. */
function createWork() {
  const log: string[] = [];
  const open: { end(): void; fail(error: Error): void }[] = [];
  const work = createOneAtATime(async (key: string) => {
    log.push(`${key} begins`);
    await new Promise<void>((end, fail) => void open.push({ end, fail }));
    log.push(`${key} ends`);
  });
  const next = async () => {
    await until(() => open.length > 0, "a run has begun");
    return open.shift() as (typeof open)[number];
  };
  return { work, log, next };
}

test("a request during a run waits for the next run only, however many more follow", async () => {
  const { work, log, next } = createWork();
  const first = work.run("a");
  const second = work.run("a");
  (await next()).end();
  await first;
  const running = await next();
  const third = work.run("a");
  running.end();
  await second;
  (await next()).end();
  await Promise.all([third, work.settled()]);
  expect(log).toEqual(Array.from({ length: 3 }, () => ["a begins", "a ends"]).flat());
});

test("runs never overlap, many requests cause one more run, and keys do not wait for each other", async () => {
  const { work, log, next } = createWork();
  const all = Promise.all([work.run("a"), work.run("a"), work.run("a"), work.run("b")]);
  await until(() => log.length === 2, "both keys have begun");
  expect(log).toEqual(["a begins", "b begins"]);
  for (let runs = 0; runs < 3; runs++) (await next()).end();
  await all;
  expect(log.filter((line) => line.startsWith("a"))).toEqual([
    "a begins",
    "a ends",
    "a begins",
    "a ends",
  ]);
});

test("a failed run rejects its callers, and the next one starts", async () => {
  const { work, next } = createWork();
  const first = expect(work.run("one")).rejects.toThrow("away");
  const second = work.run("one");
  (await next()).fail(new Error("away"));
  await first;
  (await next()).end();
  await expect(second).resolves.toBeUndefined();
});
