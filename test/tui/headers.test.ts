import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { createLog } from "../../src/base/log.ts";
import { createServerTarget } from "../../src/tui/target.ts";
import { benchOf, makeFolder } from "./client-bench.ts";

/** A legacy server over HTTP that speaks only to those who send its token. */
async function startGuarded(token: string): Promise<{ readonly endpoint: string; close(): void }> {
  const results: Record<string, unknown> = {
    initialize: {
      protocolVersion: "2025-11-25",
      capabilities: { tools: {} },
      serverInfo: { name: "guarded", version: "1" },
    },
    "tools/list": { tools: [{ name: "hello", inputSchema: { type: "object" } }] },
  };
  const server = createServer(async (request, response) => {
    if (request.headers.authorization !== `Bearer ${token}`)
      return void response.writeHead(401).end();
    if (request.method !== "POST") return void response.writeHead(405).end();
    const { id, method } = JSON.parse(await bodyOf(request)) as { id?: number; method: string };
    if (id === undefined) return void response.writeHead(202).end();
    const answer =
      method in results
        ? { result: results[method] }
        : { error: { code: -32601, message: "Method not found" } };
    response
      .writeHead(200, { "content-type": "application/json" })
      .end(JSON.stringify({ jsonrpc: "2.0", id, ...answer }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    close: () => void server.close(),
  };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const part of request) text += part;
  return text;
}

test("sends configured headers, and explains a rejection without them", async () => {
  const server = await startGuarded("of-mine");
  const log = createLog({ level: "silent" });
  const config = { transport: "http", endpoint: server.endpoint, args: [], timeout: 60 } as const;
  {
    const folder = makeFolder();
    const target = createServerTarget(
      { ...config, headers: { Authorization: "Bearer of-mine" } },
      { folder, log },
    );
    await using bench = benchOf(target, folder);
    const { tools } = await bench.until(({ tools: { load } }) => load.kind === "loaded");
    expect(tools.items.map(({ name }) => name)).toEqual(["hello"]);
    expect(JSON.stringify(bench.state())).not.toContain("of-mine");
  }
  const folder = makeFolder();
  await using refused = benchOf(
    createServerTarget(config, { folder, log }),
    folder,
    {},
    server.close,
  );
  const { connection } = await refused.until(({ connection: { kind } }) => kind === "lost");
  expect(connection).toMatchObject({
    failure: {
      message: expect.stringContaining("HTTP 401"),
      hint: expect.stringContaining("headers of [mcp]"),
    },
  });
});
