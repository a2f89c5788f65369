import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { WebSocket, WebSocketServer } from "ws";
import { createWebSocketChannel } from "../../src/wire/websocket.ts";
import { channelContract, type Line } from "./channel.ts";

channelContract("WebSocket", openWebSocket);

async function openWebSocket(): Promise<Line> {
  const http = createServer();
  const server = new WebSocketServer({ server: http, perMessageDeflate: false });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  const accepted = new Promise<WebSocket>((resolve) => server.once("connection", resolve));
  const nearSocket = new WebSocket(`ws://127.0.0.1:${(http.address() as AddressInfo).port}`, { perMessageDeflate: false });
  const near = createWebSocketChannel(nearSocket);
  const [farSocket] = await Promise.all([accepted, new Promise((resolve) => nearSocket.once("open", resolve))]);
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
