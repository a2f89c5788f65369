import { type ChildProcessByStdio, type StdioPipe, spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import type { ProcessGuard } from "./guard.ts";

/** A program with everything that decides how it runs. */
export interface ProgramRun {
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string | undefined;
  /** Written to descriptor 4: a filter of system calls. */
  readonly filter?: Buffer | undefined;
  /** Descriptor 5 is a channel of Node, over which the hall gets listeners. */
  readonly hasChannel?: boolean | undefined;
  /** Called with its pid before it runs. */
  entered?(pid: number): void;
}

/**
 * Waits for a line on descriptor 3 and then becomes the program. If the hall is killed before the guard
 * knows the process, the descriptor closes and the process ends by itself.
 */
const gate = 'read -r _ <&3 || exit; exec 3<&-; unset PWD OLDPWD SHLVL; exec "$@"';

/**
 * Starts a program in a process group of its own, because wrappers leave grandchildren. The guard
 * knows it before it runs.
 */
export function spawnGuarded(
  { program, args, env, cwd, filter, hasChannel, entered }: ProgramRun,
  guard: ProcessGuard,
): ChildProcessByStdio<Writable, Readable, Readable> {
  const child = spawn("/bin/sh", ["-c", gate, "sh", program, ...args], {
    stdio: [
      ...["pipe", "pipe", "pipe", "pipe"],
      ...(filter || hasChannel ? ["pipe"] : []),
      ...(hasChannel ? ["ipc"] : []),
    ] as StdioPipe[],
    env,
    cwd,
    detached: true,
  });
  child.once("spawn", () => {
    guard.watch(child.pid ?? 0);
    entered?.(child.pid ?? 0);
    const filterPipe = child.stdio[4] as Writable | undefined;
    filterPipe?.on("error", () => {});
    filterPipe?.end(filter);
    const start = child.stdio[3] as Writable;
    start.on("error", () => {});
    start.end("\n");
  });
  return child;
}

export function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch {
    // The group has already ended.
  }
}
