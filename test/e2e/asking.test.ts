import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { HallError } from "../../src/base/errors.ts";
import type { JsonObject } from "../../src/base/json.ts";
import { Scope } from "../../src/base/scope.ts";
import type { Questions } from "../../src/tool.ts";
import { keys, modern, type RawClient } from "../servers/client.ts";
import { startHall } from "../servers/hall.ts";
import {
  createAskingToolkit,
  createEchoToolkit,
  createLibraryToolkit,
  createToolkit,
  questions,
  text,
} from "../servers/toolkits.ts";
import { until } from "../servers/until.ts";

/** Questions from a tool to the client that called it: its user, its model, its roots. */
const everything = { elicitation: {}, sampling: {}, roots: {} };
const ada = { action: "accept", content: { name: "Ada" } };
const bob = { action: "accept", content: { name: "Bob" } };

/** A modern call, asked or answering. */
function call(
  client: RawClient,
  params: JsonObject,
  capabilities: JsonObject = everything,
): Promise<JsonObject> {
  return client.result("tools/call", modern(params, capabilities));
}

function stateOf(result: JsonObject): JsonObject {
  expect(result).toMatchObject({ resultType: "input_required", requestState: expect.any(String) });
  return { requestState: result.requestState };
}

const refused = {
  error: {
    code: -32602,
    message: "requestState is unknown, used or expired",
    data: { error_type: "invalid_params" },
  },
};

describe("a modern client", () => {
  test("is asked by the answer to its request, and the tool continues where it was", async () => {
    const asking = createAskingToolkit();
    await using hall = await startHall({ toolkits: [asking] });
    const client = hall.connect();
    const one = { name: "asking.one", arguments: { a: 1 } };
    const asked = await call(client, one);
    expect(asked).toEqual({
      resultType: "input_required",
      inputRequests: { name: questions.name },
      requestState: expect.any(String),
      _meta: { [keys.serverInfo]: expect.any(Object) },
    });
    expect(asking.steps).toEqual(["before"]);
    const done = await call(client, { ...one, ...stateOf(asked), inputResponses: { name: ada } });
    expect(done).toMatchObject({
      resultType: "complete",
      structuredContent: { name: ada, args: { a: 1 } },
    });
    expect(asking.steps).toEqual(["before", "after"]);
    expect(client.unread).toEqual([]);
  });

  test("may decline or cancel, which the tool learns", async () => {
    await using hall = await startHall({ toolkits: [createAskingToolkit()] });
    const client = hall.connect();
    for (const action of ["decline", "cancel"]) {
      const state = stateOf(await call(client, { name: "asking.one" }));
      expect(
        await call(client, { name: "asking.one", ...state, inputResponses: { name: { action } } }),
      ).toMatchObject({
        structuredContent: { name: { action } },
      });
    }
  });

  test("may answer before it is asked", async () => {
    await using hall = await startHall({ toolkits: [createAskingToolkit()] });
    expect(
      await call(hall.connect(), { name: "asking.one", inputResponses: { name: ada } }),
    ).toMatchObject({ structuredContent: { name: ada } });
  });

  test("is asked several things at once, and again for those it left out", async () => {
    await using hall = await startHall({ toolkits: [createAskingToolkit()] });
    const client = hall.connect();
    const poem = { role: "assistant", content: { type: "text", text: "Roses" }, model: "m" };
    const roots = { roots: [{ uri: "file:///a" }] };
    const first = await call(client, { name: "asking.many" });
    expect(first.inputRequests).toEqual(questions);
    const second = await call(client, {
      name: "asking.many",
      ...stateOf(first),
      inputResponses: { poem, unknown: {} },
    });
    expect(second.inputRequests).toEqual({ name: questions.name, roots: questions.roots });
    const third = await call(client, { name: "asking.many", ...stateOf(second) });
    expect(third.inputRequests).toEqual({ name: questions.name, roots: questions.roots });
    const done = await call(client, {
      name: "asking.many",
      ...stateOf(third),
      inputResponses: { name: ada, roots },
    });
    expect(done.structuredContent).toEqual({ name: ada, poem, roots });
  });

  test("is asked twice by a tool that asks twice, under one key, and nothing is done twice", async () => {
    const asking = createAskingToolkit();
    await using hall = await startHall({ toolkits: [asking] });
    const client = hall.connect();
    const first = await call(client, { name: "asking.twice" });
    const second = await call(client, {
      name: "asking.twice",
      ...stateOf(first),
      inputResponses: { name: ada },
    });
    expect(second.inputRequests).toMatchObject({ name: { params: { message: "And again?" } } });
    expect(second.requestState).not.toBe(first.requestState);
    const done = await call(client, {
      name: "asking.twice",
      ...stateOf(second),
      inputResponses: { name: bob },
    });
    expect(done.structuredContent).toEqual({ first: ada, second: bob });
    expect(asking.steps).toEqual(["first", "second"]);
  });

  test("is asked by a tool that asks two things side by side", async () => {
    await using hall = await startHall({ toolkits: [createAskingToolkit()] });
    const client = hall.connect();
    let result = await call(client, { name: "asking.parallel" });
    const answers: JsonObject = { a: ada, b: bob };
    for (let round = 0; result.resultType === "input_required" && round < 3; round++) {
      const inputResponses = Object.fromEntries(
        Object.keys(result.inputRequests as JsonObject).map((key) => [key, answers[key]]),
      );
      result = await call(client, { name: "asking.parallel", ...stateOf(result), inputResponses });
    }
    expect(result.structuredContent).toEqual(answers);
  });

  test("is asked by two tools side by side under one key, and neither gets the other's answer", async () => {
    const ask = (message: string): JsonObject => ({
      name: { ...questions.name, params: { ...questions.name.params, message } },
    });
    const asks = (id: string): ReturnType<typeof createToolkit> =>
      createToolkit(id, {
        ask: {
          run: async (_args, context) =>
            text(JSON.stringify(await context.ask(ask(id) as Questions))),
        },
      });
    const pair = createToolkit("pair", {
      both: {
        async run(_args, { call: callOther }) {
          const outcomes = await Promise.all(
            ["bank", "shop"].map((id) => callOther?.(`${id}.ask`, {})),
          );
          return text(outcomes.map((outcome) => String(outcome?.content[0]?.text)).join());
        },
      },
    });
    await using hall = await startHall({ toolkits: [asks("bank"), asks("shop"), pair] });
    const client = hall.connect();
    let result = await call(client, { name: "pair.both" });
    for (let round = 0; result.resultType === "input_required" && round < 3; round++) {
      const asked = Object.entries(
        result.inputRequests as Record<string, { params: { message: string } }>,
      );
      const inputResponses = Object.fromEntries(
        asked.map(([key, { params }]) => [
          key,
          { action: "accept", content: { for: params.message } },
        ]),
      );
      result = await call(client, { name: "pair.both", ...stateOf(result), inputResponses });
    }
    const got = ["bank", "shop"].map((id) =>
      JSON.stringify({ name: { action: "accept", content: { for: id } } }),
    );
    expect(result.content).toEqual([{ type: "text", text: got.join() }]);
  });

  test("has an answer to a question that was withdrawn dropped: the next one under its key is asked", async () => {
    const shy = createToolkit("shy", {
      ask: {
        async run(_args, { ask, scope }) {
          const first = new Scope(scope);
          const withdrawn = ask({ name: questions.name }, first).catch(() => "withdrawn");
          first.cancel(new HallError("CANCELLED", "not wanted any more"));
          return text(`${await withdrawn}: ${JSON.stringify(await ask({ name: questions.name }))}`);
        },
      },
    });
    await using hall = await startHall({ toolkits: [shy] });
    const client = hall.connect();
    const first = await call(client, { name: "shy.ask" });
    expect(first).toMatchObject({ inputRequests: { name: questions.name } });
    const second = await call(client, {
      name: "shy.ask",
      ...stateOf(first),
      inputResponses: { name: ada },
    });
    const [key = ""] = Object.keys(second.inputRequests as JsonObject);
    const done = await call(client, {
      name: "shy.ask",
      ...stateOf(second),
      inputResponses: { [key]: bob },
    });
    expect(done.content).toEqual([
      { type: "text", text: `withdrawn: ${JSON.stringify({ name: bob })}` },
    ]);
  });

  test("is asked under any key, also one that every object has", async () => {
    await using hall = await startHall({ toolkits: [createAskingToolkit()] });
    const client = hall.connect();
    const asked = await call(client, { name: "asking.inherited" });
    expect(asked).toMatchObject({ resultType: "input_required" });
    const done = await call(client, {
      name: "asking.inherited",
      ...stateOf(asked),
      inputResponses: { constructor: ada },
    });
    expect(done.structuredContent).toEqual({ constructor: ada });
  });

  test("may leave out arguments that the tool has defaults for, both times", async () => {
    await using hall = await startHall({ toolkits: [createAskingToolkit()] });
    const client = hall.connect();
    const params = { name: "asking.defaults", arguments: {} };
    const state = stateOf(await call(client, params));
    expect(
      await call(client, { ...params, ...state, inputResponses: { name: ada } }),
    ).toMatchObject({
      structuredContent: { name: ada, args: { colour: "red" } },
    });
  });

  test("gets progress under the token of the pending request", async () => {
    await using hall = await startHall({ toolkits: [createAskingToolkit()] });
    const client = hall.connect();
    const heard = (): unknown[] =>
      client.received
        .filter(({ method }) => method === "notifications/progress")
        .map(({ params }) => params);
    const asked = await client.result(
      "tools/call",
      modern({ name: "asking.progress" }, everything, { progressToken: "first" }),
    );
    expect(heard()).toEqual([{ progressToken: "first", progress: 1, total: 2 }]);
    await client.result(
      "tools/call",
      modern(
        { name: "asking.progress", ...stateOf(asked), inputResponses: { name: ada } },
        everything,
        { progressToken: "second" },
      ),
    );
    expect(heard().slice(1)).toEqual([{ progressToken: "second", progress: 2, total: 2 }]);
  });

  test.each([
    ["elicitation", "asking.one", { elicitation: {} }],
    ["all three", "asking.many", { elicitation: {}, sampling: {}, roots: {} }],
  ])(
    "that cannot be asked (%s) is told what it would need",
    async (_, name, requiredCapabilities) => {
      await using hall = await startHall({ toolkits: [createAskingToolkit()] });
      const client = hall.connect();
      expect(await client.request("tools/call", modern({ name }))).toMatchObject({
        error: {
          code: -32021,
          data: { error_type: "missing_capability", requiredCapabilities, toolName: name },
        },
      });
      expect(client.unread).toEqual([]);
    },
  );

  test("with some of the capabilities gets the missing ones named", async () => {
    await using hall = await startHall({ toolkits: [createAskingToolkit()] });
    expect(
      await hall
        .connect()
        .request("tools/call", modern({ name: "asking.many" }, { roots: {}, sampling: true })),
    ).toMatchObject({
      error: { code: -32021, data: { requiredCapabilities: { elicitation: {}, sampling: {} } } },
    });
  });

  test("must still have the capability when it answers", async () => {
    await using hall = await startHall({ toolkits: [createAskingToolkit()] });
    const client = hall.connect();
    const state = stateOf(await call(client, { name: "asking.twice" }));
    expect(
      await client.request(
        "tools/call",
        modern({ name: "asking.twice", ...state, inputResponses: { name: ada } }),
      ),
    ).toMatchObject({
      error: { code: -32021 },
    });
  });

  test.each([
    [
      "another first letter",
      (state: string) => (state.startsWith("A") ? "B" : "A") + state.slice(1),
    ],
    [
      "another last letter",
      (state: string) => state.slice(0, -1) + (state.endsWith("A") ? "B" : "A"),
    ],
    ["no signature", (state: string) => state.split(".")[0]],
    ["something behind it", (state: string) => `${state}.x`],
    ["upper case", (state: string) => state.toUpperCase()],
  ])("has a state with %s refused, and its own still works", async (_, tamper) => {
    const asking = createAskingToolkit();
    await using hall = await startHall({ toolkits: [asking] });
    const client = hall.connect();
    const { requestState } = await call(client, { name: "asking.one" });
    const answering = { name: "asking.one", inputResponses: { name: ada } };
    expect(
      await client.request(
        "tools/call",
        modern({ ...answering, requestState: tamper(String(requestState)) }, everything),
      ),
    ).toMatchObject(refused);
    expect(await call(client, { ...answering, requestState })).toMatchObject({
      structuredContent: { name: ada },
    });
    expect(asking.steps).toEqual(["before", "after"]);
  });

  test("has a state it used before refused", async () => {
    const asking = createAskingToolkit();
    await using hall = await startHall({ toolkits: [asking] });
    const client = hall.connect();
    const answering = {
      name: "asking.one",
      ...stateOf(await call(client, { name: "asking.one" })),
      inputResponses: { name: ada },
    };
    const answers = await Promise.all(
      [1, 2, 3].map(() => client.request("tools/call", modern(answering, everything))),
    );
    expect(answers).toMatchObject([
      { result: { structuredContent: { name: ada } } },
      refused,
      refused,
    ]);
    expect(await client.request("tools/call", modern(answering, everything))).toMatchObject(
      refused,
    );
    expect(asking.steps).toEqual(["before", "after"]);
  });

  test.each([
    ["another tool", { name: "asking.other", arguments: { a: 1 } }],
    ["other arguments", { name: "asking.one", arguments: { a: 2 } }],
    ["no arguments", { name: "asking.one" }],
  ])("has the state of one request refused for %s", async (_, params) => {
    await using hall = await startHall({ toolkits: [createAskingToolkit()] });
    const client = hall.connect();
    const state = stateOf(await call(client, { name: "asking.one", arguments: { a: 1 } }));
    expect(
      await client.request(
        "tools/call",
        modern({ ...params, ...state, inputResponses: { name: ada } }, everything),
      ),
    ).toMatchObject(refused);
  });

  test("has a cursor refused as a state, and the state of another hall", async () => {
    await using hall = await startHall({ toolkits: [createAskingToolkit()], pageSize: 1 });
    await using other = await startHall({ toolkits: [createAskingToolkit()] });
    const client = hall.connect();
    const { nextCursor: requestState } = await client.result("tools/list", modern());
    expect(
      await client.request("tools/call", modern({ name: "asking.one", requestState }, everything)),
    ).toMatchObject(refused);
    const foreign = stateOf(await call(other.connect(), { name: "asking.one" }));
    expect(
      await client.request("tools/call", modern({ name: "asking.one", ...foreign }, everything)),
    ).toMatchObject(refused);
  });

  test("may cancel a run that is going on after its answer", async () => {
    let reason: unknown;
    let isAnswered = false;
    const stubborn = createToolkit("stubborn", {
      ask: {
        async run(_args, { ask, scope }) {
          await ask({ name: questions.name });
          isAnswered = true;
          return new Promise((_, reject) => {
            scope.signal.addEventListener("abort", () => {
              reason = scope.signal.reason;
              reject(scope.signal.reason);
            });
          });
        },
      },
    });
    await using hall = await startHall({ toolkits: [stubborn] });
    const client = hall.connect();
    const state = stateOf(await call(client, { name: "stubborn.ask" }));
    const requestId = client.ask(
      "tools/call",
      modern({ name: "stubborn.ask", ...state, inputResponses: { name: ada } }, everything),
    );
    await until(() => isAnswered);
    client.notify("notifications/cancelled", { requestId });
    await until(() => reason);
    await client.result("tools/list", modern());
    expect(reason).toMatchObject({ code: "CANCELLED" });
    expect(client.unread).toEqual([]);
  });

  test("past the limit of open questions is refused, and the tool gets the error", async () => {
    const told: unknown[] = [];
    const patient = createToolkit("patient", {
      ask: {
        async run(_args, { ask }) {
          await ask({ name: questions.name }).catch((error: unknown) => told.push(error));
          return text("done");
        },
      },
    });
    await using hall = await startHall({ toolkits: [patient] });
    const client = hall.connect();
    await Promise.all(Array.from({ length: 1_000 }, () => call(client, { name: "patient.ask" })));
    expect(told).toEqual([]);
    const refusal = await client.request("tools/call", modern({ name: "patient.ask" }, everything));
    expect(refusal).toMatchObject({
      result: { isError: true, structuredContent: { error_type: "overloaded" } },
    });
    expect(told.map((error) => (error as HallError).code)).toEqual(["OVERLOADED"]);
  });

  test("is asked by resources and prompts as well, and never by a completion", async () => {
    const asking = createToolkit(
      "books",
      {},
      {
        resources: {
          list: async () => [{ uri: "book://secret", name: "secret" }],
          templates: async () => [],
          read: async (uri, { ask }) => ({
            contents: [{ uri, text: JSON.stringify(await ask({ name: questions.name })) }],
          }),
        },
        prompts: {
          list: async () => [{ name: "greet" }],
          get: async (_name, _args, { ask }) => ({
            messages: [
              {
                role: "user",
                content: {
                  type: "text",
                  text: JSON.stringify(await ask({ name: questions.name })),
                },
              },
            ],
          }),
        },
      },
    );
    await using hall = await startHall({ toolkits: [asking, createLibraryToolkit()] });
    const client = hall.connect();
    const inputResponses = { name: ada };
    for (const [method, params] of [
      ["resources/read", { uri: "book://secret" }],
      ["prompts/get", { name: "books.greet" }],
    ] as const) {
      const asked = await client.result(method, modern(params, everything));
      expect(asked).not.toHaveProperty("ttlMs");
      expect(
        JSON.stringify(
          await client.result(
            method,
            modern({ ...params, ...stateOf(asked), inputResponses }, everything),
          ),
        ),
      ).toContain("Ada");
    }
    const complete = {
      ref: { type: "ref/prompt", name: "library.review" },
      argument: { name: "title", value: "ask" },
    };
    const id = client.ask("completion/complete", modern(complete, everything));
    expect(await client.next()).toMatchObject({ id, error: { code: expect.any(Number) } });
    expect(client.received.filter(({ method }) => method !== undefined)).toEqual([]);
  });
});

describe("a legacy client", () => {
  test("is asked by a request of the hall, answers it, and gets its own answer then", async () => {
    const asking = createAskingToolkit();
    await using hall = await startHall({ toolkits: [asking] });
    const client = hall.connect();
    await client.greet("2025-06-18", everything);
    const id = client.ask("tools/call", { name: "asking.one", arguments: { a: 1 } });
    const question = await client.next();
    expect(question).toEqual({ jsonrpc: "2.0", id: expect.any(Number), ...questions.name });
    client.send({ jsonrpc: "2.0", id: String(question.id), result: bob });
    client.send({ jsonrpc: "2.0", id: question.id, result: ada });
    client.send({ jsonrpc: "2.0", id: question.id, result: bob });
    expect(await client.answer(id)).toMatchObject({
      result: { structuredContent: { name: ada, args: { a: 1 } } },
    });
    expect(client.unread).toEqual([]);
  });

  test("is asked several things at once", async () => {
    await using hall = await startHall({ toolkits: [createAskingToolkit()] });
    const client = hall.connect();
    await client.greet("2025-11-25", everything);
    const id = client.ask("tools/call", { name: "asking.many" });
    const asked = [await client.next(), await client.next(), await client.next()];
    expect(asked.map(({ method }) => method)).toEqual([
      "elicitation/create",
      "sampling/createMessage",
      "roots/list",
    ]);
    for (const { id: questionId, method } of asked.reverse())
      client.send({ jsonrpc: "2.0", id: questionId, result: { answers: method } });
    expect(await client.answer(id)).toMatchObject({
      result: {
        structuredContent: {
          name: { answers: "elicitation/create" },
          poem: { answers: "sampling/createMessage" },
          roots: { answers: "roots/list" },
        },
      },
    });
  });

  test.each([
    ["an error", { error: { code: -1, message: "user is away" } }, "execution", "user is away"],
    [
      "no object",
      { result: 5 },
      "bad_answer",
      "the client's answer to elicitation/create is not an object",
    ],
    [
      "both",
      { result: {}, error: { code: 1, message: "" } },
      "bad_answer",
      "the answer to elicitation/create is malformed: both result and error",
    ],
  ])(
    "that answers with %s makes the call fail, and no more than the call",
    async (_, answer, error_type, message) => {
      await using hall = await startHall({
        toolkits: [createAskingToolkit(), createEchoToolkit()],
      });
      const client = hall.connect();
      await client.greet("2025-11-25", everything);
      const id = client.ask("tools/call", { name: "asking.one" });
      client.send({ jsonrpc: "2.0", id: (await client.next()).id, ...answer });
      expect(await client.answer(id)).toMatchObject({
        result: { isError: true, structuredContent: { error_type, message } },
      });
      expect(await client.result("tools/call", { name: "echo.echo" })).toMatchObject({
        structuredContent: {},
      });
    },
  );

  test.each([
    [
      "2025-06-18",
      {
        result: {
          isError: true,
          structuredContent: {
            error_type: "missing_capability",
            details: { requiredCapabilities: { elicitation: {} } },
          },
        },
      },
    ],
    [
      "2025-11-25",
      {
        error: {
          code: -32021,
          data: { error_type: "missing_capability", requiredCapabilities: { elicitation: {} } },
        },
      },
    ],
  ])("on %s that cannot be asked is told so", async (version, answer) => {
    await using hall = await startHall({ toolkits: [createAskingToolkit()] });
    const client = hall.connect();
    await client.greet(version, { sampling: {}, roots: {} });
    expect(await client.request("tools/call", { name: "asking.one" })).toMatchObject(answer);
  });

  test("that refuses one of several questions has the others withdrawn", async () => {
    await using hall = await startHall({ toolkits: [createAskingToolkit()] });
    const client = hall.connect();
    await client.greet("2025-11-25", everything);
    const id = client.ask("tools/call", { name: "asking.many" });
    const [name, poem, roots] = [await client.next(), await client.next(), await client.next()];
    client.send({ jsonrpc: "2.0", id: name.id, error: { code: -1, message: "user is away" } });
    expect(await client.answer(id)).toMatchObject({
      result: { isError: true, structuredContent: { message: "user is away" } },
    });
    const withdrawn = client.received
      .filter(({ method }) => method === "notifications/cancelled")
      .map(({ params }) => (params as JsonObject).requestId);
    expect(withdrawn).toEqual([poem.id, roots.id]);
  });

  test("that cancels its call has the question withdrawn", async () => {
    await using hall = await startHall({ toolkits: [createAskingToolkit()] });
    const client = hall.connect();
    await client.greet("2025-11-25", everything);
    const requestId = client.ask("tools/call", { name: "asking.one" });
    const question = await client.next();
    client.notify("notifications/cancelled", { requestId });
    expect(await client.next()).toMatchObject({
      method: "notifications/cancelled",
      params: { requestId: question.id },
    });
    client.send({ jsonrpc: "2.0", id: question.id, result: ada });
    await client.result("ping");
    expect(client.unread).toEqual([]);
  });

  test("that ends its input while it is asked does not keep the connection open", async () => {
    await using hall = await startHall({ toolkits: [createAskingToolkit()] });
    const client = hall.connectStdio();
    await client.greet("2025-11-25", everything);
    const id = client.ask("tools/call", { name: "asking.one" });
    await client.heard("elicitation/create");
    client.end();
    expect(await client.answer(id)).toMatchObject({ result: { isError: true } });
    await client.closed;
  });
});

describe("the deadline of a tool is paused while a person is asked", () => {
  const deadlineMs = 5_000;
  beforeEach(() => {
    vi.useFakeTimers({
      toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval", "performance"],
    });
  });
  afterEach(() => void vi.useRealTimers());

  test("for a modern client", async () => {
    await using hall = await startHall({ toolkits: [createAskingToolkit(deadlineMs)] });
    const client = hall.connect();
    const state = stateOf(await call(client, { name: "asking.one" }));
    await vi.advanceTimersByTimeAsync(2 * deadlineMs);
    expect(
      await call(client, { name: "asking.one", ...state, inputResponses: { name: ada } }),
    ).toMatchObject({ structuredContent: { name: ada } });
  });

  test("for a legacy client", async () => {
    await using hall = await startHall({ toolkits: [createAskingToolkit(deadlineMs)] });
    const client = hall.connect();
    await client.greet("2025-11-25", everything);
    const id = client.ask("tools/call", { name: "asking.one" });
    const question = await client.next();
    await vi.advanceTimersByTimeAsync(2 * deadlineMs);
    client.send({ jsonrpc: "2.0", id: question.id, result: ada });
    expect(await client.answer(id)).toMatchObject({ result: { structuredContent: { name: ada } } });
  });

  test("until the last of two questions is answered", async () => {
    await using hall = await startHall({ toolkits: [createAskingToolkit(deadlineMs)] });
    const client = hall.connect();
    await client.greet("2025-11-25", everything);
    const id = client.ask("tools/call", { name: "asking.parallel" });
    const [a, b] = [await client.next(), await client.next()];
    client.send({ jsonrpc: "2.0", id: a.id, result: ada });
    await vi.advanceTimersByTimeAsync(2 * deadlineMs);
    client.send({ jsonrpc: "2.0", id: b.id, result: bob });
    expect(await client.answer(id)).toMatchObject({
      result: { structuredContent: { a: ada, b: bob } },
    });
  });

  test("and continues with the time left afterwards", async () => {
    const sleepy = createToolkit("sleepy", {
      ask: {
        facts: { timeoutMs: deadlineMs },
        async run(_args, { ask }) {
          await ask({ name: questions.name });
          return new Promise(() => {});
        },
      },
    });
    await using hall = await startHall({ toolkits: [sleepy] });
    const client = hall.connect();
    const state = stateOf(await call(client, { name: "sleepy.ask" }));
    await vi.advanceTimersByTimeAsync(deadlineMs);
    let isOver = false;
    const running = call(client, {
      name: "sleepy.ask",
      ...state,
      inputResponses: { name: ada },
    }).finally(() => {
      isOver = true;
    });
    await vi.advanceTimersByTimeAsync(deadlineMs / 2);
    expect(isOver).toBe(false);
    await vi.advanceTimersByTimeAsync(deadlineMs);
    const result = await running;
    expect(result).toMatchObject({
      isError: true,
      structuredContent: { error_type: "timeout", toolName: "sleepy.ask" },
    });
  });
});
