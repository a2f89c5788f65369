// The baseline for a hall with many servers. It starts the given number of servers and forwards each request to the
// server named at the beginning of the tool's name. It does not parse JSON, and it forwards all responses unchanged.
import { spawn } from "node:child_process";

const [count, command, ...args] = process.argv.slice(2);
const servers = Array.from({ length: Number(count) }, () => {
  const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
  onLines(child.stdout, (lines) => process.stdout.write(lines, "latin1"));
  return { child, lines: "" };
});

onLines(process.stdin, (lines) => {
  for (const line of lines.slice(0, -1).split("\n")) {
    const [prefix, number] = /"u(\d+)__/.exec(line) ?? [];
    const server = servers[Number(number ?? 0)];
    server.lines += `${prefix === undefined ? line : line.replace(prefix, '"')}\n`;
  }
  for (const server of servers) {
    if (server.lines !== "") server.child.stdin.write(server.lines, "latin1");
    server.lines = "";
  }
});
process.stdin.on("end", () => {
  for (const { child } of servers) child.stdin.end();
});

/** Whole lines, as many as have arrived. */
function onLines(stream, listener) {
  let rest = "";
  stream.setEncoding("latin1");
  stream.on("data", (chunk) => {
    const end = chunk.lastIndexOf("\n") + 1;
    if (end > 0) listener(rest + chunk.slice(0, end));
    rest = end > 0 ? chunk.slice(end) : rest + chunk;
  });
}
