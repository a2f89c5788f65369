// A small upstream of the legacy era, written by hand: what stands behind the hall and behind the byte relay. The
// argument is how many echo tools it has (default 1).
import { createEchoTools, echo } from "./echo-tool.mjs";

const echoTools = createEchoTools(Number(process.argv[2] ?? 1));

const textTool = {
  name: "text",
  description: "A text of a wanted length.",
  inputSchema: {
    type: "object",
    properties: { start: { type: "string" }, length: { type: "integer", minimum: 1 } },
    required: ["start", "length"],
  },
};
const run = {
  echo,
  text: ({ start, length }) => ({
    content: [{ type: "text", text: start.padEnd(length, "0123456789 and so on, ") }],
  }),
};

let rest = "";

process.stdin.setEncoding("utf8");
process.stdin.on("data", (chunk) => {
  const lines = (rest + chunk).split("\n");
  rest = lines.pop();
  for (const line of lines) if (line !== "") receive(JSON.parse(line));
});

function receive({ id, method, params }) {
  if (id === undefined) return;
  switch (method) {
    case "initialize":
      return answer(id, {
        protocolVersion: params.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: "upstream-echo", version: "1.0.0" },
      });
    case "tools/list":
      return answer(id, { tools: [...echoTools, textTool] });
    case "tools/call":
      return answer(id, (run[params.name] ?? echo)(params.arguments));
    default:
      process.stdout.write(
        `${JSON.stringify({ jsonrpc: "2.0", id, error: { code: -32601, message: `Method not found: ${method}` } })}\n`,
      );
  }
}

function answer(id, result) {
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, result })}\n`);
}
