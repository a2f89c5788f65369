import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { isObject, type JsonObject } from "../../src/base/json.ts";
import { type ProcessClient, spawnHall } from "../servers/process.ts";

/** Document 003: a server with one tool over stdio. */
const lispServer = ["--expose", "code", "--static"];

function evaluation(code: string, more: JsonObject = {}): JsonObject {
  return { name: "evaluate-lisp", arguments: { code }, _meta: { progressToken: "p" }, ...more };
}

function resultOf({ result }: JsonObject): JsonObject {
  return isObject(result) && isObject(result.structuredContent) ? result.structuredContent : {};
}

test("the Lisp server declares only tools and lists only evaluate-lisp", async () => {
  await using server = spawnHall(lispServer);
  const { protocolVersion, capabilities } = await server.greet("2025-03-26");
  expect(protocolVersion).toBe("2025-03-26");
  expect(capabilities).toEqual({ tools: { listChanged: false } });
  const { tools } = (await server.result("tools/list")) as { tools: JsonObject[] };
  expect(tools).toMatchObject([{ name: "evaluate-lisp", inputSchema: { required: ["code"] } }]);
  expect(await server.result("tools/call", evaluation("(+ 1 2)"))).toMatchObject({
    content: [{ type: "text", text: "=> 3" }],
    isError: false,
  });
  expect(server.output.stderr).toBe("");
});

test("a plain hall lists evaluate-lisp beside the other tools", async () => {
  await using server = spawnHall(["--alone"]);
  await server.greet();
  const { tools } = (await server.result("tools/list")) as { tools: JsonObject[] };
  expect(tools.map(({ name }) => name)).toContain("evaluate-lisp");
  expect(tools.length).toBeGreaterThan(5);
});

test("a message over 10 MiB is answered under its own id", async () => {
  await using server = spawnHall(lispServer);
  await server.greet();
  server.send(
    `{"jsonrpc":"2.0","id":"long","method":"tools/call","params":{"x":"${"x".repeat(11_000_000)}"}}`,
  );
  expect(await server.answer("long")).toMatchObject({ error: { code: -32600 } });
});

test("params of a wrong type are -32602, and null counts as absent", async () => {
  await using server = spawnHall(lispServer);
  await server.greet();
  server.send('{"jsonrpc":"2.0","id":"list","method":"tools/list","params":[]}');
  expect(await server.answer("list")).toMatchObject({ error: { code: -32602 } });
  server.send('{"jsonrpc":"2.0","id":"null","method":"tools/list","params":null}');
  expect(await server.answer("null")).toMatchObject({
    result: { tools: [{ name: "evaluate-lisp" }] },
  });
});

test("while a program computes, progress is sent, a ping is answered, and a cancel ends it", async () => {
  await using server = spawnHall(lispServer);
  await server.greet();
  const id = server.ask("tools/call", evaluation("(loop)"));
  const first = await server.heard("notifications/progress");
  const second = await server.heard("notifications/progress");
  expect([first, second].map(({ params }) => params)).toMatchObject([
    { progressToken: "p", progress: 1, message: "evaluating" },
    { progressToken: "p", progress: 2, message: "evaluating" },
  ]);
  expect(await server.result("ping")).toEqual({});
  server.notify("notifications/cancelled", { requestId: id });
  // The cancelled request's progress token is free again.
  expect(resultOf(await server.request("tools/call", evaluation("(+ 1 2)")))).toMatchObject({
    values: ["3"],
  });
  expect(server.received.filter((message) => message.id === id)).toEqual([]);
});

test("the steps of a stopped program are counted, and the step limit stops it", async () => {
  await using server = spawnHall(lispServer);
  await server.greet();
  const late = await server.request("tools/call", {
    name: "evaluate-lisp",
    arguments: { code: "(loop)", timeout: 0.2 },
  });
  expect(resultOf(late)).toMatchObject({ condition: { type: "TIME-BUDGET-EXCEEDED" } });
  const { steps } = resultOf(late).timing as { steps: number };
  expect(steps).toBeGreaterThan(1_000);
  expect(steps).toBeLessThan(2_000_000_000);

  await server.result("tools/call", {
    name: "configure-limits",
    arguments: { "max-steps": 100_000 },
  });
  const stopped = await server.request("tools/call", evaluation("(loop repeat 200000 count t)"));
  expect(resultOf(stopped)).toMatchObject({ condition: { type: "STEP-BUDGET-EXCEEDED" } });
  expect((resultOf(stopped).timing as { steps: number }).steps).toBeLessThan(110_000);
});

const endings: Readonly<Record<string, (server: ProcessClient) => void>> = {
  "end of input": ({ child }) => void child.stdin.end(),
  SIGTERM: ({ child }) => void child.kill("SIGTERM"),
};

describe.each(Object.keys(endings))("%s", (how) => {
  test.each(["(loop)", "(sleep 500)", "(unwind-protect (loop) (loop))"])(
    "ends the running %s with its answer and exit code 0",
    async (code) => {
      await using server = spawnHall(lispServer);
      await server.greet();
      const id = server.ask("tools/call", evaluation(code, { arguments: { code, timeout: 600 } }));
      await server.heard("notifications/progress");
      endings[how]?.(server);
      expect(resultOf(await server.answer(id))).toMatchObject({
        condition: { type: "INTERRUPTED" },
      });
      expect(await server.exited).toEqual({ code: 0, signal: null });
    },
  );
});

test("of thirty evaluations at once in one session twenty are served, the others refused at once", async () => {
  await using server = spawnHall(lispServer);
  await server.greet();
  await server.request("tools/call", evaluation("(defun f () 1)"));
  const asked = ["(sleep 2)", ...Array.from({ length: 29 }, () => "(f)")];
  const ids = asked.map((code, at) =>
    server.ask("tools/call", evaluation(code, { _meta: { progressToken: at } })),
  );
  const answers = await Promise.all(ids.map((id) => server.answer(id)));
  const errors = answers.map(({ result }) => (isObject(result) ? result.isError : undefined));
  expect(errors.filter((isError) => isError === false)).toHaveLength(20);
  expect(errors.slice(20)).toEqual(Array(10).fill(true));
});

test("the protocol page explains the handshake, the transport and the document's terms", () => {
  const page = readFileSync(new URL("../../docs/protocol.md", import.meta.url), "utf8");
  for (const word of [
    "`initialize`",
    "stdio",
    "**JSON-RPC**",
    "**Method**",
    "**Notification**",
    "**Capabilities**",
  ])
    expect(page).toContain(word);
});

test("a short program whose input ends at once is still answered with its value", async () => {
  await using server = spawnHall(lispServer);
  await server.greet();
  const id = server.ask("tools/call", evaluation("(+ 20 22)"));
  server.child.stdin.end();
  expect(resultOf(await server.answer(id))).toMatchObject({ values: ["42"] });
  expect(await server.exited).toEqual({ code: 0, signal: null });
});
