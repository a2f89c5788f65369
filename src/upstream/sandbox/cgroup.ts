import { randomUUID } from "node:crypto";
import { mkdirSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Limits on all processes of a server together. Only where the system lets this user make control groups. */
export interface ControlGroup {
  add(pid: number): void;
  close(): void;
}

const root = "/sys/fs/cgroup";
const processesMax = 512;

/** Version 1 has a tree for each kind of limit, version 2 one for all. */
export function createControlGroup(memoryMb: number): ControlGroup | undefined {
  const memory = String(memoryMb * 1024 * 1024);
  const name = `guildhall-${randomUUID()}`;
  const folders = [
    make(join(root, "pids", name), { "pids.max": String(processesMax) }),
    make(join(root, "memory", name), { "memory.limit_in_bytes": memory }),
  ].filter((folder) => folder !== undefined);
  const all =
    folders.length > 0
      ? folders
      : [make(join(root, name), { "pids.max": String(processesMax), "memory.max": memory })];
  const usable = all.filter((folder) => folder !== undefined);
  if (usable.length === 0) return undefined;
  return {
    add(pid) {
      for (const folder of usable)
        attempt(() => writeFileSync(join(folder, "cgroup.procs"), `${pid}`));
    },
    close() {
      for (const folder of usable) attempt(() => rmdirSync(folder));
    },
  };
}

function make(folder: string, limits: Readonly<Record<string, string>>): string | undefined {
  if (!attempt(() => mkdirSync(folder))) return undefined;
  const isLimited = attempt(() => {
    for (const [file, limit] of Object.entries(limits)) writeFileSync(join(folder, file), limit);
  });
  if (isLimited) return folder;
  attempt(() => rmdirSync(folder));
  return undefined;
}

/** False if the system does not permit it: then the limits per process remain. */
function attempt(work: () => void): boolean {
  try {
    work();
    return true;
  } catch {
    return false;
  }
}
