import { type ChildProcessWithoutNullStreams, execFile, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { createLineReader } from "../../src/wire/stdio.ts";
import { RawClient } from "./client.ts";
import { guardMs } from "./until.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

export interface SpawnOptions {
  readonly cwd?: string;
  /** The command line to run; the built one unless told otherwise. */
  readonly cli?: string;
  /** Beside what this process has. */
  readonly env?: NodeJS.ProcessEnv;
}

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A client of a hall in a process of its own. */
export interface ProcessClient extends RawClient {
  readonly child: ChildProcessWithoutNullStreams;
  readonly exited: Promise<Exit>;
  /** Everything on stdout and stderr so far, as text. */
  readonly output: { stdout: string; stderr: string };
  kill(signal: NodeJS.Signals): void;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Starts `guildhall mcp …` in a process of its own. */
export function spawnHall(args: readonly string[] = [], options: SpawnOptions = {}): ProcessClient {
  return spawnCli(["mcp", ...args], options);
}

/** Runs a command to its end. */
export async function runCli(
  args: readonly string[],
  options: SpawnOptions & { readonly input?: string } = {},
): Promise<Exit & ProcessClient["output"]> {
  await using client = spawnCli(args, options, false);
  client.child.stdin.end(options.input ?? "");
  return { ...(await client.exited), ...client.output };
}

function spawnCli(
  args: readonly string[],
  { cwd = tmpdir(), cli = builtCli(), env }: SpawnOptions,
  isProtocol = true,
): ProcessClient {
  // A runtime folder of its own, so that it does not attach to the hall of another test.
  const runtime = mkdtempSync(join(tmpdir(), "guildhall-run-"));
  const child = spawn(process.execPath, [cli, ...args], {
    cwd,
    stdio: "pipe",
    env: { ...process.env, ...env, XDG_RUNTIME_DIR: runtime },
  });
  const output = { stdout: "", stderr: "" };
  const client = new RawClient((bytes) => {
    child.stdin.write(bytes);
    child.stdin.write("\n");
  });
  const exited = new Promise<Exit>((resolve) =>
    child.on("close", (code, signal) => {
      rmSync(runtime, { recursive: true, force: true });
      resolve({ code, signal });
    }),
  );
  // The exit is reported through `exited`.
  child.stdin.on("error", () => {});
  child.stderr.on("data", (bytes: Buffer) => {
    output.stderr += bytes;
  });
  child.stdout.on("data", (bytes: Buffer) => {
    output.stdout += bytes;
  });
  if (isProtocol)
    child.stdout.on(
      "data",
      createLineReader(Number.POSITIVE_INFINITY, {
        line: (bytes) => client.deliver(bytes.toString()),
        oversize() {},
      }),
    );
  const made = Object.assign(client, {
    child,
    output,
    kill: (signal: NodeJS.Signals) => void child.kill(signal),
    async [Symbol.asyncDispose]() {
      if (child.exitCode === null && child.signalCode === null) child.kill("SIGKILL");
      child.stdout.resume();
      await exited;
    },
  });
  // The guard starts with each read of `exited`: a process may live as long as its test file.
  return Object.defineProperty(made, "exited", {
    get: () => Promise.race([exited, timeUp()]),
  }) as ProcessClient;
}

async function timeUp(): Promise<never> {
  await new Promise((resolve) => setTimeout(resolve, guardMs).unref());
  throw new Error(`the process did not end within ${guardMs / 1_000} s`);
}

export function builtCli(): string {
  const cli = join(root, "dist/cli.js");
  if (!existsSync(cli))
    throw new Error("dist/cli.js is missing: run `node scripts/build.mjs` before these tests");
  return cli;
}

/**
 * The real command line with the test toolkits in place of the built-in ones. The first test file of a run that asks
 * for it builds it, into a folder that `global-setup.ts` has made and removes.
 */
export async function buildTestCli(): Promise<string> {
  const folder = process.env.GUILDHALL_TEST_CLI ?? "";
  const cli = join(folder, "built", "cli.js");
  if (existsSync(cli)) return cli;

  const building = mkdtempSync(join(folder, "building-"));
  const script = join(root, "scripts/build.mjs");
  await promisify(execFile)(process.execPath, [script, "--quiet", "--test-cli", building]);
  writeFileSync(join(building, "package.json"), JSON.stringify({ type: "module" }));
  try {
    renameSync(building, join(folder, "built"));
  } catch (error) {
    // Another test file was faster.
    if (!existsSync(cli)) throw error;
  }
  return cli;
}

/** Resident memory of a process in MB. */
export function residentMegabytes(pid: number): number {
  const [, kilobytes] =
    /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kilobytes) / 1024;
}
