import { mkdtempSync, rmSync } from "node:fs";
import { Agent, request as httpRequest } from "node:http";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import type { JsonObject } from "../../src/base/json.ts";
import { clientInfo, modern } from "./client.ts";
import { modernHeaders } from "./door-clients.ts";
import { type LoadHallAddress, runLoadHall } from "./load-hall.ts";
import { type ServeProcess, watchProcess } from "./serve-process.ts";

/** A hall in a process of its own, to be filled with guests. */
export interface LoadHall {
  readonly process: ServeProcess;
  readonly port: number;
  readonly sockets: Socket[];
  /** Calls a tool over a connection that is kept. Returns its text. */
  call(name: string, args?: JsonObject): Promise<string>;
  /** Memory in use in MB, when all garbage is gone. */
  restingMegabytes(): Promise<number>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** The script such a process runs. The caller removes it. */
export async function buildLoadHall(): Promise<{ readonly script: string; remove(): void }> {
  const folder = mkdtempSync(join(tmpdir(), "guildhall-load-"));
  const script = join(folder, "hall.mjs");
  await build({
    stdin: {
      contents: `import { ${runLoadHall.name} } from "./load-hall.ts"; await ${runLoadHall.name}();`,
      resolveDir: fileURLToPath(new URL(".", import.meta.url)),
    },
    outfile: script,
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20.19",
    banner: {
      js: 'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);',
    },
    logLevel: "error",
  });
  return { script, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

export async function startLoadHall(script: string): Promise<LoadHall> {
  // Newer Nodes give new objects more room before they clean up, and keep it: all are measured with what Node 20 has.
  const hall = watchProcess(["--expose-gc", "--max-semi-space-size=16", script]);
  const { port } = JSON.parse(await hall.firstLine) as LoadHallAddress;
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const sockets: Socket[] = [];
  async function call(name: string, args: JsonObject = {}): Promise<string> {
    const message = {
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: modern({ name, arguments: args }),
    };
    const body = JSON.stringify(message);
    const headers = {
      ...modernHeaders(message),
      "content-type": "application/json",
      "content-length": Buffer.byteLength(body),
    };
    const answer = await new Promise<string>((resolve, reject) => {
      const sending = httpRequest(
        { port, host: "127.0.0.1", agent, method: "POST", path: "/mcp", headers },
        (response) => {
          let received = "";
          response.setEncoding("utf8").on("data", (part: string) => {
            received += part;
          });
          response.on("end", () => resolve(received)).on("error", reject);
        },
      );
      sending.on("error", reject).end(body);
    });
    // An answer that takes long comes as the last event of a stream.
    const text = answer.slice(answer.lastIndexOf("\ndata: ") + 1).replace(/^data: /, "");
    const { result } = JSON.parse(text) as { result: { content: [{ text: string }] } };
    return result.content[0].text;
  }
  return {
    process: hall,
    port,
    sockets,
    call,
    async restingMegabytes() {
      await call("load.collect");
      const { heapUsed, external } = JSON.parse(await call("load.collect")) as NodeJS.MemoryUsage;
      return (heapUsed + external) / 1024 ** 2;
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      agent.destroy();
      await hall[Symbol.asyncDispose]();
    },
  };
}

export function dial({ port, sockets }: LoadHall): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: "127.0.0.1" }, () => resolve(socket));
    sockets.push(socket);
    socket.once("error", reject);
  });
}

/** A POST as it goes over the line. */
export function writePost(
  message: JsonObject,
  headers: Readonly<Record<string, string>> = {},
): string {
  const body = JSON.stringify(message);
  const usual = {
    Host: "127.0.0.1",
    "Content-Type": "application/json",
    Accept: "application/json, text/event-stream",
  };
  const lines = Object.entries({
    ...usual,
    ...headers,
    "Content-Length": String(Buffer.byteLength(body)),
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `POST /mcp HTTP/1.1\r\n${lines.join("")}\r\n${body}`;
}

const handshake = writePost({
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo },
});
const socketsAtOnce = 20;
const breath = 50;

/** Greets that many times over a few sockets, in breaths of fifty. Returns the ids of the connections. */
export async function greetMany(hall: LoadHall, count: number): Promise<string[]> {
  const ids: string[] = [];
  let left = count;
  async function work(): Promise<void> {
    const socket = await dial(hall);
    let wake: () => void = () => {};
    let missing = 0;
    let rest = "";
    socket.on("data", (bytes: Buffer) => {
      rest += bytes.toString("latin1");
      const found = [...rest.matchAll(/mcp-session-id: ([\w-]+)\r\n/g)];
      const last = found.at(-1);
      if (!last) return;
      ids.push(...found.map(([, id = ""]) => id));
      rest = rest.slice(last.index + last[0].length);
      missing -= found.length;
      if (missing === 0) wake();
    });
    while (left > 0) {
      missing = Math.min(breath, left);
      left -= missing;
      const done = new Promise<void>((resolve) => {
        wake = resolve;
      });
      socket.write(handshake.repeat(missing));
      await done;
    }
    socket.destroy();
  }
  await Promise.all(Array.from({ length: socketsAtOnce }, work));
  return ids;
}

/** Figures for who wants to see them; the assertions are what counts. */
export function report(what: string, figures: Readonly<Record<string, number>>): void {
  if (!process.env.GUILDHALL_FIGURES) return;
  process.stderr.write(
    `${what}: ${Object.entries(figures)
      .map(([name, value]) => `${name} ${Math.round(value * 100) / 100}`)
      .join(", ")}\n`,
  );
}
