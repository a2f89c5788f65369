import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { messageOf, ratioRow, row } from "./figures.mjs";
import { initializeParams, startClient } from "./line-client.mjs";
import { echoCall, inTurns, pathOf, processes } from "./processes.mjs";
import { createProject, upstreamCommand } from "./projects.mjs";
import { stderr } from "./stderr.mjs";

/**
 * The hall beside other relays in front of the same server over stdio: their clients use HTTP, that
 * of the SDK's relay stdio.
 */
export default { name: "peers", run, isOnRequest: true };

const connections = 20;
/** A pipe takes ten times as many calls in the same time. */
const counts = { stdio: { warmUp: 3_000, calls: 1_000 }, http: { warmUp: 500, calls: 300 } };
const startMsMax = 60_000;
const packages = { "mcp-proxy": "6.7.19", supergateway: "4.0.0", mcporter: "0.12.3" };
const goals = { "SDK relay": 4, "mcp-proxy": 3, supergateway: 3, mcporter: 40 };

async function run({ rounds = 9 } = {}) {
  const folder = mkdtempSync(join(tmpdir(), "guildhall-peers-"));
  const [command, ...args] = upstreamCommand;
  const project = createProject({ upstream: { command, args } });
  const open = [];
  try {
    project.command("build", "--yes");
    const stdio = {
      hall: openStdio(project.start("--alone")),
      "SDK relay": openStdio(
        startClient(process.execPath, [pathOf("servers/sdk-relay.mjs"), ...upstreamCommand]),
      ),
    };
    open.push(...Object.values(stdio));
    const rows = [await compare("SDK relay", stdio, { rounds, ...counts.stdio })];
    for (const line of open.splice(0)) await line.stop();
    const problem = install(folder);
    for (const name of Object.keys(packages)) {
      try {
        if (problem) throw new Error(problem);
        const lines = { hall: await openHall(project) };
        open.push(lines.hall);
        lines[name] = await openPeer(name, folder);
        open.push(lines[name]);
        rows.push(await compare(name, lines, { rounds, ...counts.http }));
      } catch (error) {
        rows.push(row(figureOf(name), undefined, "×", {}, messageOf(error)));
      }
      for (const line of open.splice(0)) await line.stop();
    }
    return rows;
  } finally {
    for (const line of open) await line.stop();
    project.remove();
    rmSync(folder, { recursive: true, force: true });
  }
}

const figureOf = (name) => `calls/s with ${connections} in flight, hall ÷ ${name}`;

async function compare(name, lines, { rounds, warmUp, calls }) {
  const perSecond = Object.fromEntries(Object.keys(lines).map((line) => [line, []]));
  for (const line of Object.values(lines)) await line.call(warmUp);
  await inTurns(rounds, Object.keys(lines), async (line) => {
    perSecond[line].push((calls / (await lines[line].call(calls))) * 1_000);
  });
  const goal = { atLeast: goals[name] };
  return ratioRow(figureOf(name), perSecond.hall, perSecond[name], "calls/s", goal);
}

function openStdio(client) {
  let ready;
  return {
    async call(count) {
      ready ??= client.initialize();
      await ready;
      return client.pipeline(count, connections, echoCall);
    },
    stop: () => client.stop(),
  };
}

/** Why npm cannot install the packages; undefined if they are there. */
function install(folder) {
  const wanted = Object.entries(packages).map(([name, version]) => `${name}@${version}`);
  try {
    execFileSync("npm", ["install", "--prefix", folder, "--no-audit", "--no-fund", ...wanted], {
      stdio: ["ignore", "ignore", stderr],
      timeout: 300_000,
    });
    return undefined;
  } catch (error) {
    return `npm could not install it: ${messageOf(error)}`;
  }
}

async function openHall({ folder, env }) {
  const port = await freePort();
  const [cli] = processes.cli;
  return openHttp([process.execPath, cli, "serve", "--port", `${port}`], port, {
    cwd: folder,
    env,
  });
}

async function openPeer(name, folder) {
  const port = await freePort();
  const bin = join(folder, "node_modules", ".bin", name);
  const config = join(folder, "mcporter.json");
  const [command, ...args] = upstreamCommand;
  const mcpServers = { upstream: { command, args, lifecycle: "keep-alive" } };
  writeFileSync(config, JSON.stringify({ mcpServers, imports: [] }));
  const words = {
    "mcp-proxy": ["--host", "127.0.0.1", "--port", `${port}`, "--", ...upstreamCommand],
    supergateway: [
      "--stdio",
      upstreamCommand.join(" "),
      "--outputTransport",
      "streamableHttp",
      "--stateful",
      "--port",
      `${port}`,
    ],
    mcporter: ["--config", config, "serve", "--http", `${port}`],
  };
  const options = { cwd: folder, env: { ...process.env, HOME: folder } };
  const line = await openHttp([bin, ...words[name]], port, options);
  // mcporter keeps its servers in a process that outlives it.
  const stopDaemon = () =>
    execFileSync(bin, ["--config", config, "daemon", "stop"], { ...options, stdio: "ignore" });
  return name === "mcporter" ? { ...line, stop: () => line.stop().finally(stopDaemon) } : line;
}

/** A process that serves MCP over HTTP, with a session of the older era; answers may be JSON or events. */
async function openHttp([command, ...args], port, options) {
  const child = spawn(command, args, { ...options, stdio: ["ignore", stderr, stderr] });
  let hasEnded = false;
  const ended = once(child, "exit").then(([code]) => {
    hasEnded = true;
    return code;
  });
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const stop = async () => {
    agent.destroy();
    child.kill();
    await ended;
  };
  const post = (message, session) => send({ port, agent, message, session });
  try {
    const session = await shakeHands(post, () => hasEnded);
    const { answer } = await post({ jsonrpc: "2.0", id: 1, method: "tools/list" }, session);
    const name = answer.result.tools.map((tool) => tool.name).find((tool) => /echo$/.test(tool));
    return { call: (count) => flood(count, name, (message) => post(message, session)), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function shakeHands(post, hasEnded) {
  const until = performance.now() + startMsMax;
  const hello = { jsonrpc: "2.0", id: 0, method: "initialize", params: initializeParams };
  for (;;) {
    try {
      const { session } = await post(hello);
      await post({ jsonrpc: "2.0", method: "notifications/initialized" }, session);
      return session;
    } catch (error) {
      if (hasEnded()) throw new Error("it ended before it answered");
      if (performance.now() > until) throw error;
      await sleep(200);
    }
  }
}

/** Resolves with the ms of all calls. */
async function flood(count, name, post) {
  let next = 0;
  const work = async () => {
    while (next < count) {
      const number = next++;
      const { params, accept } = echoCall(number);
      const message = { jsonrpc: "2.0", id: number + 2, method: "tools/call" };
      const { answer } = await post({ ...message, params: { ...params, name } });
      if (answer?.id !== message.id || !answer.result || !accept(answer.result))
        throw new Error(`a wrong answer: ${JSON.stringify(answer)}`);
    }
  };
  const startedAt = performance.now();
  await Promise.all(Array.from({ length: connections }, work));
  return performance.now() - startedAt;
}

function send({ port, agent, message, session }) {
  const body = JSON.stringify(message);
  const headers = {
    "content-type": "application/json",
    "content-length": Buffer.byteLength(body),
    accept: "application/json, text/event-stream",
    "mcp-protocol-version": initializeParams.protocolVersion,
    ...(session === undefined ? {} : { "mcp-session-id": session }),
  };
  return new Promise((resolve, reject) => {
    const options = { host: "127.0.0.1", port, path: "/mcp", method: "POST", agent, headers };
    const sent = request(options, async (response) => {
      try {
        const chunks = [];
        for await (const chunk of response) chunks.push(chunk);
        const text = Buffer.concat(chunks).toString();
        if (response.statusCode >= 300) throw new Error(`${response.statusCode} ${text}`);
        resolve({ session: response.headers["mcp-session-id"] ?? session, answer: read(text) });
      } catch (error) {
        reject(error);
      }
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

/** The message of a JSON body, or of the last event that has one. */
function read(text) {
  if (text === "" || text.startsWith("{")) return text === "" ? undefined : JSON.parse(text);
  const data = text.split(/\r?\n/).filter((line) => /^data: ?\{/.test(line));
  return data.length === 0 ? undefined : JSON.parse(data.at(-1).replace(/^data: ?/, ""));
}

async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  await once(server, "close");
  return port;
}
