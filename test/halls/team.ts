import { once } from "node:events";
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { type Agent, request as send } from "node:http";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { isObject, type JsonObject } from "../../src/base/json.ts";
import { modern } from "../servers/client.ts";
import { modernHeaders } from "../servers/door-clients.ts";
import { allowUnattended } from "../servers/home.ts";
import { type ServeProcess, watchProcess } from "../servers/serve-process.ts";
import { until } from "../servers/until.ts";
import type { Cluster } from "../store/cluster.ts";
import { openProxy, type Proxy as TcpProxy } from "../store/proxy.ts";

/**
 * Several `guildhall serve` that share a database, each with a home of its own as on a machine of its own, and a
 * balancer in front that gives each connection to the next one.
 */
export interface Team extends AsyncDisposable {
  readonly halls: readonly TestHall[];
  /** The balancer's. */
  readonly url: string;
  readonly project: string;
  /** A folder for whoever else takes part. */
  readonly home: string;
  /** Of the database. */
  readonly schema: string;
  /** Without a proxy. */
  readonly storeUrl: string;
  readonly storeKey: string;
  /** The log of `work.mjs`, one line for each call. */
  done(): readonly string[];
  /** `guildhall …` on the machine of one hall. */
  run(
    hall: number,
    ...args: string[]
  ): Promise<{ code: number | null; stdout: string; stderr: string }>;
  /** Starts a hall again that has ended. */
  restart(hall: number): Promise<void>;
}

export interface TestHall {
  readonly process: ServeProcess;
  readonly url: string;
  /** Between the hall and the database. */
  readonly proxy: TcpProxy;
  /** Between the hall and everybody who calls it, the other halls too; only with `fronts`. */
  readonly front?: TcpProxy | undefined;
  /** False while the balancer gives it nothing. */
  isOpen: boolean;
}

const storeKey = "the-same-secret-on-every-machine";
// The bench bundles this file into another folder.
const cli = resolve("dist/cli.js");
const work = resolve("test/halls/work.mjs");

export interface TeamOptions {
  readonly count?: number;
  /** Further servers. */
  readonly servers?: JsonObject;
  /** Statements that are run in the schema before any hall has seen it. */
  readonly tables?: string;
  /** The program of each hall, if it is not this one. */
  readonly programs?: readonly string[];
  /** The user's own config on each machine, for the balancer's address. */
  user?(url: string): JsonObject;
  /** The balancer and the other halls reach each hall through a proxy. */
  readonly fronts?: boolean;
  /** Further variables of each hall. */
  readonly env?: Readonly<Record<string, string>>;
}

export async function startTeam(
  cluster: Cluster,
  {
    count = 3,
    servers = {},
    tables,
    programs = [],
    user,
    env,
    fronts: hasFronts = false,
  }: TeamOptions = {},
): Promise<Team> {
  const folder = mkdtempSync(join(tmpdir(), "guildhall-team-"));
  const project = join(folder, "project");
  const file = join(folder, "done");
  mkdirSync(project);
  appendFileSync(file, "");
  const server = { command: process.execPath, args: [work, file] };
  writeFileSync(
    join(project, "guildhall.json"),
    JSON.stringify({ mcpServers: { work: server, ...servers } }),
  );
  const schema = `team${Math.random().toString(36).slice(2)}`;
  if (tables !== undefined)
    await cluster.query(`CREATE SCHEMA ${schema}; SET search_path = ${schema}; ${tables}`);
  const proxies = await Promise.all(Array.from({ length: count }, () => openProxy(cluster)));
  const nowhere = { host: "127.0.0.1", port: 1 };
  const fronts = await Promise.all(proxies.flatMap(() => (hasFronts ? openProxy(nowhere) : [])));
  const halls: TestHall[] = [];
  const balancer = await openBalancer(halls);
  const environment = (index: number): NodeJS.ProcessEnv => {
    const home = join(folder, `home${index}`);
    allowUnattended(join(home, "config"), user?.(balancer.url));
    const { XDG_RUNTIME_DIR: _shared, ...rest } = process.env;
    const front = fronts[index];
    return {
      ...rest,
      ...(front ? { GUILDHALL__LISTEN__ADVERTISE: `http://127.0.0.1:${front.port}` } : {}),
      ...env,
      HOME: home,
      XDG_CONFIG_HOME: join(home, "config"),
      XDG_DATA_HOME: join(home, "data"),
      XDG_RUNTIME_DIR: runtime(home),
      GUILDHALL__STORE__KEY: storeKey,
      GUILDHALL__STORE__URL: cluster.url({ schema, port: proxies[index]?.port ?? 0 }),
    };
  };

  async function open(index: number): Promise<TestHall> {
    // With a user's config, halls print the balancer's address instead of their own.
    const port = user ? await freePort() : 0;
    const process = watchProcess([programs[index] ?? cli, "serve", "--port", `${port}`, "--json"], {
      cwd: project,
      env: environment(index),
    });
    const { url: printed } = JSON.parse(await process.firstLine);
    const url = user ? `http://127.0.0.1:${port}` : printed;
    const front = fronts[index];
    if (front) front.target = { host: "127.0.0.1", port: Number(new URL(url).port) };
    return { process, url, proxy: proxies[index] as TcpProxy, front, isOpen: true };
  }
  const run: Team["run"] = async (index, ...args) => {
    const { XDG_RUNTIME_DIR, ...env } = environment(index);
    return runCommand([programs[index] ?? cli, ...args], {
      cwd: project,
      env: { ...env, XDG_RUNTIME_DIR },
    });
  };

  // One review, on the first machine: the others learn of it.
  const built = await run(0, "build", "--yes");
  if (built.code !== 0) throw new Error(`build failed: ${built.stdout}${built.stderr}`);
  halls.push(...(await Promise.all(Array.from({ length: count }, (_, index) => open(index)))));
  for (const { url } of halls)
    await until(async () => (await fetch(`${url}/ready`)).ok, "the hall is ready");
  return {
    halls,
    url: balancer.url,
    project: realpathSync(project),
    home: folder,
    schema,
    storeUrl: cluster.url({ schema }),
    storeKey,
    done: () => readFileSync(file, "utf8").split("\n").filter(Boolean),
    run,
    async restart(index) {
      await halls[index]?.process[Symbol.asyncDispose]();
      halls[index] = await open(index);
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(halls.map(({ process }) => process[Symbol.asyncDispose]()));
      await balancer.close();
      await Promise.all([...proxies, ...fronts].map((proxy) => proxy[Symbol.asyncDispose]()));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  return typeof address === "object" && address ? address.port : 0;
}

/** Short, because the path of a socket has a limit. */
function runtime(home: string): string {
  const folder = join(home, "run");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return folder;
}

async function runCommand(
  args: readonly string[],
  options: { readonly cwd: string; readonly env: NodeJS.ProcessEnv },
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const process = watchProcess(args, options);
  const { code } = await process.exited;
  return { code, ...process.output };
}

async function openBalancer(
  halls: readonly TestHall[],
): Promise<{ readonly url: string; close(): Promise<void> }> {
  const sockets = new Set<Socket>();
  let next = 0;
  const server = createServer((near) => {
    const open = halls.filter(({ isOpen }) => isOpen);
    const hall = open[next++ % open.length];
    if (!hall) {
      near.destroy();
      return;
    }
    const far = connect(hall.front?.port ?? Number(new URL(hall.url).port), "127.0.0.1");
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => {
        sockets.delete(socket);
        (socket === near ? far : near).destroy();
      });
    }
    near.pipe(far).pipe(near);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === "object" && address ? address.port : 0}`,
    async close() {
      const closed = once(server, "close");
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: NodeJS.Dict<string | string[]>;
  /** The JSON-RPC message; of a stream, the last one. */
  readonly body: JsonObject;
  /** The ids of all messages that answer something. */
  readonly answered: readonly unknown[];
}

interface PostOptions {
  /** Default: a connection of its own, so that the balancer chooses again. */
  readonly agent?: Agent | undefined | false;
  readonly path?: string;
  /** Called with each message of a stream when it arrives. */
  onMessage?(message: JsonObject): void;
}

export function post(
  url: string,
  message: JsonObject,
  headers: Readonly<Record<string, string>> = {},
  { agent = false, path = "/mcp", onMessage }: PostOptions = {},
): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    const body = JSON.stringify(message);
    const request = send(`${url}${path}`, {
      method: "POST",
      agent,
      headers: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        ...headers,
      },
    });
    request.on("error", reject);
    request.on("response", (response) => {
      let text = "";
      let read = 0;
      response.on("data", (bytes: Buffer) => {
        text += bytes;
        const end = text.lastIndexOf("\n") + 1;
        if (end > read)
          for (const message of readEvents(text.slice(read, end))) onMessage?.(message);
        read = Math.max(read, end);
      });
      response.on("error", reject);
      response.on("close", () => {
        if (!response.complete) return reject(new Error("cut off"));
        const isStream = String(response.headers["content-type"]).includes("event-stream");
        const messages = isStream ? readEvents(text) : readBody(text);
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          body: messages.at(-1) ?? {},
          answered: messages.flatMap(({ id = null, result, error }) =>
            (result ?? error) ? [id] : [],
          ),
        });
      });
    });
    request.end(body);
  });
}

function readBody(text: string): readonly JsonObject[] {
  const value: unknown = text === "" ? undefined : JSON.parse(text);
  return isObject(value) ? [value] : [];
}

function readEvents(text: string): readonly JsonObject[] {
  const data = text.split("\n").flatMap((line) => /^data: ?(\S.*)$/.exec(line)?.[1] ?? []);
  return data.map((each) => JSON.parse(each)).filter(isObject);
}

/** Longer than a hall waits for an answer of the database. */
const stoppedMs = 2_500;

/**
 * Decides something while a hall is stopped, whose last question to the database was lost. The request reaches it before it hears
 * of that.
 */
export async function askStopped<T>(
  { process: { child }, proxy }: TestHall,
  decide: () => Promise<unknown>,
  request: () => Promise<T>,
): Promise<T> {
  const before = proxy.dropped;
  proxy.isSilent = true;
  await until(() => proxy.dropped > before, "the hall asks the database");
  child.kill("SIGSTOP");
  const since = performance.now();
  proxy.isSilent = false;
  proxy.delayMs = 50;
  try {
    await decide();
    await until(() => performance.now() - since > stoppedMs, "its question is too old");
    const late = request();
    child.kill("SIGCONT");
    return await late;
  } finally {
    child.kill("SIGCONT");
    proxy.delayMs = 0;
  }
}

let ids = 0;

interface AskOptions {
  readonly capabilities?: JsonObject;
  /** The caller. */
  readonly token?: string;
  /** Keeps its connections. Default: a connection for each request. */
  readonly agent?: Agent;
}

/** A modern request through the balancer. */
export function ask(
  url: string,
  method: string,
  params: JsonObject = {},
  { capabilities = { elicitation: { form: {} } }, token, agent }: AskOptions = {},
): Promise<HttpAnswer> {
  const message = {
    jsonrpc: "2.0",
    id: ++ids,
    method,
    params: modern(params, capabilities),
  };
  const bearer = token === undefined ? {} : { authorization: `Bearer ${token}` };
  return post(url, message, { ...modernHeaders(message), ...bearer }, { agent });
}

/** The result of a call as `work.mjs` said it, or the error. */
export function said({ body }: HttpAnswer): JsonObject {
  const { result, error } = body;
  if (!isObject(result)) return { error };
  const [first] = Array.isArray(result.content) ? result.content : [];
  if (result.isError === true || !isObject(first)) return { failed: result };
  return JSON.parse(String(first.text));
}

/** The `initialize` request of a client with a handshake. */
export const greeting = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: {
    protocolVersion: "2025-11-25",
    capabilities: {},
    clientInfo: { name: "test", version: "1" },
  },
};

/** Calls a tool of `work.mjs`. */
export const call = (url: string, name: string, id: string, more: JsonObject = {}) =>
  ask(url, "tools/call", { name: `work__${name}`, arguments: { id }, ...more });

/** Ends a call that asks for approval. */
export async function decline(url: string, id: string, asked: HttpAnswer): Promise<void> {
  const { requestState, inputRequests } = asked.body.result as JsonObject;
  if (!isObject(inputRequests)) throw new Error(`was not asked: ${JSON.stringify(asked.body)}`);
  const [key = ""] = Object.keys(inputRequests);
  const inputResponses = { [key]: { action: "decline" } };
  const ended = await call(url, "change", id, { requestState, inputResponses });
  if (!("failed" in said(ended))) throw new Error(`ran: ${JSON.stringify(ended.body)}`);
}
