import { execFile, execFileSync, spawn } from "node:child_process";
import {
  chmodSync,
  chownSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Writable } from "node:stream";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { boxRun, findRuntime } from "../../../src/upstream/sandbox/bubblewrap.ts";
import type { Profile } from "../../../src/upstream/sandbox/profile.ts";
import { createSystemCallFilter } from "../../../src/upstream/sandbox/seccomp.ts";

const runtime = await findRuntime();
const nobody = 65_534;

/** At most 700 processes, which end with the first one. */
const bomb = `import os
inside, outside = os.pipe()
made = 0
try:
  for _ in range(700):
    if os.fork() == 0:
      os.close(outside)
      os.read(inside, 1)
      os._exit(0)
    made += 1
  print("unbounded")
except OSError as error:
  print("bounded", made, error.errno)`;

interface Box extends Disposable {
  readonly folder: string;
  readonly profile: Profile;
  /** For a process of an ordinary user, also where the tests run as root. */
  readonly who: { readonly uid?: number; readonly gid?: number };
}

function makeBox(): Box {
  const folder = mkdtempSync(join(tmpdir(), "guildhall-limits-"));
  const state = join(folder, "servers", "project", "box");
  mkdirSync(state, { recursive: true });
  writeFileSync(join(folder, "servers", "hosts"), "");
  chmodSync(folder, 0o755);
  const isRoot = process.getuid?.() === 0;
  if (isRoot) chownSync(state, nobody, nobody);
  const profile: Profile = {
    home: "/home/box",
    state,
    project: undefined,
    hidden: [],
    withheld: [],
    read: [],
    write: [],
    hosts: [],
    env: undefined,
    memoryMb: 1_024,
    cpuSeconds: undefined,
  };
  return {
    folder,
    profile,
    who: isRoot ? { uid: nobody, gid: nobody } : {},
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** Root is exempt from this limit and has control groups; here the bomb belongs to a user who has neither. */
test("without control groups, the limit on processes ends a fork bomb of an ordinary user", async () => {
  if ("reason" in runtime) {
    expect(runtime.reason).toMatch(/./);
    return;
  }
  using box = makeBox();
  const plain = { program: "/usr/bin/python3", args: ["-c", bomb], env: {}, cwd: "/" };
  const boxing = { runtime, profile: box.profile, own: [], given: [], hasFilter: false };
  const { run } = boxRun(plain, boxing);
  const { stdout } = await promisify(execFile)(run.program, run.args, { cwd: "/", ...box.who });
  const [word, made, errno] = stdout.trim().split(" ");
  expect([word, errno]).toEqual(["bounded", "11"]);
  expect(Number(made)).toBeGreaterThan(100);
  expect(Number(made)).toBeLessThan(512);
});

/** The test of all tricks through a hall runs as whoever runs the tests, which is often root. */
test("an ordinary user's server gets nothing with any of its tricks", async () => {
  if ("reason" in runtime) {
    expect(runtime.reason).toMatch(/./);
    return;
  }
  using box = makeBox();
  const { folder, profile, who } = box;
  const project = join(folder, "project");
  const secrets = join(folder, "data");
  for (const path of [
    join(project, "open/.git/hooks"),
    join(secrets, "trust"),
    join(project, "tools"),
  ])
    mkdirSync(path, { recursive: true });
  writeFileSync(join(project, "open/guildhall.json"), "{}");
  writeFileSync(join(project, ".env"), "SECRET=1");
  writeFileSync(join(secrets, "trust/key"), "key");
  const program = join(project, "tools/hostile.mjs");
  copyFileSync(new URL("../../servers/hostile.mjs", import.meta.url), program);
  if (who.uid !== undefined) execFileSync("chown", ["-R", `${nobody}:${nobody}`, folder]);
  const writable = join(project, "open");
  const filter = createSystemCallFilter();
  const { run } = boxRun(
    { program: process.execPath, args: [program], env: { PATH: "/usr/bin:/bin" }, cwd: project },
    {
      runtime,
      profile: { ...profile, project, write: [writable], hidden: [secrets, join(project, ".env")] },
      own: [process.execPath],
      given: [],
      hasFilter: filter !== undefined,
    },
  );
  const { env } = run;
  const stdio = ["pipe", "pipe", "inherit", "ignore", "pipe"] as const;
  const child = spawn(run.program, run.args, { cwd: "/", env, stdio: [...stdio], ...who });
  (child.stdio[4] as Writable).end(filter);
  const targets = {
    hallPid: process.pid,
    project,
    writable,
    data: secrets,
    ledger: join(secrets, "trust"),
    otherState: secrets,
    realHome: folder,
    socket: join(folder, "hall.sock"),
    port: 9,
    abstract: "guildhall-nobody",
    marker: 30,
  };
  const params = { name: "list_tricks", arguments: targets };
  child.stdin?.write(
    `${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params })}\n`,
  );
  let answer = "";
  for await (const part of child.stdout ?? []) {
    answer += part;
    if (answer.endsWith("\n")) break;
  }
  child.kill("SIGKILL");
  const results: Record<string, string> = JSON.parse(JSON.parse(answer).result.content[0].text);
  // It ends with its sandbox, and a folder that does not exist outside is its own to make.
  const own = [
    "outlive its parent",
    "write an autostart file",
    "write a start-up file of the shell",
  ];
  const got = Object.entries(results).filter(
    ([trick, result]) => !own.includes(trick) && !result.startsWith("denied"),
  );
  expect(Object.keys(results).length).toBeGreaterThan(50);
  expect(got).toEqual([]);
});
