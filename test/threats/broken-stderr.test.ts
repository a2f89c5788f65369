// A program that read the hall's log may end before the hall.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { makeHome } from "../servers/home.ts";

const cli = fileURLToPath(new URL("../../dist/cli.js", import.meta.url));

test("a hall whose stderr is closed keeps serving, burns no CPU and ends on SIGTERM", {
  timeout: 60_000,
}, async () => {
  using home = makeHome({ "./guildhall.json": { log: { level: "trace" } } });
  const hall = spawn(process.execPath, [cli, "serve", "--port", "0", "--log-level", "trace"], {
    cwd: home.project,
    env: home.env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [line] = (await once(hall.stdout, "data")) as [Buffer];
  const url = /http:\/\/[\d.:]+/.exec(line.toString())?.[0];
  hall.stdout.destroy();
  hall.stderr.destroy();

  for (let count = 0; count < 5; count++) {
    const { status } = await fetch(`${url}/health`);
    expect(status).toBe(200);
    await fetch(`${url}/mcp`, { method: "POST", body: "not JSON" });
  }
  const before = cpuTicks(hall.pid);
  await sleep(1_000);
  expect(cpuTicks(hall.pid) - before).toBeLessThan(50);

  const ended = once(hall, "exit");
  hall.kill("SIGTERM");
  const timer = setTimeout(() => hall.kill("SIGKILL"), 15_000);
  const [code, signal] = await ended;
  clearTimeout(timer);
  expect({ code, signal }).toEqual({ code: 0, signal: null });
});

/** Hundredths of a second. */
function cpuTicks(pid = 0): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  return Number(fields[11]) + Number(fields[12]);
}
