import { execFile, spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import { promisify } from "node:util";
import { isRunning } from "./files.ts";
import { visible } from "./sanitize.ts";

// A server must not approve itself by running `guildhall trust`, so commands that approve refuse to
// run in a process that a hall has started. They find a hall among their ancestors by its title.

/** Linux cuts titles at 15 characters: the prefix must be shorter. */
const titlePrefix = "guildhall:";

/** Names this process, so that the processes it starts find it among their ancestors. */
export function nameProcess(command: string): void {
  process.title = `${titlePrefix} ${command}`;
}

/**
 * True if Guildhall started this process, directly or not. False if an ancestor cannot be read, and
 * on systems without `/proc` or `ps`.
 */
export function isStartedByGuildhall(): Promise<boolean> {
  return hasAncestor([titlePrefix]);
}

/** True if a hall for clients started this process, directly or not; not for the terminal client. */
export function isStartedByHall(): Promise<boolean> {
  return hasAncestor(hallTitles);
}

const hallTitles = ["mcp", "serv"].map((command) => `${titlePrefix} ${command}`);

/**
 * This process as messages about its environment name it: "the hall (process 4711, started by
 * Cursor)". A hall serves all clients of a project with the environment of the one that started it.
 */
export async function describeThisProcess(): Promise<string> {
  if (!hallTitles.some((title) => process.title.startsWith(title))) return "this command";
  const starter = await findStarter();
  return `the hall (process ${process.pid}${starter === undefined ? "" : `, started by ${starter}`})`;
}

/** Programs that only start others. */
const launcher =
  /^(-?(ba|da|z|k|fi)?sh|node|node-MainThread|MainThread|npm.*|npx|bun|sudo|env|timeout)$/;

async function findStarter(): Promise<string | undefined> {
  for (let pid = process.ppid; pid > 1; ) {
    const parent = await readProcess(pid, "comm");
    if (!parent) return undefined;
    const name = visible(basename(parent.title));
    // Only `start` starts halls; Linux cuts its title.
    if (name.startsWith(titlePrefix)) return "guildhall start";
    if (!launcher.test(name)) return name;
    pid = parent.ppid;
  }
  return undefined;
}

async function hasAncestor(titles: readonly string[]): Promise<boolean> {
  for (let pid = process.ppid; pid > 1; ) {
    const parent = await readProcess(pid);
    if (!parent) return false;
    if (titles.some((title) => parent.title.startsWith(title))) return true;
    pid = parent.ppid;
  }
  return false;
}

interface ProcessFacts {
  readonly title: string;
  readonly ppid: number;
}

/** Undefined if the process has ended or cannot be read. */
async function readProcess(
  pid: number,
  column: "command" | "comm" = "command",
): Promise<ProcessFacts | undefined> {
  try {
    return process.platform === "linux" ? await readFromProc(pid) : await readFromPs(pid, column);
  } catch {
    return undefined;
  }
}

async function readFromProc(pid: number): Promise<ProcessFacts> {
  // The title is in parentheses and may contain anything; the state and the parent follow.
  const stat = await readFile(`/proc/${pid}/stat`, "utf8");
  const end = stat.lastIndexOf(")");
  const [, ppid] = stat.slice(end + 2).split(" ");
  return { title: stat.slice(stat.indexOf("(") + 1, end), ppid: Number(ppid) };
}

async function readFromPs(pid: number, column: string): Promise<ProcessFacts> {
  const { execFileSync } = await import("node:child_process");
  const line = execFileSync("ps", ["-o", `ppid=,${column}=`, "-p", `${pid}`], { encoding: "utf8" });
  const [, ppid, title = ""] = /^\s*(\d+)\s+(.*)/.exec(line) ?? [];
  return { title, ppid: Number(ppid) };
}

/** How long a launcher may take to report that there is no browser. */
const launchMsUsual = 1_500;

/** Opens a page in the user's browser; false if none could be started. Ask first: the URL may be untrusted. */
export function openBrowser(page: URL, launchMs: number = launchMsUsual): Promise<boolean> {
  // No shell: the URL may be untrusted.
  const child = spawn(process.platform === "darwin" ? "open" : "xdg-open", [page.href], {
    stdio: "ignore",
    detached: true,
  });
  child.unref();
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(true), launchMs);
    const end = (isOpen: boolean): void => {
      clearTimeout(timer);
      resolve(isOpen);
    };
    child.on("error", () => end(false));
    child.on("exit", (code) => end(code === 0));
  });
}

/**
 * Identifies a process even if its pid is reused: its start time and, where available, the boot id.
 * Undefined if there is no such process.
 */
export async function findBirth(pid: number): Promise<string | undefined> {
  if (!Number.isSafeInteger(pid) || pid < 1) return undefined;
  return process.platform === "linux" ? readStart(pid) : askProcessList(pid);
}

async function readStart(pid: number): Promise<string | undefined> {
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
    return (error as NodeJS.ErrnoException).code === "ENOENT" && isRunning(pid)
      ? "unknown"
      : undefined;
  }
}
