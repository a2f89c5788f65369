// A hall leaves no process behind, however its servers behave and however it ends.
import { spawn } from "node:child_process";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, test } from "vitest";
import { createGuard } from "../../src/upstream/guard.ts";
import { type Home, makeHome } from "../servers/home.ts";
import { until } from "../servers/until.ts";

const cli = fileURLToPath(new URL("../../dist/cli.js", import.meta.url));

const behaviours = {
  hangs: "setInterval(() => {}, 1000)",
  dies: "process.exit(3)",
  ignores: "process.on('SIGTERM', () => {}); setInterval(() => {}, 1000)",
  leaves: `require("node:child_process").spawn("sleep", ["600"], { stdio: "inherit" });
    setInterval(() => {}, 1000)`,
};

function makeCrowd(): Home {
  const names = Object.keys(behaviours) as (keyof typeof behaviours)[];
  const servers = Array.from({ length: 40 }, (_, at) => {
    const behaviour = names[at % names.length] as keyof typeof behaviours;
    return [
      `${behaviour}${at}`,
      { command: process.execPath, args: ["-e", behaviours[behaviour]] },
    ];
  });
  return makeHome({ "./guildhall.json": { mcpServers: Object.fromEntries(servers) } });
}

/** Processes that run in the project's folder: servers, what they started, and the guard's shell. */
function processesIn(folder: string): readonly string[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return isRunning(pid) && readlinkSync(`/proc/${pid}/cwd`) === folder;
      } catch {
        return false;
      }
    });
}

describe("40 servers that hang, die, ignore SIGTERM or leave children behind", () => {
  const home = makeCrowd();
  afterAll(() => home[Symbol.dispose]());

  // `build` comes first: it approves the servers that the others start.
  test.each(["build --yes", "doctor"])(
    "`guildhall %s` leaves no process when it ends",
    async (line) => {
      // The usual time limit of a start is 20 s.
      const { code } = await home.run(cli, line.split(" "), {
        GUILDHALL__DEFAULTS__STARTTIMEOUTSECONDS: "3",
      });
      expect(code).toBe(69);
      await until(() => processesIn(home.project).length === 0, "no process is left");
    },
  );

  test.each(["build --yes", "doctor", "serve --port 0"])(
    "`guildhall %s` leaves no process when it is killed",
    async (line) => {
      const hall = spawn(process.execPath, [cli, ...line.split(" ")], {
        cwd: home.project,
        env: home.env,
        stdio: "ignore",
      });
      const count = line.startsWith("serve") ? 1 : 30;
      await until(() => processesIn(home.project).length >= count, "all servers were started");
      hall.kill("SIGKILL");
      await until(() => processesIn(home.project).length === 0, "no process is left");
    },
  );
});

test("a guard starts no shell after it was closed, and releasing unknown processes changes nothing", async () => {
  using home = makeHome();
  const before = children();
  const started = (): number => children().filter((pid) => !before.includes(pid)).length;
  const guard = createGuard();
  for (let pid = 1; pid < 1_000; pid++) guard.release(pid);
  expect(started()).toBe(0);

  const child = spawn("sleep", ["600"], { cwd: home.project, detached: true, stdio: "ignore" });
  guard.watch(child.pid ?? 0);
  expect(started()).toBe(2);
  guard.close();
  guard.release(child.pid ?? 0);
  guard.watch(child.pid ?? 0);
  await until(() => started() === 0, "the guard has ended the process and itself");
});

test("a guard that was killed is replaced with the next child, and knows the others", async () => {
  using home = makeHome();
  const before = children();
  const started = (): readonly string[] => children().filter((pid) => !before.includes(pid));
  const sleeper = (): number =>
    spawn("sleep", ["600"], { cwd: home.project, detached: true, stdio: "ignore" }).pid ?? 0;
  const guard = createGuard();
  const servers = [sleeper(), sleeper()];
  guard.watch(servers[0] ?? 0);
  const [shell] = started().filter((pid) => !servers.includes(Number(pid)));
  process.kill(Number(shell), "SIGKILL");
  await until(() => started().length === 2, "only the servers are left");
  // Its end is reported a moment later.
  await until(() => {
    guard.watch(servers[1] ?? 0);
    return started().length === 3;
  }, "there is another guard");
  guard.close();
  await until(() => started().length === 0, "it has ended both processes and itself");
});

/** Children of this process that have not ended. */
function children(): readonly string[] {
  const pids = readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, "utf8");
  return pids.split(" ").filter((pid) => pid !== "" && isRunning(pid));
}

function isRunning(pid: string): boolean {
  try {
    return !readFileSync(`/proc/${pid}/stat`, "utf8").includes(") Z ");
  } catch {
    return false;
  }
}
