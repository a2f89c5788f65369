/** A remote server on the SDK that speaks both protocol families: each client is served in its own. */
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { expect, test } from "vitest";
import * as z from "zod";
import type { JsonObject } from "../../src/base/json.ts";
import { modern } from "../servers/client.ts";
import { startHall } from "../servers/hall.ts";
import { until } from "../servers/until.ts";
import { serveWeb } from "../servers/web-server.ts";

/** `list` has output that is no object; `era` tells in which protocol family the call came. */
function createFixture(): McpServer {
  const server = new McpServer({ name: "dual", version: "1" });
  server.registerTool(
    "list",
    { inputSchema: z.object({}), outputSchema: z.array(z.number()) },
    async () => ({ content: [], structuredContent: [1, 2] as unknown as JsonObject }),
  );
  server.registerTool("era", { inputSchema: z.object({}) }, async (_args, { mcpReq }) => ({
    content: [{ type: "text", text: mcpReq.envelope ? "modern" : "legacy" }],
  }));
  return server;
}

test("calls of an older client come in the older family, and its output is the object it expects", async () => {
  const { http, url } = await serveWeb(createMcpHandler(createFixture).fetch);
  await using hall = await startHall({
    toolkits: [],
    servers: {
      box: {
        type: "http",
        url,
        headers: {},
        start: "lazy",
        idleTimeoutSeconds: 0,
        disabled: false,
        allowPrivate: false,
        tools: { include: ["*"], exclude: [] },
      },
    },
  });
  try {
    await until(() => hall.hall.registry.findTool("box.list") !== undefined, "it is listed");
    const client = hall.connect();
    await client.greet();
    const call = (name: string) => client.result("tools/call", { name });
    const callModern = (name: string) => client.result("tools/call", modern({ name }));
    expect(await call("box.era")).toMatchObject({ content: [{ text: "legacy" }] });
    expect(await callModern("box.era")).toMatchObject({ content: [{ text: "modern" }] });
    expect(await call("box.list")).toMatchObject({ structuredContent: { result: [1, 2] } });
    expect(await callModern("box.list")).toMatchObject({ structuredContent: [1, 2] });
    const { tools } = await client.result("tools/list");
    expect((tools as JsonObject[]).find(({ name }) => name === "box__list")).toMatchObject({
      outputSchema: { type: "object", properties: { result: { type: "array" } } },
    });
  } finally {
    http.closeAllConnections();
    http.close();
  }
});
