import { mkdtempSync, rmSync } from "node:fs";
import { Agent, request as httpRequest } from "node:http";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { clientInfo, modern } from "../servers/client.ts";
import { modernHeaders } from "../servers/door-clients.ts";
import { type LoadHallAddress, runLoadHall } from "../servers/load-hall.ts";
import { residentMegabytes } from "../servers/process.ts";
import { type ServeProcess, watchProcess } from "../servers/serve-process.ts";

/** What a thousand bad guests cost: the healthy ones in time, and the hall in memory. Each hall is a process of its own. */
const root = fileURLToPath(new URL("../..", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "guildhall-load-"));
const script = join(folder, "hall.mjs");

beforeAll(async () => {
  await build({
    stdin: { contents: `import { ${runLoadHall.name} } from "./test/servers/load-hall.ts"; await ${runLoadHall.name}();`, resolveDir: root },
    outfile: script,
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20.19",
    banner: { js: 'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);' },
    logLevel: "error",
  });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface LoadHall {
  readonly process: ServeProcess;
  readonly port: number;
  readonly sockets: Socket[];
  /** Calls a tool over a connection that is kept. Returns its text. */
  call(name: string, args?: JsonObject): Promise<string>;
  /** Resident memory in MB, when all garbage is gone. */
  restingMegabytes(): Promise<number>;
  [Symbol.asyncDispose](): Promise<void>;
}

async function startHall(): Promise<LoadHall> {
  const hall = watchProcess(["--expose-gc", script]);
  const { port } = JSON.parse(await hall.firstLine) as LoadHallAddress;
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const sockets: Socket[] = [];
  async function call(name: string, args: JsonObject = {}): Promise<string> {
    const message = { jsonrpc: "2.0", id: 1, method: "tools/call", params: modern({ name, arguments: args }) };
    const body = JSON.stringify(message);
    const headers = { ...modernHeaders(message), "content-type": "application/json", "content-length": Buffer.byteLength(body) };
    const answer = await new Promise<string>((resolve, reject) => {
      const sending = httpRequest({ port, host: "127.0.0.1", agent, method: "POST", path: "/mcp", headers }, (response) => {
        let received = "";
        response.setEncoding("utf8").on("data", (part: string) => {
          received += part;
        });
        response.on("end", () => resolve(received)).on("error", reject);
      });
      sending.on("error", reject).end(body);
    });
    const { result } = JSON.parse(answer) as { result: { content: [{ text: string }] } };
    return result.content[0].text;
  }
  return {
    process: hall,
    port,
    sockets,
    call,
    async restingMegabytes() {
      await call("load.collect");
      await wait(50);
      await call("load.collect");
      return residentMegabytes(hall.pid);
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      agent.destroy();
      await hall[Symbol.asyncDispose]();
    },
  };
}

function dial({ port, sockets }: LoadHall): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: "127.0.0.1" }, () => resolve(socket));
    sockets.push(socket);
    socket.once("error", reject);
  });
}

function post(message: JsonObject, headers: Readonly<Record<string, string>> = {}): string {
  const body = JSON.stringify(message);
  const all = { Host: "127.0.0.1", "Content-Type": "application/json", Accept: "application/json, text/event-stream", ...headers, "Content-Length": String(Buffer.byteLength(body)) };
  return `POST /mcp HTTP/1.1\r\n${Object.entries(all)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join("")}\r\n${body}`;
}

const greeting = post({ jsonrpc: "2.0", id: 1, method: "initialize", params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo } });

/** Greets that many times over a few sockets, in breaths of fifty. Returns the ids of the connections. */
async function greetMany(hall: LoadHall, count: number, { socketsMax = 20, keepsIds = true } = {}): Promise<string[]> {
  const breath = 50;
  const ids: string[] = [];
  let left = count;
  async function work(): Promise<void> {
    const socket = await dial(hall);
    let answered = 0;
    let wanted = 0;
    let rest = "";
    let wake: () => void = () => {};
    socket.on("data", (bytes: Buffer) => {
      const parts = `${rest}${bytes.toString("latin1")}`.split("mcp-session-id: ");
      answered += parts.length - 1;
      // What may be half a header name, or an id that is not complete, waits for the next bytes.
      rest = (parts.at(-1) ?? "").slice(-16);
      if (keepsIds) for (const part of parts.slice(1)) ids.push(part.slice(0, 32));
      if (answered >= wanted) wake();
    });
    while (left > 0) {
      const now = Math.min(breath, left);
      left -= now;
      wanted += now;
      const done = new Promise<void>((resolve) => {
        wake = resolve;
      });
      socket.write(greeting.repeat(now));
      await done;
    }
    socket.destroy();
  }
  await Promise.all(Array.from({ length: socketsMax }, work));
  return ids;
}

function percentile99(times: readonly number[]): number {
  return [...times].sort((a, b) => a - b)[Math.floor(times.length * 0.99)] ?? 0;
}

async function measure(hall: LoadHall, count: number): Promise<number> {
  const times: number[] = [];
  for (let n = 0; n < count; n++) {
    const since = performance.now();
    await hall.call("echo.echo", { n });
    times.push(performance.now() - since);
  }
  return percentile99(times);
}

test("a thousand connections that dribble their headers do not slow a healthy one down", async () => {
  await using hall = await startHall();
  await measure(hall, 500);
  const baselineMs = await measure(hall, 500);
  const slow = await Promise.all(Array.from({ length: 1_000 }, () => dial(hall)));
  const letters = `POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ${"x".repeat(1_000)}`;
  for (const socket of slow) socket.on("error", () => {}).write(letters.slice(0, 60));
  let turn = 0;
  const dribble = setInterval(() => {
    for (let n = 0; n < 20; n++) slow[turn++ % slow.length]?.write("x");
  }, 20);
  const loadedMs = await measure(hall, 500);
  clearInterval(dribble);
  expect(slow.filter((socket) => !socket.destroyed)).toHaveLength(1_000);
  report("p99 of a healthy client", { baselineMs, loadedMs });
  expect(loadedMs).toBeLessThanOrEqual(2 * Math.max(baselineMs, 5));
});

test("a thousand connections that are never used again cost less than 20 MB", async () => {
  await using hall = await startHall();
  await greetMany(hall, 500, { keepsIds: false });
  await hall.call("echo.echo");
  const before = await hall.restingMegabytes();
  await greetMany(hall, 1_000, { keepsIds: false });
  const cost = (await hall.restingMegabytes()) - before;
  report("a thousand idle connections", { megabytes: cost, kilobytesEach: cost * 1.024 });
  expect(cost).toBeLessThan(20);
});

test("a hundred thousand handshakes that lead nowhere cost less than 50 MB, and less than 30 s", { timeout: 60_000 }, async () => {
  await using hall = await startHall();
  await hall.call("echo.echo");
  const before = await hall.restingMegabytes();
  let most = 0;
  const watch = setInterval(() => {
    most = Math.max(most, residentMegabytes(hall.process.pid));
  }, 50);
  const since = performance.now();
  await greetMany(hall, 100_000, { socketsMax: 50, keepsIds: false });
  const seconds = (performance.now() - since) / 1_000;
  clearInterval(watch);
  const after = await hall.restingMegabytes();
  report("a hundred thousand handshakes", { seconds, mostMegabytes: most - before, keptMegabytes: after - before });
  expect(seconds).toBeLessThan(30);
  expect(after - before).toBeLessThan(50);
  expect(await hall.call("echo.echo", { still: "here" })).toBe('{"still":"here"}');
});

/** Opens streams that are acknowledged and then never read again: half of them as legacy clients, half as modern ones. */
async function openStalled(hall: LoadHall, count: number, uri: string): Promise<void> {
  const ids = await greetMany(hall, count / 2);
  expect(new Set(ids).size).toBe(count / 2);
  const listen = { jsonrpc: "2.0", id: 1, method: "subscriptions/listen", params: modern({ notifications: { toolsListChanged: true, resourceSubscriptions: [uri] } }) };
  const subscribe = { jsonrpc: "2.0", id: 2, method: "resources/subscribe", params: { uri } };
  async function stall(request: string): Promise<void> {
    const socket = await dial(hall);
    socket.on("error", () => {});
    await new Promise<void>((resolve) => {
      socket.once("data", () => resolve());
      socket.write(request);
    });
    socket.pause();
  }
  for (let n = 0; n < ids.length; n += 50) {
    await Promise.all(
      ids.slice(n, n + 50).flatMap((id) => [
        stall(`${post(subscribe, { "Mcp-Session-Id": id })}GET /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: text/event-stream\r\nMcp-Session-Id: ${id}\r\n\r\n`),
        stall(post(listen, modernHeaders(listen))),
      ]),
    );
  }
  await wait(100);
}

test("a thousand streams that nobody reads cost less than 64 MB, while everything changes all the time", { timeout: 60_000 }, async () => {
  await using hall = await startHall();
  const uri = "page://a/resource/with/a/name/of/usual/length.txt";
  await greetMany(hall, 500, { keepsIds: false });
  const before = await hall.restingMegabytes();
  await openStalled(hall, 1_000, uri);
  const opened = await hall.restingMegabytes();
  let most = 0;
  for (let n = 0; n < 12; n++) {
    await hall.call("load.change");
    await hall.call("load.touch", { times: 50, uri });
    most = Math.max(most, residentMegabytes(hall.process.pid));
  }
  const after = await hall.restingMegabytes();
  report("a thousand stalled readers", { openedMegabytes: opened - before, mostMegabytes: most - before, megabytes: after - before });
  expect(after - before).toBeLessThan(64);
  expect(await hall.call("echo.echo", { still: "here" })).toBe('{"still":"here"}');
});

test("streams that nobody reads hold a bounded part of what they were sent, however much that is", { timeout: 60_000 }, async () => {
  await using hall = await startHall();
  const uri = `page://${"x".repeat(8_000)}`;
  await greetMany(hall, 500, { keepsIds: false });
  const before = await hall.restingMegabytes();
  await openStalled(hall, 40, uri);
  // Ten megabytes for each: more than any socket takes.
  for (let n = 0; n < 13; n++) await hall.call("load.touch", { times: 100, uri });
  const cost = (await hall.restingMegabytes()) - before;
  report("forty stalled readers of ten megabytes each", { megabytes: cost, megabytesEach: cost / 40 });
  expect(cost).toBeLessThan(32);
});

/** Figures for who wants to see them; the assertions are what counts. */
function report(what: string, figures: Readonly<Record<string, number>>): void {
  if (process.env.GUILDHALL_FIGURES) console.log(what, Object.fromEntries(Object.entries(figures).map(([name, value]) => [name, Math.round(value * 100) / 100])));
}
