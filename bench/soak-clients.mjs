import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { WebSocket } from "ws";
import { processes } from "./processes.mjs";

/**
 * Clients of four kinds. Each has `send`, `close` and calls `heard` for every message; `lost` when
 * its hall is gone.
 */
export const kinds = ["stdio", "legacy HTTP", "modern HTTP", "WebSocket"];

export function connect(kind, hall, events) {
  if (kind === "stdio") return connectStdio(hall, events);
  if (kind === "WebSocket") return connectSocket(hall, events);
  return connectHttp(hall, events, kind === "modern HTTP");
}

export const hello = {
  protocolVersion: "2025-06-18",
  capabilities: {},
  clientInfo: { name: "soak", version: "1" },
};
const modernVersion = "2026-07-28";
const metaPrefix = "io.modelcontextprotocol/";

async function connectStdio({ folder, env }, { heard, lost }) {
  const [cli, ...args] = processes.cli;
  const child = spawn(process.execPath, [cli, ...args], {
    cwd: folder,
    env,
    stdio: ["pipe", "pipe", "ignore"],
  });
  child.stdin.on("error", () => {});
  child.on("exit", lost);
  createInterface({ input: child.stdout }).on("line", (line) => heard(JSON.parse(line)));
  return {
    pid: child.pid,
    send: (message) => child.stdin.write(`${JSON.stringify(message)}\n`),
    close: () => child.stdin.end(),
  };
}

async function connectSocket({ port }, { heard, lost }) {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/ws`, ["mcp"]);
  socket.on("error", () => {});
  socket.on("close", lost);
  socket.on("message", (data) => heard(JSON.parse(data.toString())));
  await new Promise((resolve, reject) => {
    socket.once("open", resolve);
    socket.once("close", () => reject(new Error("no WebSocket")));
  });
  return {
    send: (message) => socket.send(JSON.stringify(message), () => {}),
    close: () => socket.close(),
  };
}

/** A POST for each message. A modern client cancels by ending the request. */
async function connectHttp({ port }, { heard, lost }, isModern) {
  const url = `http://127.0.0.1:${port}/mcp`;
  const open = new Map();
  let session;

  async function post(message) {
    const controller = new AbortController();
    if (message.id !== undefined) open.set(message.id, controller);
    try {
      const response = await fetch(url, {
        method: "POST",
        signal: controller.signal,
        headers: headersOf(message, isModern, session),
        body: JSON.stringify(isModern ? withMeta(message) : message),
      });
      session ??= response.headers.get("mcp-session-id") ?? undefined;
      const isStream = response.headers.get("content-type")?.startsWith("text/event-stream");
      const text = await response.text();
      for (const json of isStream ? eventsOf(text) : [text]) if (json) heard(JSON.parse(json));
    } catch (error) {
      if (error.name !== "AbortError") lost();
    } finally {
      open.delete(message.id);
    }
  }
  return {
    async send(message) {
      const { method, params } = message;
      if (isModern && method === "initialize") return heard({ id: message.id, result: {} });
      if (isModern && method === "notifications/initialized") return;
      if (isModern && method === "notifications/cancelled")
        return open.get(params.requestId)?.abort();
      await post(message);
    },
    close() {
      for (const controller of open.values()) controller.abort();
    },
  };
}

function headersOf({ method, params }, isModern, session) {
  return {
    accept: "application/json, text/event-stream",
    "content-type": "application/json",
    ...(session === undefined ? {} : { "mcp-session-id": session }),
    ...(isModern ? { "mcp-protocol-version": modernVersion, "mcp-method": method } : {}),
    ...(isModern && params?.name !== undefined ? { "mcp-name": params.name } : {}),
  };
}

function withMeta(message) {
  const meta = {
    [`${metaPrefix}protocolVersion`]: modernVersion,
    [`${metaPrefix}clientInfo`]: hello.clientInfo,
    [`${metaPrefix}clientCapabilities`]: {},
  };
  return { ...message, params: { ...message.params, _meta: meta } };
}

function eventsOf(text) {
  return text
    .split("\n\n")
    .map((event) => /^data: (.*)$/m.exec(event)?.[1])
    .filter((data) => data !== undefined && data !== "");
}
