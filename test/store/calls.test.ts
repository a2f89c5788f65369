import { expect, test } from "vitest";
import { CallQueue, unpackCalls } from "../../src/store/calls.ts";
import { callRow } from "./rows.ts";

test("the size of waiting calls counts arguments, kept arguments and kept results, if there are any", () => {
  const queue = new CallQueue();
  queue.add(callRow({ id: "a", arguments: "{}" }));
  expect(queue.characters).toBe(2);
  queue.add(callRow({ id: "b", arguments: "{}", kept: { arguments: "1234", result: "123" } }));
  expect(queue.characters).toBe(11);
  queue.add(callRow({ id: "c", arguments: "{}", kept: { arguments: "1234", result: null } }));
  expect(queue.characters).toBe(17);
});

test("confirmed batches give their memory to later ones, and every text comes out as it went in", () => {
  const queue = new CallQueue();
  const memories = ["plain", "żółw 🐢", "x".repeat(200_000), "again"].map((text, at) => {
    const kept = { arguments: JSON.stringify({ text }), result: text };
    queue.add(callRow({ id: `call_${at}`, kept }));
    queue.seal();
    const [batch] = queue.take();
    const [row] = batch ? unpackCalls(batch.calls) : [];
    expect(row?.[0]).toBe(`call_${at}`);
    expect(row?.slice(-3, -1)).toEqual([kept.arguments, kept.result]);
    queue.confirm(batch?.number ?? 0);
    return batch?.calls.memory;
  });
  expect(memories[1]).toBe(memories[0]);
  expect(memories[2]).not.toBe(memories[0]);
  expect(memories[3]).toBe(memories[0]);
  expect(queue.rows).toBe(0);
});
