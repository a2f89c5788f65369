import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { createOneAtATime } from "../../src/base/one-at-a-time.ts";

test("a request during a run waits for the next run only, however many more follow", async () => {
  let started = 0;
  const beats = createOneAtATime(async (_key: "beat") => {
    started++;
    await sleep(20);
  });
  const first = beats.run("beat");
  // As a timer that fires more often than the work takes.
  const timer = setInterval(() => void beats.run("beat"), 5);
  try {
    await first;
    expect(started).toBe(1);
    const atRequest = started;
    await beats.run("beat");
    expect(started).toBeGreaterThan(atRequest);
    expect(started).toBeLessThanOrEqual(atRequest + 2);
  } finally {
    clearInterval(timer);
  }
  await beats.settled();
  const ended = started;
  await sleep(30);
  expect(started).toBe(ended);
});

test("runs never overlap, many requests cause one more run, and keys do not wait for each other", async () => {
  const log: string[] = [];
  const work = createOneAtATime(async (key: string) => {
    log.push(`${key} begins`);
    await sleep(5);
    log.push(`${key} ends`);
  });
  await Promise.all([work.run("a"), work.run("a"), work.run("a"), work.run("b")]);
  expect(log.filter((line) => line.startsWith("a"))).toEqual([
    "a begins",
    "a ends",
    "a begins",
    "a ends",
  ]);
  expect(log.indexOf("b begins")).toBeLessThan(log.indexOf("a ends"));
});

test("a failed run rejects its callers, and the next one starts", async () => {
  let runs = 0;
  const work = createOneAtATime(async (_key: "one") => {
    await sleep(1);
    if (++runs === 1) throw new Error("away");
  });
  const first = work.run("one");
  const second = work.run("one");
  await expect(first).rejects.toThrow("away");
  await expect(second).resolves.toBeUndefined();
  expect(runs).toBe(2);
});
