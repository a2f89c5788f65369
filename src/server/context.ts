import { HallError } from "../base/errors.ts";
import { isObject, type JsonObject } from "../base/json.ts";
import type { Scope } from "../base/scope.ts";
import {
  type CallContext,
  type Caller,
  elapsedKey,
  type LogLevel,
  logLevels,
  type Progress,
} from "../tool.ts";
import type { Ask } from "./asking.ts";
import type { ClientRequest } from "./client-request.ts";

/** The request a piece of work is answering right now: a modern one that asked goes on under the next request. */
export interface Current {
  readonly params: JsonObject;
  readonly request: ClientRequest;
}

/** What a toolkit gets to work with: the client's side of a call, whatever its era. */
export function createContext(
  current: () => Current,
  { ask, scope }: { readonly ask: Ask; readonly scope: Scope },
): CallContext {
  const { params, request } = current();
  const log: CallContext["log"] = (level, data, logger) =>
    sendLog(current().request, level, data, logger);
  const { progress, flush } = createProgress(current);
  const askNow: Ask = (...asked) => {
    // A modern question is the request's answer: what waits would come too late.
    flush();
    return ask(...asked);
  };
  const { logLevel, capabilities } = request;
  return {
    scope,
    ask: askNow,
    progress,
    log,
    logLevel,
    capabilities,
    meta: foreignMeta(params._meta),
    caller: callerOf(request),
  };
}

export function callerOf({ connection, client, principal, quota, era }: ClientRequest): Caller {
  return { connection, client, principal, quota, isLasting: era === "legacy" };
}

/** Everything in `_meta` that is not about this one line between the client and us. */
function foreignMeta(meta: unknown): JsonObject | undefined {
  if (!isObject(meta)) return undefined;
  const entries = Object.entries(meta).filter(
    ([key]) => key !== "progressToken" && !key.startsWith("io.modelcontextprotocol/"),
  );
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

/** Checks the token a client wants progress under, and holds it for as long as the request runs. */
export function claimProgressToken(
  params: JsonObject,
  { progressTokens }: ClientRequest,
): (() => void) | undefined {
  const token = tokenOf(params);
  if (token === undefined || !progressTokens) return undefined;
  if (progressTokens.has(token))
    throw new HallError(
      "INVALID_PARAMS",
      `the progress token ${JSON.stringify(token)} is already in use`,
    );
  progressTokens.add(token);
  return () => void progressTokens.delete(token);
}

function tokenOf(params: JsonObject): string | number | undefined {
  const token = isObject(params._meta) ? params._meta.progressToken : undefined;
  if (token === undefined || typeof token === "string" || Number.isSafeInteger(token))
    return token as string | number | undefined;
  throw new HallError("INVALID_PARAMS", "a progress token is a string or a whole number");
}

const progressMsMin = 50;

/** Forwards progress that grows, at most twenty times a second. What comes sooner waits, and the newest of it is told: a step may take long. */
function createProgress(current: () => Current): {
  readonly progress: CallContext["progress"];
  flush(): void;
} {
  let last = Number.NEGATIVE_INFINITY;
  let sentAt = Number.NEGATIVE_INFINITY;
  let waiting: { readonly timer: NodeJS.Timeout; newest: Progress } | undefined;

  function send({ progress, total, message, elapsedSeconds }: Progress): void {
    clearTimeout(waiting?.timer);
    waiting = undefined;
    sentAt = performance.now();
    const { params, request } = current();
    const progressToken = tokenOf(params);
    if (progressToken === undefined) return;
    request.exchange.notify("notifications/progress", {
      progressToken,
      progress,
      ...(total === undefined ? {} : { total }),
      ...(message === undefined ? {} : { message }),
      ...(elapsedSeconds === undefined ? {} : { _meta: { [elapsedKey]: elapsedSeconds } }),
    });
  }

  function flush(): void {
    if (waiting) send(waiting.newest);
  }

  return {
    progress(told) {
      if (!(told.progress > last) || tokenOf(current().params) === undefined) return;
      last = told.progress;
      const earlyMs = progressMsMin - (performance.now() - sentAt);
      if (told.progress === told.total || earlyMs <= 0) send(told);
      else if (waiting) waiting.newest = told;
      else waiting = { timer: setTimeout(flush, earlyMs).unref(), newest: told };
    },
    flush,
  };
}

function sendLog(
  { exchange, logLevel }: ClientRequest,
  level: LogLevel,
  data: unknown,
  logger?: string,
): void {
  if (logLevel === undefined || logLevels.indexOf(level) < logLevels.indexOf(logLevel)) return;
  exchange.notify("notifications/message", {
    level,
    ...(logger === undefined ? {} : { logger }),
    data,
  });
}
