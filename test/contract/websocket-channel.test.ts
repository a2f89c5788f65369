import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { WebSocket, WebSocketServer } from "ws";
import { createWebSocketChannel } from "../../src/wire/websocket.ts";
import { channelContract, type Line } from "./channel.ts";

channelContract("WebSocket", openWebSocket);

test("a peer that is not read from for a while is not taken for dead", async () => {
  const server = new WebSocketServer({ host: "127.0.0.1", port: 0 });
  await once(server, "listening");
  const accepted = once(server, "connection") as Promise<[WebSocket]>;
  const near = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`);
  let pings = 0;
  near.on("ping", () => pings++);
  const cut = once(near, "close");
  const [[far]] = await Promise.all([accepted, once(near, "open")]);
  const channel = createWebSocketChannel(far, { pingMs: 20 });
  const frames: string[] = [];
  channel.start({
    frame: (bytes) => frames.push(bytes.toString()),
    oversize() {},
    drained() {},
    ended() {},
    closed() {},
  });
  channel.pause();
  near.send('"held"');
  while (pings < 5 && near.readyState === near.OPEN) await Promise.race([once(near, "ping"), cut]);
  channel.resume();
  while (frames.length === 0 && near.readyState === near.OPEN)
    await Promise.race([once(near, "ping"), cut]);
  expect(frames).toEqual(['"held"']);
  near.terminate();
  server.close();
});

test("a line that closed before its side starts is reported as ended and closed", async () => {
  const server = new WebSocketServer({ host: "127.0.0.1", port: 0 });
  await once(server, "listening");
  const accepted = once(server, "connection") as Promise<[WebSocket]>;
  const near = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const [[far]] = await Promise.all([accepted, once(near, "open")]);
  const channel = createWebSocketChannel(far);
  near.close();
  await once(far, "close");
  const events: string[] = [];
  channel.start({
    frame() {},
    oversize() {},
    drained() {},
    ended: () => events.push("ended"),
    closed: () => events.push("closed"),
  });
  expect(events).toEqual(["ended", "closed"]);
  server.close();
});

async function openWebSocket(): Promise<Line> {
  const http = createServer();
  const server = new WebSocketServer({ server: http, perMessageDeflate: false });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  const accepted = new Promise<WebSocket>((resolve) => server.once("connection", resolve));
  const nearSocket = new WebSocket(`ws://127.0.0.1:${(http.address() as AddressInfo).port}`, {
    perMessageDeflate: false,
  });
  const near = createWebSocketChannel(nearSocket);
  const [farSocket] = await Promise.all([
    accepted,
    new Promise((resolve) => nearSocket.once("open", resolve)),
  ]);
  const far = createWebSocketChannel(farSocket);
  return {
    near,
    far,
    async close() {
      nearSocket.terminate();
      farSocket.terminate();
      server.close();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}
