import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";

/**
 * Identifies a process even if its pid is reused: its start time and, where available, the boot id.
 * Undefined if there is no such process.
 */
export async function findBirth(pid: number): Promise<string | undefined> {
  if (!Number.isSafeInteger(pid) || pid < 1) return undefined;
  return process.platform === "linux" ? readProcess(pid) : askProcessList(pid);
}

async function readProcess(pid: number): Promise<string | undefined> {
  try {
    const [boot, stat] = await Promise.all([
      readFile("/proc/sys/kernel/random/boot_id", "utf8"),
      readFile(`/proc/${pid}/stat`, "utf8"),
    ]);
    // The name in parentheses may contain anything; the third field follows, and the 22nd is the start time.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return `${boot.trim()} ${fields[22 - 3]}`;
  } catch {
    return undefined;
  }
}

async function askProcessList(pid: number): Promise<string | undefined> {
  try {
    const { stdout } = await promisify(execFile)("ps", ["-o", "lstart=", "-p", String(pid)], {
      timeout: 5_000,
      env: { ...process.env, LC_ALL: "C" },
    });
    return stdout.trim() || undefined;
  } catch (error) {
    // No such process; without ps we can only check that the pid is in use.
    return (error as NodeJS.ErrnoException).code === "ENOENT" && isTaken(pid)
      ? "unknown"
      : undefined;
  }
}

function isTaken(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
