import { expect, test } from "vitest";
import { CallQueue } from "../../src/store/calls.ts";
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
