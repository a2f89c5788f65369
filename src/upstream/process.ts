import { type ChildProcess, spawn } from "node:child_process";
import { accessSync, constants, existsSync, statSync } from "node:fs";
import { delimiter, resolve } from "node:path";
import type { Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import type { ServerConfig } from "../config/schema.ts";
import { createStdioChannel } from "../wire/stdio.ts";
import type { Carrier, CarrierOptions } from "./carrier.ts";

/** A child process with MCP on stdin and stdout, in its own process group. */
export interface UpstreamProcess extends Carrier {
  readonly pid: number;
  /** Closes stdin, then sends SIGTERM and SIGKILL to the group, with pauses between. */
  stop(): Promise<void>;
}

/** Of the environment only `env` and the variables in the allow-list are passed on. */
export type ProcessSpec = Pick<
  Extract<ServerConfig, { readonly type: "stdio" }>,
  "command" | "args" | "env" | "cwd"
>;

/** Variables passed on to servers: enough to find programs, home and language. */
const inherited =
  "HOME LANG LC_ALL LC_CTYPE LOGNAME PATH SHELL TERM TMPDIR TZ USER XDG_CACHE_HOME XDG_CONFIG_HOME XDG_DATA_HOME".split(
    " ",
  );

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
  const env = { ...allowedEnvironment(), ...spec.env };
  const program = findProgram(spec, env.PATH);
  const child = spawn("/bin/sh", ["-c", gate, "sh", program, ...spec.args], {
    stdio: ["pipe", "pipe", "pipe", "pipe"],
    env,
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

/** The file to run, found as the system would: in the folder of the server and on its PATH. */
function findProgram({ command, cwd = process.cwd() }: ProcessSpec, path = ""): string {
  if (!existsSync(cwd)) throw new Error(`its folder "${cwd}" was not found`);
  const folders = command.includes("/") ? [""] : path.split(delimiter);
  const files = folders.map((folder) => resolve(cwd, folder, command));
  const found = files.find((file) => isRunnable(file)) ?? files.find((file) => existsSync(file));
  if (found === undefined) throw new Error(`"${command}" was not found`);
  if (!isRunnable(found)) throw new Error(`"${found}" cannot be started: it is not executable`);
  return found;
}

function isRunnable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

export function allowedEnvironment(): Record<string, string> {
  const entries = inherited.map((name) => [name, process.env[name]] as const);
  return Object.fromEntries(
    entries.filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
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
