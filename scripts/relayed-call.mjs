// Which files of src run during one relayed call: a client over stdio, a hall, a server over stdio.
// V8's coverage gives the functions that ran; the bundler's comments give the file of each function.
// After a warm-up, a file counts if one of its functions ran in each of several calls, which leaves
// out background timers.
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL("..", import.meta.url));
const warmUpCalls = 200;
const sampledCalls = 5;

/** Runs inside the hall: each SIGUSR2 adds a line with the files that ran since the last one. */
const coverageHook = `
import { appendFileSync } from "node:fs";
import { Session } from "node:inspector";
const session = new Session();
session.connect();
session.post("Profiler.enable");
session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
process.on("SIGUSR2", () =>
  session.post("Profiler.takePreciseCoverage", (_, { result }) => {
    const ran = result.flatMap(({ url, functions }) =>
      functions
        .filter(({ functionName, ranges }) => functionName !== "" && ranges[0].count > 0)
        .map(({ ranges }) => [url, ranges[0].startOffset]));
    appendFileSync(process.env.SHAPE_COVERAGE, JSON.stringify(ran) + "\\n");
  }));
`;

export async function filesOfRelayedCall() {
  // Below our node_modules, so that packages resolve.
  const bundle = mkdtempSync(join(root, "node_modules", ".guildhall-shape-"));
  const scratch = mkdtempSync(join(tmpdir(), "guildhall-shape-"));
  try {
    await compile(bundle);
    const [first, ...others] = await sampleCalls(bundle, scratch);
    return [...first].filter((file) => others.every((sample) => sample.has(file))).sort();
  } finally {
    rmSync(bundle, { recursive: true, force: true });
    rmSync(scratch, { recursive: true, force: true });
  }
}

async function compile(outdir) {
  await build({
    absWorkingDir: root,
    entryPoints: { cli: "src/cli/main.ts", "store-worker": "src/store/store-worker.ts" },
    outdir,
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node20.19",
    external: ["@ai-sdk/*", "ai"],
    banner: {
      js: 'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);',
    },
    logLevel: "error",
  });
  writeFileSync(join(outdir, "package.json"), '{"type":"module"}');
}

async function sampleCalls(bundle, scratch) {
  const coverage = join(scratch, "coverage");
  const hook = join(scratch, "hook.mjs");
  const project = join(scratch, "project");
  const env = { ...process.env, SHAPE_COVERAGE: coverage };
  for (const kind of ["RUNTIME_DIR", "DATA_HOME", "CONFIG_HOME"]) {
    env[`XDG_${kind}`] = join(scratch, kind);
    mkdirSync(env[`XDG_${kind}`], { mode: 0o700 });
  }
  mkdirSync(join(env.XDG_CONFIG_HOME, "guildhall"));
  writeFileSync(
    join(env.XDG_CONFIG_HOME, "guildhall", "config.json"),
    JSON.stringify({ trust: { unattended: true } }),
  );
  mkdirSync(project);
  writeFileSync(hook, coverageHook);
  writeFileSync(coverage, "");
  const server = { command: process.execPath, args: [`${root}bench/servers/upstream-echo.mjs`] };
  const config = { expose: "tools", mcpServers: { upstream: server } };
  writeFileSync(join(project, "guildhall.json"), JSON.stringify(config));

  const cli = join(bundle, "cli.js");
  const run = { cwd: project, env };
  execFileSync(process.execPath, [cli, "build", "--yes"], { ...run, stdio: "pipe" });
  const hall = spawn(process.execPath, ["--import", hook, cli, "mcp", "--alone"], {
    ...run,
    stdio: ["pipe", "pipe", "inherit"],
  });
  try {
    const client = createClient(hall);
    const clientInfo = { name: "shape", version: "1" };
    const hello = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo };
    await client.request("initialize", hello);
    client.notify("notifications/initialized");
    const call = { name: "upstream__echo", arguments: { message: "hello" } };
    for (let i = 0; i < warmUpCalls; i++) await client.request("tools/call", call);

    await takeCoverage(hall, coverage);
    for (let i = 0; i < sampledCalls; i++) {
      await client.request("tools/call", call);
      await takeCoverage(hall, coverage);
    }
  } finally {
    const ended = once(hall, "close");
    hall.kill();
    await ended;
  }
  const owners = createOwners(bundle);
  return readLines(coverage)
    .slice(1)
    .map((line) => JSON.parse(line).flatMap(([url, offset]) => owners(url, offset)))
    .map((owned) => new Set(owned));
}

/** The bundler writes each module's path above its code, as a comment. */
function createOwners(bundle) {
  const modules = new Map();
  return (url, offset) => {
    if (!url.startsWith(`file://${bundle}/`)) return [];
    if (!modules.has(url)) {
      const text = readFileSync(new URL(url), "utf8");
      modules.set(url, [...text.matchAll(/^\/\/ ((?:src|node_modules)\/\S+)$/gm)]);
    }
    const [, owner] = modules.get(url).findLast(({ index }) => index <= offset) ?? [];
    return owner?.startsWith("src/") ? [owner] : [];
  };
}

async function takeCoverage(hall, file) {
  const before = readLines(file).length;
  hall.kill("SIGUSR2");
  while (readLines(file).length === before) await new Promise((resolve) => setTimeout(resolve, 20));
}

function readLines(file) {
  return readFileSync(file, "utf8").split("\n").slice(0, -1);
}

function createClient(child) {
  const waiting = new Map();
  let lastId = 0;
  createInterface(child.stdout).on("line", (line) => {
    const { id, result, error } = JSON.parse(line);
    const request = waiting.get(id);
    if (!request) return;
    waiting.delete(id);
    if (error || result.isError) request.reject(new Error(line));
    else request.resolve(result);
  });
  const send = (message) =>
    child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  return {
    notify: (method) => send({ method }),
    request: (method, params) =>
      new Promise((resolve, reject) => {
        waiting.set(++lastId, { resolve, reject });
        send({ id: lastId, method, params });
      }),
  };
}
