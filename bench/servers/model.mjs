// A model that thinks for no time at all, in a process of its own: it calls a tool in every turn
// but the last, and then answers. In OpenAI's form.
import { createServer } from "node:http";
import { announce } from "./announce.mjs";

const turns = Number(process.argv[2] ?? 8);
const chunk = (delta, finish_reason = null) =>
  `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "bench", choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
const usage = `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "bench", choices: [], usage: { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 } })}\n\ndata: [DONE]\n\n`;

const server = createServer((request, response) => {
  const chunks = [];
  request.on("data", (bytes) => chunks.push(bytes));
  request.on("end", () => {
    const { messages } = JSON.parse(Buffer.concat(chunks).toString());
    const turn = messages.filter(({ role }) => role === "tool").length;
    const call = {
      index: 0,
      id: `call_${turn}`,
      type: "function",
      function: { name: "echo__echo", arguments: '{"text":"hello"}' },
    };
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(
      turn < turns - 1
        ? chunk({ role: "assistant", tool_calls: [call] }) + chunk({}, "tool_calls") + usage
        : chunk({ role: "assistant", content: "done" }) + chunk({}, "stop") + usage,
    );
  });
});
server.listen(0, "127.0.0.1", () => announce(server.address().port));
