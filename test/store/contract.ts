import { describe, expect, test } from "vitest";
import type { Store } from "../../src/store/store.ts";
import { callRow } from "./rows.ts";

const hour = 3_600_000;
const morning = Math.floor(Date.now() / hour) * hour - 12 * hour;

/** The tests that every store must pass. `open` returns a new, empty one. */
export function describeStore(name: string, open: () => Promise<Store>): void {
  async function withStore(use: (store: Store) => Promise<void>): Promise<void> {
    const store = await open();
    try {
      await use(store);
    } finally {
      await store.close();
    }
  }

  describe(`a store ${name}`, () => {
    test("returns calls as they were added, without their arguments", () =>
      withStore(async (store) => {
        const row = callRow({
          id: "call_1",
          parent: "call_0",
          root: "call_0",
          face: "agents",
          planner: "local",
          ms: 1.5,
        });
        store.calls.add(row);
        const { arguments: _never, ...rest } = row;
        const [kept, ...others] = await store.calls.list();
        expect(others).toEqual([]);
        expect(kept).toEqual({
          ...rest,
          seq: 1,
          digest: expect.stringMatching(/^[\w-]{43}$/),
          arguments: null,
          result: null,
        });
      }));

    test("describes calls that are given as functions before anything is read, in order", () =>
      withStore(async (store) => {
        for (const id of ["call_1", "call_2"]) store.calls.add(() => callRow({ id }));
        store.calls.add(callRow({ id: "call_3" }));
        store.calls.add(() => callRow({ id: "call_4" }));
        const ids = (await store.calls.list()).map(({ id }) => id);
        expect(ids).toEqual(["call_1", "call_2", "call_3", "call_4"]);
        store.calls.add(() => callRow({ id: "call_5" }));
        expect((await store.statistics()).total.calls).toBe(5);
      }));

    test("tells people apart in calls, decisions and figures", () =>
      withStore(async (store) => {
        const [anna, ben] = ["anna@https://id.example", "ben"];
        const add = (id: string, person: string | null, code: "TIMEOUT" | null = null): void => {
          const outcome = code ? "failed" : "ok";
          store.calls.add(
            callRow({ id, at: morning, person, token: person && "ci", outcome, code }),
          );
        };
        add("call_1", anna);
        add("call_2", anna, "TIMEOUT");
        add("call_3", ben);
        add("call_4", null);
        await store.audit.append({ kind: "approved", subject: "a", caller: anna, reason: "" });
        await store.audit.append({ kind: "approved", subject: "b", caller: ben, reason: "" });

        const calls = await store.calls.list({ person: anna });
        expect(calls.map(({ id, token }) => [id, token])).toEqual([
          ["call_1", "ci"],
          ["call_2", "ci"],
        ]);
        const rows = await store.audit.list({ person: ben });
        expect(rows.map(({ subject }) => subject)).toEqual(["b"]);
        const { people, total } = await store.statistics(morning);
        expect(total.calls).toBe(4);
        expect(people?.map(({ person, calls, timeouts }) => [person, calls, timeouts])).toEqual([
          [anna, 2, 1],
          [ben, 1, 0],
        ]);
        expect((await store.statistics(morning, ben)).total).toMatchObject({ calls: 1, errors: 0 });
        expect((await store.statistics(morning, "nobody")).total.calls).toBe(0);
      }));

    test("keeps texts exactly, with all characters", () =>
      withStore(async (store) => {
        const texts = [
          "",
          "NULL",
          '"quoted"',
          "back\\slash \\x41",
          "{a,b}",
          "a\nb\tc",
          "Größe 😀",
          "$1 ?",
        ];
        for (const [at, text] of texts.entries())
          store.calls.add(callRow({ id: `call_${at}`, caller: text, face: text }));
        for (const reason of texts)
          await store.audit.append({ kind: "granted", subject: "a.b", caller: "alice", reason });
        const calls = await store.calls.list();
        expect(calls.map(({ caller, face }) => [caller, face])).toEqual(
          texts.map((text) => [text, text]),
        );
        expect((await store.audit.list()).map(({ reason }) => reason)).toEqual(texts);
        expect((await store.audit.verify()).broken).toBeUndefined();
      }));

    test("computes the same digest for arguments in any key order, and another one for other arguments", () =>
      withStore(async (store) => {
        for (const [index, text] of [
          '{"a":1,"b":[{"x":1,"y":2}]}',
          '{"b":[{"y":2,"x":1}],"a":1}',
          '{"a":1,"b":[]}',
          "",
        ].entries()) {
          store.calls.add(callRow({ id: `call_${index}`, arguments: text }));
        }
        const [one, same, other, none] = (await store.calls.list()).map(({ digest }) => digest);
        expect(same).toBe(one);
        expect(other).not.toBe(one);
        expect(none).toBeNull();
      }));

    test("keeps complete arguments and results only if the row has them", () =>
      withStore(async (store) => {
        store.calls.add(
          callRow({ id: "call_1", kept: { arguments: '{"a":"***"}', result: '{"content":[]}' } }),
        );
        expect(await store.calls.list()).toMatchObject([
          { arguments: '{"a":"***"}', result: '{"content":[]}' },
        ]);
      }));

    test("has one row for a call that has begun, and updates it when the call ends", () =>
      withStore(async (store) => {
        await store.calls.begin(callRow({ id: "call_1", outcome: "running", ms: 0, bytesOut: 0 }));
        expect(await store.calls.list()).toMatchObject([{ id: "call_1", outcome: "running" }]);
        expect((await store.statistics()).total.calls).toBe(0);
        store.calls.add(callRow({ id: "call_1", outcome: "failed", code: "TIMEOUT", ms: 30_000 }));
        expect(await store.calls.list()).toMatchObject([
          { id: "call_1", outcome: "failed", code: "TIMEOUT", ms: 30_000 },
        ]);
        expect((await store.statistics()).total).toMatchObject({ calls: 1, timeouts: 1 });
      }));

    test("keeps rows complete and in order when many arrive at once, including the end of a running call", () =>
      withStore(async (store) => {
        await store.calls.begin(callRow({ id: "call_0", outcome: "running" }));
        const rows = Array.from({ length: 39 }, (_, i) =>
          callRow({
            id: `call_${i + 1}`,
            tool: `github.tool_${i}`,
            arguments: `{"i":${i}}`,
            ms: i,
          }),
        );
        const end = callRow({ id: "call_0", tool: "github.long", ms: 39 });
        for (const row of [...rows.slice(0, 20), end, ...rows.slice(20)]) store.calls.add(row);
        const kept = await store.calls.list();
        expect(kept.map(({ seq, id, tool, ms, outcome }) => [seq, id, tool, ms, outcome])).toEqual(
          [end, ...rows].map(({ id, tool, ms }, i) => [i + 1, id, tool, ms, "ok"]),
        );
        expect(new Set(kept.map(({ digest }) => digest)).size).toBe(40);
      }));

    test("filters calls by time, tool, toolkit, outcome and code", () =>
      withStore(async (store) => {
        store.calls.add(callRow({ id: "call_1", at: 1_000 }));
        store.calls.add(callRow({ id: "call_2", at: 2_000, outcome: "error" }));
        store.calls.add(callRow({ id: "call_3", at: 3_000, outcome: "failed", code: "TIMEOUT" }));
        store.calls.add(
          callRow({ id: "call_4", at: 4_000, toolkit: "time_tool", tool: "time_tool.now" }),
        );
        const ids = async (filter: Parameters<Store["calls"]["list"]>[0]): Promise<string[]> =>
          (await store.calls.list(filter)).map(({ id }) => id);
        expect(await ids({})).toEqual(["call_1", "call_2", "call_3", "call_4"]);
        expect(await ids({ since: 3_000 })).toEqual(["call_3", "call_4"]);
        expect(await ids({ tool: "time_tool.now" })).toEqual(["call_4"]);
        expect(await ids({ tool: "github" })).toEqual(["call_1", "call_2", "call_3"]);
        expect(await ids({ outcome: "error" })).toEqual(["call_2"]);
        expect(await ids({ outcome: "TIMEOUT", tool: "github" })).toEqual(["call_3"]);
        expect(await ids({ limit: 2 })).toEqual(["call_3", "call_4"]);
        expect(await ids({ after: 1, limit: 2 })).toEqual(["call_2", "call_3"]);
        expect(await ids({ root: "call_2" })).toEqual(["call_2"]);
      }));

    test("counts refused calls as calls, not as errors", () =>
      withStore(async (store) => {
        for (const code of ["DENIED", "APPROVAL_NEEDED", "EXECUTION"] as const)
          store.calls.add(callRow({ id: code, at: morning, outcome: "failed", code }));
        expect((await store.statistics(morning)).total).toMatchObject({ calls: 3, errors: 1 });
      }));

    test("counts calls, errors, timeouts, cancellations, bytes and durations per tool and toolkit", () =>
      withStore(async (store) => {
        for (let i = 1; i <= 100; i++)
          store.calls.add(
            callRow({ id: `a${i}`, at: morning, ms: i, outcome: i > 90 ? "error" : "ok" }),
          );
        for (let i = 1; i <= 10; i++) {
          store.calls.add(
            callRow({
              id: `b${i}`,
              at: morning + hour,
              tool: "github.list",
              ms: 1_000,
              outcome: "failed",
              code: "TIMEOUT",
            }),
          );
        }
        store.calls.add(
          callRow({
            id: "c1",
            at: morning + hour,
            toolkit: null,
            tool: "an invented name",
            outcome: "failed",
            code: "NOT_FOUND",
          }),
        );
        for (let i = 1; i <= 2; i++)
          store.calls.add(
            callRow({
              id: `d${i}`,
              at: morning + hour,
              tool: "github.wait",
              outcome: "failed",
              code: "CANCELLED",
            }),
          );
        const { from, to, total, toolkits, tools } = await store.statistics(morning);
        expect([from, to]).toEqual([morning, morning + 2 * hour]);
        expect(total).toMatchObject({
          calls: 113,
          errors: 21,
          cancelled: 2,
          timeouts: 10,
          bytesIn: 113 * 40,
          bytesOut: 113 * 200,
          trend: [100, 13],
        });
        expect(toolkits.map(({ toolkit, calls }) => [toolkit, calls])).toEqual([
          ["github", 112],
          ["(unknown)", 1],
        ]);
        expect(
          tools.map(({ toolkit, tool, calls, errorRate }) => [toolkit, tool, calls, errorRate]),
        ).toEqual([
          ["github", "github.create_issue", 100, 0.1],
          ["github", "github.list", 10, 1],
          // A cancelled call is not an error.
          ["github", "github.wait", 2, 0],
          ["(unknown)", "(unknown)", 1, 1],
        ]);
        const { by, periods } = await store.series(morning);
        expect([by, ...periods.map(({ start, calls, errors }) => [start, calls, errors])]).toEqual([
          "hour",
          [morning, 100, 10],
          [morning + hour, 13, 11],
        ]);
        expect((await store.series(morning, "github.list")).periods).toMatchObject([
          { start: morning + hour, calls: 10, timeouts: 10, bytesOut: 10 * 200 },
        ]);
        expect((await store.series(morning, "github")).periods).toHaveLength(2);
        const [{ p50Ms = 0, p95Ms = 0, p99Ms = 0 } = {}] = tools;
        for (const [measured, truth] of [
          [p50Ms, 50],
          [p95Ms, 95],
          [p99Ms, 99],
        ] as const) {
          expect(measured / truth).toBeGreaterThan(0.94);
          expect(measured / truth).toBeLessThan(1.06);
        }
      }));

    test("counts only calls since a time", () =>
      withStore(async (store) => {
        store.calls.add(callRow({ id: "call_1", at: morning }));
        store.calls.add(callRow({ id: "call_2", at: morning + 3 * hour }));
        expect((await store.statistics(morning + hour)).total.calls).toBe(1);
        // The hour of that time is included completely.
        expect((await store.statistics(morning + 3 * hour + 1)).total.calls).toBe(1);
        const nothing = await store.statistics(morning + 4 * hour);
        expect(nothing).toMatchObject({
          by: "hour",
          from: null,
          to: null,
          total: { calls: 0, errorRate: 0, trend: [] },
          tools: [],
        });
      }));

    test("counts older calls by day", () =>
      withStore(async (store) => {
        for (const at of [morning - 240 * hour, morning - 24 * hour, morning])
          store.calls.add(callRow({ id: `call_${at}`, at }));
        expect(await store.statistics()).toMatchObject({ by: "day", total: { calls: 3 } });
        expect(await store.statistics(morning - 200 * hour)).toMatchObject({
          by: "day",
          total: { calls: 2 },
        });
        expect(await store.statistics(morning - 24 * hour)).toMatchObject({
          by: "hour",
          total: { calls: 2 },
        });
      }));

    test("keeps the audit as a chain that can be verified", () =>
      withStore(async (store) => {
        expect(await store.audit.verify()).toEqual({ rows: 0, head: null });
        await store.audit.append({
          kind: "granted",
          subject: "github.delete",
          caller: "alice",
          reason: "asked twice",
          details: { level: "trusted" },
        });
        await store.audit.append({
          kind: "blocked",
          subject: "github.push",
          caller: "claude",
          reason: "not trusted",
        });
        const rows = await store.audit.list();
        expect(rows).toMatchObject([
          {
            seq: 1,
            kind: "granted",
            subject: "github.delete",
            caller: "alice",
            reason: "asked twice",
            details: { level: "trusted" },
          },
          { seq: 2, kind: "blocked", details: null },
        ]);
        expect(await store.audit.verify()).toEqual({ rows: 2, head: rows[1]?.hash });
        expect(await store.audit.list({ outcome: "blocked" })).toHaveLength(1);
        expect(await store.audit.list({ tool: "github.delete" })).toHaveLength(1);
        expect(await store.audit.list({ after: 1 })).toMatchObject([{ seq: 2 }]);
      }));

    test("keeps documents until they are replaced, removed or expired", () =>
      withStore(async ({ registrations, discoveries, runs }) => {
        await registrations.put("weather", { endpoint: "http://127.0.0.1:1" });
        await registrations.put("weather", { endpoint: "http://127.0.0.1:2" });
        await registrations.put("api", null);
        await runs.putText("text", '{"b":[1,"ü"]}', { ttlMs: 60_000 });
        await runs.putText("old", "1", { ttlMs: -1 });
        await discoveries.put("github", ["a"], { ttlMs: 60_000 });
        await discoveries.put("old", ["b"], { ttlMs: -1 });
        expect(await registrations.list()).toEqual([
          { key: "api", value: null },
          { key: "weather", value: { endpoint: "http://127.0.0.1:2" } },
        ]);
        expect([
          await discoveries.find("github"),
          await discoveries.find("old"),
          await runs.find("github"),
        ]).toEqual([["a"], undefined, undefined]);
        expect(await runs.list()).toEqual([{ key: "text", value: { b: [1, "ü"] } }]);
        expect((await registrations.list("we")).map(({ key }) => key)).toEqual(["weather"]);
        await registrations.remove("weather");
        expect(await registrations.find("weather")).toBeUndefined();
      }));

    test("has everything after a flush, and can be closed twice", () =>
      withStore(async (store) => {
        for (let i = 0; i < 1_000; i++) store.calls.add(callRow({ id: `call_${i}` }));
        await store.flush();
        expect(store.state()).toMatchObject({ problem: undefined, waiting: 0, lost: 0 });
        expect(await store.calls.list({ limit: 2_000 })).toHaveLength(1_000);
        await store.close();
      }));
  });
}
