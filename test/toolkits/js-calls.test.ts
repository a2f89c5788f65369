import { MessageChannel } from "node:worker_threads";
import { expect, test } from "vitest";
import { ClockRecorder, HallPort } from "../../src/toolkits/programs/hall-port.ts";
import { RealmCalls } from "../../src/toolkits/programs/js/realm-calls.ts";
import type { ThreadStart } from "../../src/toolkits/programs/protocol.ts";

test("answers that arrived together are delivered in the order of their arrival", () => {
  const { port1, port2 } = new MessageChannel();
  const start = { shared: new Int32Array(new SharedArrayBuffer(64)), replies: port2 };
  const hall = new HallPort(
    start as unknown as ThreadStart,
    () => {},
    () => {},
  );
  hall.begin();
  const clock = new ClockRecorder();
  clock.begin();
  const calls = new RealmCalls({ hall, clock });
  calls.begin();
  for (const name of ["a", "b", "c"])
    calls.request("call", JSON.stringify({ name, arguments: {} }));
  for (const number of [3, 1, 2]) port1.postMessage({ number, answer: `{"value":${number}}` });

  const delivered = [1, 2, 3].map(() => calls.wait(5_000));
  expect(delivered).toEqual([3, 1, 2].map((number) => ({ number, answer: `{"value":${number}}` })));
  expect(clock.end().readings?.arrivals).toEqual([3, 1, 2]);
  expect(calls.areOpen).toBe(false);
  port1.close();
});
