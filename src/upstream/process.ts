import { type ChildProcess, spawn } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { basename, join } from "node:path";
import type { Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { cacheFolder } from "../base/files.ts";
import { createStdioChannel } from "../wire/stdio.ts";
import type { Carrier, CarrierOptions } from "./carrier.ts";
import { environmentOf, findProgram, type ProcessSpec } from "./program.ts";

/** A child process with MCP on stdin and stdout, in its own process group. */
export interface UpstreamProcess extends Carrier {
  readonly pid: number;
  /** Closes stdin, then sends SIGTERM and SIGKILL to the group, with pauses between. */
  stop(): Promise<void>;
}

const politeMs = 1_500;
const lastWordsMsMax = 100;

/**
 * Waits for a line on descriptor 3 and then becomes the server. If the hall is killed before the guard
 * knows the process, the descriptor closes and the process ends by itself.
 */
const gate = 'read -r _ <&3 || exit; exec 3<&-; unset PWD OLDPWD SHLVL; exec "$@"';

export async function startProcess(
  spec: ProcessSpec,
  { limits, guard, said }: Pick<CarrierOptions, "limits" | "guard" | "said">,
): Promise<UpstreamProcess> {
  const program = findProgram(spec);
  const child = spawn("/bin/sh", ["-c", gate, "sh", program, ...(await launchArguments(spec))], {
    stdio: ["pipe", "pipe", "pipe", "pipe"],
    env: environmentOf(spec),
    cwd: spec.cwd,
    // A group of its own, because wrappers such as npx leave grandchildren.
    detached: true,
  });
  const evidence = keepLines(child, said);
  const ended = new Promise<string>((resolve) => {
    child.once("exit", (code, signal) => {
      const words = signal ? `ended by ${signal}` : `exited with code ${code}`;
      // Wait briefly for the last output; a grandchild may keep the pipes open forever.
      const timer = setTimeout(() => resolve(words), lastWordsMsMax);
      child.once("close", () => {
        clearTimeout(timer);
        resolve(words);
      });
    });
    child.once("error", ({ message }) => resolve(`cannot be started (${message})`));
  });
  return new Promise((started, reject) => {
    child.once("error", () => void ended.then((reason) => reject(new Error(reason))));
    child.once("spawn", () => {
      const pid = child.pid ?? 0;
      guard.watch(pid);
      const start = child.stdio[3] as Writable;
      start.on("error", () => {});
      start.end("\n");
      void ended.then(() => {
        // Stop any process it left behind.
        signalGroup(pid, "SIGKILL");
        guard.release(pid);
      });
      started({
        pid,
        channel: createStdioChannel(child.stdout, child.stdin, limits, {
          needsNewline: true,
          cutsEndless: true,
        }),
        evidence,
        ended,
        stop: () => stop(child, pid, ended),
      });
    });
  });
}

/**
 * npx prefers the node_modules and .npmrc of the folder it is started in, which may be a clone's. With a
 * folder of ours as prefix they decide nothing, and the program still runs in the server's own folder.
 */
async function launchArguments({ command, args }: ProcessSpec): Promise<readonly string[]> {
  if (basename(command) !== "npx") return args;
  const prefix = join(cacheFolder(), "npx");
  await mkdir(prefix, { recursive: true, mode: 0o700 });
  return [`--prefix=${prefix}`, ...args];
}

async function stop(child: ChildProcess, pid: number, ended: Promise<string>): Promise<void> {
  child.stdin?.end();
  for (const signal of ["SIGTERM", "SIGKILL"] as const) {
    const isGone = await Promise.race([ended.then(() => true), sleep(politeMs, false)]);
    if (isGone) return;
    signalGroup(pid, signal);
  }
  await ended;
}

function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch {
    // The group has already ended.
  }
}

const linesMax = 200;
const lineCharactersMax = 2_000;

/** Keeps reading stderr, so that the child never blocks, and keeps its last lines. */
function keepLines(child: ChildProcess, said?: (line: string) => void): () => readonly string[] {
  let lines: string[] = [];
  let rest = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    // Cut a flood before splitting it: only the end is kept.
    const parts = (rest + text.slice(-linesMax * lineCharactersMax)).split(/\r?\n/);
    rest = (parts.pop() ?? "").slice(-lineCharactersMax);
    if (said) for (const line of parts) said(line.slice(0, lineCharactersMax));
    lines = [
      ...lines,
      ...parts.slice(-linesMax).map((line) => line.slice(0, lineCharactersMax)),
    ].slice(-linesMax);
  });
  return () => (rest === "" ? lines : [...lines, rest].slice(-linesMax));
}
