import { expect, test } from "vitest";
import { SlotMap } from "../../src/base/slot-map.ts";

test("it behaves like a Map under any sequence of changes", () => {
  const fleeting = new SlotMap<string | number, { readonly turn: number }>();
  const plain = new Map<string | number, { readonly turn: number }>();
  let seed = 7;
  for (let turn = 0; turn < 3_000; turn++) {
    seed = (seed * 48_271) % 2_147_483_647;
    // A number and its text are two keys, as two requests are.
    const key = seed % 2 === 0 ? seed % 40 : String(seed % 40);
    if (seed % 3 === 0) expect(fleeting.delete(key)).toBe(plain.delete(key));
    else {
      fleeting.set(key, { turn });
      plain.set(key, { turn });
    }
    expect(fleeting.size).toBe(plain.size);
    expect(fleeting.has(key)).toBe(plain.has(key));
    expect(fleeting.get(key)).toEqual(plain.get(key));
  }
  expect(fleeting.keys()).toEqual([...plain.keys()]);
  expect(fleeting.values()).toEqual([...plain.values()]);
});

test("its lists are snapshots, so that entries may be removed while iterating", () => {
  const fleeting = new SlotMap<number, string>();
  for (const key of [1, 2, 3]) fleeting.set(key, `value ${key}`);
  for (const key of fleeting.keys()) fleeting.delete(key);
  expect(fleeting.size).toBe(0);
  expect(fleeting.values()).toEqual([]);
});
