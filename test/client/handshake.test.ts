import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { afterAll, describe, expect, test } from "vitest";
import { HallError } from "../../src/base/errors.ts";
import type { JsonObject } from "../../src/base/json.ts";
import { createLog } from "../../src/base/log.ts";
import { Scope } from "../../src/base/scope.ts";
import { type Handshake, type HandshakeOptions, shakeHands } from "../../src/client/handshake.ts";
import { createGuard } from "../../src/upstream/guard.ts";
import { createUpstream, type Upstream } from "../../src/upstream/upstream.ts";
import { defaultLimits } from "../../src/wire/channel.ts";
import { createMemoryPair } from "../../src/wire/memory.ts";
import { Peer } from "../../src/wire/peer.ts";
import { guardMs } from "../servers/until.ts";
import { faulty, readStarts, type StdioConfig } from "../servers/upstreams.ts";

/** Which era a server speaks, found out in place. */
type Script = (message: JsonObject) => JsonObject | undefined;

/** Greets a server that answers what the script says, and gives what it was sent. */
async function meet(
  script: Script,
  options: Partial<HandshakeOptions> = {},
): Promise<{ readonly handshake: Handshake | HallError; readonly sent: readonly JsonObject[] }> {
  const [near, far] = createMemoryPair();
  const sent: JsonObject[] = [];
  far.start({
    frame(bytes) {
      const message = JSON.parse(bytes.toString()) as JsonObject;
      sent.push(message);
      const answer = script(message);
      if (answer) far.send(JSON.stringify({ jsonrpc: "2.0", id: message.id, ...answer }));
    },
    oversize() {},
    drained() {},
    ended() {},
    closed() {},
  });
  const peer = new Peer(near, {
    limits: defaultLimits,
    handle: () => ({}),
    notified: () => {},
    explain: () => ({ error: { code: -32601, message: "no" } }),
    ignoresJunk: true,
    withdrawal: (requestId, reason) => ({
      method: "notifications/cancelled",
      params: { requestId, reason },
    }),
  });
  const scope = new Scope(undefined, guardMs);
  const handshake = await shakeHands(peer, { scope, probeMs: 60, ...options }).catch(
    (error: unknown) => error as HallError,
  );
  // The last notification is delivered in a later turn.
  await nextTurn();
  await nextTurn();
  scope.close();
  await peer.close();
  return { handshake, sent };
}

const legacyHello = {
  protocolVersion: "2025-06-18",
  capabilities: { tools: {} },
  serverInfo: { name: "old", version: "1" },
  instructions: "Hm.",
};
const modernHello = {
  resultType: "complete",
  supportedVersions: ["2026-07-28"],
  capabilities: { tools: {} },
  instructions: "Be kind.",
  _meta: { "io.modelcontextprotocol/serverInfo": { name: "new", version: "2" } },
};
const methodsOf = (sent: readonly JsonObject[]): readonly unknown[] =>
  sent.map(({ method }) => method);

describe.concurrent("a server", () => {
  test("that answers server/discover is modern, and gets its envelope", async () => {
    const { handshake, sent } = await meet(() => ({ result: modernHello }));
    expect(handshake).toEqual({
      era: "modern",
      version: "2026-07-28",
      capabilities: { tools: {} },
      info: { name: "new", version: "2" },
      instructions: "Be kind.",
    });
    expect(sent).toMatchObject([
      {
        method: "server/discover",
        params: {
          _meta: {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": { name: "guildhall" },
            "io.modelcontextprotocol/clientCapabilities": {
              elicitation: {},
              sampling: {},
              roots: {},
            },
          },
        },
      },
    ]);
  });

  test.each([
    ["does not know the method", { error: { code: -32601, message: "Method not found" } }],
    ["is not initialized", { error: { code: -32600, message: "not initialized" } }],
    ["fails in its own way", { error: { code: 4711, message: "?" } }],
    [
      "speaks other versions only",
      { error: { code: -32022, message: "Unsupported", data: { supported: ["2025-11-25"] } } },
    ],
    ["answers something else", { result: { hello: "world" } }],
    ["answers no object", { result: 5 }],
    [
      "answers with no version of ours",
      { result: { supportedVersions: ["2030-01-01"], capabilities: {} } },
    ],
    ["answers what cannot be read", { result: {}, error: {} }],
  ])("that %s is spoken to the legacy way", async (_what, refusal) => {
    const { handshake, sent } = await meet(({ method }) =>
      method === "initialize"
        ? { result: legacyHello }
        : method === "server/discover"
          ? refusal
          : undefined,
    );
    expect(handshake).toEqual({
      era: "legacy",
      version: "2025-06-18",
      capabilities: { tools: {} },
      info: { name: "old", version: "1" },
      instructions: "Hm.",
    });
    expect(methodsOf(sent)).toEqual(["server/discover", "initialize", "notifications/initialized"]);
    expect(sent[1]?.params).toMatchObject({
      protocolVersion: "2025-11-25",
      capabilities: { elicitation: {}, sampling: {}, roots: {} },
    });
  });

  test("that is silent is spoken to the legacy way", async () => {
    const { handshake, sent } = await meet(({ method }) =>
      method === "initialize" ? { result: legacyHello } : undefined,
    );
    expect(handshake).toMatchObject({ era: "legacy" });
    expect(methodsOf(sent).slice(0, 2)).toEqual(["server/discover", "initialize"]);
    expect(methodsOf(sent).slice(2).sort()).toEqual([
      "notifications/cancelled",
      "notifications/initialized",
    ]);
  });

  test.each(["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])(
    "may speak %s",
    async (protocolVersion) => {
      const { handshake } = await meet(({ method }) =>
        method === "initialize"
          ? { result: { ...legacyHello, protocolVersion } }
          : { error: { code: -32601, message: "" } },
      );
      expect(handshake).toMatchObject({ era: "legacy", version: protocolVersion });
    },
  );

  test.each([["1999-01-01"], ["2026-07-28"], [5], [undefined]])(
    "that answers initialize with version %s cannot be used",
    async (protocolVersion) => {
      const { handshake } = await meet(({ method }) =>
        method === "initialize"
          ? { result: { ...legacyHello, protocolVersion } }
          : { error: { code: -32601, message: "" } },
      );
      expect(handshake).toBeInstanceOf(HallError);
      expect(handshake).toMatchObject({
        code: "BAD_ANSWER",
        message: expect.stringContaining("initialize"),
      });
    },
  );

  test("without a name is called unnamed, and missing fields are empty", async () => {
    const { handshake } = await meet(({ method }) =>
      method === "initialize"
        ? { result: { protocolVersion: "2024-11-05" } }
        : { error: { code: 1, message: "" } },
    );
    expect(handshake).toEqual({
      era: "legacy",
      version: "2024-11-05",
      capabilities: {},
      info: { name: "unnamed" },
      instructions: undefined,
    });
  });

  test("preferred as legacy is not probed", async () => {
    const { sent } = await meet(() => ({ result: legacyHello }), { prefers: "legacy" });
    expect(methodsOf(sent)).toEqual(["initialize", "notifications/initialized"]);
  });

  test("preferred as modern may be legacy", async () => {
    const { handshake } = await meet(
      ({ method }) =>
        method === "initialize"
          ? { result: legacyHello }
          : { error: { code: -32601, message: "" } },
      {
        prefers: "modern",
      },
    );
    expect(handshake).toMatchObject({ era: "legacy" });
  });

  test("that hangs through both is given up when the start is", async () => {
    const scope = new Scope(undefined, 150);
    const { handshake } = await meet(() => undefined, { scope });
    expect(handshake).toMatchObject({ code: "TIMEOUT" });
  });
});

describe.concurrent("a real server", () => {
  const folder = mkdtempSync(join(tmpdir(), "guildhall-handshake-"));
  const guard = createGuard();
  afterAll(() => {
    guard.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** An upstream of its own, closed with the test. */
  function open(
    config: StdioConfig,
    locked?: Awaited<ReturnType<Upstream["discover"]>>,
  ): Upstream & AsyncDisposable {
    const patient = { ...config, startTimeoutSeconds: guardMs / 1000 };
    const upstream = createUpstream("box", patient, {
      limits: defaultLimits,
      log: createLog({ level: "silent" }),
      guard,
      locked,
    });
    return Object.assign(upstream, { [Symbol.asyncDispose]: () => upstream.close() });
  }

  test.each([
    ["", "legacy", "2025-11-25"],
    ["old", "legacy", "2024-11-05"],
    ["modern", "modern", "2026-07-28"],
    ["both", "legacy", "2025-11-25"],
    ["banner", "legacy", "2025-11-25"],
    ["silent-discover", "legacy", "2025-11-25"],
    ["slow-start=3500", "legacy", "2025-11-25"],
    ["modern slow-start=1000", "modern", "2026-07-28"],
  ])("started with [%s] is judged %s %s", async (words, era, protocol) => {
    await using upstream = open(faulty(words));
    expect(await upstream.discover()).toMatchObject({
      era,
      protocol,
      info: { name: "faulty", version: "1.2.3" },
      instructions: "Be kind.",
    });
  });

  test("that is modern only and slower than the probe is still understood", async () => {
    await using upstream = open(faulty("modern slow-start=3500"));
    expect(await upstream.discover()).toMatchObject({ era: "modern", protocol: "2026-07-28" });
  });

  test("that would end over server/discover is not probed with it", async () => {
    const starts = join(folder, "exit-discover");
    await using upstream = open(faulty(`exit-discover starts=${starts}`));
    expect(await upstream.discover()).toMatchObject({ era: "legacy", protocol: "2025-11-25" });
    expect(readStarts(starts)).toHaveLength(1);
  });

  test("that always exits is not restarted over and over", async () => {
    const starts = join(folder, "wrong-version");
    await using upstream = open(faulty(`wrong-version starts=${starts}`));
    await expect(upstream.discover()).rejects.toMatchObject({
      code: "UNAVAILABLE",
      message: expect.stringContaining("1999-01-01"),
    });
    expect(readStarts(starts)).toHaveLength(1);
    expect(upstream.state()).toMatchObject({ kind: "down", failures: 1 });
  });
});
