import { errorTable, errorType, HallError, messageOf } from "../base/errors.ts";
import { isObject, type JsonObject } from "../base/json.ts";
import { McpConnection } from "../client/connection.ts";
import { readHallError } from "../client/hall-error.ts";
import { isLoopback } from "../server/http/guard.ts";
import { loadOwnToken } from "../server/http/tokens.ts";
import { type Channel, defaultLimits } from "../wire/channel.ts";
import type { Request, RpcError } from "../wire/message.ts";
import type { Exchange } from "../wire/requests.ts";

/** Our end of a connection to a hall, in the registry dialect. */
export interface HallLine {
  /** Throws the error that the hall threw. */
  ask(method: string, params: JsonObject): Promise<JsonObject>;
  close(): Promise<void>;
}

interface HallLineOptions {
  /** Handles the hall's requests. Default: rejects all. */
  serve?(request: Request, exchange: Exchange): unknown;
  lost?(): void;
}

const answerMsMax = 30_000;

export function connectHall(
  channel: Channel,
  { serve = refuse, lost = () => {} }: HallLineOptions = {},
): HallLine {
  const connection = new McpConnection(channel, {
    limits: defaultLimits,
    serve,
    explain: (failure, request) => ({ error: explain(failure, request) }),
    closed: lost,
  });
  return {
    async ask(method, params) {
      try {
        const answer = await connection.requestPlain(method, params, { timeoutMs: answerMsMax });
        return isObject(answer) ? answer : {};
      } catch (error) {
        throw readHallError(error);
      }
    },
    close: () =>
      connection.close(new HallError("UNAVAILABLE", "the service disconnected from the hall")),
  };
}

export function refuse({ method }: Request): never {
  throw new HallError("METHOD_NOT_FOUND", `Method not found: ${method.slice(0, 100)}`);
}

function explain(failure: unknown, request: Request | undefined): RpcError {
  const error =
    failure instanceof HallError ? failure : new HallError("EXECUTION", messageOf(failure));
  const data = {
    ...error.details,
    call_id: request?.params?.call_id,
    error_type: errorType(error.code),
    details: error.message,
  };
  return { code: errorTable[error.code].registry, message: error.message, data };
}

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
