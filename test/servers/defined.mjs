// An MCP server on stdio whose tools stand in a file, read anew for every list: `node defined.mjs
// TOOLS STARTS`. Every tool says "ran NAME".
import { appendFileSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";

const [, , tools, starts] = process.argv;
appendFileSync(starts, `${process.pid}\n`);
process.stderr.write(`started with ${process.env.SECRET ?? "nothing"}\n`);

const handlers = {
  initialize: () => ({
    protocolVersion: "2025-11-25",
    capabilities: { tools: {} },
    serverInfo: { name: "defined", version: "1" },
  }),
  "tools/list": () => ({ tools: JSON.parse(readFileSync(tools, "utf8")) }),
  "tools/call": ({ name }) => ({ content: [{ type: "text", text: `ran ${name}` }] }),
};

createInterface({ input: process.stdin })
  .on("line", (line) => {
    const { id, method, params } = JSON.parse(line);
    if (id === undefined) return;
    const handler = handlers[method];
    const answer = handler
      ? { result: handler(params) }
      : { error: { code: -32601, message: "unknown" } };
    process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...answer })}\n`);
  })
  .on("close", () => process.exit(0));
