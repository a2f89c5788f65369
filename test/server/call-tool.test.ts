import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { modern } from "../servers/client.ts";
import { openDoor } from "../servers/door.ts";
import { connectModern } from "../servers/door-clients.ts";
import { startHall } from "../servers/hall.ts";
import {
  createAskingToolkit,
  createEchoToolkit,
  createReportingToolkit,
  createSlowToolkit,
  createToolkit,
  text,
} from "../servers/toolkits.ts";

/** A call through `call_tool` is the call itself: whatever a client sees of one it sees of the other. */
const wrap = (name: string, args?: unknown): JsonObject => ({
  name: "call_tool",
  arguments: { name, ...(args === undefined ? {} : { arguments: args }) },
});

describe.each(["legacy", "modern"] as const)("in the %s era", (era) => {
  const dress = (params: JsonObject, capabilities: JsonObject = {}): JsonObject =>
    era === "modern" ? modern(params, capabilities) : params;

  async function start(toolkits = [createEchoToolkit()], capabilities: JsonObject = {}) {
    const hall = await startHall({ toolkits, faces: ["search"] });
    const client = hall.connect();
    if (era === "legacy") await client.greet("2025-11-25", capabilities);
    return { hall, client, [Symbol.asyncDispose]: () => hall[Symbol.asyncDispose]() };
  }

  test.each([
    ["an answer", "echo.typed", { text: "hi" }],
    ["arguments that do not fit", "echo.typed", { times: "many" }],
    ["a tool that does not exist", "echo.ecko", {}],
    ["a bare name", "typed", { text: "hi" }],
  ])("%s is the same as direct", async (_what, name, args) => {
    await using line = await start();
    const direct = await line.client.request("tools/call", dress({ name, arguments: args }));
    const wrapped = await line.client.request("tools/call", dress(wrap(name, args)));
    expect({ ...wrapped, id: 0 }).toEqual({ ...direct, id: 0 });
  });

  test("the record and the limits see the tool that is meant, not the wrapper", async () => {
    await using line = await start();
    const { result } = await line.client.request(
      "tools/call",
      dress(wrap("echo.typed", { times: "many" })),
    );
    expect(result).toMatchObject({
      isError: true,
      structuredContent: { toolName: "echo.typed", error_type: "validation" },
    });
  });

  test("arguments may be left out, and may be JSON in a text", async () => {
    await using line = await start();
    const bare = await line.client.result("tools/call", dress(wrap("echo.echo")));
    expect(bare.structuredContent).toEqual({});
    const text = await line.client.result("tools/call", dress(wrap("echo.echo", '{"a":1}')));
    expect(text.structuredContent).toEqual({ a: 1 });
  });

  test.each([
    ["no name", {}],
    ["a name that is no text", { name: 5 }],
    ["itself", { name: "call_tool", arguments: { name: "echo.echo" } }],
    ["arguments that are a list", { name: "echo.echo", arguments: [1] }],
    ["arguments that are no JSON", { name: "echo.echo", arguments: "{" }],
  ])("%s is refused and says how to write it", async (_what, args) => {
    await using line = await start();
    const { result } = await line.client.request(
      "tools/call",
      dress({ name: "call_tool", arguments: args }),
    );
    expect(result).toMatchObject({
      isError: true,
      structuredContent: { toolName: "call_tool", error_type: "validation" },
    });
    expect(JSON.stringify(result)).toContain("invalid arguments for call_tool");
  });

  test("progress is reported under the client's own token", async () => {
    await using line = await start([createReportingToolkit()]);
    const params = dress(
      wrap("reporting.steps", {
        progress: [
          [1, 2],
          [2, 2],
        ],
      }),
    );
    const meta = { ...(params._meta as JsonObject | undefined), progressToken: "p" };
    await line.client.result("tools/call", { ...params, _meta: meta });
    const progress = line.client.received.filter(
      ({ method }) => method === "notifications/progress",
    );
    expect(progress.length).toBeGreaterThan(0);
    expect(progress[0]?.params).toMatchObject({ progressToken: "p" });
  });

  test("a cancel reaches the tool", async () => {
    const slow = createSlowToolkit();
    await using line = await start([slow]);
    const id = line.client.ask("tools/call", dress(wrap("slow.wait", {})));
    await expect.poll(() => slow.running).toBe(1);
    line.client.notify("notifications/cancelled", { requestId: id });
    await expect.poll(() => slow.aborted.map(({ code }) => code)).toEqual(["CANCELLED"]);
  });
});

test("a legacy client is asked by the tool as if it had called it", async () => {
  await using hall = await startHall({ toolkits: [createAskingToolkit()], faces: ["search"] });
  const client = hall.connect();
  await client.greet("2025-11-25", { elicitation: {} });
  const id = client.ask("tools/call", wrap("asking.one", {}));
  const question = await client.heard("elicitation/create");
  client.send({
    jsonrpc: "2.0",
    id: question.id,
    result: { action: "accept", content: { name: "Ada" } },
  });
  const { result } = await client.answer(id);
  expect(result).toMatchObject({ structuredContent: { name: { content: { name: "Ada" } } } });
});

test("a modern client is asked with input_required, and its second call_tool resumes the first", async () => {
  const asking = createAskingToolkit();
  await using hall = await startHall({ toolkits: [asking], faces: ["search"] });
  const client = hall.connect();
  const capabilities = { elicitation: {} };
  const first = await client.result("tools/call", modern(wrap("asking.one", {}), capabilities));
  expect(first).toMatchObject({ resultType: "input_required" });
  const inputResponses = { name: { action: "accept", content: { name: "Ada" } } };
  const second = await client.result(
    "tools/call",
    modern(
      { ...wrap("asking.one", {}), requestState: first.requestState, inputResponses },
      capabilities,
    ),
  );
  expect(second).toMatchObject({
    resultType: "complete",
    structuredContent: { name: { content: { name: "Ada" } } },
  });
  expect(asking.steps).toEqual(["before", "after"]);
});

test("over HTTP the header Mcp-Name is call_tool, as in the body", async () => {
  await using door = await openDoor({ toolkits: [createEchoToolkit()], faces: ["search"] });
  const client = await connectModern(door);
  expect(await client.result("tools/call", modern(wrap("echo.echo", { a: 1 })))).toMatchObject({
    structuredContent: { a: 1 },
  });
  const body = {
    jsonrpc: "2.0",
    id: 1,
    method: "tools/call",
    params: modern(wrap("echo.echo", { a: 1 })),
  };
  const headers = {
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": "tools/call",
    "mcp-name": "echo.echo",
  };
  const refused = await door.send({ body, headers });
  expect(refused.status).toBe(400);
});

test("a tool that works for its caller finds and calls others through the same two", async () => {
  const worker = createToolkit("worker", {
    work: {
      async run(_args, context) {
        const found = await context.call?.("find_tools", { task: "echo", limit: 1 });
        const { tools } = (found ?? text("no gateway")).structuredContent as {
          tools: { name: string }[];
        };
        return (
          (await context.call?.("call_tool", {
            name: tools[0]?.name ?? "",
            arguments: { a: 1 },
          })) ?? text("no gateway")
        );
      },
    },
  });
  await using hall = await startHall({ toolkits: [worker, createEchoToolkit()] });
  expect(
    await hall.connect().result("tools/call", modern({ name: "worker.work", arguments: {} })),
  ).toMatchObject({ structuredContent: { a: 1 } });
});
