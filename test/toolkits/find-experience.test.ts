import { expect, test } from "vitest";
import { createLog } from "../../src/base/log.ts";
import { createRegistry } from "../../src/registry/registry.ts";
import { createMemoryStore } from "../../src/store/memory-store.ts";
import type { CallOutcome, Store } from "../../src/store/store.ts";
import { createExperience } from "../../src/toolkits/find/experience.ts";
import { createFinder } from "../../src/toolkits/find/finder.ts";
import { createToolkit, text } from "../servers/toolkits.ts";
import { callRow } from "../store/rows.ts";

const log = createLog({ level: "silent" });

function add(store: Store, tool: string, outcome: CallOutcome, times: number): void {
  const [toolkit = ""] = tool.split(".");
  for (let at = 0; at < times; at++)
    store.calls.add(
      callRow({ id: `${tool} ${outcome} ${at}`, toolkit, tool, outcome, at: Date.now() - at }),
    );
}

/** Resolves when what a read has set off is known. */
async function reading(experience: {
  read(): ReadonlyMap<string, number>;
}): Promise<ReadonlyMap<string, number>> {
  const before = experience.read();
  await expect.poll(() => experience.read() !== before).toBe(true);
  return experience.read();
}

test("success ranks above no experience and failure below, and no score exceeds one", async () => {
  const store = createMemoryStore();
  add(store, "a.good", "ok", 40);
  add(store, "a.once", "ok", 1);
  add(store, "a.bad", "error", 9);
  add(store, "a.mixed", "ok", 5);
  add(store, "a.mixed", "failed", 5);
  const known = await reading(createExperience({ store, log }));
  expect(known.get("a.good")).toBe(1);
  expect(known.get("a.once")).toBeCloseTo(0.3, 1);
  expect(known.get("a.bad")).toBe(-1);
  expect(known.get("a.mixed")).toBeCloseTo(0, 5);
  await store.close();
});

test("a read never waits, and the store is asked at most every five seconds", async () => {
  let now = 0;
  let answer: (() => void) | undefined;
  const asked: (number | undefined)[] = [];
  const empty = createMemoryStore();
  const store = {
    statistics: (since?: number) => {
      asked.push(since);
      return new Promise<Awaited<ReturnType<Store["statistics"]>>>((resolve) => {
        answer = () => resolve(empty.statistics());
      });
    },
  };
  const experience = createExperience({ store, log, now: () => now });
  const before = experience.read();
  expect(before.size).toBe(0);
  now = 60_000;
  experience.read();
  expect(asked).toHaveLength(1);
  answer?.();
  await expect.poll(() => experience.read() !== before).toBe(true);
  now += 4_999;
  experience.read();
  expect(asked).toHaveLength(1);
  now += 1;
  experience.read();
  expect(asked).toHaveLength(2);
  answer?.();
  await empty.close();
});

test("an unreadable store leaves the known scores", async () => {
  let now = 0;
  const kept = createMemoryStore();
  add(kept, "a.good", "ok", 9);
  let isBroken = false;
  const store = {
    statistics: () => (isBroken ? Promise.reject(new Error("gone")) : kept.statistics()),
  };
  const experience = createExperience({ store, log, now: () => now });
  const known = await reading(experience);
  isBroken = true;
  now = 10_000;
  experience.read();
  await new Promise(setImmediate);
  expect(experience.read()).toBe(known);
  await kept.close();
});

test("of tools that fit alike the one that did well is found first, and one that fits better stays before it", async () => {
  const registry = createRegistry({ log });
  const tool = (description: string) => ({ description, run: () => text("done") });
  for (const id of ["alpha", "beta"])
    await registry.add(
      createToolkit(id, { [`lookup_${id}`]: tool("Look up a customer by number") }),
    );
  await registry.add(createToolkit("mail", { send_email: tool("Send an email to a customer") }));
  const store = createMemoryStore();
  const finder = createFinder({ registry, log });
  const [first, second] = (await finder.find("look up customer 7")).found.map(
    ({ target }) => target.fullName,
  );
  expect([first, second].sort()).toEqual(["alpha.lookup_alpha", "beta.lookup_beta"]);
  add(store, second ?? "", "ok", 9);
  add(store, first ?? "", "failed", 9);
  add(store, "mail.send_email", "failed", 9);
  const later = createFinder({ registry, experience: createExperience({ store, log }), log });
  await later.find("anything");
  await expect
    .poll(async () => (await later.find("look up customer 7")).found[0]?.target.fullName)
    .toBe(second);
  expect((await later.find("send an email")).found[0]?.target.fullName).toBe("mail.send_email");
  await registry.close();
  await store.close();
});
