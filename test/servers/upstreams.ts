import { type ChildProcessWithoutNullStreams, execFileSync, spawn } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { hashOf, isObject, type JsonObject } from "../../src/base/json.ts";
import type { ServerConfig } from "../../src/config/schema.ts";
import type { HallOptions } from "../../src/hall/hall-options.ts";
import type { Tool } from "../../src/tool.ts";
import { easingOf } from "../../src/trust/easing.ts";
import { openLedger } from "../../src/trust/ledger.ts";
import { reviewServer } from "../../src/trust/review.ts";
import type { Offer } from "../../src/upstream/lists.ts";
import type { LockedServer } from "../../src/upstream/lock.ts";
import { sourceOf } from "../../src/upstream/source.ts";
import type { Upstream, UpstreamState } from "../../src/upstream/upstream.ts";
import { createLineReader } from "../../src/wire/stdio.ts";
import { RawClient } from "./client.ts";
import { startHall, type TestHall } from "./hall.ts";
import { allowUnattended } from "./home.ts";
import { until } from "./until.ts";

/** Halls with real servers behind them, started from `faulty.mjs`. */
export type StdioConfig = Extract<ServerConfig, { readonly type: "stdio" }>;

export const faultyFile = fileURLToPath(new URL("faulty.mjs", import.meta.url));

/** A server whose behaviour the words select; see `faulty.mjs`. */
export function faulty(words = "", more: Partial<StdioConfig> = {}): StdioConfig {
  return {
    type: "stdio",
    command: process.execPath,
    args: [faultyFile, ...words.split(" ").filter((word) => word !== "")],
    env: {},
    start: "lazy",
    idleTimeoutSeconds: 600,
    tools: { include: ["*"], exclude: [] },
    disabled: false,
    allowPrivate: false,
    ...more,
  };
}

/** A tool as `faulty.mjs` defines it; the hall withholds a tool whose definition differs from the lock. */
export function definitionOf(name: string): Tool {
  return {
    name,
    title: `The ${name}`,
    description: `does ${name}`,
    inputSchema: {
      type: "object",
      properties: { text: { type: "string" } },
      "x-extra": { kept: true },
    },
    annotations: { readOnlyHint: true, "x-hint": 1 },
    icons: [{ src: "https://example.com/i.png" }],
    _meta: { "example.com/rank": 1 },
  };
}

/** A lock entry for a server with these tools, whether it really offers them or not. */
export function locked(
  config: StdioConfig,
  tools: readonly string[],
  more: Partial<LockedServer> = {},
): LockedServer {
  return {
    source: hashOf([
      config.command,
      config.args,
      Object.keys(config.env).sort(),
      config.cwd ?? null,
    ]),
    era: "legacy",
    protocol: "2025-11-25",
    info: { name: "locked" },
    capabilities: { tools: {} },
    pins: {},
    offer: { tools: tools.map(definitionOf), resources: [], templates: [], prompts: [] },
    ...more,
  };
}

export interface UpstreamHall extends TestHall {
  /** A legacy client, greeted. */
  readonly client: RawClient;
  upstream(name: string): Upstream;
  /** Waits until the hall lists a tool of this full name, or no longer does. */
  untilListed(name: string, isListed?: boolean): Promise<boolean>;
  untilState(name: string, kind: UpstreamState["kind"]): Promise<UpstreamState>;
}

/** A hall with only these servers behind it, and a greeted client. */
export async function startUpstreams(
  servers: Readonly<Record<string, StdioConfig>>,
  options: HallOptions = {},
): Promise<UpstreamHall> {
  const hall = await startHall({ toolkits: [], servers, ...options });
  const client = hall.connect();
  await client.greet();
  const { registry, fleet } = hall.hall;
  return Object.assign(hall, {
    client,
    upstream: (name: string) => fleet.get(name),
    untilListed: (name: string, isListed = true) =>
      until(
        () => (registry.findTool(name) !== undefined) === isListed,
        `${name} is ${isListed ? "listed" : "no longer listed"}`,
      ),
    untilState(name: string, kind: UpstreamState["kind"]) {
      const upstream = fleet.get(name);
      return until(
        () => (upstream.state().kind === kind ? upstream.state() : undefined),
        `${name} is ${kind}`,
      );
    },
  });
}

/** Calls a tool and resolves with the answer. */
export function callTool(
  client: RawClient,
  name: string,
  args: JsonObject = {},
  meta?: JsonObject,
): Promise<JsonObject> {
  return client.answer(
    client.ask("tools/call", {
      name,
      arguments: args,
      ...(meta === undefined ? {} : { _meta: meta }),
    }),
  );
}

/** Parses the text that a tool of `faulty.mjs` returned as JSON. */
export function saidJson(answer: JsonObject): unknown {
  const content =
    isObject(answer.result) && Array.isArray(answer.result.content) ? answer.result.content : [];
  const [first] = content as readonly JsonObject[];
  if (typeof first?.text !== "string")
    throw new Error(`no text in ${JSON.stringify(answer).slice(0, 500)}`);
  return JSON.parse(first.text);
}

/** Calls until the tool answers. */
export async function untilAnswers(client: RawClient, name: string): Promise<void> {
  await until(async () => {
    const { result } = await callTool(client, name);
    return isObject(result) && result.isError !== true;
  }, `${name} answers`);
}

/** Zombies count as ended. */
export function isAlive(pid: number): boolean {
  try {
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    // The process has no entry any more.
    return false;
  }
}

/** The process ids of every start of a server with `starts=FILE`, in order. */
export function readStarts(file: string): readonly number[] {
  return existsSync(file) ? readFileSync(file, "utf8").trim().split("\n").map(Number) : [];
}

/** A command line in a process of its own, as a client of its stdin and stdout. */
export interface CliProcess extends RawClient, AsyncDisposable {
  readonly pid: number;
  readonly child: ChildProcessWithoutNullStreams;
  readonly output: { stdout: string; stderr: string };
  /** Resolves with the exit code, or the signal. */
  readonly exited: Promise<number | NodeJS.Signals | null>;
}

/** Temporary folders of one test file: projects, and every folder that a hall writes to. */
export interface Places {
  readonly runtime: string;
  /** XDG_DATA_HOME of every process. */
  readonly data: string;
  /** A new project with this config, approved by its user; the servers of `faulty` are written the short way. */
  newProject(mcpServers: Readonly<Record<string, StdioConfig>>, more?: JsonObject): Promise<string>;
  /** Starts the command line in a project. */
  spawn(cli: string, args: readonly string[], project: string): CliProcess;
  remove(): void;
}

/** The user's own config, which trusts the tools of these servers so that no call asks for approval. */
function trustServers(configHome: string, names: ReadonlySet<string>): void {
  allowUnattended(configHome, { trust: { tools: callSafe([...names]) } });
}

function callSafe(names: readonly string[]): Record<string, "safe"> {
  return Object.fromEntries(names.map((name) => [`${name}.*`, "safe"]));
}

/** Records that the user approved these servers of a project with all they offer. */
async function approveServers(
  folder: string,
  dataHome: string,
  servers: Readonly<Record<string, StdioConfig>>,
): Promise<void> {
  const ledger = openLedger(realpathSync(folder), {
    folder: join(dataHome, "guildhall", "trust"),
    warn: () => {},
  });
  const reviews = Object.entries(servers).map(([name, { command, args }]) => {
    const source = sourceOf({ ...faulty(), command, args });
    const review = reviewServer({
      source,
      reached: command,
      eased: easingOf(name, { overrides: callSafe([name]) }),
      ...offerOf(args),
      isDestructive: () => false,
    });
    return [name, review] as const;
  });
  await ledger.change((entries) => ({
    ...entries,
    servers: { ...entries.servers, ...Object.fromEntries(reviews) },
  }));
}

function offerOf(args: readonly string[]): Pick<Offer, "tools"> & Partial<Offer> {
  if (args[0] !== faultyFile) return { tools: [] };
  return JSON.parse(execFileSync(process.execPath, [...args, "describe"], { encoding: "utf8" }));
}

export function usePlaces(): Places {
  const root = mkdtempSync(join(tmpdir(), "guildhall-"));
  const runtime = join(root, "run");
  mkdirSync(runtime, { mode: 0o700 });
  allowUnattended(join(root, "config"));
  const env = {
    ...process.env,
    XDG_RUNTIME_DIR: runtime,
    XDG_DATA_HOME: join(root, "data"),
    XDG_CONFIG_HOME: join(root, "config"),
  };
  const serverNames = new Set<string>();
  let projects = 0;
  return {
    runtime,
    data: join(root, "data"),
    async newProject(mcpServers, more = {}) {
      const folder = join(root, `project-${++projects}`);
      mkdirSync(folder);
      const entries = Object.entries(mcpServers).map(
        ([name, { command, args, timeoutSeconds }]) => [
          name,
          { command, args, ...(timeoutSeconds === undefined ? {} : { timeoutSeconds }) },
        ],
      );
      writeFileSync(
        join(folder, "guildhall.json"),
        JSON.stringify({ mcpServers: Object.fromEntries(entries), ...more }),
      );
      for (const name of Object.keys(mcpServers)) serverNames.add(name);
      trustServers(join(root, "config"), serverNames);
      await approveServers(folder, join(root, "data"), mcpServers);
      return folder;
    },
    spawn(cli, args, project) {
      const child = spawn(process.execPath, [cli, ...args], { cwd: project, stdio: "pipe", env });
      const output = { stdout: "", stderr: "" };
      const client = new RawClient((bytes) => void child.stdin.write(`${bytes}\n`));
      const exited = new Promise<number | NodeJS.Signals | null>((resolve) =>
        child.on("close", (code, signal) => resolve(signal ?? code)),
      );
      // The exit is reported through `exited`.
      child.stdin.on("error", () => {});
      child.stderr.on("data", (bytes: Buffer) => {
        output.stderr += bytes;
      });
      child.stdout.on("data", (bytes: Buffer) => {
        output.stdout += bytes;
      });
      if (args[0] === "mcp") {
        child.stdout.on(
          "data",
          createLineReader(Number.POSITIVE_INFINITY, {
            line: (bytes) => client.deliver(bytes.toString()),
            oversize() {},
          }),
        );
      }
      return Object.assign(client, {
        pid: child.pid ?? 0,
        child,
        output,
        exited,
        async [Symbol.asyncDispose]() {
          if (child.exitCode === null && child.signalCode === null) child.kill("SIGKILL");
          await exited;
        },
      });
    },
    remove: () => rmSync(root, { recursive: true, force: true }),
  };
}
