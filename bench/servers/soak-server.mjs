// An upstream that fails as its argument says: healthy, crashing, hanging, garbage, slow or changing.
// `write` appends its nonce to the file of the second argument, so that what really ran can be compared.
import { appendFileSync } from "node:fs";

const [, , mode, file] = process.argv;
const inputSchema = { type: "object", properties: { nonce: { type: "string" } } };
const tools = [
  { name: "echo", inputSchema, annotations: { readOnlyHint: true } },
  { name: "write", inputSchema, annotations: { destructiveHint: true } },
];
let calls = 0;
let rest = "";

process.stdin.setEncoding("utf8");
process.stdin.on("data", (chunk) => {
  const lines = (rest + chunk).split("\n");
  rest = lines.pop();
  for (const line of lines) if (line !== "") receive(JSON.parse(line));
});
process.stdin.on("end", () => process.exit(0));

function send(message) {
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
}

function receive({ id, method, params }) {
  if (id === undefined || method === undefined) return;
  if (method === "initialize")
    send({
      id,
      result: {
        protocolVersion: params.protocolVersion,
        capabilities: { tools: { listChanged: true } },
        serverInfo: { name: `soak-${mode}`, version: "1" },
      },
    });
  else if (method === "tools/list") send({ id, result: { tools } });
  else if (method === "tools/call") call(id, params);
  else if (method === "ping") send({ id, result: {} });
  else send({ id, error: { code: -32601, message: "method not found" } });
}

function call(id, { name, arguments: args }) {
  if (name === "write") appendFileSync(file, `${args.nonce}\n`);
  const answer = () =>
    send({
      id,
      result: {
        content: [{ type: "text", text: args.text ?? "" }],
        structuredContent: { nonce: args.nonce },
      },
    });
  const turn = ++calls;
  switch (mode) {
    case "crashing":
      if (turn % 60 !== 0) return answer();
      process.stdout.write('{"jsonrpc":"2.0","id":');
      return process.exit(3);
    case "hanging":
      return turn % 40 === 0 ? undefined : answer();
    case "garbage":
      process.stdout.write("not json at all\n");
      send({ id: "nobody asked this", result: {} });
      answer();
      return turn % 5 === 0 ? answer() : undefined;
    case "slow":
      return setTimeout(answer, 20);
    case "changing":
      if (turn % 20 === 0) send({ method: "notifications/tools/list_changed" });
      return answer();
    default:
      return answer();
  }
}
