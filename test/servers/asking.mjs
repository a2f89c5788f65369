// A legacy stdio server that asks at random: `ask` answers with what the client said to a question that repeats the
// caller's name. It logs the name as well. Nothing on the line says which call a question belongs to.
import { createInterface } from "node:readline";

const asked = new Map();
let lastAsked = 0;
const send = (message) =>
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const pause = () => new Promise((resolve) => setTimeout(resolve, Math.random() * 4));

function question(name) {
  const id = ++lastAsked;
  const kinds = [
    { method: "roots/list", params: { _meta: { about: name } } },
    {
      method: "sampling/createMessage",
      params: { messages: [{ role: "user", content: { type: "text", text: name } }], maxTokens: 9 },
    },
    {
      method: "elicitation/create",
      params: { message: name, requestedSchema: { type: "object", properties: {} } },
    },
  ];
  send({ id, ...kinds[id % kinds.length] });
  return new Promise((resolve) => asked.set(id, resolve));
}

async function call({ name, asks }) {
  send({ method: "notifications/message", params: { level: "error", data: name } });
  await pause();
  const answer = asks ? await question(name) : "not asked";
  await pause();
  return { content: [{ type: "text", text: JSON.stringify({ name, answer, pid: process.pid }) }] };
}

const methods = {
  initialize: () => ({
    protocolVersion: "2025-11-25",
    capabilities: { tools: {}, logging: {} },
    serverInfo: { name: "asking", version: "1" },
  }),
  "logging/setLevel": () => ({}),
  "tools/list": () => ({
    tools: [{ name: "ask", inputSchema: { type: "object" }, annotations: { readOnlyHint: true } }],
  }),
  "tools/call": ({ arguments: args }) => call(args),
};

createInterface({ input: process.stdin }).on("line", async (line) => {
  const { id, method, params, result, error } = JSON.parse(line);
  if (method === undefined) asked.get(id)?.(result ?? error);
  else if (id !== undefined) {
    const handler = methods[method];
    if (handler) send({ id, result: await handler(params) });
    else send({ id, error: { code: -32601, message: "Method not found" } });
  }
});
