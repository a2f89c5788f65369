import { expect, test } from "vitest";
import { parseAgentFile, writeAgentFile } from "../../src/agents/agent-file.ts";
import { limitsOf } from "../../src/agents/agents.ts";
import { replayRun } from "../../src/agents/replay.ts";
import { findRun, listRuns, type RunRecord } from "../../src/agents/runs.ts";
import type { JsonObject } from "../../src/base/json.ts";
import type { HallOptions } from "../../src/hall/hall-options.ts";
import { modern } from "../servers/client.ts";
import { startHall } from "../servers/hall.ts";
import type { Script } from "../servers/model-script.ts";
import { startOpenAi } from "../servers/openai-endpoint.ts";
import { createToolkit, text } from "../servers/toolkits.ts";
import { until } from "../servers/until.ts";

/** The record of a run, and its replay. */
const file = {
  name: "desk_agent",
  description: "Specialized agent for the desk.",
  tools: ["desk.*"],
  instructions: "",
};
const city = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
const desk = createToolkit("desk", {
  weather: {
    description: "Current weather of a city",
    inputSchema: city,
    run: ({ city: name }) => text(`21 degrees in ${String(name)}`),
  },
  login: {
    description: "Opens a door",
    run: () => ({ ...text("opened"), structuredContent: { api_key: "hunter2hunter2" } }),
  },
  book: { description: "A long book", run: () => text("word ".repeat(80_000)) },
});

/** Runs one task and gives what was kept of it. */
async function keepRun(
  script: Script | undefined,
  options: HallOptions = {},
  task = "the weather",
) {
  await using model = await startOpenAi(script ?? []);
  const planner = script
    ? ({ kind: "model", model: model.model, baseUrl: model.url } as const)
    : ({ kind: "local" } as const);
  await using hall = await startHall({
    toolkits: [desk],
    agents: { files: [file] },
    planner,
    ...options,
  });
  const { structuredContent } = await hall
    .connect()
    .result("tools/call", modern({ name: "desk_agent", arguments: { task } }));
  const documents = hall.hall.store.runs;
  let kept: Awaited<ReturnType<typeof listRuns>> = [];
  await until(() => {
    void listRuns(documents).then((found) => {
      kept = found;
    });
    return kept.length === 1;
  }, "the run");
  const [outline] = kept;
  const record = await findRun(documents, outline?.id ?? "");
  return {
    told: structuredContent as JsonObject,
    outline,
    record: record as RunRecord,
    all: JSON.stringify(await documents.list()),
  };
}

const weather = { calls: [{ name: "desk__weather", arguments: { city: "Rome" } }] };

test("a replay of a model's run calls no model and no tool and gives the same trace", async () => {
  const { record } = await keepRun([
    {
      say: "I look.",
      calls: [
        ...weather.calls,
        { name: "desk__weather", arguments: { city: "Oslo" } },
        { name: "desk__fly", arguments: {} },
      ],
    },
    { calls: [{ name: "desk__weather", arguments: { town: "Rome" } }] },
    { say: "Both 21." },
  ]);
  const { ended, differences } = await replayRun(record);
  expect(differences).toEqual([]);
  expect(ended).toMatchObject({ answer: "Both 21.", stopped: "done" });
  expect(ended.steps.map(({ outcome }) => outcome)).toEqual([
    "ok",
    "ok",
    "not_found",
    "validation",
  ]);
});

test("a run without a model is replayed with the date of the run", async () => {
  const { record, told } = await keepRun(undefined, {}, 'the weather of city="Rome"');
  expect(told.planner).toBe("local");
  const { ended, differences } = await replayRun(record);
  expect(differences).toEqual([]);
  expect(ended.steps).toHaveLength((told.steps as unknown[]).length);
});

test("a replay reports where it differs", async () => {
  const { record } = await keepRun([weather, { say: "21." }]);
  const [step] = record.steps;
  const changed = { ...record, steps: [{ ...step, arguments: { city: "Lima" } }] } as RunRecord;
  const { differences } = await replayRun(changed);
  expect(differences[0]).toContain(
    'step 1 is "desk.weather {"city":"Rome"} unavailable" instead of "desk.weather {"city":"Lima"} ok"',
  );
  expect((await replayRun({ ...record, answer: "22." })).differences).toEqual([
    "the answer differs",
  ]);
});

test("secrets in results are not kept, and a run over the limit is kept without its results", async () => {
  const secret = await keepRun([
    { calls: [{ name: "desk__login", arguments: {} }] },
    { say: "In." },
  ]);
  expect(secret.all).toContain("api_key");
  expect(secret.all).not.toContain("hunter2");
  const { record } = await keepRun([
    { calls: [{ name: "desk__book", arguments: {} }] },
    { say: "Long." },
  ]);
  expect(record).toMatchObject({
    answer: "Long.",
    steps: [{ tool: "desk.book", outcome: "ok" }],
    results: [],
  });
  await expect(replayRun(record)).rejects.toMatchObject({ code: "NOT_FOUND" });
});

test("with texts off, only an outline is kept", async () => {
  const { outline, record, all } = await keepRun([weather, { say: "21." }], {
    runs: { keep: "outline" },
  });
  expect(outline).toMatchObject({
    agent: "desk_agent",
    task: "",
    planner: "model",
    tools: ["desk.weather"],
    usage: { turns: 2 },
  });
  expect(record).toBeUndefined();
  expect(all).not.toContain("Rome");
});

test("an agent's file sets the planner, the model and the limits", () => {
  const matter =
    "name: desk\ndescription: Desk.\ntools: [desk.*]\nplanner: model\nmodel: ollama/small\nlimits:\n  turns: 3\n  steps: 5\n  seconds: 20";
  const agent = parseAgentFile(`---\n${matter}\n---\n\nWork.\n`, "desk");
  expect(agent).toMatchObject({
    planner: "model",
    model: "ollama/small",
    limits: { turns: 3, steps: 5, seconds: 20 },
    unknown: [],
  });
  expect(parseAgentFile(writeAgentFile(agent), "desk")).toMatchObject({
    planner: "model",
    model: "ollama/small",
    limits: agent.limits,
  });
  expect(() =>
    parseAgentFile(`---\n${matter.replace("planner: model", "planner: magic")}\n---\n`, "desk"),
  ).toThrow('line 5: unknown planner "magic"');
  expect(() =>
    parseAgentFile(`---\n${matter.replace("turns: 3", "wishes: 3")}\n---\n`, "desk"),
  ).toThrow('unknown limit "wishes"');
});

test("a caller may ask for less than an agent's file allows, never for more", () => {
  const usual = limitsOf();
  expect(usual).toEqual({
    turns: 8,
    steps: 16,
    tokens: 200_000,
    bytes: 4_194_304,
    seconds: 120,
  });
  expect(limitsOf({ turns: 20, bytes: 100 }, { turns: 30, steps: 2 })).toEqual({
    ...usual,
    turns: 20,
    bytes: 100,
    steps: 2,
  });
  for (const wrong of [{ tokens: -1 }, { bytes: "all" }, { seconds: 0 }])
    expect(() => limitsOf({}, wrong)).toThrow(/^limits\.\w+ must be a number of at least 1$/);
});
