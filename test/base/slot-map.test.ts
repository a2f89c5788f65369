import { expect, test } from "vitest";
import { SlotMap } from "../../src/base/slot-map.ts";

const numbers: Record<string, (n: number) => number> = {
  "in a row": (n) => n,
  "with a common factor": (n) => n * 65_536,
  "beyond 32 bits": (n) => n * 2 ** 33,
  "negative and fractional": (n) => n / 2 - 30,
};

test.each(Object.entries(numbers))("it behaves like a Map: keys %s", (_, keyOf) => {
  const slots = new SlotMap<string | number, { readonly turn: number }>();
  const plain = new Map<string | number, { readonly turn: number }>();
  let seed = 7;
  for (let turn = 0; turn < 3_000; turn++) {
    seed = (seed * 48_271) % 2_147_483_647;
    const number = keyOf(seed % 120);
    // A number and its text are two keys, as two requests are.
    const key = seed % 5 === 0 ? String(number) : number;
    if (seed % 3 === 0) expect(slots.delete(key)).toBe(plain.delete(key));
    else {
      slots.set(key, { turn });
      plain.set(key, { turn });
    }
    expect(slots.size).toBe(plain.size);
    expect(slots.has(key)).toBe(plain.has(key));
    expect(slots.get(key)).toEqual(plain.get(key));
  }
  expect(slots.keys()).toEqual([...plain.keys()]);
  expect(slots.values()).toEqual([...plain.values()]);
});

test("its lists are snapshots, so that entries may be removed while iterating", () => {
  const slots = new SlotMap<number, string>();
  for (const key of [1, 2, 3]) slots.set(key, `value ${key}`);
  for (const key of slots.keys()) slots.delete(key);
  expect(slots.size).toBe(0);
  expect(slots.values()).toEqual([]);
});
