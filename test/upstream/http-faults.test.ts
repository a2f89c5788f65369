import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { connect, type LookupFunction } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { isObject, type JsonObject } from "../../src/base/json.ts";
import { HttpChannel } from "../../src/client/http.ts";
import { createDialler, lookupOutside } from "../../src/net/dial.ts";
import type { Upstream } from "../../src/upstream/upstream.ts";
import { defaultLimits } from "../../src/wire/channel.ts";
import { modern, type RawClient } from "../servers/client.ts";
import { startHall, type TestHall } from "../servers/hall.ts";
import {
  type Act,
  type RemoteConfig,
  type Scripted,
  type ScriptedCall,
  type ScriptedOptions,
  said,
  sendJson,
  startScripted,
} from "../servers/scripted.ts";
import { questions } from "../servers/toolkits.ts";
import { guardMs, until } from "../servers/until.ts";
import { callTool } from "../servers/upstreams.ts";

/**
 * Faults of remote servers. In each test a healthy server runs beside the faulty one and is called until the test ends:
 * each of its calls must be answered. Afterwards no socket is left open.
 */
vi.setConfig({ maxConcurrency: 8 });

interface Bench {
  readonly hall: TestHall;
  readonly client: RawClient;
  readonly sick: Scripted;
  readonly upstream: Upstream;
  call(tool: string, args?: JsonObject, meta?: JsonObject): Promise<JsonObject>;
}

async function beside(
  options: ScriptedOptions,
  work: (bench: Bench) => Promise<void>,
): Promise<void> {
  await using sick = await startScripted(options);
  await using well = await startScripted();
  {
    await using hall = await startHall({
      toolkits: [],
      servers: { sick: sick.config, well: well.config },
    });
    const client = hall.connect();
    await client.greet("2025-11-25", { elicitation: {} });
    const { registry, fleet } = hall.hall;
    const isListed = (name: string): boolean => registry.findTool(name) !== undefined;
    await until(() => isListed("well.echo") && isListed("sick.echo"), "both servers are listed");
    await using heart = beat(hall);
    await work({
      hall,
      client,
      sick,
      upstream: fleet.get("sick"),
      call: (tool, args, meta) => callTool(client, `sick.${tool}`, args, meta),
    });
    await until(() => heart.answers > 0, "the healthy one has answered");
    expect(heart.failures).toEqual([]);
  }
  await until(
    async () => (await sick.sockets()) + (await well.sockets()) === 0,
    "every socket is closed",
  );
}

interface Heart extends AsyncDisposable {
  readonly answers: number;
  readonly failures: readonly JsonObject[];
}

function beat(hall: TestHall): Heart {
  const client = hall.connect();
  const failures: JsonObject[] = [];
  let answers = 0;
  let isStopped = false;
  const run = async (): Promise<void> => {
    await client.greet();
    for (let n = 0; !isStopped; n++) {
      const answer = await callTool(client, "well.echo", { n });
      if (textOf(answer) === JSON.stringify({ n })) answers++;
      else failures.push(answer);
      await wait(25);
    }
  };
  const running = run();
  return {
    get answers() {
      return answers;
    },
    failures,
    async [Symbol.asyncDispose]() {
      isStopped = true;
      await running;
    },
  };
}

function textOf({ result }: JsonObject): unknown {
  return isObject(result) && result.isError !== true && Array.isArray(result.content)
    ? (result.content[0] as JsonObject).text
    : undefined;
}

/** The failure of a call as a client of 2025-11-25 gets it. */
function failureOf(answer: JsonObject): JsonObject {
  const { result } = answer;
  if (!isObject(result) || result.isError !== true || !isObject(result.structuredContent))
    throw new Error(`not a failure: ${JSON.stringify(answer).slice(0, 500)}`);
  return result.structuredContent;
}

const ways = {
  "modern HTTP": { type: "http", era: "modern" },
  "legacy HTTP": { type: "http", era: "legacy" },
  "the SSE pair": { type: "sse", era: "legacy" },
  "modern WebSocket": { type: "ws", era: "modern" },
  "legacy WebSocket": { type: "ws", era: "legacy" },
} as const satisfies Record<string, ScriptedOptions>;
const everyWay = Object.entries(ways);
const httpWays = everyWay.filter(([, { type }]) => type === "http");

function isStreamable({ response }: ScriptedCall): boolean {
  return response?.headersSent === false;
}

describe.concurrent("an invalid answer", () => {
  const bad: Readonly<Record<string, Act>> = {
    both: ({ id, say }) =>
      say({ jsonrpc: "2.0", id, result: said("x"), error: { code: 1, message: "y" } }),
    wrong_jsonrpc: ({ id, say }) => say({ jsonrpc: "1.0", id, result: said("x") }),
    no_object: ({ id, say }) => say({ jsonrpc: "2.0", id, result: 5 }),
    bad_error: ({ id, say }) => say({ jsonrpc: "2.0", id, error: "it failed" }),
    result_type: ({ id, say }) =>
      say({ jsonrpc: "2.0", id, result: { resultType: "surprise", content: [] } }),
    no_content: ({ answer }) => answer({ hello: "world" }),
  };

  test.each(everyWay)("over %s fails its call, and the connection stays open", (_name, options) =>
    beside({ ...options, tools: bad }, async ({ call }) => {
      for (const tool of Object.keys(bad)) {
        const answer = await call(tool);
        expect(failureOf(answer), tool).toMatchObject({ error_type: "bad_answer" });
      }
      expect(textOf(await call("echo", { n: 1 }))).toBe('{"n":1}');
    }),
  );

  test.each(httpWays)("over %s on an event stream fails its call", (_name, options) => {
    const tools = Object.fromEntries(
      Object.entries(bad).map(([name, act]): [string, Act] => [
        name,
        (call) => {
          const response = call.stream();
          act(call);
          response.end();
        },
      ]),
    );
    return beside({ ...options, tools }, async ({ call }) => {
      for (const tool of Object.keys(bad))
        expect(failureOf(await call(tool)), tool).toMatchObject({ error_type: "bad_answer" });
    });
  });

  test.each(httpWays)(
    "over %s that belongs to another request, or to none, leaves this one unanswered",
    (_name, options) =>
      beside(
        {
          ...options,
          tools: {
            other_id: ({ say }) => say({ jsonrpc: "2.0", id: 999_999, result: said("x") }),
            string_id: ({ id, say }) => say({ jsonrpc: "2.0", id: String(id), result: said("x") }),
            no_json: ({ say }) => say("{"),
            empty: ({ response }) =>
              response.writeHead(200, { "content-type": "application/json" }).end(),
          },
        },
        async ({ call }) => {
          for (const tool of ["other_id", "string_id", "no_json", "empty"]) {
            expect(failureOf(await call(tool)), tool).toMatchObject({
              error_type: "bad_answer",
              message: "HTTP 200 without an answer",
            });
          }
        },
      ),
  );
});

describe.concurrent("a message that a server sends on its own", () => {
  test("a request by a modern server on the stream gets no answer", () =>
    beside(
      {
        tools: {
          asks: ({ stream, say, answer, response }) => {
            stream();
            say({
              jsonrpc: "2.0",
              id: "q",
              method: "elicitation/create",
              params: questions.name.params,
            });
            answer(said("went on"));
            response.end();
          },
        },
      },
      async ({ call, sick, client }) => {
        expect(textOf(await call("asks"))).toBe("went on");
        expect(textOf(await call("echo"))).toBe("{}");
        expect(client.received.filter(({ method }) => method === "elicitation/create")).toEqual([]);
        expect(
          sick.seen.filter(({ message }) => message !== undefined && message.method === undefined),
        ).toEqual([]);
      },
    ));

  test("an unknown request by a legacy server is answered with an error", () =>
    beside(
      {
        era: "legacy",
        tools: {
          asks: ({ stream, say, answer, response, server }) => {
            stream();
            say({ jsonrpc: "2.0", id: "q", method: "vendor/unknown" });
            void until(
              () => server.seen.some(({ message }) => message?.id === "q"),
              "an answer",
            ).then(() => {
              answer(said("went on"));
              response.end();
            });
          },
        },
      },
      async ({ call, sick }) => {
        expect(textOf(await call("asks"))).toBe("went on");
        expect(sick.seen.find(({ message }) => message?.id === "q")?.message).toMatchObject({
          error: { code: -32_601 },
        });
      },
    ));

  /** Asks; once the client has the question, withdraws it and answers the call. */
  const createImpatient = (hasQuestion: Promise<unknown>): Act => {
    return async ({ stream, say, answer, response }) => {
      stream();
      say({ jsonrpc: "2.0", id: "q", method: "elicitation/create", params: questions.name.params });
      await hasQuestion;
      say({
        jsonrpc: "2.0",
        method: "notifications/cancelled",
        params: { requestId: "q", reason: "never mind" },
      });
      answer(said("went on"));
      response.end();
    };
  };

  test("a question that a server withdraws is withdrawn from a legacy client", () =>
    beside(
      { era: "legacy", tools: { impatient: () => undefined } },
      async ({ client, call, sick }) => {
        const asked = client.heard("elicitation/create");
        sick.tools.impatient = createImpatient(asked);
        const answered = call("impatient");
        const question = await asked;
        expect(await client.heard("notifications/cancelled")).toMatchObject({
          params: { requestId: question.id },
        });
        expect(textOf(await answered)).toBe("went on");
        expect(sick.seen.filter(({ message }) => message?.id === "q")).toEqual([]);
      },
    ));

  test("a question that a server withdraws does not keep a modern client from its result", () =>
    beside(
      { era: "legacy", tools: { impatient: () => undefined } },
      async ({ hall, sick, call }) => {
        const client = hall.connect();
        const params = { name: "sick.impatient", arguments: {} };
        const id = client.ask("tools/call", modern(params, { elicitation: {} }));
        const asked = client.answer(id);
        sick.tools.impatient = createImpatient(asked);
        const { result } = await asked;
        const { requestState, inputRequests } = result as {
          requestState: string;
          inputRequests: JsonObject;
        };
        await sick.seen.findLast(({ message }) => message?.method === "tools/call")?.closed;
        expect(textOf(await call("echo"))).toBe("{}");
        const inputResponses = Object.fromEntries(
          Object.keys(inputRequests).map((key) => [key, { action: "cancel" }]),
        );
        expect(
          textOf(
            await client.request(
              "tools/call",
              modern({ ...params, requestState, inputResponses }, { elicitation: {} }),
            ),
          ),
        ).toBe("went on");
      },
    ));

  test("a question on the stream of a call goes to the client behind that call, and to no other", () =>
    beside(
      {
        era: "legacy",
        tools: {
          asks: ({ stream, say, answer, response, server, args }) => {
            stream();
            setTimeout(
              () =>
                say({
                  jsonrpc: "2.0",
                  id: `q ${args.who}`,
                  method: "elicitation/create",
                  params: questions.name.params,
                }),
              Number(args.ms),
            );
            void until(
              () => server.seen.some(({ message }) => message?.id === `q ${args.who}`),
              "an answer",
            ).then(() => {
              answer(
                said(
                  JSON.stringify(
                    server.seen.find(({ message }) => message?.id === `q ${args.who}`)?.message
                      ?.result,
                  ),
                ),
              );
              response.end();
            });
          },
        },
      },
      async ({ hall }) => {
        const people = await Promise.all(
          ["first", "second", "third"].map(async (who) => {
            const client = hall.connect();
            await client.greet("2025-11-25", { elicitation: {} });
            return { who, client };
          }),
        );
        // The first asks last: whoever called most recently is somebody else by then.
        const calls = people.map(({ who, client }, n) =>
          client.ask("tools/call", { name: "sick.asks", arguments: { who, ms: 300 - 100 * n } }),
        );
        const results = people.map(async ({ who, client }, n) => {
          const question = await client.heard("elicitation/create");
          expect(question.params).toEqual({
            ...questions.name.params,
            message: expect.stringMatching(/^The server ".*" asks:\n\nYour name\?$/),
          });
          client.send({
            jsonrpc: "2.0",
            id: question.id,
            result: { action: "accept", content: { name: who } },
          });
          return textOf(await client.answer(calls[n]));
        });
        expect(await Promise.all(results)).toEqual(
          people.map(({ who }) => JSON.stringify({ action: "accept", content: { name: who } })),
        );
      },
    ));

  test.each([
    ways["modern HTTP"],
    ways["legacy HTTP"],
    ways["modern WebSocket"],
    ways["the SSE pair"],
  ])(
    "a storm of changes over $era $type causes at most one listing and five notifications a second",
    (options) =>
      beside(options, async ({ sick, client, hall }) => {
        await until(() => sick.standing.size > 0, "it is listened to");
        const lists = sick.heard("tools/list");
        const told = client.received.length;
        const startedAt = performance.now();
        sick.tools.late = ({ answer }) => answer(said("here"));
        for (let n = 0; n < 500; n++) {
          for (const stream of sick.standing)
            stream.send({ jsonrpc: "2.0", method: "notifications/tools/list_changed", params: {} });
          if (n % 50 === 0) await wait(20);
        }
        await until(
          () => hall.hall.registry.findTool("sick.late") !== undefined,
          "the new tool is listed",
        );
        const seconds = (performance.now() - startedAt) / 1000;
        expect(sick.heard("tools/list") - lists).toBeLessThanOrEqual(seconds + 2);
        expect(
          client.received
            .slice(told)
            .filter(({ method }) => method === "notifications/tools/list_changed").length,
        ).toBeLessThanOrEqual(5 * seconds + 1);
      }),
  );

  test("a flood of progress is thinned out, and only grows", () =>
    beside(
      {
        tools: {
          flood: async ({ stream, say, answer, response, message }) => {
            stream();
            const { progressToken } = (message.params as { _meta: JsonObject })._meta;
            for (let progress = 1; progress <= 2_000; progress++)
              say({
                jsonrpc: "2.0",
                method: "notifications/progress",
                params: { progressToken, progress },
              });
            answer(said("done"));
            response.end();
          },
        },
      },
      async ({ call, client }) => {
        const startedAt = performance.now();
        const answer = await call("flood", {}, { progressToken: "mine" });
        const seconds = (performance.now() - startedAt) / 1_000;
        expect(textOf(answer)).toBe("done");
        const steps = client.received
          .filter(({ method }) => method === "notifications/progress")
          .map(({ params }) => params as { progressToken: string; progress: number });
        expect(steps.length).toBeGreaterThan(0);
        expect(steps.length).toBeLessThanOrEqual(20 * seconds + 22);
        expect(
          steps.every(
            ({ progressToken, progress }, n) =>
              progressToken === "mine" && (n === 0 || progress > Number(steps[n - 1]?.progress)),
          ),
        ).toBe(true);
      },
    ));

  test.each(everyWay)("answers over %s reach their calls in any order", (_name, options) =>
    beside(
      {
        ...options,
        tools: {
          delayed: async ({ args, answer }) =>
            wait(Math.random() * 100).then(() => answer(said(String(args.n)))),
        },
      },
      async ({ call }) => {
        const answers = await Promise.all(
          Array.from({ length: 100 }, (_, n) => call("delayed", { n })),
        );
        expect(answers.map(textOf)).toEqual(answers.map((_, n) => String(n)));
      },
    ),
  );
});

describe.concurrent("a server that asks for a pause", () => {
  const paused = (status: number, times: number, header: string): Act => {
    let left = times;
    return ({ response, answer }) => {
      if (left-- > 0) response.writeHead(status, { "retry-after": header }).end();
      else answer(said("served"));
    };
  };

  test.each([429, 503])("with %i gets it, if the deadline allows", (status) =>
    beside({ tools: { busy: paused(status, 1, "1") } }, async ({ call, sick }) => {
      expect(textOf(await call("busy"))).toBe("served");
      const [first = 0, second = 0] = sick.seen
        .filter(({ message }) => message?.method === "tools/call")
        .map(({ at }) => at);
      expect(second - first).toBeGreaterThan(950);
    }),
  );

  test("longer than the deadline allows fails the call, and is not called meanwhile", () =>
    beside(
      { tools: { busy: paused(429, 1, "60") }, config: { timeoutSeconds: 5 } },
      async ({ call, sick }) => {
        const answer = await call("busy");
        expect(failureOf(answer)).toMatchObject({
          error_type: "rate_limited",
          details: { retryAfterSeconds: expect.closeTo(60, -1) },
        });
        expect(failureOf(await call("echo"))).toMatchObject({
          error_type: "rate_limited",
          details: { retryAfterSeconds: expect.closeTo(60, -1) },
        });
        expect(sick.count("busy") + sick.count("echo")).toBe(1);
      },
    ));

  test("as a date gets it too; without a time it is reported", () =>
    beside(
      {
        tools: {
          busy: paused(429, 1, new Date(Date.now() + 3_000).toUTCString()),
          vague: ({ response }) => response.writeHead(429).end(),
        },
      },
      async ({ call }) => {
        expect(failureOf(await call("vague"))).toMatchObject({
          error_type: "rate_limited",
          message: "HTTP 429: the server limits the rate of calls",
        });
        expect(textOf(await call("busy"))).toBe("served");
      },
    ));

  test("again and again is given up", () =>
    beside({ tools: { busy: paused(429, 100, "0") } }, async ({ call, sick }) => {
      expect(failureOf(await call("busy"))).toMatchObject({ error_type: "rate_limited" });
      expect(sick.count("busy")).toBe(4);
    }));
});

describe.concurrent("a failing server", () => {
  test.each([500, 502, 503, 504])(
    "with %i rests after five failures in a row, is not called meanwhile, and is tried again",
    (status) =>
      beside(
        {
          tools: {
            failing: ({ response }) =>
              response.writeHead(status, { "content-type": "text/html" }).end("<h1>Oops</h1>"),
          },
        },
        async ({ call, sick, upstream }) => {
          for (let n = 1; n <= 5; n++)
            expect(failureOf(await call("failing"))).toMatchObject({
              error_type: "unavailable",
              message: expect.stringContaining(`HTTP ${status}`),
            });
          const answer = await call("failing");
          expect(failureOf(answer)).toMatchObject({
            message: `server "sick" is down: HTTP ${status}`,
            details: { upstream: "sick", retryAfterSeconds: expect.any(Number) },
          });
          expect(sick.count("failing")).toBe(5);
          await until(() => {
            const state = upstream.state();
            // The hall measures the rest by another clock, which may be a little behind.
            return state.kind !== "down" || state.retryAt + 10 <= Date.now();
          }, "the rest is over");
          // The probe decides alone: one more failure, and it rests again.
          expect(failureOf(await call("failing"))).toMatchObject({ error_type: "unavailable" });
          expect(failureOf(await call("echo"))).toMatchObject({
            message: `server "sick" is down: HTTP ${status}`,
          });
          expect(sick.count("failing")).toBe(6);
        },
      ),
  );

  test("is still called if an answer comes in between, which resets the count", () =>
    beside(
      { tools: { failing: ({ response }) => response.writeHead(500).end() } },
      async ({ call, sick }) => {
        for (let n = 0; n < 3; n++) {
          for (let failures = 0; failures < 4; failures++) await call("failing");
          expect(textOf(await call("echo", { n }))).toBe(JSON.stringify({ n }));
        }
        expect(sick.count("failing")).toBe(12);
      },
    ));

  test("that explains the failure in a message is quoted", () =>
    beside(
      {
        tools: {
          failing: ({ response, id }) =>
            sendJson(
              response,
              { jsonrpc: "2.0", id, error: { code: -32_603, message: "no database" } },
              500,
            ),
        },
      },
      async ({ call }) => {
        for (let n = 0; n < 8; n++)
          expect((await call("failing")).error).toEqual({ code: -32_603, message: "no database" });
        expect(textOf(await call("echo", { n: 1 }))).toBe('{"n":1}');
      },
    ));
});

describe.concurrent("a redirect", () => {
  const secret = { authorization: "Bearer the-secret" };
  const elsewhere = async (): Promise<Scripted> => {
    const other = await startScripted();
    onTestFinished(() => other[Symbol.asyncDispose]());
    return other;
  };

  test.each([301, 302, 303, 307, 308])(
    "with %i to another server is not followed, and the token goes nowhere",
    async (status) => {
      const other = await elsewhere();
      const places = [
        `${other.origin}/mcp`,
        `http://localhost:${other.port}/mcp`,
        `//127.0.0.1:${other.port}/mcp`,
        `https://127.0.0.1:${other.port}/mcp`,
      ];
      let next = 0;
      await beside(
        {
          config: { headers: secret },
          tools: {
            moved: ({ response }) =>
              response.writeHead(status, { location: places[next++ % places.length] }).end(),
          },
        },
        async ({ call, sick }) => {
          for (const _place of places) {
            expect(failureOf(await call("moved"))).toMatchObject({
              error_type: "bad_answer",
              message: `HTTP ${status}: redirects to another host are not followed`,
            });
          }
          expect(other.seen).toEqual([]);
          expect(
            sick.seen.every(({ headers }) => headers.authorization === secret.authorization),
          ).toBe(true);
        },
      );
    },
  );

  test("within the server is followed with the same body, headers and method; in circles it is not", () =>
    beside({ config: { headers: secret } }, async ({ call, sick }) => {
      sick.intercept = ({ request, response }) => {
        if (request.url !== "/mcp") return false;
        response.writeHead(307, { location: "/moved/mcp" }).end();
        return true;
      };
      expect(textOf(await call("echo", { n: 1 }))).toBe('{"n":1}');
      const { method, headers, message } = sick.seen.at(-1) ?? {};
      expect({
        method,
        authorization: headers?.authorization,
        name: headers?.["mcp-name"],
      }).toEqual({ method: "POST", ...secret, name: "echo" });
      expect(message?.params).toMatchObject({ name: "echo" });
      const calls = () => sick.seen.filter((seen) => seen.message?.method === "tools/call").length;
      const before = calls();
      sick.intercept = ({ response }) =>
        response.writeHead(308, { location: "/mcp" }).end() !== undefined;
      expect(failureOf(await call("echo"))).toMatchObject({ error_type: "bad_answer" });
      expect(calls() - before).toBe(4);
    }));

  test("of the pair, by its endpoint or by HTTP, is not followed", async () => {
    const other = await elsewhere();
    await using hidden = await startScripted({
      type: "sse",
      era: "legacy",
      config: { headers: secret },
    });
    hidden.intercept = ({ request, response }) => {
      if (request.url !== "/sse") return false;
      response
        .writeHead(200, { "content-type": "text/event-stream" })
        .write(`event: endpoint\ndata: ${other.origin}/messages?session=1\n\n`);
      return true;
    };
    await using hall = await startHall({ toolkits: [], servers: { hidden: hidden.config } });
    await expect(hall.hall.fleet.get("hidden").discover()).rejects.toMatchObject({
      code: "UNAVAILABLE",
      message: 'server "hidden" is down: the endpoint is on another server',
    });
    hidden.intercept = ({ response }) =>
      response.writeHead(307, { location: `${other.origin}/sse` }).end() !== undefined;
    await hall.hall.fleet.get("hidden").restart();
    await expect(hall.hall.fleet.get("hidden").discover()).rejects.toMatchObject({
      message: 'server "hidden" is down: HTTP 307 instead of an event stream',
    });
    expect(other.seen).toEqual([]);
  });

  test("of a public name to a private address is detected before anything is sent", async () => {
    const other = await elsewhere();
    const resolve: LookupFunction = (_name, { all }, callback) =>
      all ? callback(null, [{ address: "127.0.0.1", family: 4 }]) : callback(null, "127.0.0.1", 4);
    const url = new URL(`http://looks-public.example.com:${other.port}/mcp`);
    const dialler = createDialler(lookupOutside(url, false, resolve));
    const init = { headers: secret, signal: AbortSignal.timeout(guardMs) };
    await expect(dialler.send(url, init)).rejects.toMatchObject({
      code: "DENIED",
      message: "looks-public.example.com resolves to the private address 127.0.0.1",
    });
    expect(await other.sockets()).toBe(0);
    const trusting = createDialler(lookupOutside(url, true, resolve) ?? resolve);
    expect((await trusting.send(url, init)).status).toBe(405);
    for (const { close } of [dialler, trusting]) close();
  });
});

describe.concurrent("an answer of another content type", () => {
  const kinds: Readonly<Record<string, Act>> = {
    html: ({ response }) =>
      response.writeHead(200, { "content-type": "text/html" }).end("<h1>Log in</h1>"),
    text: ({ response, id }) =>
      response
        .writeHead(200, { "content-type": "text/plain" })
        .end(JSON.stringify({ jsonrpc: "2.0", id, result: said("x") })),
    untyped: ({ response, id }) =>
      response.writeHead(200).end(JSON.stringify({ jsonrpc: "2.0", id, result: said("x") })),
    accepted: ({ response }) => response.writeHead(202).end(),
    empty: ({ response }) => response.writeHead(204).end(),
  };

  test.each(httpWays)("over %s fails its call", (_name, options) =>
    beside({ ...options, tools: kinds }, async ({ call }) => {
      for (const kind of Object.keys(kinds)) {
        const answer = await call(kind);
        expect(failureOf(answer), kind).toMatchObject({ error_type: "bad_answer" });
      }
      expect(textOf(await call("echo", { n: 1 }))).toBe('{"n":1}');
    }),
  );

  test.each(httpWays)("over %s with another charset and case is still JSON", (_name, options) =>
    beside(
      {
        ...options,
        tools: {
          odd: ({ response, id }) =>
            response
              .writeHead(200, { "content-type": "Application/JSON; charset=utf-8" })
              .end(JSON.stringify({ jsonrpc: "2.0", id, result: said("odd") })),
        },
      },
      async ({ call }) => expect(textOf(await call("odd"))).toBe("odd"),
    ),
  );

  test("over HTTP with an error status is reported as an error", () =>
    beside(
      {
        tools: {
          teapot: ({ response }) => response.writeHead(418).end("short and stout"),
          denied: ({ response }) => response.writeHead(403).end(),
        },
      },
      async ({ call }) => {
        expect(failureOf(await call("teapot"))).toMatchObject({
          error_type: "execution",
          message: "HTTP 418",
        });
        expect(failureOf(await call("denied"))).toMatchObject({ error_type: "denied" });
      },
    ));
});

describe.concurrent("an event stream that is cut", () => {
  const cuts: Readonly<Record<string, Act>> = {
    mid_event: ({ stream, id }) => {
      const response = stream();
      response.write(`data: {"jsonrpc":"2.0","id":${id},"resu`);
      setTimeout(() => response.destroy(), 20);
    },
    mid_character: ({ stream, id }) => {
      const response = stream();
      response.write(
        Buffer.concat([
          Buffer.from(`data: {"jsonrpc":"2.0","id":${id},"result":"`),
          Buffer.from("é").subarray(0, 1),
        ]),
      );
      setTimeout(() => response.end(), 20);
    },
    without_answer: ({ stream }) => stream().end(": nothing to say\n\n"),
    reset: ({ stream, response }) => {
      stream();
      setTimeout(() => response.socket?.resetAndDestroy(), 20);
    },
    half_json: ({ response, id }) => {
      response
        .writeHead(200, { "content-type": "application/json", "content-length": "1000" })
        .write(`{"jsonrpc":"2.0","id":${id},`);
      setTimeout(() => response.destroy(), 20);
    },
    invalid: ({ stream, id }) =>
      stream().end(
        Buffer.concat([
          Buffer.from(`data: {"jsonrpc":"2.0","id":${id},"result":"`),
          Buffer.from([0xff, 0xfe]),
          Buffer.from('"}\n\n'),
        ]),
      ),
  };

  test.each(httpWays)(
    "over %s, without an event id to resume from, is a bad answer, and is not called again",
    (_name, options) =>
      beside({ ...options, tools: cuts }, async ({ call, sick }) => {
        for (const cut of Object.keys(cuts)) {
          const answer = await call(cut);
          expect(failureOf(answer), cut).toMatchObject({ error_type: "bad_answer" });
          expect(sick.count(cut), cut).toBe(1);
        }
      }),
  );

  /** Cut after its first event, with an id to come back with. */
  const resumable: Act = ({ stream, server, id }) => {
    const response = stream();
    response.write(
      `id: e1\nretry: 100\ndata: {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"error","data":"first"}}\n\n`,
    );
    setTimeout(() => response.destroy(), 20);
    server.intercept = ({ request, response: rest }) => {
      if (request.method !== "GET" || request.headers["last-event-id"] === undefined) return false;
      rest
        .writeHead(200, { "content-type": "text/event-stream" })
        .end(
          `id: e2\ndata: ${JSON.stringify({ jsonrpc: "2.0", id, result: said("the rest") })}\n\n`,
        );
      return true;
    };
  };

  test("by a legacy server is resumed where it ended, once, and called once", () =>
    beside({ era: "legacy", tools: { resumable } }, async ({ call, sick, client }) => {
      const answer = await call("resumable");
      expect(textOf(answer)).toBe("the rest");
      const resumed = sick.seen.filter(
        ({ method, headers }) => method === "GET" && headers["last-event-id"] !== undefined,
      );
      expect(
        resumed.map(({ headers }) => [
          headers["last-event-id"],
          sick.sessions.has(String(headers["mcp-session-id"])),
        ]),
      ).toEqual([["e1", true]]);
      expect(sick.count("resumable")).toBe(1);
      expect(
        client.received.filter(({ method }) => method === "notifications/message"),
      ).toMatchObject([{ params: { data: "first" } }]);
    }));

  test("by a modern server is not resumed", () =>
    beside({ tools: { resumable } }, async ({ call, sick }) => {
      expect(failureOf(await call("resumable"))).toMatchObject({ error_type: "bad_answer" });
      expect(sick.seen.filter(({ method }) => method === "GET")).toEqual([]);
    }));

  test.each([404, 405, 500])(
    "by a legacy server that answers %i to the resumption loses the answer: it is not called again",
    (status) =>
      beside({ era: "legacy", tools: { resumable } }, async ({ call, sick }) => {
        const answered = call("resumable");
        await until(() => sick.intercept !== undefined, "the call has begun");
        sick.intercept = ({ request, response }) =>
          request.method === "GET" && response.writeHead(status).end() !== undefined;
        expect(failureOf(await answered)).toMatchObject({
          error_type: "bad_answer",
          message: expect.stringContaining(`HTTP ${status}`),
        });
        expect(sick.count("resumable")).toBe(1);
        expect(sick.heard("initialize")).toBe(1);
      }),
  );

  test("that belongs to no call is opened again, with the last event id", () =>
    beside({ era: "legacy" }, async ({ sick, client }) => {
      await until(() => sick.standing.size === 1, "it is listened to");
      const [stream] = sick.standing;
      // Ends the socket once the event is out: the stream is cut without its last chunk.
      stream?.response?.write("id: g7\nretry: 50\ndata:\n\n", () =>
        stream.response?.socket?.destroySoon(),
      );
      await until(
        () =>
          sick.seen.some(
            ({ method, headers }) => method === "GET" && headers["last-event-id"] === "g7",
          ),
        "it is opened again",
      );
      await until(() => sick.standing.size === 1, "it is listened to again");
      const told = client.received.length;
      for (const again of sick.standing)
        again.send({ jsonrpc: "2.0", method: "notifications/tools/list_changed" });
      await until(
        () =>
          client.received
            .slice(told)
            .some(({ method }) => method === "notifications/tools/list_changed"),
        "changes are heard of again",
      );
    }));
});

describe.concurrent("a silent stream", () => {
  test.each(httpWays)("over %s with only comments ends at the deadline", (_name, options) =>
    beside(
      {
        ...options,
        config: { timeoutSeconds: 1 },
        tools: {
          comments: ({ stream }) => {
            const response = stream();
            const timer = setInterval(() => response.write(": still here\n\n"), 50);
            response.on("close", () => clearInterval(timer));
          },
        },
      },
      async ({ call, sick }) => {
        const answer = await call("comments");
        expect(failureOf(answer)).toMatchObject({ error_type: "timeout" });
        await sick.seen.find(({ message }) => message?.method === "tools/call")?.closed;
      },
    ),
  );

  test("is closed after a while and opened again", async () => {
    await using server = await startScripted({ era: "legacy" });
    const url = new URL(server.config.url);
    const channel = new HttpChannel({
      url,
      dialler: createDialler(undefined),
      limits: defaultLimits,
      silentMsMax: 200,
      headers: async () => ({}),
      inputSchema: () => undefined,
    });
    const greeted = new Promise<void>((resolve) =>
      channel.start({
        frame: () => resolve(),
        oversize() {},
        drained() {},
        ended() {},
        closed() {},
      }),
    );
    channel.send(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params: {} }), {
      kind: "request",
      id: 1,
      method: "initialize",
    });
    await greeted;
    channel.send(JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" }), {
      kind: "notification",
      method: "notifications/initialized",
    });
    await until(
      () => server.seen.filter(({ method }) => method === "GET").length >= 2,
      "it is opened again",
    );
    await channel.close();
  });

  test("after its answer is not kept open", () =>
    beside(
      { tools: { lingers: ({ stream, answer }) => [stream(), answer(said("done"))] } },
      async ({ call, sick }) => {
        expect(textOf(await call("lingers"))).toBe("done");
        await sick.seen.find(({ message }) => message?.method === "tools/call")?.closed;
      },
    ));
});

describe.concurrent("a session that has expired", () => {
  test("is replaced, and the call is repeated once: twenty at once share one handshake", () =>
    beside({ era: "legacy" }, async ({ call, sick }) => {
      expect(textOf(await call("echo"))).toBe("{}");
      sick.sessions.clear();
      const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => call("echo", { n })));
      expect(answers.map(textOf)).toEqual(answers.map((_, n) => JSON.stringify({ n })));
      expect(sick.heard("initialize")).toBe(2);
      expect(sick.count("echo")).toBe(1 + 20 + 20);
    }));

  test("is replaced also when the refusal names the request", () =>
    beside({ era: "legacy" }, async ({ call, sick }) => {
      let refusals = 0;
      sick.intercept = ({ response, message }) => {
        if (message?.method !== "tools/call" || refusals++ > 0) return false;
        sendJson(
          response,
          {
            jsonrpc: "2.0",
            id: message.id,
            error: { code: -32_001, message: "Session not found" },
          },
          404,
        );
        return true;
      };
      expect(textOf(await call("echo", { n: 1 }))).toBe('{"n":1}');
      expect(sick.heard("initialize")).toBe(2);
    }));

  test("at each call is reported after the second", () =>
    beside(
      { era: "legacy", tools: { lost: ({ response }) => response.writeHead(404).end() } },
      async ({ call, sick }) => {
        expect(failureOf(await call("lost"))).toMatchObject({
          error_type: "unavailable",
          message: "the session has expired",
        });
        expect(sick.count("lost")).toBe(2);
        expect(textOf(await call("echo", { n: 1 }))).toBe('{"n":1}');
      },
    ));

  test("is not assumed when 404 answers an unknown method", () =>
    beside(
      {
        era: "legacy",
        tools: {
          odd: ({ response, id }) =>
            sendJson(
              response,
              { jsonrpc: "2.0", id, error: { code: -32_601, message: "Method not found" } },
              404,
            ),
        },
      },
      async ({ call, sick }) => {
        expect((await call("odd")).error).toMatchObject({ code: -32_601 });
        expect(sick.heard("initialize")).toBe(1);
      },
    ));

  test("of the SSE pair is replaced as well", () =>
    beside({ type: "sse", era: "legacy" }, async ({ call, sick }) => {
      expect(textOf(await call("echo"))).toBe("{}");
      let refusals = 0;
      sick.intercept = ({ response, message }) =>
        message?.method === "tools/call" &&
        refusals++ === 0 &&
        response.writeHead(404).end() !== undefined;
      expect(textOf(await call("echo", { n: 1 }))).toBe('{"n":1}');
      expect(sick.heard("initialize")).toBe(2);
    }));

  test("is replaced together with the subscriptions of clients", () =>
    beside({ era: "legacy" }, async ({ call, sick, client }) => {
      const uri = "guildhall://servers/sick/note://1";
      await client.result("resources/subscribe", { uri });
      await until(() => sick.heard("resources/subscribe") === 1, "the server is told");
      sick.sessions.clear();
      expect(textOf(await call("echo", { n: 1 }))).toBe('{"n":1}');
      await until(() => sick.heard("resources/subscribe") === 2, "the server is told again");
      await until(() => sick.standing.size >= 1, "it is listened to");
      for (const stream of sick.standing)
        stream.send({
          jsonrpc: "2.0",
          method: "notifications/resources/updated",
          params: { uri: "note://1" },
        });
      expect(await client.heard("notifications/resources/updated")).toMatchObject({
        params: { uri },
      });
    }));
});

describe.concurrent("a failing network", () => {
  test.each(httpWays)(
    "that resets a call over %s fails it, and the next call is served",
    (_name, options) =>
      beside(
        { ...options, tools: { reset: ({ response }) => response.socket?.resetAndDestroy() } },
        async ({ call, sick }) => {
          const answer = await call("reset");
          expect(failureOf(answer)).toMatchObject({
            error_type: "unavailable",
            message: expect.stringMatching(/^cannot be reached: /),
          });
          expect(sick.count("reset")).toBe(1);
          expect(textOf(await call("echo", { n: 1 }))).toBe('{"n":1}');
        },
      ),
  );

  test.each(everyWay)(
    "where the server is gone for a while over %s is reported, and recovers",
    (_name, options) =>
      beside(options, async ({ call, sick }) => {
        expect(textOf(await call("echo"))).toBe("{}");
        await sick.leave();
        await until(
          async () => (failureOf(await call("echo")).message as string).includes("ECONNREFUSED"),
          "the reason is told",
        );
        await sick.comeBack();
        await until(
          async () => textOf(await call("echo", { n: 1 })) === '{"n":1}',
          "it is served again",
        );
      }),
  );

  test("that never completes a connection times out after five seconds", async () => {
    const { port, close } = await startBlackHole();
    const dialler = createDialler(undefined);
    try {
      const refusal = await dialler
        .send(new URL(`http://127.0.0.1:${port}/`), {
          headers: {},
          signal: AbortSignal.timeout(guardMs),
        })
        .catch((error: unknown) => error);
      expect(refusal).toMatchObject({ message: "no connection within 5 s" });
    } finally {
      dialler.close();
      close();
    }
  });

  test("that is slow is waited for up to the deadline", () =>
    beside(
      {
        config: { timeoutSeconds: 4 },
        tools: {
          slow: ({ response, id, args }) => {
            const text = JSON.stringify({
              jsonrpc: "2.0",
              id,
              result: { resultType: "complete", ...said("slow") },
            });
            response.writeHead(200, { "content-type": "application/json" });
            let sent = 0;
            const timer = setInterval(() => {
              if (sent >= text.length) response.end();
              else response.write(text.slice(sent, sent + 20));
              sent += 20;
            }, Number(args.ms));
            response.on("close", () => clearInterval(timer));
          },
        },
      },
      async ({ call, sick }) => {
        expect(textOf(await call("slow", { ms: 2 }))).toBe("slow");
        const answer = await call("slow", { ms: 2_000 });
        expect(failureOf(answer)).toMatchObject({ error_type: "timeout" });
        await Promise.all(
          sick.seen
            .filter(({ message }) => message?.method === "tools/call")
            .map(({ closed }) => closed),
        );
      },
    ));

  test("where TLS fails is reported as such", async () => {
    await using plain = await startScripted();
    const config = { ...plain.config, url: plain.config.url.replace("http:", "https:") };
    await using hall = await startHall({ toolkits: [], servers: { plain: config } });
    await expect(hall.hall.fleet.get("plain").discover()).rejects.toMatchObject({
      code: "UNAVAILABLE",
      message: expect.stringMatching(/cannot be reached: .*(SSL|TLS|wrong version)/i),
    });
    expect(plain.seen).toEqual([]);
  });
});

/** Listens, and lets the kernel's queue run full: a connection to it is never made. */
async function startBlackHole(): Promise<{ readonly port: number; close(): void }> {
  const script = `const server = require("node:net").createServer(); server.listen({ port: 0, host: "127.0.0.1", backlog: 1 }, () => {
    process.stdout.write(server.address().port + "\\n", () => process.kill(process.pid, "SIGSTOP")); });`;
  const child = spawn(process.execPath, ["-e", script], { stdio: ["ignore", "pipe", "ignore"] });
  const port = await new Promise<number>((resolve) =>
    child.stdout.once("data", (bytes: Buffer) => resolve(Number(bytes.toString()))),
  );
  await until(
    () => /^State:\s+T/m.test(readFileSync(`/proc/${child.pid}/status`, "utf8")),
    "the process is stopped",
  );
  const fillers = Array.from({ length: 8 }, () => connect(port, "127.0.0.1").on("error", () => {}));
  await until(() => fillers.some(({ connecting }) => !connecting), "a connection fills the queue");
  return {
    port,
    close() {
      for (const filler of fillers) filler.destroy();
      child.kill("SIGKILL");
    },
  };
}

describe.concurrent("a WebSocket", () => {
  test.each([1006, 1011])(
    "closed with %i during a call fails the call, and is opened again",
    (code) =>
      beside(
        { type: "ws", era: "legacy", tools: { hang: () => undefined } },
        async ({ call, sick }) => {
          const hanging = Array.from({ length: 10 }, () => call("hang"));
          await call("echo");
          if (code === 1006) sick.cut();
          else sick.closeSockets(code);
          for (const answer of await Promise.all(hanging))
            expect(failureOf(answer)).toMatchObject({ error_type: "unavailable" });
          await until(
            async () => textOf(await call("echo", { n: 1 })) === '{"n":1}',
            "it is served again",
          );
        },
      ),
  );

  test("that no longer answers pings is closed", () =>
    beside(
      { type: "ws", era: "legacy", tools: { hang: () => undefined } },
      async ({ call, sick }) => {
        expect(textOf(await call("echo"))).toBe("{}");
        const hanging = call("hang");
        await until(() => sick.count("hang") === 1, "the call has begun");
        sick.freeze();
        const answer = await hanging;
        expect(failureOf(answer)).toMatchObject({ error_type: "unavailable" });
        sick.cut();
        await until(
          async () => textOf(await call("echo", { n: 1 })) === '{"n":1}',
          "it is served again",
        );
      },
    ));

  test.each([401, 403, 404, 500])("that is refused with %i is reported as such", async (status) => {
    await using server = await startScripted({ type: "http" });
    server.intercept = ({ response }) => response.writeHead(status).end() !== undefined;
    const config: RemoteConfig = {
      ...server.config,
      type: "ws",
      url: server.config.url.replace("http:", "ws:"),
    };
    await using hall = await startHall({ toolkits: [], servers: { refused: config } });
    await expect(hall.hall.fleet.get("refused").discover()).rejects.toMatchObject({
      code: status === 401 || status === 403 ? "DENIED" : "UNAVAILABLE",
    });
  });
});

describe.concurrent("an answer of 10 MiB and a byte", () => {
  const huge: Act = (call) => {
    const { id, args, say, stream, response } = call;
    const isStream = isStreamable(call) && args.isStream === true;
    if (isStream) stream();
    const text = JSON.stringify({ jsonrpc: "2.0", id, result: said("") });
    say(text.replace('"text":""', `"text":"${"x".repeat(10 * 1024 * 1024 + 1 - text.length)}"`));
    if (isStream) response.end();
  };

  test.each(everyWay)("over %s fails its own call only", (_name, options) =>
    beside(
      {
        ...options,
        tools: { huge, delayed: async ({ answer }) => wait(300).then(() => answer(said("there"))) },
      },
      async ({ call, upstream }) => {
        expect(textOf(await call("echo"))).toBe("{}");
        const since = upstream.state();
        const delayed = call("delayed");
        expect(failureOf(await call("huge"))).toMatchObject({ error_type: "too_large" });
        if (options.type === "http")
          expect(failureOf(await call("huge", { isStream: true }))).toMatchObject({
            error_type: "too_large",
          });
        expect(textOf(await delayed)).toBe("there");
        expect(upstream.state()).toEqual(since);
      },
    ),
  );
});

describe.concurrent("a call that is withdrawn", () => {
  test.each(everyWay)(
    "over %s is withdrawn the way the server's protocol version requires",
    (_name, options) =>
      beside(
        {
          ...options,
          tools: {
            hang: (call) =>
              isStreamable(call) && call.args.isStream === true ? call.stream() : undefined,
          },
        },
        async ({ client, call, sick }) => {
          for (const isStream of [false, true]) {
            const before = sick.count("hang");
            const id = client.ask("tools/call", { name: "sick.hang", arguments: { isStream } });
            await until(() => sick.count("hang") === before + 1, "the call has begun");
            const { message, closed } =
              sick.seen.findLast((seen) => seen.message?.method === "tools/call") ?? {};
            client.notify("notifications/cancelled", { requestId: id });
            const isNotified = (): boolean =>
              sick.seen.some(
                (seen) =>
                  seen.message?.method === "notifications/cancelled" &&
                  (seen.message.params as JsonObject).requestId === message?.id,
              );
            if (options.type === "http") await closed;
            const isClosingEnough = options.type === "http" && options.era === "modern";
            if (!isClosingEnough) await until(isNotified, "the server is notified");
            expect(textOf(await call("echo", { n: 1 }))).toBe('{"n":1}');
            expect(isNotified()).toBe(!isClosingEnough);
            expect(client.received.filter((received) => received.id === id)).toEqual([]);
          }
        },
      ),
  );
});

describe.concurrent("headers", () => {
  test("repeat values of the body and the arguments that the tool marks, at any depth and in any alphabet", () =>
    beside({ config: { headers: { "x-team": "blue" } } }, async ({ sick, upstream, call }) => {
      sick.definitions.routed = {
        inputSchema: {
          type: "object",
          properties: {
            region: { type: "string", "x-mcp-header": "Region" },
            count: { type: "integer", "x-mcp-header": "Count" },
            place: {
              type: "object",
              properties: { city: { type: "string", "x-mcp-header": "City" } },
            },
          },
        },
      };
      sick.tools.routed = ({ answer }) => answer(said("routed"));
      await upstream.discover();
      expect(
        textOf(await call("routed", { region: "eu-west 1", count: 7, place: { city: "Zürich" } })),
      ).toBe("routed");
      expect(sick.seen.at(-1)?.headers).toMatchObject({
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": "tools/call",
        "mcp-name": "routed",
        "mcp-param-region": "eu-west 1",
        "mcp-param-count": "7",
        "mcp-param-city": `=?base64?${Buffer.from("Zürich").toString("base64")}?=`,
        "x-team": "blue",
        accept: "application/json, text/event-stream",
      });
      expect(textOf(await call("routed"))).toBe("routed");
      expect(
        Object.keys(sick.seen.at(-1)?.headers ?? {}).filter((name) =>
          name.startsWith("mcp-param-"),
        ),
      ).toEqual([]);
    }));

  test("that no longer match the tool are corrected: the tools are listed again, and the call is repeated once", () =>
    beside({}, async ({ sick, call }) => {
      const strict: Act = ({ response, id, args, answer }) => {
        const isRight = response.req.headers["mcp-param-region"] === args.region;
        if (isRight) answer(said("right"));
        else
          sendJson(
            response,
            {
              jsonrpc: "2.0",
              id,
              error: { code: -32_020, message: "Mcp-Param-Region is missing" },
            },
            400,
          );
      };
      sick.tools.strict = strict;
      for (const stream of sick.standing)
        stream.send({ jsonrpc: "2.0", method: "notifications/tools/list_changed", params: {} });
      await until(
        async () =>
          (await call("strict", { region: "eu" })).error !== undefined && sick.count("strict") > 0,
        "it is listed",
      ).catch(() => {});
      const [calls, lists] = [sick.count("strict"), sick.heard("tools/list")];
      sick.definitions.strict = {
        inputSchema: {
          type: "object",
          properties: { region: { type: "string", "x-mcp-header": "Region" } },
        },
      };
      expect(textOf(await call("strict", { region: "eu" }))).toBe("right");
      expect(sick.count("strict") - calls).toBe(2);
      expect(sick.heard("tools/list") - lists).toBe(1);
    }));

  test("that are never accepted end with the error of the server, after one more call", () =>
    beside(
      {
        tools: {
          never: ({ response, id }) =>
            sendJson(
              response,
              { jsonrpc: "2.0", id, error: { code: -32_020, message: "no" } },
              400,
            ),
        },
      },
      async ({ sick, call }) => {
        expect((await call("never")).error).toMatchObject({ code: -32_020, message: "no" });
        expect(sick.count("never")).toBe(2);
      },
    ));
});

describe.concurrent("a server of 2024-11-05 under an address for HTTP", () => {
  test.each([400, 404, 405])(
    "that refuses the handshake with %i is connected over the SSE pair",
    async (status) => {
      await using server = await startScripted({
        type: "sse",
        era: "legacy",
        config: { type: "http" },
      });
      server.intercept = ({ request, response }) =>
        request.url === "/sse" &&
        request.method === "POST" &&
        response.writeHead(status).end() !== undefined;
      await using hall = await startHall({ toolkits: [], servers: { old: server.config } });
      const client = hall.connect();
      await client.greet();
      await until(() => hall.hall.registry.findTool("old.echo") !== undefined, "it is listed");
      expect(textOf(await callTool(client, "old.echo", { n: 1 }))).toBe('{"n":1}');
      expect(hall.hall.fleet.get("old").handshake()).toMatchObject({
        era: "legacy",
        version: "2024-11-05",
      });
      server.cut();
      await until(
        async () => textOf(await callTool(client, "old.echo", { n: 2 })) === '{"n":2}',
        "it is there again",
      );
    },
  );

  test("that supports neither transport is reported with its first answer", async () => {
    await using server = await startScripted();
    server.intercept = ({ response }) => response.writeHead(404).end() !== undefined;
    await using hall = await startHall({ toolkits: [], servers: { nothing: server.config } });
    await expect(hall.hall.fleet.get("nothing").discover()).rejects.toMatchObject({
      message: 'server "nothing" is down: HTTP 404',
    });
  });
});
