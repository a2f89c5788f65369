import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** `guildhall serve …` in a process of its own. */
export interface ServeProcess {
  readonly child: ChildProcess;
  readonly pid: number;
  readonly output: { stdout: string; stderr: string };
  readonly exited: Promise<{
    readonly code: number | null;
    readonly signal: NodeJS.Signals | null;
  }>;
  /** The first line on stdout; rejects when the process ends before it. */
  readonly firstLine: Promise<string>;
  [Symbol.asyncDispose](): Promise<void>;
}

export interface ServeOptions {
  /** Where it runs. Its token is kept below, in `data`. */
  readonly folder: string;
  /** The command line to run; the built one unless told otherwise. */
  readonly cli?: string;
}

export function spawnServe(args: readonly string[], options: ServeOptions): ServeProcess {
  const { folder, cli = builtCli() } = options;
  return watchProcess([cli, "serve", ...args], {
    cwd: folder,
    env: { ...process.env, XDG_DATA_HOME: join(folder, "data") },
  });
}

/** Any script of ours that says where it listens in its first line. */
export function watchProcess(
  args: readonly string[],
  options: { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv } = {},
): ServeProcess {
  const child = spawn(process.execPath, args, {
    cwd: tmpdir(),
    ...options,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const output = { stdout: "", stderr: "" };
  const exited = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve) =>
    child.on("close", (code, signal) => resolve({ code, signal })),
  );
  const firstLine = new Promise<string>((resolve, reject) => {
    child.stdout.on("data", (bytes: Buffer) => {
      output.stdout += bytes;
      const end = output.stdout.indexOf("\n");
      if (end !== -1) resolve(output.stdout.slice(0, end));
    });
    void exited.then(({ code }) => reject(new Error(`ended with ${code}: ${output.stderr}`)));
  });
  // A caller that ignores the line ignores its failure, too.
  firstLine.catch(() => {});
  child.stderr.on("data", (bytes: Buffer) => {
    output.stderr += bytes;
  });
  return {
    child,
    pid: child.pid ?? 0,
    output,
    exited,
    firstLine,
    async [Symbol.asyncDispose]() {
      if (child.exitCode === null && child.signalCode === null) child.kill("SIGKILL");
      await exited;
    },
  };
}

export function builtCli(): string {
  const cli = fileURLToPath(new URL(join("..", "..", "dist", "cli.js"), import.meta.url));
  if (!existsSync(cli))
    throw new Error("dist/cli.js is missing: run `node scripts/build.mjs` before these tests");
  return cli;
}
