import { spawn } from "node:child_process";
import { closeSync, openSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ProgramRun } from "./gate.ts";

/**
 * A package manager at work in a draft folder. It runs apart from the hall: if the hall stops waiting, or ends, the
 * installation continues, and the next start of any hall finds its result. Its files are in the draft, so a killed
 * installation leaves nothing that counts as installed.
 */
export type Installation =
  | { readonly kind: "none" }
  | { readonly kind: "running" }
  | { readonly kind: "done" }
  | { readonly kind: "failed" };

/** An installation that takes longer is killed. */
const installerMsMax = 15 * 60_000;
/** The time between making the draft and starting the program. */
const setupMsMax = 10_000;

const files = { log: "install.log", pid: "install.pid", code: "install.code" } as const;

// Writes the exit code, then ends its own timer and any process that was left behind.
const script = `unset PWD OLDPWD SHLVL
(sleep ${installerMsMax / 1000}; kill -KILL 0) &
"$@"
echo $? >${files.code}
trap '' TERM
kill -TERM 0`;

/** Throws if the program cannot be started. */
export function startInstaller({ program, args, env, cwd = "" }: ProgramRun): void {
  const log = openSync(join(cwd, files.log), "w", 0o600);
  try {
    const child = spawn("/bin/sh", ["-c", script, "sh", program, ...args], {
      stdio: ["ignore", log, log],
      env,
      cwd,
      detached: true,
    });
    // Without a pid the draft counts as abandoned after a while.
    child.once("error", () => {});
    child.unref();
    writeFileSync(join(cwd, files.pid), String(child.pid ?? ""));
  } finally {
    closeSync(log);
  }
}

export function readInstallation(draft: string): Installation {
  const madeAt = changedAt(draft);
  if (madeAt === undefined) return { kind: "none" };
  const code = read(draft, files.code).trim();
  if (code !== "") return { kind: code === "0" ? "done" : "failed" };
  const pid = Number(read(draft, files.pid));
  const ageMs = Date.now() - (changedAt(join(draft, files.pid)) ?? madeAt);
  const isRunning = pid > 0 ? ageMs < installerMsMax && isAlive(pid) : ageMs < setupMsMax;
  // It may have ended between the two checks.
  const isOver = !isRunning && read(draft, files.code).trim() === "0";
  if (isOver) return { kind: "done" };
  return { kind: isRunning ? "running" : "failed" };
}

export function readInstallerLog(draft: string): string {
  return read(draft, files.log);
}

function read(draft: string, file: string): string {
  try {
    return readFileSync(join(draft, file), "utf8");
  } catch {
    // Not written yet, or another hall has just used the draft.
    return "";
  }
}

function changedAt(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
