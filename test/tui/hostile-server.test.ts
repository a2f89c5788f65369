import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { createLog } from "../../src/base/log.ts";
import { showTui } from "../../src/tui/show.ts";
import { type ClientConfig, createServerTarget } from "../../src/tui/target.ts";
import {
  type Act,
  type Scripted,
  type ScriptedCall,
  said,
  startScripted,
} from "../servers/scripted.ts";
import { benchOf, type ClientBench, makeFolder } from "./client-bench.ts";
import { openStrictTerminal, type StrictTerminal } from "./strict-terminal.ts";

/**
 * Servers that put into every text what would clear the screen, change its title, write to the
 * clipboard, hide or turn words, or take the terminal away; and the whole client in front of them,
 * on a terminal that notes whatever is not the client's own.
 */
const bridge = fileURLToPath(new URL("../servers/stdio-bridge.mjs", import.meta.url));

/** Printed as it is, it takes over the terminal; made harmless, it shows the word. */
function nasty(word: string): string {
  return `\u001b]0;owned\u0007\u001b[2J\u001b[5m\u009b8m\u001bP1$r\u001b\\${word}\u202e\u200b\u0007\u0000\u001b[?1049l\u001b]52;c;ZXZpbA==\u001b\\\u001b[1;1H\u009d2;x\u009c\r\n\u001b[6n`;
}

const tool = nasty("Tool");
const named = (word: string, more: JsonObject = {}): JsonObject => ({
  title: nasty(`${word}-title`),
  description: nasty(`${word}-about`),
  ...more,
});
const schema = (word: string): JsonObject => ({
  type: "object",
  properties: {
    [nasty(`${word}-field`)]: named(word, {
      type: "string",
      enum: [nasty(`${word}-one`), nasty(`${word}-two`)],
      default: nasty(`${word}-one`),
    }),
    [nasty(`${word}-plain`)]: { type: "string", default: nasty(`${word}-usual`) },
  },
});

/** Asks in the way of the era; the call is withdrawn later. */
function ask(
  { id, say, stream, answer, message }: ScriptedCall,
  method: string,
  params: JsonObject,
): void {
  const { _meta = {} } = message.params as { _meta?: JsonObject };
  if (_meta["io.modelcontextprotocol/protocolVersion"] !== undefined) {
    answer({
      resultType: "input_required",
      inputRequests: { one: { method, params } },
      requestState: nasty("state"),
    });
    return;
  }
  stream();
  say({ jsonrpc: "2.0", id: `ask ${String(id)}`, method, params });
}

function tellOf({ message, say }: ScriptedCall): {
  progress(progress: number, text: string): void;
  log(text: string): void;
} {
  const { progressToken } = (message.params as { _meta: JsonObject })._meta;
  return {
    progress: (progress, text) =>
      say({
        jsonrpc: "2.0",
        method: "notifications/progress",
        params: { progressToken, progress, total: 10_000, message: text },
      }),
    log: (text) =>
      say({
        jsonrpc: "2.0",
        method: "notifications/message",
        params: { level: "error", logger: nasty("logger"), data: text },
      }),
  };
}

/** Each tool's behaviour, the words that must be on the screen, and whether it waits for an answer. */
const acts: readonly {
  readonly name: string;
  readonly act: Act;
  readonly shown: readonly string[];
  readonly isAsking?: boolean;
}[] = [
  {
    name: tool,
    act({ answer }) {
      const link = {
        type: "resource_link",
        name: nasty("Link"),
        uri: `note://${nasty("Address")}`,
      };
      const resource = {
        type: "resource",
        resource: { uri: nasty("u"), mimeType: nasty("m"), text: nasty("Resource") },
      };
      const structuredContent = { [nasty("key")]: nasty("value") };
      answer({
        content: [
          { type: "text", text: nasty("Text") },
          link,
          resource,
          { type: nasty("Kind"), [nasty("Key")]: 1 },
        ],
        structuredContent,
      });
    },
    shown: ["Text", "Link", "Address", "Resource", "Kind", "Key", "completed"],
  },
  {
    name: "chat",
    act(call) {
      call.stream();
      const { progress, log } = tellOf(call);
      progress(1, nasty("Progress"));
      log(nasty("Log"));
      call.answer(said(nasty("Chatted")));
    },
    shown: ["Progress", "Log", "Chatted", "completed"],
  },
  {
    name: "sorry",
    act: ({ answer }) =>
      answer({
        isError: true,
        content: [{ type: "text", text: nasty("Sorry") }],
        structuredContent: { suggestion: nasty("Advice") },
      }),
    shown: ["failed", "Sorry", "Advice"],
  },
  {
    name: "refuse",
    act: ({ id, say }) =>
      say({
        jsonrpc: "2.0",
        id,
        error: { code: -32_000, message: nasty("Refused"), data: { suggestion: nasty("Because") } },
      } as JsonObject),
    shown: ["failed", "Refused", "Because"],
  },
  {
    name: "ask",
    act: (call) =>
      ask(call, "elicitation/create", {
        message: nasty("Question"),
        requestedSchema: schema("Asked"),
      }),
    shown: [
      "ask asks",
      "Question",
      "Asked-title",
      "Asked-about",
      "Asked-one",
      "Asked-two",
      "Asked-plain",
      "Asked-usual",
    ],
    isAsking: true,
  },
  {
    name: "visit",
    act: (call) =>
      ask(call, "elicitation/create", {
        mode: "url",
        elicitationId: nasty("e"),
        message: nasty("Visit"),
        url: `https://example.org/Page${nasty("Path")}`,
      }),
    shown: ["Visit", "https://example.org/Page", "Path"],
    isAsking: true,
  },
  {
    name: "lend",
    act: (call) =>
      ask(call, "sampling/createMessage", {
        systemPrompt: nasty("System"),
        messages: [{ role: "user", content: { type: "text", text: nasty("Prompt") } }],
        maxTokens: 1,
      }),
    shown: ["System", "Prompt"],
    isAsking: true,
  },
  {
    name: "flood",
    act(call) {
      call.stream();
      const { progress, log } = tellOf(call);
      for (let count = 1; count <= 500; count++) {
        progress(count, nasty(`step ${count}`));
        log(nasty(`line ${count}`));
      }
      const long = nasty("x").repeat(4_000);
      progress(501, long);
      log(long);
      call.answer(said(`${long}\n${"\n".repeat(50_000)}${nasty("Flooded")}`));
    },
    shown: ["completed"],
  },
];

interface Scene extends AsyncDisposable {
  readonly bench: ClientBench;
  readonly server: Scripted;
  readonly terminal: StrictTerminal;
}

const transports = [
  ["stdio", "legacy"],
  ["stdio", "modern"],
  ["http", "legacy"],
  ["http", "modern"],
  ["websocket", "legacy"],
  ["websocket", "modern"],
] as const;

async function openScene(
  transport: ClientConfig["transport"],
  era: "legacy" | "modern",
): Promise<Scene> {
  const info = { name: nasty("Server"), version: nasty("1") };
  const server = await startScripted({
    type: transport === "http" ? "http" : "ws",
    era,
    info,
    tools: Object.fromEntries(acts.map(({ name, act }) => [name, act])),
  });
  server.definitions[tool] = {
    ...named("Tool"),
    inputSchema: schema("Tool"),
    annotations: { title: nasty("annotated") },
  };
  const { url } = server.config;
  const how =
    transport === "stdio"
      ? { command: process.execPath, args: [bridge, url, JSON.stringify(nasty("Stderr"))] }
      : { endpoint: url, args: [] };
  const folder = makeFolder();
  const target = createServerTarget(
    { transport, timeout: 60, ...how },
    { folder, log: createLog({ level: "silent" }) },
  );
  // Sampling is asked for where there is a model; nobody says yes to it here.
  const bench = benchOf(target, folder, {
    planner: { model: "openai/none", baseUrl: "http://127.0.0.1:1" },
    intervalMs: 33,
  });
  const terminal = openStrictTerminal();
  const over = showTui({
    session: bench.session,
    stdin: terminal.stdin,
    stdout: terminal.stdout,
    env: {},
  });
  return {
    bench,
    server,
    terminal,
    async [Symbol.asyncDispose]() {
      terminal.stdin.emit("end");
      await over;
      await bench[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

test.each(transports)(
  "text of a hostile server over %s, %s, never controls the terminal",
  async (transport, era) => {
    await using scene = await openScene(transport, era);
    const { bench, server, terminal } = scene;
    const { session } = bench;
    await bench.until(({ tools }) => tools.load.kind === "loaded");
    await terminal.until("Server", era === "modern" ? "2026-07-28" : "2025-11-25");

    await session.send({ kind: "go", screen: "tools" });
    await terminal.until("search:", "Tool", "Tool-title");
    terminal.stdin.push("/Tool");
    await terminal.until("1 of ");
    terminal.stdin.push("\r");
    await terminal.until(
      "Tool-title",
      "Tool-about",
      "Tool-one",
      "Tool-two",
      "Tool-plain",
      "Tool-usual",
    );

    for (const { name, shown, isAsking = false } of acts) {
      await session.send({ kind: "select tool", name });
      const called = session.send({ kind: "call tool" });
      const { runs } = await bench.until(({ runs: [run] }) => run?.tool === name);
      const run = String(runs[0]?.id);
      await session.send({ kind: "show run", run });
      await session.send({ kind: "go", screen: "run" });
      await terminal.until(...shown);
      if (isAsking) await session.send({ kind: "cancel run", run });
      await called;
      if (isAsking)
        expect(bench.state()).toMatchObject({
          questions: [],
          runs: [{ id: run, state: { kind: "cancelled" } }, ...bench.state().runs.slice(1)],
        });
      // It comes on another pipe, perhaps after the answer.
      if (transport === "stdio" && name === "chat") await terminal.until("Stderr");
    }
    expect(server.count(tool)).toBe(1);
    // Three questions were withdrawn with their calls; a modern server has no call left to withdraw.
    expect(
      ["notifications/cancelled", "$/cancelRequest"].map((method) => server.heard(method)),
    ).toEqual(era === "legacy" ? [3, 3] : [0, 0]);

    if (transport === "http") {
      server.intercept = ({ response }) =>
        response
          .writeHead(500, { "content-type": "text/plain", "x-reason": "Gone" })
          .end(nasty("Gone")) !== undefined;
      await session.send({ kind: "select tool", name: "sorry" });
      await session.send({ kind: "call tool" });
    } else server.closeSockets(1011, nasty("Gone").slice(0, 60));
    await bench.until(
      ({ runs: [run], connection }) => connection.kind !== "ready" || run?.state.kind === "failed",
    );

    expect(terminal.foreign).toEqual([]);
    expect(terminal.clears()).toBe(1);
    const lines = terminal.screen().split("\n");
    expect([lines.length, lines[0]?.slice(0, 9), lines[2]]).toEqual([
      24,
      "guildhall",
      "─".repeat(80),
    ]);
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(80);
  },
  60_000,
);
