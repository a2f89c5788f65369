import { expect, test } from "vitest";
import { HallError } from "../../src/base/errors.ts";
import type { JsonObject } from "../../src/base/json.ts";
import type { Toolkit } from "../../src/tool.ts";
import { modern } from "../servers/client.ts";
import { startHall, type TestHall } from "../servers/hall.ts";
import { createToolkit, text } from "../servers/toolkits.ts";

const file = {
  name: "desk_agent",
  description: "Specialized agent for the desk.",
  tools: ["desk.*"],
  instructions: "Be brief.",
};

function createDesk(
  calls: { tool: string; args: JsonObject }[],
  rest: Partial<Toolkit> = {},
): Toolkit {
  const note = (tool: string, says: (args: JsonObject) => string) => (args: JsonObject) => {
    calls.push({ tool, args });
    return { ...text(says(args)), structuredContent: args };
  };
  const string = (description: string): JsonObject => ({ type: "string", description });
  const object = (properties: JsonObject, required: readonly string[]): JsonObject => ({
    type: "object",
    properties,
    required,
    additionalProperties: false,
  });
  return createToolkit(
    "desk",
    {
      get_weather: {
        description: "Get the current weather of a city",
        inputSchema: object({ city: string("The name of the city") }, ["city"]),
        run: note("get_weather", ({ city }) => `21 degrees in ${String(city)}`),
      },
      convert_length: {
        description: "Convert a length from one unit to another",
        inputSchema: object(
          {
            value: { type: "number", description: "The length" },
            from: { type: "string", enum: ["miles", "kilometers"] },
            to: { type: "string", enum: ["miles", "kilometers"] },
          },
          ["value", "from", "to"],
        ),
        run: note("convert_length", () => "converted"),
      },
      read_file: {
        description: "Read a file and return its text",
        inputSchema: object({ path: string("The path of the file") }, ["path"]),
        run: note("read_file", ({ path }) => `text of ${String(path)}`),
      },
      delete_file: {
        description: "Delete a file from the disk",
        inputSchema: object({ path: string("The path of the file") }, ["path"]),
        run: note("delete_file", () => "deleted"),
      },
      draw_chart: {
        description: "Draw a chart of the monthly sales",
        annotations: { readOnlyHint: true },
        inputSchema: object({}, []),
        run: () => ({ content: [{ type: "image", data: "iVBORw0KGgo=", mimeType: "image/png" }] }),
      },
      check_lift: {
        description: "Check the lift of the building",
        inputSchema: object({}, []),
        run: () => {
          throw new HallError("UNAVAILABLE", "the lift is out of order");
        },
      },
      check_alarm: {
        description: "Check the alarm of the building",
        inputSchema: object({}, []),
        run: () => ({ ...text("no bell"), isError: true }),
      },
    },
    rest,
  );
}

interface Told {
  readonly answer: string;
  readonly planner: string;
  readonly stopped_because: string;
  readonly steps: readonly {
    readonly tool: string;
    readonly arguments: JsonObject;
    readonly outcome: string;
  }[];
  readonly why?: string;
  readonly left?: readonly string[];
  readonly next?: readonly JsonObject[];
  readonly unavailable?: readonly JsonObject[];
  readonly tools?: readonly {
    readonly name: string;
    readonly missing: readonly string[];
    readonly call: JsonObject;
    readonly filled: readonly JsonObject[];
  }[];
}

async function openDesk(rest: Partial<Toolkit> = {}) {
  const calls: { tool: string; args: JsonObject }[] = [];
  const hall: TestHall = await startHall({
    toolkits: [createDesk(calls, rest)],
    agents: { files: [file] },
    planner: { kind: "local" },
  });
  const client = hall.connect();
  return {
    calls,
    async ask(task: string, more: JsonObject = {}) {
      const result = await client.result(
        "tools/call",
        modern({ name: "desk_agent", arguments: { task, ...more } }),
      );
      return {
        told: result.structuredContent as unknown as Told,
        content: result.content as readonly JsonObject[],
      };
    },
    call: (call: JsonObject) =>
      client.result("tools/call", modern({ name: "call_tool", arguments: call })),
    [Symbol.asyncDispose]: () => hall[Symbol.asyncDispose](),
  };
}

test("an unambiguous task runs, and the answer is the tool's result", async () => {
  await using desk = await openDesk();
  const { told } = await desk.ask("Read the file /etc/hosts");
  expect(told).toMatchObject({
    answer: "text of /etc/hosts",
    planner: "local",
    stopped_because: "done",
  });
  expect(told.steps).toMatchObject([
    { tool: "desk__read_file", arguments: { path: "/etc/hosts" }, outcome: "ok" },
  ]);
});

test("keys of data are arguments", async () => {
  await using desk = await openDesk();
  const { told } = await desk.ask("Get the weather", { data: { city: "Riga" } });
  expect(told.answer).toBe("21 degrees in Riga");
});

test("a tool that changes something is handed back with the exact call", async () => {
  await using desk = await openDesk();
  const { told, content } = await desk.ask("Delete the file /tmp/a.txt");
  expect(told.stopped_because).toBe("not sure");
  expect(desk.calls).toEqual([]);
  expect(told.tools?.[0]).toMatchObject({
    name: "desk__delete_file",
    missing: [],
    call: { name: "desk__delete_file", arguments: { path: "/tmp/a.txt" } },
  });
  expect(told.next?.[0]).toEqual({
    do: "call-tool",
    tool: "desk__delete_file",
    arguments: { path: "/tmp/a.txt" },
  });
  expect(content.at(-1)).toMatchObject({
    text: expect.stringContaining(
      'call_tool with {"name":"desk__delete_file","arguments":{"path":"/tmp/a.txt"}}',
    ),
    annotations: { audience: ["assistant"] },
  });
  const { tools: [, second] = [] } = told;
  expect(second?.name).not.toBe("desk__delete_file");
});

test("missing arguments are named and never invented", async () => {
  await using desk = await openDesk();
  const { told } = await desk.ask("Get the current weather");
  expect(desk.calls).toEqual([]);
  expect(told.tools?.[0]).toMatchObject({
    name: "desk__get_weather",
    call: { name: "desk__get_weather", arguments: {} },
  });
  expect(told.why).toContain("city");
  expect(told.answer).toContain("to add: city (The name of the city)");
});

test("the prepared call of an answer works as it is", async () => {
  await using desk = await openDesk();
  const { told } = await desk.ask("Convert 3.5 miles to kilometers, roughly, for my grandmother");
  const line = told.tools?.find(({ name }) => name === "desk__convert_length")?.call;
  expect(line).toMatchObject({ name: "desk__convert_length" });
  await desk.call({
    ...line,
    arguments: { value: 3.5, from: "miles", to: "kilometers", ...(line?.arguments as JsonObject) },
  });
  expect(desk.calls).toHaveLength(1);
});

test("a task with words that the tool would ignore does not run", async () => {
  await using desk = await openDesk();
  const { told } = await desk.ask("Read the file /etc/hosts aloud in a funny voice");
  expect(desk.calls).toEqual([]);
  expect(told.why).toMatch(/would ignore|not certain/);
});

test("steps run in order until one is open; the rest is handed back", async () => {
  await using desk = await openDesk();
  const { told } = await desk.ask(
    "Read the file /etc/hosts, then read the file /etc/passwd, then delete the file /tmp/a.txt",
  );
  expect(desk.calls.map(({ args }) => args.path)).toEqual(["/etc/hosts", "/etc/passwd"]);
  expect(told.steps).toHaveLength(2);
  expect(told.stopped_because).toBe("not sure");
  expect(told.answer).toContain("Result of desk__read_file:\ntext of /etc/hosts");
  expect(told.answer).toContain('Not run: "delete the file /tmp/a.txt"');
});

test("a step that refers to an earlier result is handed back", async () => {
  await using desk = await openDesk();
  const { told } = await desk.ask("Read the file /etc/hosts, then read the file it names");
  expect(told.steps).toHaveLength(1);
  expect(told.why).toBe("it refers to the result of an earlier step");
});

test("images of a tool are part of the answer", async () => {
  await using desk = await openDesk();
  const { told, content } = await desk.ask("Draw a chart of the monthly sales");
  expect(told.stopped_because).toBe("done");
  expect(content).toContainEqual({ type: "image", data: "iVBORw0KGgo=", mimeType: "image/png" });
});

test("a failing tool is named with its error", async () => {
  await using desk = await openDesk();
  const { told } = await desk.ask("Check the alarm of the building");
  expect(told.steps).toMatchObject([{ tool: "desk__check_alarm", outcome: "error" }]);
  expect(told.why).toBe("desk__check_alarm failed");
  expect(told.answer).toContain("no bell");
});

test("a task that fits no tool does not run", async () => {
  await using desk = await openDesk();
  const { told } = await desk.ask("Compose a sonnet about autumn");
  expect(told.stopped_because).toBe("not sure");
  expect(desk.calls).toEqual([]);
});

test("a tool that turns out to be unavailable is named and not offered again", async () => {
  await using desk = await openDesk();
  const { told } = await desk.ask("Check the lift of the building");
  expect(told.steps).toMatchObject([{ tool: "desk__check_lift", outcome: "unavailable" }]);
  expect(told.unavailable).toEqual([{ name: "desk__check_lift", why: "the lift is out of order" }]);
  expect(told.next?.map(({ tool }) => tool)).not.toContain("desk__check_lift");
});

test("the details of a tool's error reach the answer, and only tools that ran are listed as used", async () => {
  const details = "API rate limit exceeded";
  const upstream = createToolkit("weather", {
    get_weather: {
      description: "Get current weather for a location",
      inputSchema: {
        type: "object",
        properties: { location: { type: "string" } },
        required: ["location"],
      },
      run: () => {
        const data = { toolName: "get_weather", details };
        const relayed = { code: -32603, message: "Tool execution failed", data };
        throw new HallError("EXECUTION", relayed.message, { relayed });
      },
    },
  });
  const file = {
    name: "weather_agent",
    description: "Specialized agent for the weather.",
    tools: ["weather.*"],
    instructions: "",
  };
  await using hall = await startHall({
    toolkits: [upstream],
    agents: { files: [file] },
    planner: { kind: "local" },
  });
  const ask = async (task: string) =>
    (
      await hall
        .connect()
        .result("tools/call", modern({ name: "weather_agent", arguments: { task } }))
    ).structuredContent as JsonObject;
  const failed = await ask("get_weather location=Oslo");
  expect(failed).toMatchObject({
    tools_used: ["weather__get_weather"],
    steps: [{ outcome: "execution", excerpt: `Tool execution failed: ${details}` }],
  });
  expect(failed.answer).toContain(details);

  const { error } = await hall.connect().request("tools/call", {
    tool_name: "weather",
    function_name: "get_weather",
    arguments: { location: "Oslo" },
  });
  expect(error).toMatchObject({
    code: -32001,
    data: { details: expect.stringContaining(details) },
  });
});
