import { hostname } from "node:os";
import { findBirth } from "../base/process-birth.ts";

/** After this time the calls of a process on another machine count as ended. */
const otherMachineMs = 86_400_000;

/** Names this process, so that others can tell whether it still runs. */
export async function nameWriter(): Promise<string> {
  return [hostname(), process.pid, await findBirth(process.pid)].join(" ");
}

/** `since`: when the process was last known to run. */
export async function hasWriterEnded(writer: string, since: number): Promise<boolean> {
  // The call was recorded by a version that did not name its process.
  if (writer === "") return true;
  const [host, pid, ...birth] = writer.split(" ");
  if (host !== hostname()) return since < Date.now() - otherMachineMs;
  return (await findBirth(Number(pid))) !== birth.join(" ");
}
