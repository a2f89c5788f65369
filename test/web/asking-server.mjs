// An MCP server whose tool reports progress, asks its user a question, and answers with what was said.
import { createInterface } from "node:readline";

const waiting = new Map();
const send = (message) =>
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);

async function lend({ _meta }) {
  const progressToken = _meta?.progressToken;
  if (progressToken !== undefined)
    send({
      method: "notifications/progress",
      params: { progressToken, progress: 1, total: 4, message: "opening the shelf" },
    });
  send({
    id: "question",
    method: "elicitation/create",
    params: {
      message: "Who borrows it?",
      requestedSchema: {
        type: "object",
        properties: {
          reader: { type: "string" },
          card: { type: "string", enum: ["day", "year"], enumNames: ["Day card", "Year card"] },
        },
        required: ["reader", "card"],
      },
    },
  });
  const answer = await new Promise((resolve) => waiting.set("question", resolve));
  return { content: [{ type: "text", text: `lent to ${JSON.stringify(answer)}` }] };
}

const handlers = {
  initialize: () => ({
    protocolVersion: "2025-11-25",
    capabilities: { tools: {} },
    serverInfo: { name: "asking", version: "1" },
  }),
  "tools/list": () => ({
    tools: [
      {
        name: "lend",
        description: "Lends a book.",
        inputSchema: { type: "object" },
        annotations: { readOnlyHint: true },
      },
    ],
  }),
  "tools/call": lend,
};
createInterface({ input: process.stdin }).on("line", async (line) => {
  const { id, method, params, result } = JSON.parse(line);
  if (method === undefined) waiting.get(id)?.(result);
  else if (id !== undefined) {
    const handler = handlers[method];
    if (handler) send({ id, result: await handler(params) });
    else send({ id, error: { code: -32601, message: "unknown" } });
  }
});
