// The baseline over HTTP and WebSocket: reads, parses, answers the same JSON as the hall. No
// checks, no limits, no deadlines.
import { createServer } from "node:http";
import { WebSocketServer } from "ws";
import { announce } from "./announce.mjs";

// As a modern hall signs its results. The bench compares the answers of both servers byte by byte.
const signature = { "io.modelcontextprotocol/serverInfo": JSON.parse(process.argv[2]) };

function answer({ id, method, params }) {
  if (method === "initialize") {
    const result = {
      protocolVersion: params.protocolVersion,
      capabilities: { tools: {} },
      serverInfo: { name: "bare-http", version: "1.0.0" },
    };
    return JSON.stringify({ jsonrpc: "2.0", id, result });
  }
  const content = [{ type: "text", text: params.arguments.message }];
  return JSON.stringify({
    jsonrpc: "2.0",
    id,
    result: params._meta
      ? { resultType: "complete", content, isError: false, _meta: signature }
      : { content, isError: false },
  });
}

// As long as the hall keeps an unused connection.
const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
  const chunks = [];
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", () => {
    const message = JSON.parse(Buffer.concat(chunks).toString());
    if (message.id === undefined) return response.writeHead(202).end();
    const body = answer(message);
    const session = message.method === "initialize" ? { "mcp-session-id": "bare" } : {};
    response
      .writeHead(200, {
        "content-type": "application/json",
        "content-length": Buffer.byteLength(body),
        ...session,
      })
      .end(body);
  });
});
const sockets = new WebSocketServer({ server, path: "/ws", perMessageDeflate: false });
sockets.on("connection", (socket) => {
  socket.on("message", (data) => {
    const message = JSON.parse(data.toString());
    if (message.id !== undefined) socket.send(answer(message));
  });
});
server.listen(0, "127.0.0.1", () => announce(server.address().port));
