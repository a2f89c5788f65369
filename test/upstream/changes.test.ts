import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { createLog } from "../../src/base/log.ts";
import { Scope } from "../../src/base/scope.ts";
import type { CallContext, Tool } from "../../src/tool.ts";
import { createGuard } from "../../src/upstream/guard.ts";
import { createUpstream, type Upstream } from "../../src/upstream/upstream.ts";
import { defaultLimits } from "../../src/wire/channel.ts";
import { type Knock, type Scripted, sendJson, startScripted } from "../servers/scripted.ts";
import { until } from "../servers/until.ts";

/** Lists that change while they are read, are too long, or never arrive. */
interface Opened extends AsyncDisposable {
  readonly server: Scripted;
  readonly upstream: Upstream;
}

async function open(server: Scripted, startTimeoutSeconds?: number): Promise<Opened> {
  const guard = createGuard();
  const config = { ...server.config, startTimeoutSeconds };
  const upstream = createUpstream("far", config, {
    limits: defaultLimits,
    log: createLog({ level: "silent" }),
    guard,
  });
  return {
    server,
    upstream,
    async [Symbol.asyncDispose]() {
      await upstream.close();
      guard.close();
      await server[Symbol.asyncDispose]();
    },
  };
}

/** Keeps the answers to a method back; each is given with a result of the test's choice. */
function holdBack(server: Scripted, method: string): ((result: JsonObject) => void)[] {
  const held: ((result: JsonObject) => void)[] = [];
  server.intercept = ({ message, response }: Knock) => {
    if (message?.method !== method) return false;
    held.push((result) =>
      sendJson(response, {
        jsonrpc: "2.0",
        id: message.id,
        result: { resultType: "complete", ...result },
      }),
    );
    return true;
  };
  return held;
}

function announce({ standing }: Scripted, method: string, params: JsonObject = {}): void {
  for (const stream of standing) stream.send({ jsonrpc: "2.0", method, params });
}

const toolNames = ({ upstream }: Opened): readonly string[] =>
  upstream.offer().tools.map(({ name }) => name);

describe("a list that changes", () => {
  test("stays changed when another list is read at the same time", async () => {
    await using opened = await open(await startScripted());
    const { server, upstream } = opened;
    await upstream.discover();
    const resources = holdBack(server, "resources/list");
    await until(() => server.standing.size === 1, "listened to");
    announce(server, "notifications/resources/list_changed");
    await until(() => resources.length === 1, "resources asked for");
    server.tools.extra = () => {};
    announce(server, "notifications/tools/list_changed");
    await until(() => toolNames(opened).includes("extra"), "extra known");
    resources[0]?.({ resources: [{ uri: "note://2", name: "two" }] });
    await until(() => upstream.offer().resources[0]?.uri === "note://2", "resources read again");
    expect(toolNames(opened)).toEqual(["echo", "extra"]);
  });

  test("while the server is still being opened is read again once it is open", async () => {
    await using opened = await open(await startScripted());
    const { server, upstream } = opened;
    const resources = holdBack(server, "resources/list");
    let heard = 0;
    upstream.resources?.watch?.("note://1", () => heard++);
    await until(
      () =>
        resources.length === 1 && server.heard("tools/list") === 1 && server.standing.size === 1,
      "being read",
    );
    server.tools.late = () => {};
    announce(server, "notifications/tools/list_changed");
    // Behind it on the same stream: when this is heard of, so was that.
    announce(server, "notifications/resources/updated", { uri: "note://1" });
    await until(() => heard === 1, "news heard of");
    resources[0]?.({ resources: [] });
    await until(() => toolNames(opened).includes("late"), "late known");
  });
});

describe("a list", () => {
  test("in one page that is too long is cut where a list in many is", async () => {
    await using opened = await open(await startScripted());
    const { server, upstream } = opened;
    const tools = holdBack(server, "tools/list");
    const found = upstream.discover();
    await until(() => tools.length === 1, "tools asked for");
    tools[0]?.({
      tools: Array.from({ length: 150_000 }, (_, n) => ({ name: `t${n}`, inputSchema: {} })),
    });
    expect((await found).offer.tools).toHaveLength(10_000);
  });

  test("that never comes is given up, also when the server had been open before", async () => {
    await using opened = await open(await startScripted(), 3);
    const { server, upstream } = opened;
    await upstream.discover();
    holdBack(server, "tools/list");
    await expect(upstream.discover()).rejects.toMatchObject({ code: "TIMEOUT" });
  });
});

describe("a resource", () => {
  test("that is watched while the server is down is watched once it is back", async () => {
    await using opened = await open(await startScripted({ type: "ws", era: "legacy" }));
    const { server, upstream } = opened;
    await upstream.discover();
    await server.leave();
    await until(() => upstream.state().kind === "down", "down");
    let heard = 0;
    upstream.resources?.watch?.("note://1", () => heard++);
    await server.comeBack();
    await upstream.restart();
    await upstream.discover();
    await until(() => server.heard("resources/subscribe") === 1, "subscribed");
    announce(server, "notifications/resources/updated", { uri: "note://1" });
    await until(() => heard === 1, "news heard of");
  });
});

test("a connection is given back once", async () => {
  await using opened = await open(await startScripted({ era: "legacy" }));
  const { server, upstream } = opened;
  await upstream.discover();
  await upstream.close();
  expect(server.seen.filter(({ method }) => method === "DELETE")).toHaveLength(1);
});

describe("a call that the server refuses for headers that do not fit its tool", () => {
  const context: CallContext = {
    scope: new Scope(),
    progress() {},
    log() {},
    ask: () => Promise.reject(new Error("nobody is asked")),
  };
  const refuse = (server: Scripted, times: number): void => {
    let left = times;
    server.intercept = ({ message, response }) => {
      if (message?.method !== "tools/call" || left-- <= 0) return false;
      sendJson(
        response,
        { jsonrpc: "2.0", id: message.id, error: { code: -32020, message: "a header is missing" } },
        400,
      );
      return true;
    };
  };

  test("is sent once more, after its tools were read again", async () => {
    await using opened = await open(await startScripted());
    const { server, upstream } = opened;
    await upstream.discover();
    const [listed, [tool]] = [server.heard("tools/list"), await upstream.list()];
    refuse(server, 1);
    const outcome = await upstream.call(tool as Tool, { text: "hello" }, context);
    expect(outcome.isError ?? false).toBe(false);
    expect(server.heard("tools/list")).toBe(listed + 1);
    expect(upstream.counts).toMatchObject({ calls: 2, errors: 1 });
  });

  test("fails when it is refused again", async () => {
    await using opened = await open(await startScripted());
    const { server, upstream } = opened;
    await upstream.discover();
    const [tool] = await upstream.list();
    refuse(server, 2);
    await expect(upstream.call(tool as Tool, { text: "hello" }, context)).rejects.toMatchObject({
      relayed: { code: -32020 },
    });
    expect(upstream.counts).toMatchObject({ calls: 2, errors: 2 });
  });
});
