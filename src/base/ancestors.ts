import { readFile } from "node:fs/promises";

/** The title of our own processes begins with this; no program's name does. */
const titlePrefix = "guildhall:";

/** Names this process, so that the processes it starts find it among their ancestors. */
export function nameProcess(command: string): void {
  process.title = `${titlePrefix} ${command}`;
}

/** True if a process of ours started this one, directly or not. */
export async function isBelowHall(): Promise<boolean> {
  for (let pid = process.ppid; pid > 1; ) {
    const parent = await readProcess(pid);
    if (!parent) return false;
    if (parent.title.startsWith(titlePrefix)) return true;
    pid = parent.ppid;
  }
  return false;
}

interface ProcessFacts {
  readonly title: string;
  readonly ppid: number;
}

/** Undefined if there is no such process, or none that we may see. */
async function readProcess(pid: number): Promise<ProcessFacts | undefined> {
  try {
    return process.platform === "linux" ? await readStat(pid) : await askProcessList(pid);
  } catch {
    return undefined;
  }
}

async function readStat(pid: number): Promise<ProcessFacts> {
  // The title is in parentheses and may contain anything; the state and the parent follow.
  const stat = await readFile(`/proc/${pid}/stat`, "utf8");
  const end = stat.lastIndexOf(")");
  const [, ppid] = stat.slice(end + 2).split(" ");
  return { title: stat.slice(stat.indexOf("(") + 1, end), ppid: Number(ppid) };
}

async function askProcessList(pid: number): Promise<ProcessFacts> {
  const { execFileSync } = await import("node:child_process");
  const line = execFileSync("ps", ["-o", "ppid=,command=", "-p", `${pid}`], { encoding: "utf8" });
  const [, ppid, title = ""] = /^\s*(\d+)\s+(.*)/.exec(line) ?? [];
  return { title, ppid: Number(ppid) };
}
