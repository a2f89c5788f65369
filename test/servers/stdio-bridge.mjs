// A server over stdio that is really elsewhere: passes every line on to a WebSocket, and every
// message back. Usage: stdio-bridge.mjs URL [WORDS] WORDS, a JSON string, is written to stderr with
// every tool call.
import { createInterface } from "node:readline";
import { WebSocket } from "ws";

const [, , url, words = '""'] = process.argv;
const socket = new WebSocket(url);
socket.on("message", (data) => process.stdout.write(`${data}\n`));
socket.on("close", () => process.exit(1));
socket.on("open", () => {
  const lines = createInterface({ input: process.stdin });
  lines.on("line", (line) => {
    if (line.includes('"tools/call"')) process.stderr.write(`${JSON.parse(words)}\n`);
    socket.send(line);
  });
  lines.on("close", () => process.exit(0));
});
