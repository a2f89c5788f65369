import { describe, expect, test } from "vitest";
import { isObject, type JsonObject } from "../../src/base/json.ts";
import { keys, modern, type RawClient } from "../servers/client.ts";
import { questions, said } from "../servers/toolkits.ts";
import { until } from "../servers/until.ts";
import {
  callTool,
  faulty,
  saidJson,
  startUpstreams,
  type UpstreamHall,
  untilAnswers,
} from "../servers/upstreams.ts";

/** Messages pass unchanged between a client and a server, in every combination of eras. */
type Era = "legacy" | "modern";
const eras: readonly Era[] = ["legacy", "modern"];
/** [the server's era, the client's era] */
const pairs = eras.flatMap((server) => eras.map((client) => [server, client] as const));
const everything = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} };

async function startBox(words: string): Promise<UpstreamHall> {
  const hall = await startUpstreams({ box: faulty(words) });
  await hall.untilListed("box.echo");
  return hall;
}

/** A client of this era that can be asked everything. */
async function connect(hall: UpstreamHall, era: Era): Promise<Person> {
  const client = hall.connect();
  if (era === "legacy") await client.greet("2025-11-25", everything);
  const person: Person = {
    client,
    ask: (method, params = {}, meta = {}) =>
      client.ask(
        method,
        era === "modern"
          ? modern(params, everything, meta)
          : { ...params, ...(Object.keys(meta).length > 0 ? { _meta: meta } : {}) },
      ),
    get: (method, params, meta) => client.answer(person.ask(method, params, meta)),
    async result(method, params, meta) {
      const { result, error } = await person.get(method, params, meta);
      if (!isObject(result)) throw new Error(`${method} failed: ${JSON.stringify(error)}`);
      return era === "modern" ? undress(result) : result;
    },
  };
  return person;
}

interface Person {
  readonly client: RawClient;
  ask(method: string, params?: JsonObject, meta?: JsonObject): number;
  get(method: string, params?: JsonObject, meta?: JsonObject): Promise<JsonObject>;
  /** Without what the hall itself puts on a modern result. */
  result(method: string, params?: JsonObject, meta?: JsonObject): Promise<JsonObject>;
}

function undress({
  resultType,
  ttlMs: _ttl,
  cacheScope: _scope,
  _meta,
  ...result
}: JsonObject): JsonObject {
  expect(resultType).toBe("complete");
  expect(_meta).toMatchObject({ [keys.serverInfo]: { name: "guildhall" } });
  const { [keys.serverInfo]: _info, ...meta } = _meta as JsonObject;
  return Object.keys(meta).length > 0 ? { ...result, _meta: meta } : result;
}

describe.concurrent.each(pairs)("from a %s server to a %s client", (serverEra, clientEra) => {
  const words = `${serverEra} rich error told meta image progress hang heard log ask whoami touch crash change resources prompts`;

  test("definitions pass with unknown fields, under the name of the server", async () => {
    await using hall = await startBox(words);
    const person = await connect(hall, clientEra);
    const { tools } = await person.result("tools/list");
    expect((tools as JsonObject[]).find(({ name }) => name === "box__rich")).toEqual({
      name: "box__rich",
      title: "The rich",
      description: "does rich",
      inputSchema: {
        type: "object",
        properties: { text: { type: "string" } },
        "x-extra": { kept: true },
      },
      annotations: { readOnlyHint: true, "x-hint": 1 },
      icons: [{ src: "https://example.com/i.png" }],
      _meta: { "example.com/rank": 1 },
    });
    expect(await person.result("resources/list")).toEqual({
      resources: [
        { uri: "note://1", name: "one", mimeType: "text/plain", size: 3, _meta: { x: 1 } },
        { uri: "note://2", name: "two" },
      ],
    });
    expect(await person.result("resources/templates/list")).toEqual({
      resourceTemplates: [{ uriTemplate: "note://by-name/{name}", name: "by name", "x-more": 1 }],
    });
    expect(await person.result("prompts/list")).toEqual({
      prompts: [
        {
          name: "box__greet",
          description: "says hello",
          arguments: [{ name: "who", required: true }],
          "x-more": 1,
        },
      ],
    });
  });

  test("results pass with every kind of content, structure, and unknown fields", async () => {
    await using hall = await startBox(words);
    const person = await connect(hall, clientEra);
    const result = await person.result("tools/call", { name: "box.rich" });
    expect(result).toEqual({
      content: [
        {
          type: "text",
          text: "words",
          annotations: { audience: ["user"], priority: 0.5 },
          _meta: { a: 1 },
        },
        { type: "image", data: expect.stringMatching(/^iVBORw0KGgo/), mimeType: "image/png" },
        { type: "audio", data: "UklGRg==", mimeType: "audio/wav" },
        {
          type: "resource_link",
          uri: "note://1",
          name: "one",
          icons: [{ src: "data:image/png;base64,AA==" }],
        },
        { type: "resource", resource: { uri: "note://1", text: "inside", mimeType: "text/plain" } },
        { type: "hologram", depth: 3, nested: { deep: [null, true, 1.5] } },
      ],
      structuredContent: { n: 1, list: [1, "2", null] },
      extension: { known: false },
      _meta: { "example.com/cost": 0.25 },
      isError: false,
    });
    expect(await person.result("tools/call", { name: "box.told" })).toEqual({
      content: [{ type: "text", text: "no such issue" }],
      isError: true,
      _meta: { "example.com/ticket": 7 },
    });
  });

  test("errors keep code, message and data", async () => {
    await using hall = await startBox(words);
    const person = await connect(hall, clientEra);
    const error = { code: -32_050, message: "no luck", data: { why: ["a", 1] } };
    expect((await person.get("tools/call", { name: "box.error" })).error).toEqual(error);
    const own = { code: 4_711, message: "ünusual", data: "text" };
    expect((await person.get("tools/call", { name: "box.error", arguments: own })).error).toEqual(
      own,
    );
    expect((await person.get("resources/read", { uri: "note://2" })).error).toEqual({
      code: clientEra === "modern" ? -32_602 : -32_002,
      message: "Resource not found",
      data: { uri: "note://2" },
    });
  });

  test("_meta of a request reaches the server, without the fields of the client's own connection", async () => {
    await using hall = await startBox(words);
    const person = await connect(hall, clientEra);
    const own = { "example.com/trace": { id: "t-1" }, traceparent: "00-1-2-03" };
    const seen = saidJson({
      result: await person.result(
        "tools/call",
        { name: "box.meta" },
        { ...own, progressToken: "mine" },
      ),
    }) as JsonObject;
    expect(seen).toMatchObject(own);
    expect(seen.progressToken).not.toBe("mine");
    if (serverEra === "legacy")
      expect(Object.keys(seen).filter((key) => key.startsWith("io.modelcontextprotocol/"))).toEqual(
        [],
      );
    else
      expect(seen).toMatchObject({
        [keys.version]: "2026-07-28",
        [keys.clientInfo]: { name: "guildhall" },
      });
    const read = await person.result("resources/read", { uri: "note://by-name/x" }, own);
    expect(read).toMatchObject({
      contents: [
        { uri: "note://by-name/x", text: "text of note://by-name/x", _meta: { asked: own } },
      ],
      extra: true,
    });
  });

  test("resources, prompts and completions are asked of the server by its own names", async () => {
    await using hall = await startBox(words);
    const person = await connect(hall, clientEra);
    expect(await person.result("resources/read", { uri: "note://1" })).toMatchObject({
      contents: [{ uri: "note://1", text: "text of note://1" }],
    });
    expect(
      await person.result("prompts/get", { name: "box.greet", arguments: { who: "Ada" } }),
    ).toEqual({
      description: "a greeting",
      messages: [{ role: "user", content: { type: "text", text: "Hello Ada" } }],
      "x-more": 1,
    });
    const argument = { name: "who", value: "A" };
    const context = { arguments: { other: "x" } };
    expect(
      await person.result("completion/complete", {
        ref: { type: "ref/prompt", name: "box.greet" },
        argument,
        context,
      }),
    ).toEqual({
      completion: { values: ["Aa", "Ab"], total: 2, hasMore: false },
      seen: { ref: { type: "ref/prompt", name: "greet" }, context },
    });
    expect(
      await person.result("completion/complete", {
        ref: { type: "ref/resource", uri: "note://by-name/{name}" },
        argument,
      }),
    ).toMatchObject({
      completion: { values: ["Aa", "Ab"] },
    });
  });

  test("progress passes under the client's token", async () => {
    await using hall = await startBox(words);
    const person = await connect(hall, clientEra);
    await person.result(
      "tools/call",
      { name: "box.progress", arguments: { steps: 3 } },
      { progressToken: "mine" },
    );
    const steps = person.client.received.filter(
      ({ method }) => method === "notifications/progress",
    );
    const all = [1, 2, 3].map((progress) => ({
      progressToken: "mine",
      progress,
      total: 3,
      message: `step ${progress}`,
    }));
    // A step that comes too soon after the one before it is left out; the last one never is.
    expect(all).toEqual(expect.arrayContaining(steps.map(({ params }) => params)));
    expect(steps.at(-1)?.params).toEqual(all.at(-1));
  });

  test("logs pass to the client whose call they belong to, at the level it asked for", async () => {
    await using hall = await startBox(words);
    const person = await connect(hall, clientEra);
    const level = clientEra === "modern" ? { [keys.logLevel]: "info" } : {};
    if (clientEra === "legacy") await person.result("logging/setLevel", { level: "info" });
    await person.result(
      "tools/call",
      { name: "box.log", arguments: { level: "warning", data: { text: "careful" } } },
      level,
    );
    await person.result(
      "tools/call",
      { name: "box.log", arguments: { level: "debug", data: "too small" } },
      level,
    );
    const heard = person.client.received.filter(({ method }) => method === "notifications/message");
    expect(heard.map(({ params }) => params)).toEqual([
      { level: "warning", logger: "box/inner", data: { text: "careful" } },
    ]);
    if (serverEra === "modern") {
      // A modern server speaks only when it was asked to.
      await person.result("tools/call", { name: "box.echo" }, level);
      const sent = saidJson({
        result: await person.result("tools/call", { name: "box.heard" }),
      }) as JsonObject[];
      const calls = sent.filter(({ params }) => isObject(params) && params.name === "log");
      expect(
        calls.map(({ params }) => ((params as JsonObject)._meta as JsonObject)[keys.logLevel]),
      ).toEqual(["info", "info"]);
    }
  });

  test("a cancelled call is cancelled at the server, and gets no answer", async () => {
    await using hall = await startBox(words);
    const person = await connect(hall, clientEra);
    const id = person.ask("tools/call", { name: "box.hang" });
    // Answered after the call above has reached the server.
    await person.result("tools/call", { name: "box.echo" });
    person.client.notify("notifications/cancelled", { requestId: id, reason: "changed my mind" });
    const heard = async (): Promise<JsonObject[]> =>
      saidJson({
        result: await person.result("tools/call", { name: "box.heard" }),
      }) as JsonObject[];
    await until(
      async () => (await heard()).some(({ method }) => method === "notifications/cancelled"),
      "the server hears of it",
    );
    const messages = await heard();
    const hung = messages.find(({ params }) => isObject(params) && params.name === "hang");
    expect(messages.filter(({ method }) => method === "notifications/cancelled")).toMatchObject([
      { params: { requestId: hung?.id } },
    ]);
    expect(person.client.received.filter((message) => message.id === id)).toEqual([]);
  });

  test("questions of all kinds reach the person, and the answers the server", async () => {
    await using hall = await startBox(words);
    const person = await connect(hall, clientEra);
    const answers: Record<string, JsonObject> = {
      "elicitation/create": { action: "accept", content: { name: "Ada" } },
      "sampling/createMessage": {
        role: "assistant",
        content: { type: "text", text: "Roses" },
        model: "m",
      },
      "roots/list": { roots: [{ uri: "file:///a" }] },
    };
    const requests: Record<string, JsonObject> = { ...questions };
    const got = await answerAll(
      person,
      clientEra,
      { requests },
      (question) => answers[String(question.method)] ?? {},
    );
    expect(got).toMatchObject({
      name: answers["elicitation/create"],
      poem: answers["sampling/createMessage"],
      roots: answers["roots/list"],
    });
    for (const action of ["decline", "cancel"]) {
      expect(
        await answerAll(person, clientEra, { requests: { name: questions.name } }, () => ({
          action,
        })),
      ).toMatchObject({ name: { action } });
    }
  });

  test("two questions of one kind at once get the answers that belong to them", async () => {
    await using hall = await startBox(words);
    const person = await connect(hall, clientEra);
    const question = (message: string): JsonObject => ({
      ...questions.name,
      params: { ...questions.name.params, message },
    });
    const got = await answerAll(
      person,
      clientEra,
      { requests: { first: question("first?"), second: question("second?") } },
      ({ params }) => ({
        action: "accept",
        content: { name: (params as JsonObject).message },
      }),
    );
    const said = (words: string): JsonObject => ({
      content: { name: `The server "box" asks:\n\n${words}` },
    });
    expect(got).toMatchObject({ first: said("first?"), second: said("second?") });
  });

  test("a question to a client that cannot be asked is refused", async () => {
    await using hall = await startBox(words);
    const client = hall.connect();
    if (clientEra === "legacy") await client.greet();
    const params = { name: "box.ask", arguments: { requests: { name: questions.name } } };
    const answer = await client.request(
      "tools/call",
      clientEra === "modern" ? modern(params) : params,
    );
    // A legacy server is notified and continues; a modern one has nothing to continue.
    if (serverEra === "legacy")
      expect(saidJson(answer)).toMatchObject({ name: { error: { code: -32_601 } } });
    else if (clientEra === "modern")
      expect(answer.error).toMatchObject({
        code: -32_021,
        data: { requiredCapabilities: { elicitation: {} } },
      });
    else expect(answer).toMatchObject({ error: { code: -32_021 } });
    expect(client.received.filter(({ method }) => method === "elicitation/create")).toEqual([]);
  });

  test("updates of a watched resource arrive, also after the server has crashed", async () => {
    await using hall = await startBox(words);
    const person = await connect(hall, clientEra);
    if (clientEra === "legacy") await person.result("resources/subscribe", { uri: "note://1" });
    else {
      person.ask("subscriptions/listen", {
        notifications: { resourceSubscriptions: ["note://1"] },
      });
      await person.client.heard("notifications/subscriptions/acknowledged");
    }
    const touched = async (): Promise<void> => {
      await until(async () => {
        await person.result("tools/call", { name: "box.touch", arguments: { uri: "note://1" } });
        return person.client.unread.some(
          ({ method }) => method === "notifications/resources/updated",
        );
      }, "the change is heard of");
      expect(await person.client.heard("notifications/resources/updated")).toMatchObject({
        params: { uri: "note://1" },
      });
    };
    await touched();
    await person.get("tools/call", { name: "box.crash" });
    await untilAnswers(hall.client, "box.echo");
    while (person.client.unread.some(({ method }) => method === "notifications/resources/updated"))
      await person.client.heard("notifications/resources/updated");
    await touched();
  });
});

/** Calls the tool that asks, answers whatever comes, and gives what the server got. */
async function answerAll(
  person: Person,
  era: Era,
  args: JsonObject,
  answer: (question: JsonObject) => JsonObject,
): Promise<unknown> {
  const call = { name: "box.ask", arguments: args };
  if (era === "legacy") {
    const id = person.ask("tools/call", call);
    for (;;) {
      const message = await person.client.take(
        ({ id: other, method }) => method !== undefined || other === id,
        "a question or the answer",
      );
      if (message.method === undefined) return (message.result as JsonObject).structuredContent;
      if (message.id !== undefined)
        person.client.send({ jsonrpc: "2.0", id: message.id, result: answer(message) });
    }
  }
  let more: JsonObject = {};
  for (let round = 0; round < 10; round++) {
    const { result, error } = await person.get("tools/call", { ...call, ...more });
    if (!isObject(result)) throw new Error(`the call failed: ${JSON.stringify(error)}`);
    if (result.resultType !== "input_required") return result.structuredContent;
    const asked = Object.entries(result.inputRequests as Record<string, JsonObject>);
    more = {
      requestState: result.requestState,
      inputResponses: Object.fromEntries(asked.map(([key, question]) => [key, answer(question)])),
    };
  }
  throw new Error("it asks for ever");
}

describe.concurrent("a server", () => {
  test("that cannot give a list it promised is used for the rest", async () => {
    await using hall = await startBox("broken-resources prompts");
    expect((await hall.client.result("tools/list")).tools).toHaveLength(1);
    expect((await hall.client.result("resources/list")).resources).toEqual([]);
    expect((await hall.client.result("prompts/list")).prompts).toHaveLength(1);
    expect(hall.logged.join("")).toContain("no backend");
  });

  test("is shown with the tools its entry includes and does not exclude, under the prefix it says", async () => {
    const config = faulty("told image rich meta", {
      tools: { include: ["e*", "t*", "m*"], exclude: ["*et*"] },
      prefix: "b",
    });
    await using hall = await startUpstreams({ box: config });
    await hall.untilListed("b.echo");
    expect((await hall.client.result("tools/list")).tools).toMatchObject([
      { name: "b__echo" },
      { name: "b__told" },
    ]);
    expect(await callTool(hall.client, "b.meta")).toMatchObject({
      result: { isError: true, structuredContent: { error_type: "unavailable" } },
    });
  });

  test("has the deadline its entry says", async () => {
    await using hall = await startUpstreams({ box: faulty("hang", { timeoutSeconds: 1 }) });
    await hall.untilListed("box.hang");
    expect(await callTool(hall.client, "box.hang")).toMatchObject({
      result: { isError: true, structuredContent: { error_type: "timeout" } },
    });
  });

  test("that changes its templates is read again", async () => {
    await using hall = await startBox("resources change");
    await callTool(hall.client, "box.change", {
      templates: [{ uriTemplate: "new://{x}", name: "new" }],
    });
    await until(async () => {
      const { resourceTemplates } = await hall.client.result("resources/templates/list");
      return (resourceTemplates as JsonObject[]).length === 2;
    }, "the new template is listed");
  });

  test("gets a question back to the client whose call it belongs to when two are in the middle of one", async () => {
    await using hall = await startBox("ask");
    const [ada, bob] = [await connect(hall, "legacy"), await connect(hall, "legacy")];
    const call = (person: Person, message: string): number =>
      person.ask("tools/call", {
        name: "box.ask",
        arguments: {
          requests: { who: { ...questions.name, params: { ...questions.name.params, message } } },
        },
      });
    const first = call(ada, "for Ada");
    const asked = await ada.client.heard("elicitation/create");
    const second = call(bob, "for Bob");
    const askedBob = await bob.client.heard("elicitation/create");
    expect([asked.params, askedBob.params]).toMatchObject(
      ["Ada", "Bob"].map((name) => ({ message: expect.stringMatching(`for ${name}$`) })),
    );
    ada.client.send({
      jsonrpc: "2.0",
      id: asked.id,
      result: { action: "accept", content: { name: "Ada" } },
    });
    bob.client.send({
      jsonrpc: "2.0",
      id: askedBob.id,
      result: { action: "accept", content: { name: "Bob" } },
    });
    expect(saidJson(await ada.client.answer(first))).toMatchObject({
      who: { content: { name: "Ada" } },
    });
    expect(saidJson(await bob.client.answer(second))).toMatchObject({
      who: { content: { name: "Bob" } },
    });
  });

  test("that fails is counted, with its error", async () => {
    await using hall = await startBox("error told");
    await callTool(hall.client, "box.echo");
    expect(said(await callTool(hall.client, "box.told"))).toBe("no such issue");
    await callTool(hall.client, "box.error");
    expect(hall.upstream("box").counts).toEqual({ calls: 3, errors: 1, lastError: "no luck" });
  });
});
