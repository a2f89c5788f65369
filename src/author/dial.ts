import { HallError } from "../base/errors.ts";
import { isLoopback } from "../server/http/guard.ts";
import { loadOwnToken } from "../server/http/tokens.ts";
import type { Channel } from "../wire/channel.ts";
import { defaultLimits } from "../wire/channel.ts";

const pingMs = 5_000;

/**
 * A WebSocket connection to a hall; `http://127.0.0.1:8080`, `…/mcp` and `ws://127.0.0.1:8080/ws` are the
 * same hall. Default token: GUILDHALL_TOKEN, or the user's own on this machine. Throws UNAVAILABLE.
 */
export async function dialHall(url: string, token?: string): Promise<Channel> {
  const address = socketAddress(url);
  const known =
    token ?? process.env.GUILDHALL_TOKEN ?? (isHere(address) ? await loadOwnToken() : undefined);
  const [{ WebSocket }, { createWebSocketChannel }] = await Promise.all([
    import("ws"),
    import("../wire/websocket.ts"),
  ]);
  const socket = new WebSocket(address, {
    headers: known === undefined ? {} : { authorization: `Bearer ${known}` },
    handshakeTimeout: 5_000,
    maxPayload: defaultLimits.messageBytesMax,
    perMessageDeflate: false,
  });
  await new Promise<void>((resolve, reject) => {
    socket.once("open", resolve);
    socket.once("error", (cause) =>
      reject(
        new HallError(
          "UNAVAILABLE",
          `cannot connect to a hall at ${address.host}: ${cause.message}`,
          {
            cause,
            hint: "Check the token.",
            next: [{ do: "run-command", command: "serve" }],
          },
        ),
      ),
    );
  });
  return createWebSocketChannel(socket, { pingMs });
}

function socketAddress(url: string): URL {
  if (!URL.canParse(url))
    throw new HallError(
      "INVALID_PARAMS",
      `invalid hall URL "${url}" (expected a URL such as http://127.0.0.1:8080)`,
    );
  const address = new URL(url);
  const isEncrypted = address.protocol === "https:" || address.protocol === "wss:";
  if (!isEncrypted && !isHere(address)) {
    throw new HallError(
      "DENIED",
      `refusing to send the token to ${address.host} without encryption; use https`,
    );
  }
  // URL does not allow changing the scheme from http to ws.
  return new URL(`${isEncrypted ? "wss" : "ws"}://${address.host}/ws`);
}

function isHere({ hostname }: URL): boolean {
  return isLoopback(hostname.replace(/^\[|\]$/g, ""));
}
