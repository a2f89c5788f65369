import { type ErrorCode, errorTable, errorType, HallError, messageOf } from "../base/errors.ts";
import { isObject, type JsonObject } from "../base/json.ts";
import type { Channel } from "../wire/channel.ts";
import type { Exchange } from "../wire/exchange.ts";
import { defaultLimits } from "../wire/limits.ts";
import { isId, type Request, type RpcError } from "../wire/message.ts";
import { Peer } from "../wire/peer.ts";

/** Our end of a line to a hall, in the registry dialect. */
export interface HallLine {
  /** Throws the hall's refusal as it was thrown there. */
  ask(method: string, params: JsonObject): Promise<JsonObject>;
  close(): Promise<void>;
}

export interface HallLineOptions {
  /** What the hall asks of us. Default: nothing is served. */
  serve?(request: Request, exchange: Exchange): unknown;
  lost?(): void;
}

const answerMsMax = 30_000;

export function connectHall(
  channel: Channel,
  { serve = refuse, lost = () => {} }: HallLineOptions = {},
): HallLine {
  const peer = new Peer(channel, {
    limits: defaultLimits,
    handle: serve,
    notified: ({ method, params }) => {
      if (method === "notifications/cancelled" && isId(params?.requestId)) {
        peer.cancel(params.requestId, new HallError("CANCELLED", "the hall withdrew the call"));
      }
    },
    explain: (failure, request) => ({ error: explain(failure, request) }),
    ended: () => void channel.close(),
    closed: lost,
  });
  return {
    async ask(method, params) {
      try {
        const answer = await peer.request(method, params, { timeoutMs: answerMsMax });
        return isObject(answer) ? answer : {};
      } catch (error) {
        throw error instanceof HallError && error.relayed ? readRefusal(error) : error;
      }
    },
    close: () => peer.close(new HallError("UNAVAILABLE", "the service is leaving the hall")),
  };
}

function refuse({ method }: Request): never {
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

function readRefusal({ relayed, message }: HallError): HallError {
  const data = isObject(relayed?.data) ? relayed.data : {};
  const code = String(data.error_type).toUpperCase();
  return new HallError(
    Object.hasOwn(errorTable, code) ? (code as ErrorCode) : "EXECUTION",
    typeof data.details === "string" ? data.details : message,
    {
      details: Array.isArray(data.errors) ? { errors: data.errors } : {},
      ...(typeof data.suggestion === "string" ? { hint: data.suggestion } : {}),
    },
  );
}
