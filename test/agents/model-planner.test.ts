import { expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import type { HallOptions } from "../../src/hall/hall-options.ts";
import type { Outcome } from "../../src/tool.ts";
import { startAnthropic } from "../servers/anthropic-endpoint.ts";
import { modern, type RawClient } from "../servers/client.ts";
import { startHall, type TestHall } from "../servers/hall.ts";
import type { ModelEndpoint, Reply, Script } from "../servers/model-script.ts";
import { startOpenAi } from "../servers/openai-endpoint.ts";
import { createSlowToolkit, createToolkit, text } from "../servers/toolkits.ts";
import { until } from "../servers/until.ts";

/** Agents with a model: real providers of the AI SDK against scripted endpoints of two APIs. */
const forms = [
  { form: "OpenAI", start: (script: Script) => startOpenAi(script) },
  { form: "Anthropic", start: (script: Script) => startAnthropic(script) },
];

/** Runs a test with both APIs; `$form` in its name is replaced by the API. */
function inEachForm(name: string, work: (form: (typeof forms)[number]) => Promise<void>): void {
  for (const one of forms) test(name.replace("$form", one.form), () => work(one));
}

delete process.env.OPENAI_API_KEY;
process.env.ANTHROPIC_API_KEY = "sk-test-anthropic-0123456789";
process.env.GUILDHALL_API_KEY = "sk-test-compatible-0123456789";

const city = {
  type: "object",
  properties: { city: { type: "string" } },
  required: ["city"],
  additionalProperties: false,
};
const long = "0123456789".repeat(1_200);

function createDesk() {
  const asked: string[] = [];
  let running = 0;
  let most = 0;
  const weather = async ({ city: name }: JsonObject): Promise<Outcome> => {
    asked.push(String(name));
    running++;
    most = Math.max(most, running);
    await new Promise((resolve) => setTimeout(resolve, 5));
    running--;
    return {
      ...text(`It is 21 degrees in ${String(name)}`),
      structuredContent: { city: name, degrees: 21 },
    };
  };
  const picture = { type: "image", data: "iVBORw0KGgo=", mimeType: "image/png" };
  const toolkit = createToolkit("desk", {
    "current.weather": {
      description: "Current weather of a city",
      inputSchema: city,
      run: weather,
    },
    draw: {
      description: "Draw a picture",
      run: () => ({
        content: [picture, { type: "resource_link", uri: "file:///a.png", name: "a" }],
      }),
    },
    lookup: { description: "Look something up in a long book", run: () => text(long) },
    nothing: { description: "Gives nothing back", run: () => text(" ") },
    refuse: { description: "Fails", run: () => ({ ...text("no such thing"), isError: true }) },
  });
  return { toolkit, asked, most: () => most };
}

const file = {
  name: "desk_agent",
  description: "Specialized agent for the desk.",
  tools: ["desk.*", "slow.*"],
  instructions: "Be brief.",
};

interface Answered {
  readonly answer: string;
  readonly steps: readonly {
    readonly tool: string;
    readonly arguments: JsonObject;
    readonly outcome: string;
    readonly ms: number;
    readonly excerpt: string;
  }[];
  readonly tools_used: readonly string[];
  readonly planner: string;
  readonly stopped_because: string;
  readonly usage: {
    readonly turns: number;
    readonly inputTokens: number;
    readonly outputTokens: number;
  };
  readonly approvals_needed: readonly JsonObject[];
  readonly partial: boolean;
  readonly problem?: string;
  readonly limitations?: readonly string[];
}

interface Scene extends AsyncDisposable {
  readonly model: ModelEndpoint;
  readonly hall: TestHall;
  readonly desk: ReturnType<typeof createDesk>;
  readonly slow: ReturnType<typeof createSlowToolkit>;
  readonly client: RawClient;
  ask(args?: JsonObject): Promise<{
    readonly told: Answered;
    readonly content: readonly JsonObject[];
    readonly isError: boolean;
  }>;
}

async function openScene(
  start: (script: Script) => Promise<ModelEndpoint>,
  script: Script,
  options: HallOptions = {},
): Promise<Scene> {
  const model = await start(script);
  const desk = createDesk();
  const slow = createSlowToolkit();
  const planner = { kind: "model", model: model.model, baseUrl: model.url } as const;
  const hall = await startHall({
    toolkits: [desk.toolkit, slow],
    agents: { files: [file] },
    planner,
    ...options,
  });
  const client = hall.connect();
  return {
    model,
    hall,
    desk,
    slow,
    client,
    async ask(args = {}) {
      const result = await client.result(
        "tools/call",
        modern({
          name: "desk_agent",
          arguments: { task: "What is the weather in Rome?", ...args },
        }),
      );
      return {
        told: result.structuredContent as unknown as Answered,
        content: result.content as JsonObject[],
        isError: result.isError === true,
      };
    },
    async [Symbol.asyncDispose]() {
      await hall[Symbol.asyncDispose]();
      await model[Symbol.asyncDispose]();
    },
  };
}

const weather = (name: string): Reply => ({
  calls: [{ name: "desk__current_weather", arguments: { city: name } }],
});

inEachForm(
  "$form API: a model calls a tool, reads the result, and answers with the steps as evidence",
  async ({ start }) => {
    await using scene = await openScene(start, [
      weather("Rome"),
      { say: "It is 21 degrees in Rome." },
    ]);
    const { told, content } = await scene.ask({ data: { unit: "C" }, context: "for a trip" });
    expect(told).toMatchObject({
      answer: "It is 21 degrees in Rome.",
      steps: [
        {
          tool: "desk__current_weather",
          arguments: { city: "Rome" },
          outcome: "ok",
          excerpt: "It is 21 degrees in Rome",
        },
      ],
      tools_used: ["desk__current_weather"],
      planner: "model",
      stopped_because: "done",
      usage: { turns: 2, inputTokens: 200, outputTokens: 40 },
      approvals_needed: [],
      partial: false,
    });
    expect(Object.keys(told).slice(0, 8)).toEqual([
      "answer",
      "steps",
      "tools_used",
      "planner",
      "stopped_because",
      "usage",
      "approvals_needed",
      "partial",
    ]);
    expect(content[0]?.text).toContain("Tools used: desk__current_weather.");
    const first = JSON.stringify(scene.model.requests[0]);
    for (const words of [
      "What is the weather in Rome?",
      "for a trip",
      '\\"unit\\": \\"C\\"',
      "Be brief.",
      "desk__current_weather",
    ])
      expect(first).toContain(words);
    const second = JSON.stringify(scene.model.requests[1]);
    expect(second).toContain("It is 21 degrees in Rome");
    expect(second).toContain('<result handle=\\"r1\\"');
  },
);

inEachForm(
  "$form API: calls of one turn run concurrently up to a limit, and each gets its own result",
  async ({ start }) => {
    const cities = ["Rome", "Oslo", "Lima", "Bonn", "Kyiv", "Doha"];
    await using scene = await openScene(start, [
      {
        say: "I look.",
        calls: cities.map((name) => ({ name: "desk__current_weather", arguments: { city: name } })),
      },
      { say: "All the same." },
    ]);
    const { told } = await scene.ask();
    expect(told.steps.map(({ arguments: args }) => args.city)).toEqual(cities);
    expect(scene.desk.most()).toBeGreaterThan(1);
    expect(scene.desk.most()).toBeLessThanOrEqual(4);
    const second = JSON.stringify(scene.model.requests[1]);
    const places = cities.map((name) => second.indexOf(`degrees in ${name}`));
    expect(places.every((place, at) => place > (places[at - 1] ?? 0))).toBe(true);
  },
);

inEachForm(
  "$form API: arguments that are not JSON are returned to the model, which corrects them",
  async ({ start }) => {
    await using scene = await openScene(start, [
      { calls: [{ name: "desk__current_weather", arguments: '{"city": "Rom' }] },
      { calls: [{ name: "desk__current_weather", arguments: { town: "Rome" } }] },
      weather("Rome"),
      { say: "21 degrees." },
    ]);
    const { told } = await scene.ask();
    expect(told.steps.map(({ outcome }) => outcome)).toEqual(["validation", "ok"]);
    expect(told).toMatchObject({
      answer: "21 degrees.",
      stopped_because: "done",
      usage: { turns: 4 },
    });
    expect(JSON.stringify(scene.model.requests[1])).toContain("not a JSON object");
    expect(JSON.stringify(scene.model.requests[2])).toContain("city");
    expect(scene.desk.asked).toEqual(["Rome"]);
  },
);

inEachForm("$form API: a busy or failing provider is retried", async ({ start }) => {
  await using scene = await openScene(start, [
    { status: 429, headers: { "retry-after-ms": "1" } },
    { status: 500, headers: { "retry-after-ms": "1" } },
    { say: "Here I am." },
  ]);
  const { told } = await scene.ask();
  expect(told).toMatchObject({
    answer: "Here I am.",
    stopped_because: "done",
    usage: { turns: 1 },
  });
  expect(scene.model.requests).toHaveLength(3);
});

inEachForm(
  "$form API: a broken connection is retried, and no tool is called twice",
  async ({ start }) => {
    await using scene = await openScene(start, [
      weather("Rome"),
      { cut: "It is 2" },
      { say: "It is 21." },
    ]);
    const { told } = await scene.ask();
    expect(told).toMatchObject({ answer: "It is 21.", stopped_because: "done" });
    expect(scene.desk.asked).toEqual(["Rome"]);
  },
);

inEachForm(
  "$form API: a model that calls an unknown tool gets an error and continues",
  async ({ start }) => {
    await using scene = await openScene(start, [
      { calls: [{ name: "desk__teleport", arguments: {} }] },
      { say: "I cannot teleport." },
    ]);
    const { told, content } = await scene.ask();
    expect(told).toMatchObject({
      answer: "I cannot teleport.",
      steps: [{ tool: "desk__teleport", outcome: "not_found" }],
      stopped_because: "done",
    });
    expect(content[0]?.text).toMatch(/Limited: could not use desk__teleport/);
  },
);

inEachForm(
  "$form API: a model that never answers is stopped, and its results are kept",
  async ({ start }) => {
    await using scene = await openScene(start, () => weather("Rome"));
    const { told, content, isError } = await scene.ask({ limits: { turns: 3 } });
    expect(told).toMatchObject({ stopped_because: "turns", partial: true, usage: { turns: 3 } });
    expect(told.steps).toHaveLength(3);
    expect(told.answer).toContain("It is 21 degrees in Rome");
    expect(content[0]?.text).toContain("Not finished: the planner had no turns left");
    expect(isError).toBe(false);
    expect(JSON.stringify(scene.model.requests[2])).toContain("This is your last turn");
  },
);

inEachForm(
  "$form API: an answer that is too long or filtered is marked partial and kept",
  async ({ start }) => {
    await using scene = await openScene(start, [
      weather("Rome"),
      { say: "It is twenty", stop: "length" },
    ]);
    expect((await scene.ask()).told).toMatchObject({
      answer: "It is twenty",
      stopped_because: "length",
      partial: true,
      tools_used: ["desk__current_weather"],
    });
    await using withheld = await openScene(start, [weather("Rome"), { stop: "filter" }]);
    const { told, isError } = await withheld.ask();
    expect(told).toMatchObject({ stopped_because: "filter", partial: true });
    expect(told.answer).toContain("21 degrees in Rome");
    expect(isError).toBe(false);
    await using empty = await openScene(start, [{ stop: "filter" }]);
    expect(await empty.ask()).toMatchObject({
      isError: true,
      told: { stopped_because: "filter", partial: true, steps: [] },
    });
  },
);

inEachForm(
  "$form API: a provider that keeps failing ends the run with its results and the reason",
  async ({ start }) => {
    await using scene = await openScene(start, [
      weather("Rome"),
      { status: 400, message: "this is too much" },
    ]);
    const { told, content } = await scene.ask();
    expect(told).toMatchObject({
      stopped_because: "failed",
      partial: true,
      steps: [{ outcome: "ok" }],
    });
    expect(told.problem).toContain("400: this is too much");
    expect(content[0]?.text).toContain("this is too much");
  },
);

test("a key is sent to the provider and appears nowhere else, not even when the provider repeats it", async () => {
  await using scene = await openScene(forms[1]?.start ?? startAnthropic, [
    { status: 401, message: `key ${process.env.ANTHROPIC_API_KEY} is wrong` },
  ]);
  const { told, content, isError } = await scene.ask();
  expect(scene.model.headers[0]?.["x-api-key"]).toBe(process.env.ANTHROPIC_API_KEY);
  expect(isError).toBe(true);
  expect(told).toMatchObject({ stopped_because: "failed", planner: "model" });
  await scene.hall.hall.store.flush();
  const everywhere = JSON.stringify([
    told,
    content,
    scene.hall.logged,
    await scene.hall.hall.store.runs.list(),
    scene.model.requests,
  ]);
  expect(everywhere).not.toContain("sk-test");
});

test("at the time limit the running call is cancelled and the run returns its results so far", async () => {
  await using scene = await openScene(startOpenAi, [
    weather("Rome"),
    { calls: [{ name: "slow__wait", arguments: {} }] },
    { say: "never" },
  ]);
  const { told } = await scene.ask({ limits: { seconds: 1 } });
  expect(told).toMatchObject({
    stopped_because: "time",
    partial: true,
    steps: [{ outcome: "ok" }, { tool: "slow__wait", outcome: "timeout" }],
  });
  expect(scene.slow.running).toBe(0);
});

test("a silent provider does not extend the run beyond its time limit, and its text so far is kept", async () => {
  await using scene = await openScene(startOpenAi, [weather("Rome"), { stall: "It is about" }]);
  const { told } = await scene.ask({ limits: { seconds: 1 } });
  expect(told).toMatchObject({
    answer: "It is about",
    stopped_because: "time",
    partial: true,
    steps: [{ outcome: "ok" }],
  });
});

test("cancelling the run cancels the running tool", async () => {
  await using scene = await openScene(startOpenAi, [
    { calls: [{ name: "slow__wait", arguments: {} }] },
  ]);
  const params = modern(
    { name: "desk_agent", arguments: { task: "wait" } },
    {},
    { progressToken: "p" },
  );
  const id = scene.client.ask("tools/call", params);
  const progress = await scene.client.heard("notifications/progress");
  expect(progress.params).toMatchObject({ progress: 1, total: 16, message: "1/16 slow__wait …" });
  await until(() => scene.slow.running === 1);
  scene.client.notify("notifications/cancelled", { requestId: id });
  await until(() => scene.slow.running === 0, "the end of the tool");
  expect(scene.slow.aborted[0]?.code).toBe("CANCELLED");
  await until(() => scene.hall.hall.store.state().waiting === 0);
});

test("limits on calls, tokens and bytes end a run with its results so far", async () => {
  const many: Reply = {
    say: "Looking.",
    calls: ["Rome", "Oslo", "Lima"].map((name) => ({
      name: "desk__current_weather",
      arguments: { city: name },
    })),
  };
  await using scene = await openScene(startOpenAi, [
    many,
    { say: "done" },
    many,
    many,
    { calls: [{ name: "desk__lookup", arguments: {} }] },
  ]);
  const steps = (await scene.ask({ limits: { steps: 2 } })).told;
  expect(steps).toMatchObject({ stopped_because: "steps", partial: true, answer: "Looking." });
  expect(steps.steps).toHaveLength(2);
  await scene.ask();
  const tokens = (await scene.ask({ limits: { tokens: 200 } })).told;
  expect(tokens).toMatchObject({
    stopped_because: "tokens",
    partial: true,
    usage: { turns: 2, inputTokens: 200 },
  });
  const bytes = (await scene.ask({ limits: { bytes: 5_000 } })).told;
  expect(bytes).toMatchObject({
    stopped_because: "bytes",
    partial: true,
    steps: [{ tool: "desk__lookup", outcome: "ok" }],
  });
});

test("a long result is cut for the model, which can read the rest and pass the whole on", async () => {
  await using scene = await openScene(startOpenAi, [
    { calls: [{ name: "desk__lookup", arguments: {} }] },
    { calls: [{ name: "read_result", arguments: { handle: "r1", range: "11990-12000" } }] },
    { say: "The book says [[r1]]." },
  ]);
  const { told, content } = await scene.ask();
  expect(JSON.stringify(scene.model.requests[1]).length).toBeLessThan(20_000);
  expect(JSON.stringify(scene.model.requests[1])).toContain("cut at 4000 of 12000 characters");
  expect(JSON.stringify(scene.model.requests[2])).toContain(
    'range=\\"11990-12000\\">\\n0123456789',
  );
  expect(told.steps).toHaveLength(1);
  expect(content[1]).toEqual({ type: "text", text: long });
});

test("an answer carries the images and links of tools, and the structured results it names", async () => {
  await using scene = await openScene(startOpenAi, [
    {
      calls: [
        { name: "desk__draw", arguments: {} },
        { name: "desk__current_weather", arguments: { city: "Rome" } },
      ],
    },
    { say: "Here it is." },
    { calls: [{ name: "desk__current_weather", arguments: { city: "Rome" } }] },
    { say: "See [[r1]]." },
  ]);
  const { content } = await scene.ask();
  expect(content.slice(1).map(({ type }) => type)).toEqual(["image", "resource_link"]);
  expect((await scene.ask()).told).toMatchObject({ result: { r1: { city: "Rome", degrees: 21 } } });
});

test("the model and the steps show tools that fail or return nothing", async () => {
  await using scene = await openScene(startOpenAi, [
    {
      calls: [
        { name: "desk__refuse", arguments: {} },
        { name: "desk__nothing", arguments: {} },
      ],
    },
    { say: "Neither worked." },
  ]);
  const { told } = await scene.ask();
  expect(told.steps.map(({ outcome }) => outcome)).toEqual(["error", "empty"]);
  expect(JSON.stringify(scene.model.requests[1])).toContain("no such thing");
});

test("a model sees the best twenty tools of a large group and can find the others", async () => {
  const tools = Object.fromEntries(
    Array.from({ length: 60 }, (_, at) => [
      `pump_${at}`,
      { description: `Start pump number ${at}`, run: () => text("pumping") },
    ]),
  );
  const crowd = createToolkit("plant", {
    ...tools,
    ring_bell: { description: "Ring the church bell", run: () => text("ding") },
  });
  await using scene = await openScene(
    startOpenAi,
    [
      { calls: [{ name: "find_more", arguments: { query: "ring the church bell" } }] },
      { calls: [{ name: "plant__ring_bell", arguments: {} }] },
      { say: "It rang." },
    ],
    { toolkits: [crowd], agents: { files: [{ ...file, tools: ["plant.*"] }] } },
  );
  const { told } = await scene.ask({ task: "start pump number 7" });
  const shown = scene.model.requests.map(({ tools: offered }) =>
    (offered as { function: { name: string } }[]).map((tool) => tool.function.name),
  );
  expect(shown[0]).toHaveLength(22);
  expect(shown[0]).not.toContain("plant__ring_bell");
  expect(shown[1]).toContain("plant__ring_bell");
  expect(told.steps).toMatchObject([{ tool: "plant__ring_bell", outcome: "ok" }]);
});

test("without a key the auto planner works without a model, and the model planner names the variable to set", async () => {
  const planner = { model: "openai/any" } as const;
  await using auto = await openScene(startOpenAi, [], { planner });
  expect((await auto.ask()).told).toMatchObject({ planner: "local" });
  await using must = await openScene(startOpenAi, [], { planner: { ...planner, kind: "model" } });
  const { content, ...asked } = await must.ask();
  expect(content[0]?.text).toBe(
    "Not finished: the planner failed (no API key for openai: OPENAI_API_KEY is not set).",
  );
  expect(asked).toMatchObject({
    isError: true,
    told: {
      planner: "model",
      problem: expect.stringContaining("OPENAI_API_KEY"),
      next: [
        { do: "set-variable", name: "OPENAI_API_KEY" },
        { do: "edit-config", field: "planner.apiKeyCommand" },
      ],
    },
  });
});

test("if a model cannot be reached, the next planner takes over and the answer says so", async () => {
  const planner = { model: "openai-compatible/any", baseUrl: "http://127.0.0.1:9/v1" } as const;
  await using scene = await openScene(startOpenAi, [], { planner });
  const { told } = await scene.ask();
  expect(told.planner).toBe("local");
  expect(told.limitations?.[0]).toMatch(/the model planner \(.*cannot be reached/);
});

test("the agent's file overrides the config, and the caller overrides both", async () => {
  await using scene = await openScene(startOpenAi, [{ say: "I am the model." }], {
    agents: { files: [{ ...file, planner: "local" }] },
  });
  expect((await scene.ask()).told.planner).toBe("local");
  const params = modern(
    { name: "desk_agent", arguments: { task: "hello" } },
    {},
    { "guildhall/planner": "model" },
  );
  expect((await scene.client.result("tools/call", params)).structuredContent).toMatchObject({
    planner: "model",
    answer: "I am the model.",
  });
});

test("every call of a run is recorded with its parent and its planner, and the run with its trace", async () => {
  await using scene = await openScene(startOpenAi, [weather("Rome"), { say: "21." }]);
  await scene.ask();
  const { store } = scene.hall.hall;
  await store.flush();
  const [inner, outer] = await store.calls.list();
  expect(inner).toMatchObject({
    tool: "desk.current.weather",
    planner: "model",
    parent: outer?.id,
    root: outer?.id,
  });
  const whole = await store.runs.list("whole/");
  const [{ trace, outline } = { trace: [], outline: {} }] = whole.map(
    ({ value }) => value as unknown as { trace: { phase: string }[]; outline: JsonObject },
  );
  expect(new Set(trace.map(({ phase }) => phase))).toEqual(
    new Set(["observe", "think", "execute", "verify", "learn"]),
  );
  expect(outline).toMatchObject({
    agent: "desk_agent",
    planner: "model",
    stopped: "done",
    tools: ["desk.current.weather"],
  });
});

inEachForm("$form API: tools that never ran are not listed as used", async ({ start }) => {
  await using scene = await openScene(start, [
    { calls: [{ name: "no_such_tool", arguments: {} }] },
    { say: "There is no such tool." },
  ]);
  const { told, content } = await scene.ask();
  expect(told).toMatchObject({ steps: [{ outcome: "not_found" }], tools_used: [] });
  expect(content[0]?.text).not.toContain("Tools used");
});
