import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { HallError } from "../../src/base/errors.ts";
import { createSlots } from "../../src/base/one-at-a-time.ts";
import { Scope } from "../../src/base/scope.ts";
import type { ProgramRun } from "../../src/upstream/gate.ts";
import { type Installing, prepareLaunch } from "../../src/upstream/installation.ts";
import { findLaunch, type Launch } from "../../src/upstream/launcher.ts";
import { makeSlowInstaller, type SlowInstaller } from "../servers/slow-installer.ts";
import { guardMs, until } from "../servers/until.ts";
import { isAlive } from "../servers/upstreams.ts";

/** Packages that the hall installs: who waits for them, and what is left of an end. */
let folder: string;
let packages: string;
let installer: SlowInstaller;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "guildhall-installation-"));
  packages = join(folder, "guildhall", "packages");
  vi.stubEnv("XDG_CACHE_HOME", folder);
  installer = makeSlowInstaller(folder, "server.mjs");
});

afterEach(async () => {
  installer.release();
  await until(() => !installer.starts().some(isAlive), "no installer is left");
  vi.unstubAllEnvs();
  // The shell around the last installer may still write its exit code.
  await until(() => isRemoved(folder), "the folder is removed");
});

/** Node's own retries do not remove what was written meanwhile. */
function isRemoved(path: string): boolean {
  try {
    rmSync(path, { recursive: true, force: true });
  } catch {
    return false;
  }
  return !existsSync(path);
}

function launchOf(name = "some-server"): Launch {
  const env = { PATH: `${installer.bin}:${process.env.PATH}` };
  const launch = findLaunch({ command: "npx", args: ["-y", name], env, cwd: undefined });
  if (!launch) throw new Error("npx is a launcher");
  return launch;
}

interface Waiting extends Partial<Installing> {
  readonly name?: string;
  readonly scope?: Scope;
}

function prepare({ name, scope = new Scope(), ...given }: Waiting = {}): Promise<ProgramRun> {
  const installing = { installMs: 20_000, changed() {}, ...given };
  return prepareLaunch(launchOf(name), undefined, { scope, installing });
}

function hasStarted(count = 1): Promise<boolean> {
  return until(() => installer.starts().length === count, `${count} have begun`);
}

test("an installation that is not waited for any more ends in the background and is used by the next start", async () => {
  const changed = vi.fn();
  await expect(prepare({ installMs: 0, changed })).rejects.toThrow("still installing after 0 s");
  expect(changed.mock.lastCall).toEqual([true]);
  await hasStarted();
  installer.release();
  const { program } = await prepare({ changed });
  expect(program).toMatch(/\/packages\/[\w-]{32}\/node_modules\/.bin\/some-server$/);
  expect(changed.mock.lastCall).toEqual([false]);
  expect(installer.starts()).toHaveLength(1);
  expect(readdirSync(packages)).toHaveLength(1);
});

test("a start that is cancelled leaves the installation alone", async () => {
  const scope = new Scope();
  const start = prepare({ scope });
  await hasStarted();
  scope.cancel(new HallError("UNAVAILABLE", "the hall ends"));
  await expect(start).rejects.toThrow("the hall ends");
  expect(installer.starts().map(isAlive)).toEqual([true]);
});

test("the clock of a start is paused while its package is installed", async () => {
  const scope = new Scope(undefined, guardMs);
  const start = prepare({ scope });
  await hasStarted();
  const left = scope.remainingMs;
  const startedAt = performance.now();
  await until(() => performance.now() > startedAt);
  expect(scope.remainingMs).toBe(left);
  installer.release();
  expect((await start).program).toContain("some-server");
  expect(scope.cancelReason).toBeUndefined();
});

test("starts at the same time share one installation", async () => {
  const starts = [prepare(), prepare(), prepare()];
  await hasStarted();
  installer.release();
  const programs = (await Promise.all(starts)).map(({ program }) => program);
  expect(new Set(programs).size).toBe(1);
  expect(installer.starts()).toHaveLength(1);
});

test("an installation that was killed is begun anew", async () => {
  await expect(prepare({ installMs: 0 })).rejects.toThrow("still installing");
  await hasStarted();
  const [draft = ""] = readdirSync(packages);
  const pidFile = join(packages, draft, "install.pid");
  // The installer may run before its process is noted.
  await until(() => existsSync(pidFile) && readFileSync(pidFile, "utf8") !== "", "it is noted");
  const group = Number(readFileSync(pidFile, "utf8"));
  process.kill(-group, "SIGKILL");
  await until(() => !isAlive(group), "it is gone");
  installer.release();
  expect((await prepare()).program).toContain("some-server");
  expect(installer.starts()).toHaveLength(2);
  expect(readdirSync(packages)).toHaveLength(1);
});

test("unused drafts are removed by a later installation", async () => {
  const old = join(packages, "0123456789abcdef0123456789abcdef-draft");
  mkdirSync(old, { recursive: true, mode: 0o700 });
  utimesSync(old, 0, 0);
  installer.release();
  await prepare();
  await until(() => !existsSync(old), "it is removed");
});

test("at most as many install at once as there are slots", async () => {
  const slots = createSlots(3);
  const starts = ["a", "b", "c", "d", "e"].map((name) => prepare({ name, slots }));
  await hasStarted(3);
  const fourth = slots.take();
  installer.release();
  await Promise.all(starts);
  expect(installer.starts()).toHaveLength(5);
  (await fourth)();
});
