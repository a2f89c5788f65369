import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createHallEvents } from "../../src/hall/events.ts";
import type { PageEvent } from "../../src/hall/page/contract.ts";
import { createPageEvents } from "../../src/hall/page/events.ts";
import { allRights } from "../../src/server/rights.ts";
import { callRow } from "../store/rows.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("in a burst of calls and lines a page gets the first event, then one request to read the rest", async () => {
  const hall = createHallEvents();
  const events = createPageEvents(hall, 0);
  const heard: PageEvent[] = [];
  const caller = { principal: "user", rights: allRights };
  events.follow(events.last(), caller, ({ data }) => void heard.push(JSON.parse(data)));
  const burst = (count: number): void => {
    for (let at = 0; at < count; at++) {
      hall.emit({ type: "call", row: callRow({ id: `call-${at}` }) });
      hall.emit({ type: "log", server: "shop", at, text: `line ${at}` });
    }
  };
  const sizes = (): readonly (string | number)[] =>
    heard.splice(0).map((event) => {
      if (event.type === "calls") return event.calls.length;
      return event.type === "logs" ? event.lines.length : JSON.stringify(event);
    });

  burst(1_200);
  await vi.advanceTimersByTimeAsync(100);
  expect(sizes()).toEqual([500, 500]);
  // It continues: nothing is read while there is more to come.
  burst(600);
  await vi.advanceTimersByTimeAsync(100);
  expect(sizes()).toEqual([500, 500]);

  burst(10);
  await vi.advanceTimersByTimeAsync(100);
  const read = (what: string): string => JSON.stringify({ type: "changed", what });
  expect(sizes()).toEqual([10, 10, read("calls"), read("logs")]);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(sizes()).toEqual([]);
  events.close();
});
