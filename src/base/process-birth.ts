import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";

/**
 * What tells a process from every other one that has had its number: when it began and, where the system says, at which boot of which machine.
 * Undefined when there is no such process here.
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
    // The name, in brackets, may hold anything; behind it begins the third field, and the 22nd is the start.
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
    // ps says no; a system without it can only be asked whether the number is taken.
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
