import { execFile } from "node:child_process";
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { boxRun, findRuntime } from "../../../src/upstream/sandbox/bubblewrap.ts";
import type { Profile } from "../../../src/upstream/sandbox/profile.ts";

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

/** Root is exempt from this limit and has control groups; here the bomb belongs to a user who has neither. */
test("without control groups, the limit on processes ends a fork bomb of an ordinary user", async () => {
  if ("reason" in runtime) {
    expect(runtime.reason).toMatch(/./);
    return;
  }
  const folder = mkdtempSync(join(tmpdir(), "guildhall-limits-"));
  const state = join(folder, "servers", "project", "bomb");
  mkdirSync(state, { recursive: true });
  writeFileSync(join(folder, "servers", "hosts"), "");
  chmodSync(folder, 0o755);
  const isRoot = process.getuid?.() === 0;
  if (isRoot) chownSync(state, nobody, nobody);
  const profile: Profile = {
    home: "/home/bomb",
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
  try {
    const plain = { program: "/usr/bin/python3", args: ["-c", bomb], env: {}, cwd: "/" };
    const { run } = boxRun(plain, { runtime, profile, own: [], given: [], hasFilter: false });
    const who = isRoot ? { uid: nobody, gid: nobody } : {};
    const { stdout } = await promisify(execFile)(run.program, run.args, { cwd: "/", ...who });
    const [word, made, errno] = stdout.trim().split(" ");
    expect([word, errno]).toEqual(["bounded", "11"]);
    expect(Number(made)).toBeGreaterThan(100);
    expect(Number(made)).toBeLessThan(512);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
