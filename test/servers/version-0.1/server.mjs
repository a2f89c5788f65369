// The servers of the fixture: `node server.mjs notes`, `shelf` (stdio), or `docs PORT` (HTTP on loopback).
import { appendFileSync } from "node:fs";
import { createServer } from "node:http";
import { createInterface } from "node:readline";

const [, , name, port] = process.argv;
const text = { type: "string" };
const takes = (...fields) => ({
  type: "object",
  properties: Object.fromEntries(fields.map((field) => [field, text])),
});

const offers = {
  notes: {
    tools: [
      { name: "list_notes", description: "Lists the notes.", inputSchema: takes("folder") },
      { name: "delete_note", description: "Deletes a note.", inputSchema: takes("id") },
    ],
  },
  shelf: {
    tools: [
      { name: "find_book", description: "Finds a book.", inputSchema: takes("title") },
      { name: "look_up", description: "Looks something up.", inputSchema: takes("sql") },
      {
        name: "remove_book",
        description: "Removes a book.",
        inputSchema: takes("title"),
        _meta: { "example.com/shelf": 1 },
      },
    ],
    prompts: [{ name: "recommend", description: "Recommends a book." }],
    resources: [{ uri: "shelf://catalogue", name: "catalogue" }],
    resourceTemplates: [],
  },
  docs: {
    tools: [
      {
        name: "search_docs",
        description: "Searches the documentation.",
        inputSchema: takes("query"),
        annotations: { readOnlyHint: true, openWorldHint: false },
      },
    ],
  },
};
const offer = offers[name];

const handlers = {
  initialize: () => ({
    protocolVersion: "2025-11-25",
    capabilities: { tools: {}, ...(offer.prompts && { prompts: {}, resources: {} }) },
    serverInfo: { name, version: "1" },
  }),
  ping: () => ({}),
  "tools/list": () => ({ tools: offer.tools }),
  "prompts/list": () => ({ prompts: offer.prompts }),
  "resources/list": () => ({ resources: offer.resources }),
  "resources/templates/list": () => ({ resourceTemplates: offer.resourceTemplates }),
  "tools/call": (params) => ({ content: [{ type: "text", text: `ran ${params.name}` }] }),
};

function answer({ id, method, params }) {
  const handler = handlers[method];
  const body = handler
    ? { result: handler(params) }
    : { error: { code: -32601, message: "unknown" } };
  return JSON.stringify({ jsonrpc: "2.0", id, ...body });
}

if (port === undefined) {
  appendFileSync(new URL("starts", import.meta.url), `${name}\n`);
  createInterface({ input: process.stdin })
    .on("line", (line) => {
      const message = JSON.parse(line);
      if (message.id !== undefined) process.stdout.write(`${answer(message)}\n`);
    })
    .on("close", () => process.exit(0));
} else {
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    const message = request.method === "POST" ? JSON.parse(body) : undefined;
    if (!message) response.writeHead(405).end();
    else if (message.id === undefined) response.writeHead(202).end();
    else response.writeHead(200, { "content-type": "application/json" }).end(answer(message));
  });
  const listen = () => server.listen(Number(port), "127.0.0.1");
  // Another run of the tests may have the port.
  server.on("error", () => setTimeout(listen, 100));
  server.on("listening", () => process.stdout.write("listening\n"));
  listen();
}
