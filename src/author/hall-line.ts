import { errorTable, errorType, HallError, messageOf } from "../base/errors.ts";
import { isObject, type JsonObject } from "../base/json.ts";
import { McpConnection } from "../client/connection.ts";
import { readHallError } from "../client/hall-error.ts";
import type { Channel } from "../wire/channel.ts";
import { defaultLimits } from "../wire/channel.ts";
import type { Request, RpcError } from "../wire/message.ts";
import type { Exchange } from "../wire/requests.ts";

/** Our end of a connection to a hall, in the registry dialect. */
export interface HallLine {
  /** Throws the error that the hall threw. */
  ask(method: string, params: JsonObject): Promise<JsonObject>;
  close(): Promise<void>;
}

export interface HallLineOptions {
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
