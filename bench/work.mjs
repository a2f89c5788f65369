import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { startClient } from "./line-client.mjs";
import { echoCall, pathOf, processes } from "./processes.mjs";

/** The processor time of a hall's threads for one relayed call, which a busy machine changes little; Linux only. */
export async function cpuPerCall(client, { calls, depth }) {
  const before = readThreads(client.pid);
  await client.pipeline(calls, depth, echoCall);
  const after = readThreads(client.pid);
  const used = Object.keys(after)
    .filter((thread) => thread !== String(client.pid))
    .map((thread) => after[thread] - (before[thread] ?? 0));
  return {
    main: (after[client.pid] - before[client.pid]) / calls,
    // Beside the main thread, the writer has more to do than any other.
    writer: Math.max(...used) / calls,
  };
}

/** µs of processor time by thread. */
function readThreads(pid) {
  return Object.fromEntries(
    readdirSync(`/proc/${pid}/task`).map((thread) => {
      const [nanoseconds] = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8").split(
        " ",
      );
      return [thread, Number(nanoseconds) / 1_000];
    }),
  );
}

/** Counts the `promises`, or the `bytes` of memory, that a hall of the project needs for one relayed call. */
export async function countPerCall(project, what, { calls, depth }) {
  const file = join(project.folder, `count-${what}`);
  writeFileSync(file, "");
  const args = ["--import", pathOf("servers/count-work.mjs"), processes.cli[0], "mcp", "--alone"];
  const env = { ...project.env, COUNT: what, COUNT_FILE: file };
  const client = startClient(process.execPath, args, { cwd: project.folder, env });
  const read = () => readFileSync(file, "utf8").split("\n").slice(0, -1).map(Number);
  const take = async () => {
    const lines = read().length;
    process.kill(client.pid, "SIGUSR2");
    while (read().length === lines) await sleep(20);
    return read().at(-1);
  };
  await client.initialize();
  await client.pipeline(calls, depth, echoCall);
  const before = await take();
  await client.pipeline(calls, depth, echoCall);
  const after = await take();
  await client.stop();
  return (what === "promises" ? after - before : after) / calls;
}
