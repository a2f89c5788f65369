import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { messageOf, ratioRow, row } from "./figures.mjs";
import { messageIn, openHttp, post } from "./http-client.mjs";
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
/** The others take a tenth of the calls in the same time. */
const counts = {
  hall: { warmUp: 20_000, calls: 5_000 },
  others: { warmUp: 3_000, calls: 700 },
};
const startMsMax = 60_000;
const packages = { "mcp-proxy": "6.7.19", supergateway: "4.0.0", mcporter: "0.12.3" };
const goals = { "SDK relay": 4, "mcp-proxy": 3, supergateway: 3, mcporter: 40 };

async function run({ rounds = 9 } = {}) {
  const folder = mkdtempSync(join(tmpdir(), "guildhall-peers-"));
  const [command, ...args] = upstreamCommand;
  // The others have no rate limits, and a hall's own would be what is measured.
  const limits = { client: { perSecond: 0 } };
  const project = createProject({ upstream: { command, args } }, { limits });
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
    const rows = [await compare("SDK relay", stdio, rounds)];
    for (const line of open.splice(0)) await line.stop();
    const problem = install(folder);
    for (const name of Object.keys(packages)) {
      try {
        if (problem) throw new Error(problem);
        const lines = { hall: await openHall(project) };
        open.push(lines.hall);
        lines[name] = await openPeer(name, folder);
        open.push(lines[name]);
        rows.push(await compare(name, lines, rounds));
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

async function compare(name, lines, rounds) {
  const perSecond = Object.fromEntries(Object.keys(lines).map((line) => [line, []]));
  const countsOf = (line) => (line === "hall" ? counts.hall : counts.others);
  for (const [line, { call }] of Object.entries(lines)) await call(countsOf(line).warmUp);
  await inTurns(rounds, Object.keys(lines), async (line) => {
    const { calls } = countsOf(line);
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
  return openServer([process.execPath, cli, "serve", "--port", `${port}`], port, {
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
  const line = await openServer([bin, ...words[name]], port, options);
  // mcporter keeps its servers in a process that outlives it.
  const stopDaemon = () =>
    execFileSync(bin, ["--config", config, "daemon", "stop"], { ...options, stdio: "ignore" });
  return name === "mcporter" ? { ...line, stop: () => line.stop().finally(stopDaemon) } : line;
}

/** A process that serves MCP over HTTP, with a session of the older era; answers may be JSON or events. */
async function openServer([command, ...args], port, options) {
  const child = spawn(command, args, { ...options, stdio: ["ignore", stderr, stderr] });
  let hasEnded = false;
  const ended = once(child, "exit").then(([code]) => {
    hasEnded = true;
    return code;
  });
  let http;
  const stop = async () => {
    http?.close();
    child.kill();
    await ended;
  };
  try {
    http = await connectUntil(port, () => hasEnded);
    const hello = await http.ask(
      post({ jsonrpc: "2.0", id: 0, method: "initialize", params: initializeParams }, headers()),
    );
    const session = headers(hello.headers["mcp-session-id"]);
    await http.ask(post({ jsonrpc: "2.0", method: "notifications/initialized" }, session));
    const listed = await http.ask(post({ jsonrpc: "2.0", id: 1, method: "tools/list" }, session));
    const names = messageIn(listed).result.tools.map((tool) => tool.name);
    const name = names.find((listedName) => /echo$/.test(listedName));
    return {
      call: (count) =>
        http.flood(Array.from({ length: count }, (_, n) => callOf(n, name, session))),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function connectUntil(port, hasEnded) {
  const until = performance.now() + startMsMax;
  for (;;) {
    try {
      return await openHttp(port, connections);
    } catch (error) {
      if (hasEnded()) throw new Error("it ended before it answered");
      if (performance.now() > until) throw error;
      await sleep(200);
    }
  }
}

const headers = (session) => ({
  "MCP-Protocol-Version": initializeParams.protocolVersion,
  ...(session === undefined ? {} : { "Mcp-Session-Id": session }),
});

function callOf(number, name, session) {
  const { params, accept } = echoCall(number);
  const message = { jsonrpc: "2.0", id: number + 2, method: "tools/call" };
  return post({ ...message, params: { ...params, name } }, session, accept);
}

async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  await once(server, "close");
  return port;
}
