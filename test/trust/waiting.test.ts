import { afterEach, expect, test, vi } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { createHandlers } from "../../src/hall/admin-handlers.ts";
import type { Settings } from "../../src/hall/settings.ts";
import type { PendingApproval } from "../../src/trust/approvals.ts";
import type { RawClient } from "../servers/client.ts";
import { openWorld, type World } from "./world.ts";

/** Calls that wait for a person elsewhere: how long, and what an answer does. */
const deleting = { name: "files.delete_file", arguments: { path: "a" } };

afterEach(() => {
  vi.useRealTimers();
});

interface Waiting extends World {
  readonly client: RawClient;
  readonly left: PendingApproval[];
}

/** A hall whose approvals are answered elsewhere, with a client that cannot ask; from here on time is frozen. */
async function openWaiting(): Promise<Waiting> {
  const left: PendingApproval[] = [];
  const world = await openWorld({ hall: { approvalLeft: (pending) => void left.push(pending) } });
  const client = await world.connect();
  vi.useFakeTimers({
    toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval", "Date"],
  });
  return Object.assign(world, { client, left });
}

/** The first call loads the validator, which takes real time. */
async function untilLeft({ left }: Waiting, count: number): Promise<void> {
  for (let turn = 0; left.length < count && turn < 1e6; turn++)
    await new Promise((resolve) => setImmediate(resolve));
  expect(left).toHaveLength(count);
}

const pass = (ms: number): Promise<unknown> => vi.advanceTimersByTimeAsync(ms);
const answerOf = async (client: RawClient, id: number | string): Promise<JsonObject> =>
  (await client.answer(id)).result as JsonObject;

function answer({ door, left }: Waiting, given: "once" | "no"): void {
  door.hall.approvals.answer(left.at(-1)?.token ?? "", given);
}

test("a call without a progress token waits 50 s; the repeated call goes through once", async () => {
  await using world = await openWaiting();
  const { client, ran, left } = world;
  const first = client.ask("tools/call", deleting);
  await untilLeft(world, 1);
  await pass(50_000);
  expect(await answerOf(client, first)).toMatchObject({
    isError: true,
    structuredContent: {
      error_type: "approval_needed",
      suggestion: expect.stringContaining("call again"),
      next: [{ do: "approve", withinSeconds: 250 }, { do: "trust" }],
    },
  });
  const second = client.ask("tools/call", deleting);
  await pass(1_000);
  expect(left).toHaveLength(1);
  answer(world, "once");
  expect(await answerOf(client, second)).toMatchObject({ content: [{ text: "done" }] });

  // Answered between two calls.
  const third = client.ask("tools/call", deleting);
  await untilLeft(world, 2);
  await pass(50_000);
  await answerOf(client, third);
  answer(world, "once");
  const fourth = client.ask("tools/call", deleting);
  expect(await answerOf(client, fourth)).toMatchObject({ content: [{ text: "done" }] });
  expect(ran).toEqual(["files.delete_file", "files.delete_file"]);
});

test("a call in the registry dialect waits no longer than its own timeout", async () => {
  await using world = await openWaiting();
  const { client } = world;
  const id = client.ask("tools/call", {
    tool_name: "files",
    function_name: "delete_file",
    arguments: { path: "a" },
    timeout: 2,
  });
  await untilLeft(world, 1);
  await pass(2_000);
  expect(await client.answer(id)).toMatchObject({
    error: { code: -32000, data: { error_type: "approval_needed" } },
  });
});

test("a call with a progress token stays open for five minutes and says every 5 s that it waits", async () => {
  await using world = await openWaiting();
  const { client } = world;
  const id = client.ask("tools/call", { ...deleting, _meta: { progressToken: "p" } });
  await untilLeft(world, 1);
  await pass(299_000);
  const reports = client.received.filter(({ method }) => method === "notifications/progress");
  expect(reports).toHaveLength(60);
  expect(reports[0]).toMatchObject({
    params: { progressToken: "p", message: "waiting for approval: guildhall approvals" },
  });
  await pass(1_000);
  expect(await answerOf(client, id)).toMatchObject({
    structuredContent: { error_type: "approval_needed" },
  });
});

test("of two calls that are the same, one yes lets one through, and a no ends both", async () => {
  await using world = await openWaiting();
  const { client, ran, left } = world;
  const ids = [client.ask("tools/call", deleting), client.ask("tools/call", deleting)];
  await untilLeft(world, 1);
  await pass(100);
  answer(world, "once");
  await pass(100);
  expect(ran).toEqual(["files.delete_file"]);
  expect(left).toHaveLength(2);
  answer(world, "no");
  const results = await Promise.all(ids.map((id) => answerOf(client, id)));
  expect(results.filter(({ isError }) => isError)).toMatchObject([
    { structuredContent: { error_type: "denied" } },
  ]);
});

test.each(["hall", "always"] as const)(
  "an answer for the tool (%s) lets all its waiting calls through, and no call of another",
  async (given) => {
    await using world = await openWaiting();
    const { client, ran, left, door } = world;
    const paths = ["a", "a", "b", "c"];
    const ids = paths.map((path) => client.ask("tools/call", { ...deleting, arguments: { path } }));
    const other = client.ask("tools/call", { name: "files.write_file", arguments: {} });
    await untilLeft(world, 4);
    const { approve } = createHandlers(door.hall, async () => {}, { folder: "" } as Settings);
    const token = left.find(({ target }) => target.fullName === "files.delete_file")?.token ?? "";
    await approve({ token, answer: given });
    for (const id of ids)
      expect(await answerOf(client, id)).toMatchObject({ content: [{ text: "done" }] });
    expect(ran).toEqual(paths.map(() => "files.delete_file"));
    expect(door.hall.approvals.pending().map(({ target }) => target.fullName)).toEqual([
      "files.write_file",
    ]);
    await pass(50_000);
    expect(await answerOf(client, other)).toMatchObject({ isError: true });
  },
);

test("a no that comes after the call has answered denies the repeated call", async () => {
  await using world = await openWaiting();
  const { client, ran } = world;
  const first = client.ask("tools/call", deleting);
  await untilLeft(world, 1);
  await pass(50_000);
  await answerOf(client, first);
  answer(world, "no");
  const second = client.ask("tools/call", deleting);
  expect(await answerOf(client, second)).toMatchObject({
    structuredContent: { error_type: "denied" },
  });
  expect(ran).toEqual([]);
});

test("a call that its client cancels waits no longer, and its approval stays", async () => {
  await using world = await openWaiting();
  const { client, door } = world;
  const requestId = client.ask("tools/call", deleting);
  await untilLeft(world, 1);
  client.send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId } });
  await pass(100);
  expect(door.hall.approvals.pending()).toHaveLength(1);
  answer(world, "once");
  const again = client.ask("tools/call", deleting);
  expect(await answerOf(client, again)).toMatchObject({ content: [{ text: "done" }] });
});

test("an unknown answer over the control socket approves nothing, and the call still waits", async () => {
  await using world = await openWaiting();
  const { client, door, left, ran } = world;
  const id = client.ask("tools/call", deleting);
  await untilLeft(world, 1);
  const { approve } = createHandlers(door.hall, async () => {}, { folder: "" } as Settings);
  const token = left[0]?.token ?? "";
  await expect(approve({ token, answer: "maybe" as never })).rejects.toMatchObject({
    code: "INVALID_PARAMS",
  });
  expect(ran).toEqual([]);

  await approve({ token, answer: "no" });
  expect(await answerOf(client, id)).toMatchObject({ isError: true });
  expect(ran).toEqual([]);
});
