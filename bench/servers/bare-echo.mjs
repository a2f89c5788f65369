// The baseline: what a person would write by hand. No validation, no limits, no deadlines.
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
        serverInfo: { name: "bare-echo", version: "1.0.0" },
      });
    case "tools/call":
      return answer(id, { content: [{ type: "text", text: params.arguments.message }] });
    default:
      process.stdout.write(
        `${JSON.stringify({ jsonrpc: "2.0", id, error: { code: -32601, message: `Method not found: ${method}` } })}\n`,
      );
  }
}

function answer(id, result) {
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, result })}\n`);
}
