// A minimal relay for comparison: it only parses messages and writes them with its own ids.
import { spawn } from "node:child_process";

const [command, ...args] = process.argv.slice(2);
const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
const clientIds = new Map();
let nextId = 0;

pass(process.stdin, child.stdin, ({ id, method, params }) => {
  if (id === undefined) return { jsonrpc: "2.0", method, params };
  clientIds.set(++nextId, id);
  return { jsonrpc: "2.0", id: nextId, method, params };
});
pass(child.stdout, process.stdout, ({ id, ...answer }) => {
  const clientId = clientIds.get(id);
  clientIds.delete(id);
  return { ...answer, id: clientId };
});
process.stdin.on("end", () => child.stdin.end());
child.on("exit", (code) => process.exit(code ?? 1));

/** Line by line; what one chunk brings leaves in one write. */
function pass(input, output, change) {
  let rest = "";
  input.setEncoding("utf8");
  input.on("data", (chunk) => {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop();
    const changed = lines.map((line) => `${JSON.stringify(change(JSON.parse(line)))}\n`);
    if (changed.length > 0) output.write(changed.join(""));
  });
}
