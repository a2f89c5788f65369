// A legacy stdio server that writes down what it did, so that a test can count it: `read` only answers, `change` needs
// approval, `ask` asks the client's user. `count` is `read` under another name, for limits. There is one resource. The
// first argument is the file.
import { appendFileSync } from "node:fs";
import { createInterface } from "node:readline";

const [file] = process.argv.slice(2);
const asked = new Map();
let lastAsked = 0;
const send = (message) =>
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);

function ask(message) {
  const id = ++lastAsked;
  const requestedSchema = { type: "object", properties: { word: { type: "string" } } };
  send({ id, method: "elicitation/create", params: { message, requestedSchema } });
  return new Promise((resolve) => asked.set(id, resolve));
}

async function call({ name, arguments: { id } }) {
  const answer = name === "ask" ? await ask(`word for ${id}`) : undefined;
  if (name === "ask" || name === "change") appendFileSync(file, `${name} ${id}\n`);
  const said = { name, id, word: answer?.content?.word };
  return { content: [{ type: "text", text: JSON.stringify(said) }] };
}

const inputSchema = { type: "object", properties: { id: { type: "string" } }, required: ["id"] };
const tool = (name, annotations) => ({
  name,
  description: `does ${name}`,
  inputSchema,
  annotations,
});
const methods = {
  initialize: () => ({
    protocolVersion: "2025-11-25",
    capabilities: { tools: {}, resources: {} },
    serverInfo: { name: "work", version: "1" },
  }),
  "tools/list": () => ({
    tools: [
      tool("read", { readOnlyHint: true }),
      tool("count", { readOnlyHint: true }),
      tool("ask", { readOnlyHint: true }),
      tool("change", { destructiveHint: true }),
    ],
  }),
  "tools/call": call,
  "resources/list": () => ({ resources: [{ uri: "work://notes", name: "notes" }] }),
  "resources/read": ({ uri }) => ({ contents: [{ uri, text: "our notes" }] }),
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
