// A small upstream over Streamable HTTP, written by hand, of the era it is told: what stands behind
// the hall and behind the bare relay.
import { createServer } from "node:http";
import { announce } from "./announce.mjs";
import { echo, echoTool } from "./echo-tool.mjs";

const isModern = process.argv[2] === "modern";
const info = { name: "upstream-http", version: "1.0.0" };
const dress = (result) =>
  isModern
    ? { resultType: "complete", ...result, _meta: { "io.modelcontextprotocol/serverInfo": info } }
    : result;

const methods = {
  ...(isModern
    ? {
        "server/discover": () => ({
          supportedVersions: ["2026-07-28"],
          capabilities: { tools: {} },
          ttlMs: 0,
          cacheScope: "private",
        }),
      }
    : {
        initialize: ({ protocolVersion }) => ({
          protocolVersion,
          capabilities: { tools: {} },
          serverInfo: info,
        }),
      }),
  "tools/list": () => ({
    tools: [echoTool],
    ...(isModern ? { ttlMs: 0, cacheScope: "private" } : {}),
  }),
  "tools/call": (params) => echo(params.arguments),
};

const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
  const chunks = [];
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", () => {
    if (request.method !== "POST") return response.writeHead(405).end();
    const { id, method, params } = JSON.parse(Buffer.concat(chunks).toString());
    if (id === undefined) return response.writeHead(202).end();
    const run = methods[method];
    const outcome = run
      ? { result: dress(run(params)) }
      : { error: { code: -32601, message: `Method not found: ${method}` } };
    const body = JSON.stringify({ jsonrpc: "2.0", id, ...outcome });
    const session = method === "initialize" ? { "mcp-session-id": "bench" } : {};
    const status = run ? 200 : isModern ? 404 : 400;
    response
      .writeHead(status, {
        "content-type": "application/json",
        "content-length": Buffer.byteLength(body),
        ...session,
      })
      .end(body);
  });
});
server.listen(0, "127.0.0.1", () => announce(server.address().port));
