import type { ChildProcess } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import type { Scope } from "../base/scope.ts";
import { createStdioChannel } from "../wire/stdio.ts";
import type { Carrier, CarrierOptions } from "./carrier.ts";
import { signalGroup, spawnGuarded } from "./gate.ts";
import { prepareLaunch } from "./installation.ts";
import { findLaunch } from "./launcher.ts";
import { environmentOf, findProgram, type ProcessSpec } from "./program.ts";
import { openBox } from "./sandbox/box.ts";
import { findUvLaunch } from "./uv.ts";

/** A child process with MCP on stdin and stdout, in its own process group. */
export interface UpstreamProcess extends Carrier {
  readonly pid: number;
  /** Closes stdin, then sends SIGTERM and SIGKILL to the group, with pauses between. */
  stop(): Promise<void>;
}

const politeMs = 1_500;
const lastWordsMsMax = 100;

export async function startProcess(
  spec: ProcessSpec,
  options: Pick<
    CarrierOptions,
    "limits" | "guard" | "printed" | "scrub" | "checkPackage" | "installing" | "box"
  >,
  scope: Scope,
): Promise<UpstreamProcess> {
  const { limits, guard } = options;
  const launch = findLaunch(spec) ?? (options.box && findUvLaunch(spec));
  const run = launch
    ? await prepareLaunch(launch, spec.cwd, { ...options, scope })
    : { program: findProgram(spec), args: spec.args, env: environmentOf(spec), cwd: spec.cwd };
  const box = options.box && openBox(spec, run, options.box);
  const child = spawnGuarded(box?.run ?? run, guard);
  box?.attach(child);
  const evidence = keepLines(child, options);
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
      void ended.then(() => {
        // Stop any process it left behind.
        signalGroup(pid, "SIGKILL");
        guard.release(pid);
        box?.close();
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

async function stop(child: ChildProcess, pid: number, ended: Promise<string>): Promise<void> {
  child.stdin?.end();
  for (const signal of ["SIGTERM", "SIGKILL"] as const) {
    const isGone = await Promise.race([ended.then(() => true), sleep(politeMs, false)]);
    if (isGone) return;
    signalGroup(pid, signal);
  }
  await ended;
}

const linesMax = 200;
const lineCharactersMax = 2_000;

/**
 * Keeps reading stderr, so that the child never blocks, and keeps its last lines. Secrets are removed before a line is
 * cut: nobody would recognise half of one.
 */
function keepLines(
  child: ChildProcess,
  { printed, scrub = (text) => text }: Pick<CarrierOptions, "printed" | "scrub">,
): () => readonly string[] {
  let lines: string[] = [];
  let rest = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    // Cut a flood before splitting it: only the end is kept.
    const parts = (rest + text.slice(-linesMax * lineCharactersMax)).split(/\r?\n/);
    rest = parts.pop() ?? "";
    if (rest.length > lineCharactersMax) rest = scrub(rest).slice(-lineCharactersMax);
    const clean = parts.map((line) => scrub(line).slice(0, lineCharactersMax));
    if (printed) for (const line of clean) printed(line);
    lines = [...lines, ...clean].slice(-linesMax);
  });
  child.stderr?.once("end", () => {
    if (rest !== "") printed?.(rest);
  });
  return () => (rest === "" ? lines : [...lines, rest].slice(-linesMax));
}
