import { expect, test } from "vitest";
import { createMemoryStore } from "../../src/store/memory-store.ts";
import { describeStore } from "./contract.ts";
import { callRow } from "./rows.ts";

describeStore("in memory", async () => createMemoryStore());

test("a store in memory keeps a limited number of rows, and its chain continues after pruning", async () => {
  const store = createMemoryStore({ callsMax: 100, auditMax: 10 });
  for (let i = 0; i < 1_000; i++) store.calls.add(callRow({ id: `call_${i}` }));
  for (let i = 0; i < 100; i++)
    await store.audit.append({
      kind: "blocked",
      subject: `tool_${i}`,
      caller: "test",
      reason: "because",
    });
  const calls = await store.calls.list({ limit: 2_000 });
  expect(calls.length).toBeLessThanOrEqual(125);
  expect(calls.at(-1)).toMatchObject({ id: "call_999", seq: 1_000 });
  expect((await store.statistics()).total.calls).toBe(1_000);
  const { rows, broken } = await store.audit.verify();
  expect(broken).toBeUndefined();
  expect(rows).toBeLessThanOrEqual(13);
});
