import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { bundle } from "./bundle.mjs";
import { stderr } from "./stderr.mjs";

/** A server of `servers/` in a process of its own. Those that import from src/ are bundled first. */
export async function startListener(
  name,
  { args = [], words = [JSON.stringify(hallInfo)], isBundled = false } = {},
) {
  const file = isBundled
    ? await bundle(name)
    : fileURLToPath(new URL(`servers/${name}.mjs`, import.meta.url));
  const child = spawn(process.execPath, ["--expose-gc", ...args, file, ...words], {
    stdio: ["pipe", "pipe", stderr],
  });
  const [line] = await Promise.race([
    once(child.stdout, "data"),
    once(child, "exit").then(([code]) => {
      throw new Error(`${name} ended with ${code} before it listened`);
    }),
  ]);
  return {
    port: JSON.parse(line.toString()).port,
    /** MB of memory, after a garbage collection if one is wanted. */
    async memory({ collect = false } = {}) {
      if (collect) {
        const collected = once(child.stdout, "data");
        child.stdin.write("\n");
        await collected;
      }
      return memoryOf(child.pid);
    },
    async stop() {
      const ended = once(child, "exit");
      child.stdin.end();
      await ended;
    },
  };
}

const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
const hallInfo = { name: "guildhall", title: "Guildhall", version };

/** Resident MB of a process, shared pages included. */
export const memoryOf = (pid) =>
  Number(/VmRSS:\s*(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))[1]) / 1024;
