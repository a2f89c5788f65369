/** Long calls as tasks: both forms in front, both behind, and clients that know of none. */
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { modern, type RawClient } from "../servers/client.ts";
import { until } from "../servers/until.ts";
import { faulty, startUpstreams, type UpstreamHall } from "../servers/upstreams.ts";

const file = fileURLToPath(new URL("../servers/tasks.mjs", import.meta.url));
const extensions = { "io.modelcontextprotocol/tasks": {} };
const capabilities = { elicitation: { form: {} } };
const related = "io.modelcontextprotocol/related-task";

async function start(form: "legacy" | "modern"): Promise<UpstreamHall> {
  const hall = await startUpstreams({ box: faulty("", { args: [file, form] }) });
  await hall.untilListed("box.work");
  return hall;
}

async function join(hall: UpstreamHall): Promise<RawClient> {
  const client = hall.connect();
  await client.greet("2025-11-25", capabilities);
  return client;
}

const answerTo = (question: JsonObject): JsonObject => ({
  jsonrpc: "2.0",
  id: question.id,
  result: { action: "accept", content: { name: "Ada" } },
});

/** A client of 2026 that takes tasks. */
const withTasks = (params: JsonObject): JsonObject =>
  modern(params, { ...capabilities, extensions });

/** Until the task has this status. */
function untilTask(client: RawClient, taskId: unknown, status: string): Promise<JsonObject> {
  return until(async () => {
    const task = await client.result("tasks/get", withTasks({ taskId }));
    return task.status === status ? task : undefined;
  }, `the task is ${status}`);
}

test.each(["legacy", "modern"] as const)(
  "a client without tasks waits for the task of a %s server, and is asked meanwhile",
  async (form) => {
    await using hall = await start(form);
    const client = await join(hall);
    const id = client.ask("tools/call", { name: "box.work", arguments: { asks: true } });
    client.send(answerTo(await client.heard("elicitation/create")));
    const { result } = await client.answer(id);
    expect(result).toMatchObject({ content: [{ text: "done for Ada" }] });
    expect(JSON.stringify(result)).not.toContain(related);
  },
);

test.each(["legacy", "modern"] as const)(
  "a client of 2025-11-25 follows the task of a %s server itself",
  async (form) => {
    await using hall = await start(form);
    const client = await join(hall);
    if (form === "modern") {
      // Definitions of 2026 do not say which tools run as tasks, so such a client cannot ask for one.
      const params = { name: "box.work", arguments: {}, task: { ttl: 60_000 } };
      expect((await client.request("tools/call", params)).error).toMatchObject({ code: -32_601 });
      return;
    }
    const { tools } = await client.result("tools/list");
    expect(tools).toContainEqual(
      expect.objectContaining({ name: "box__work", execution: { taskSupport: "optional" } }),
    );
    const params = { name: "box.work", arguments: { asks: true }, task: { ttl: 60_000 } };
    const { task } = await client.result("tools/call", params);
    expect(task).toMatchObject({ status: "working", ttl: 60_000, pollInterval: 1_000 });
    const { taskId } = task as JsonObject;
    await until(async () => {
      const { status } = await client.result("tasks/get", { taskId });
      return status === "input_required";
    }, "it asks");
    expect(await client.result("tasks/list")).toMatchObject({ tasks: [{ taskId }] });
    const waiting = client.ask("tasks/result", { taskId });
    const question = await client.heard("elicitation/create");
    expect((question.params as JsonObject)._meta).toEqual({ [related]: { taskId } });
    client.send(answerTo(question));
    expect((await client.answer(waiting)).result).toMatchObject({
      content: [{ text: "done for Ada" }],
      _meta: { [related]: { taskId } },
    });
    expect((await client.request("tasks/cancel", { taskId })).error).toMatchObject({
      code: -32_602,
    });
  },
);

test("a client of 2026 follows a task: working, asking, completed", async () => {
  await using hall = await start("modern");
  const client = hall.connect();
  const call = { name: "box.work", arguments: { asks: true } };
  const { taskId, resultType } = await client.result("tools/call", withTasks(call));
  expect(resultType).toBe("task");
  const { inputRequests } = await untilTask(client, taskId, "input_required");
  const [key = ""] = Object.keys(inputRequests as JsonObject);
  const inputResponses = { [key]: { action: "accept", content: { name: "Ada" } } };
  const updated = await client.result("tasks/update", withTasks({ taskId, inputResponses }));
  expect(updated).not.toHaveProperty("taskId");
  const task = await untilTask(client, taskId, "completed");
  expect(task.result).toMatchObject({ content: [{ text: "done for Ada" }] });
});

test("a cancelled task is cancelled at the server", async () => {
  await using hall = await start("modern");
  const client = hall.connect();
  const call = { name: "box.work", arguments: { ms: 60_000 } };
  const { taskId } = await client.result("tools/call", withTasks(call));
  await client.result("tasks/cancel", withTasks({ taskId }));
  expect(await client.result("tasks/get", withTasks({ taskId }))).toMatchObject({
    status: "cancelled",
  });
  await until(async () => {
    const said = await client.result("tools/call", modern({ name: "box.cancelled" }));
    return JSON.stringify(said).includes("1 cancelled");
  }, "the server has heard of it");
});

test("without the extension tasks are refused, and so are unknown tasks and methods of the older form", async () => {
  await using hall = await start("modern");
  const client = hall.connect();
  const call = { name: "box.work", arguments: { ms: 60_000 } };
  const { taskId } = await client.result("tools/call", withTasks(call));
  expect((await client.request("tasks/get", modern({ taskId }))).error).toMatchObject({
    code: -32_021,
    data: { requiredCapabilities: { extensions } },
  });
  expect(
    (await client.request("tasks/get", withTasks({ taskId: "no such task" }))).error,
  ).toMatchObject({ code: -32_602 });
  for (const method of ["tasks/list", "tasks/result"])
    expect((await client.request(method, withTasks({ taskId }))).error).toMatchObject({
      code: -32_601,
    });
});
