import { expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { modern } from "../servers/client.ts";
import { startHall, type TestHall } from "../servers/hall.ts";
import { connectSampling, type SampledTurn } from "../servers/sampling-client.ts";
import { createToolkit, text } from "../servers/toolkits.ts";

/** Agents that think with the model of the client that asks them. */
const file = {
  name: "desk_agent",
  description: "Specialized agent for the desk.",
  tools: ["desk.*"],
  instructions: "",
};

function startDesk(): Promise<TestHall> {
  const city = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
  const weather = {
    description: "Current weather of a city",
    inputSchema: city,
    run: ({ city: name }: JsonObject) => text(`21 degrees in ${String(name)}`),
  };
  return startHall({
    toolkits: [
      createToolkit("desk", {
        weather,
        fail: { run: () => ({ ...text("it broke"), isError: true }) },
      }),
    ],
    agents: { files: [file] },
  });
}

const says = (words: string, stopReason = "endTurn"): SampledTurn => ({
  role: "assistant",
  model: "m",
  content: { type: "text", text: words },
  stopReason,
});
const uses = (...calls: readonly [name: string, input: JsonObject][]): SampledTurn => ({
  role: "assistant",
  model: "m",
  content: calls.map(([name, input], at) => ({ type: "tool_use", id: `use-${at}`, name, input })),
  stopReason: "toolUse",
});

async function ask(hall: TestHall, script: readonly SampledTurn[]) {
  await using lender = await connectSampling(hall.hall, script);
  const result = await lender.client.callTool({
    name: "desk_agent",
    arguments: { task: "The weather in Rome?" },
  });
  return {
    told: result.structuredContent as JsonObject,
    asked: lender.asked,
    isError: result.isError === true,
  };
}

test("a client with sampling.tools gets the group's tools and their results", async () => {
  await using hall = await startDesk();
  const { told, asked } = await ask(hall, [
    uses(["desk__weather", { city: "Rome" }], ["desk__fail", {}]),
    says("21 degrees."),
  ]);
  expect(told).toMatchObject({
    answer: "21 degrees.",
    planner: "sampling",
    stopped_because: "done",
    partial: false,
    steps: [
      { tool: "desk__weather", outcome: "ok" },
      { tool: "desk__fail", outcome: "error" },
    ],
    usage: { turns: 2, estimated: true },
  });
  expect(asked[0]?.tools).toContainEqual(expect.objectContaining({ name: "desk__weather" }));
  expect(asked[0]?.systemPrompt).toContain("You are desk_agent");
  const messages = asked[1]?.messages as { role: string; content: JsonObject[] }[];
  expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
  expect(messages[2]?.content).toMatchObject([
    {
      type: "tool_result",
      toolUseId: "use-0",
      isError: false,
      content: [{ text: expect.stringContaining("21 degrees in Rome") }],
    },
    { type: "tool_result", toolUseId: "use-1", isError: true },
  ]);
});

test("a run keeps its results when the client's model is cut off or refused", async () => {
  await using hall = await startDesk();
  expect((await ask(hall, [says("It is tw", "maxTokens")])).told).toMatchObject({
    answer: "It is tw",
    stopped_because: "length",
    partial: true,
  });
  const { told } = await ask(hall, [uses(["desk__weather", { city: "Rome" }])]);
  expect(told).toMatchObject({
    stopped_because: "failed",
    partial: true,
    steps: [{ outcome: "ok" }],
    problem: expect.stringContaining("does not lend"),
  });
});

test("without sampling the auto planner returns the tools, and the sampling planner names the missing capability", async () => {
  await using hall = await startDesk();
  const client = hall.connect();
  const plain = await client.result(
    "tools/call",
    modern({ name: "desk_agent", arguments: { task: "The weather in Rome?" } }),
  );
  expect(plain.structuredContent).toMatchObject({ planner: "local" });
  const params = modern(
    { name: "desk_agent", arguments: { task: "x" } },
    {},
    { "guildhall/planner": "sampling" },
  );
  expect((await client.result("tools/call", params)).structuredContent).toMatchObject({
    planner: "sampling",
    problem: expect.stringContaining("supports sampling"),
  });
});

test("a client is asked by input_required, and the run continues where it was", async () => {
  await using hall = await startDesk();
  const client = hall.connect();
  const call = { name: "desk_agent", arguments: { task: "The weather in Rome?" } };
  let result = await client.result("tools/call", modern(call, { sampling: { tools: {} } }));
  for (const turn of [uses(["desk__weather", { city: "Rome" }]), says("21.")]) {
    expect(result.resultType).toBe("input_required");
    const [key = ""] = Object.keys(result.inputRequests as JsonObject);
    result = await client.result(
      "tools/call",
      modern(
        { ...call, requestState: result.requestState, inputResponses: { [key]: turn } },
        { sampling: { tools: {} } },
      ),
    );
  }
  expect(result.structuredContent).toMatchObject({
    answer: "21.",
    planner: "sampling",
    steps: [{ outcome: "ok" }],
  });
});
