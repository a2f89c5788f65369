// A server with one tool that talks: `lines` lines on stderr, `perSecond` of them a second.
import { createInterface } from "node:readline";

const inputSchema = {
  type: "object",
  properties: {
    note: { type: "string" },
    lines: { type: "integer" },
    perSecond: { type: "integer" },
  },
};
const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: "chatter", version: "1" },
  }),
  "tools/list": () => ({ tools: [{ name: "chatter", description: "Talks.", inputSchema }] }),
  "tools/call": ({ arguments: { lines = 1_000, perSecond = 1_000 } = {} }) =>
    talk(lines, perSecond),
};

createInterface({ input: process.stdin }).on("line", async (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const answer = answers[method];
  const said = answer
    ? { result: await answer(params) }
    : { error: { code: -32601, message: `no ${method}` } };
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...said })}\n`);
});

const everyMs = 10;

async function talk(lines, perSecond) {
  const started = performance.now();
  for (let said = 0; said < lines; ) {
    const due = Math.min(lines, Math.ceil(((performance.now() - started) / 1000) * perSecond));
    let text = "";
    for (; said < due; said++)
      text += `line ${said + 1} of what a build prints, about as long as such lines are\n`;
    // A reader that is slow is waited for, as any program would.
    if (text !== "" && !process.stderr.write(text))
      await new Promise((resolve) => process.stderr.once("drain", resolve));
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
  return { content: [{ type: "text", text: `said ${lines} lines` }] };
}
