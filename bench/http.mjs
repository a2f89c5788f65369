import { setTimeout as sleep } from "node:timers/promises";
import { percentile, ratioRow, row, short } from "./figures.mjs";
import { openHttp, post } from "./http-client.mjs";
import { initializeParams } from "./line-client.mjs";
import { startListener } from "./listeners.mjs";
import { inTurns } from "./processes.mjs";
import { openSocket } from "./socket-client.mjs";

/** The listener beside a hand-written `node:http` handler and a hand-written `ws` server that answer the same bytes. */
export default { name: "http", run };

const connections = 20;
const depth = 64;
const warmUp = { single: 1_000, flooded: 20_000, relayed: 5_000, again: 500 };
const single = { blocks: 15, calls: 150 };
const flooded = { blocks: 12, calls: 1_500 };
const idleConnections = 1_000;

async function run({ rounds = 5 } = {}) {
  const figures = Object.fromEntries(
    ["hall", "bare"].map((name) => [
      name,
      { modern: newFigures(), legacy: newFigures(), socket: newFigures() },
    ]),
  );
  for (let round = 0; round < rounds; round++) await runRound(figures);
  const { hall, bare } = figures;
  return [
    ratioRow("modern POST p50, hall ÷ bare", hall.modern.p50, bare.modern.p50, "µs", {
      atMost: 1.5,
    }),
    ratioRow(
      `modern POST requests/s on ${connections} connections, hall ÷ bare`,
      hall.modern.perSecond,
      bare.modern.perSecond,
      "requests/s",
      { atLeast: 0.6 },
    ),
    ratioRow("legacy POST p50, hall ÷ bare", hall.legacy.p50, bare.legacy.p50, "µs", {
      atMost: 1.5,
    }),
    ratioRow(
      `legacy POST requests/s on ${connections} connections, hall ÷ bare`,
      hall.legacy.perSecond,
      bare.legacy.perSecond,
      "requests/s",
      { atLeast: 0.6 },
    ),
    ratioRow(
      `WebSocket calls/s with ${depth} in flight, hall ÷ bare`,
      hall.socket.perSecond,
      bare.socket.perSecond,
      "calls/s",
      { atLeast: 0.6 },
    ),
    ...(await measureIdle()),
  ];
}

const newFigures = () => ({ p50: [], perSecond: [] });

async function runRound(figures) {
  const names = Object.keys(figures);
  const clients = {};
  for (const name of names) {
    clients[name] = await openClient(name);
    // At once: a connection that says nothing for ten seconds is closed.
    for (const era of ["modern", "legacy"]) await warm(clients[name], era);
  }
  await compareAnswers(clients);
  const rates = Object.fromEntries(names.map((name) => [name, []]));

  for (const era of ["modern", "legacy"]) {
    const open = Object.fromEntries(
      names.map((name) => [
        name,
        { http: clients[name].http, calls: (count) => clients[name].calls(era, count) },
      ]),
    );
    const figuresOfEra = Object.fromEntries(names.map((name) => [name, figures[name][era]]));
    await measureHttp(open, figuresOfEra);
  }

  for (const name of names) rates[name] = [];
  for (const client of Object.values(clients))
    await client.socket.pipeline(client.messages(warmUp.flooded), depth);
  await inTurns(flooded.blocks, names, async (name) => {
    rates[name].push(
      perSecond(
        flooded.calls,
        await clients[name].socket.pipeline(clients[name].messages(flooded.calls), depth),
      ),
    );
  });
  for (const name of names) {
    figures[name].socket.perSecond.push(percentile(rates[name], 0.5));
    await clients[name].stop();
  }
}

/** Single calls, then many at once, each line in turns with the others. */
export async function measureHttp(lines, figures) {
  const names = Object.keys(lines);
  const times = Object.fromEntries(names.map((name) => [name, []]));
  const rates = Object.fromEntries(names.map((name) => [name, []]));
  for (const { http, calls } of Object.values(lines)) await http.flood(calls(warmUp.again));
  await inTurns(single.blocks, names, async (name) => {
    times[name].push(...(await lines[name].http.sequence(lines[name].calls(single.calls))));
  });
  await inTurns(flooded.blocks, names, async (name) => {
    rates[name].push(
      perSecond(flooded.calls, await lines[name].http.flood(lines[name].calls(flooded.calls))),
    );
  });
  for (const name of names) {
    figures[name].p50.push(percentile(times[name], 0.5) * 1_000);
    figures[name].perSecond.push(percentile(rates[name], 0.5));
  }
}

/** Makes calls of one era on an open line, after the handshake if the era has one. */
export async function openCalls(http, era) {
  const session = era === "legacy" ? await initialize(http) : undefined;
  let nextId = 0;
  const calls = (count) =>
    Array.from({ length: count }, () =>
      session === undefined ? modernCall(++nextId) : legacyCall(++nextId, session),
    );
  await http.flood(calls(warmUp.relayed));
  return calls;
}

export const perSecond = (count, ms) => (count / ms) * 1_000;

async function warm({ http, calls }, era) {
  await http.flood(calls(era, warmUp.flooded));
  await http.sequence(calls(era, warmUp.single));
}

const listenerOf = (name, options) =>
  name === "hall" ? ["http-hall", { ...options, isBundled: true }] : ["bare-http", options];

/** A server with everything a client needs open: keep-alive connections, a legacy handshake, a WebSocket. */
export async function openClient(name, options) {
  const server = await startListener(...listenerOf(name, options));
  const http = await openHttp(server.port, connections);
  const session = await initialize(http);
  const socket = await openSocket(server.port);
  await socket.pipeline(
    [
      {
        message: { jsonrpc: "2.0", id: 0, method: "initialize", params: initializeParams },
        accept: () => true,
      },
    ],
    1,
  );
  socket.notify({ jsonrpc: "2.0", method: "notifications/initialized" });
  let nextId = 0;
  const make = { modern: modernCall, legacy: (id) => legacyCall(id, session) };
  return {
    http,
    socket,
    calls: (era, count) => Array.from({ length: count }, () => make[era](++nextId)),
    messages: (count) => Array.from({ length: count }, () => echoMessage(++nextId)),
    async stop() {
      http.close();
      socket.close();
      await server.stop();
    },
  };
}

/** Resolves with the id of a new legacy connection. */
async function initialize(http) {
  const message = { jsonrpc: "2.0", id: 0, method: "initialize", params: initializeParams };
  const { headers } = await http.ask(
    post(
      message,
      {},
      ({ protocolVersion }) => protocolVersion === initializeParams.protocolVersion,
    ),
  );
  const session = headers["mcp-session-id"];
  const { status } = await http.ask(
    post({ jsonrpc: "2.0", method: "notifications/initialized" }, sessionHeaders(session)),
  );
  if (!session || status !== 202)
    throw new Error(`no handshake: session ${session}, status ${status}`);
  return session;
}

const sessionHeaders = (session) => ({
  "Mcp-Session-Id": session,
  "MCP-Protocol-Version": initializeParams.protocolVersion,
});
const modernHeaders = {
  "MCP-Protocol-Version": "2026-07-28",
  "Mcp-Method": "tools/call",
  "Mcp-Name": "echo",
};
const envelope = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": initializeParams.clientInfo,
  "io.modelcontextprotocol/clientCapabilities": {},
};

/** A call of the echo tool whose body has 1,024 bytes, and how to know its answer. */
function echoMessage(id, meta) {
  const message = (text) => ({
    jsonrpc: "2.0",
    id,
    method: "tools/call",
    params: { name: "echo", arguments: { message: text }, ...meta },
  });
  const start = `call ${id}: `;
  const text = `${start}${"x".repeat(1_024 - JSON.stringify(message(start)).length)}`;
  return {
    message: message(text),
    accept: ({ content, isError }) => !isError && content.length === 1 && content[0].text === text,
  };
}

function modernCall(id) {
  const { message, accept } = echoMessage(id, { _meta: envelope });
  return post(
    message,
    modernHeaders,
    (result) => result.resultType === "complete" && accept(result),
  );
}

function legacyCall(id, session) {
  const { message, accept } = echoMessage(id);
  return post(message, sessionHeaders(session), accept);
}

/** Both must do the same work: the same bytes in give the same bytes out. */
async function compareAnswers(clients) {
  for (const era of ["modern", "legacy"]) {
    const bodies = await Promise.all(
      Object.values(clients).map(
        async ({ http, calls }) => (await http.ask(calls(era, 1)[0])).body,
      ),
    );
    if (new Set(bodies).size !== 1)
      throw new Error(`the servers answer differently:\n${bodies.join("\n")}`);
  }
}

/** The cost of idle sessions after a handshake of 2025, with no socket open. */
async function measureIdle() {
  const what = `memory of ${short(idleConnections)} idle legacy connections`;
  const show = ({ before, after }) => `${short(before)} to ${short(after)} MB`;
  const collected = await openIdle({ isWarm: true, collect: true });
  const warm = await openIdle({ isWarm: true });
  const cold = await openIdle({ isWarm: false });
  return [
    row(
      `${what}, collected before and after`,
      collected.after - collected.before,
      "MB",
      { below: 20 },
      show(collected),
    ),
    row(`${what}, garbage included`, warm.after - warm.before, "MB", { below: 20 }, show(warm)),
    row(
      `${what}, as the first thing a hall does`,
      cold.after - cold.before,
      "MB",
      {},
      `${show(cold)}; also what serving the first requests costs`,
    ),
  ];
}

/** A warm hall has served as many connections before, which were ended. Gives MB before and after. */
async function openIdle({ isWarm, collect }) {
  const server = await startListener(...listenerOf("hall"));
  const http = await openHttp(server.port, 1);
  for (let i = 0; i < (isWarm ? idleConnections : 10); i++) await end(http, await initialize(http));
  await sleep(timersMs);
  const before = await server.memory({ collect });
  for (let i = 0; i < idleConnections; i++) await initialize(http);
  http.close();
  await sleep(timersMs);
  const after = await server.memory({ collect });
  await server.stop();
  return { before, after };
}

/** Until timers that only a request needs are gone. */
const timersMs = 2_500;

async function end(http, session) {
  const { status } = await http.ask({
    bytes: Buffer.from(
      `DELETE /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nMcp-Session-Id: ${session}\r\n\r\n`,
    ),
  });
  if (status !== 204) throw new Error(`the connection was not ended: ${status}`);
}
