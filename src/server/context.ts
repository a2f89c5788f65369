import { HallError } from "../base/errors.ts";
import { isObject, type JsonObject } from "../base/json.ts";
import type { Scope } from "../base/scope.ts";
import { type CallContext, elapsedKey, type LogLevel, logLevels, type Progress } from "../tool.ts";
import type { Ask } from "./asking.ts";
import type { ClientRequest } from "./client-request.ts";

/** The request that the work answers now: suspended work continues under a later request. */
export interface Current {
  readonly params: JsonObject;
  readonly request: ClientRequest;
}

/** The client's side of a call, as toolkits see it in both eras. */
export function createContext(
  current: () => Current,
  { ask, scope, task }: { readonly ask: Ask; readonly scope: Scope } & Pick<CallContext, "task">,
): CallContext {
  const { params, request } = current();
  const log: CallContext["log"] = (level, data, logger) =>
    sendLog(current().request, level, data, logger);
  // A legacy request is never continued by another one that could bring a token.
  const takesProgress = tokenOf(params) !== undefined;
  const { progress, flush } =
    takesProgress || request.era === "modern" ? createProgress(current) : noProgress;
  const askNow: Ask = (...asked) => {
    // A question ends a modern request, so pending progress must be sent first.
    flush();
    return ask(...asked);
  };
  const { logLevel, capabilities, caller } = request;
  return {
    scope,
    ask: askNow,
    takesProgress,
    progress,
    log,
    logLevel,
    capabilities,
    meta: foreignMeta(params._meta),
    task,
    caller,
  };
}

/** The part of `_meta` that does not concern the connection between the client and us. */
function foreignMeta(meta: unknown): JsonObject | undefined {
  if (!isObject(meta)) return undefined;
  const entries = Object.entries(meta).filter(
    ([key]) => key !== "progressToken" && !key.startsWith("io.modelcontextprotocol/"),
  );
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

/**
 * Reserves the progress token until the request is answered or cancelled, even if its work ends later.
 * Throws INVALID_PARAMS if it is in use.
 */
export function claimProgressToken(
  params: JsonObject,
  { progressTokens, exchange }: ClientRequest,
): (() => void) | undefined {
  const token = tokenOf(params);
  if (token === undefined || !progressTokens) return undefined;
  if (progressTokens.has(token))
    throw new HallError(
      "INVALID_PARAMS",
      `progress token ${JSON.stringify(token)} is already in use`,
    );
  progressTokens.add(token);
  let isHeld = true;
  const release = (): void => {
    if (isHeld) progressTokens.delete(token);
    isHeld = false;
  };
  exchange.scope.onCancel(release);
  return release;
}

function tokenOf(params: JsonObject): string | number | undefined {
  const token = isObject(params._meta) ? params._meta.progressToken : undefined;
  if (token === undefined || typeof token === "string" || Number.isSafeInteger(token))
    return token as string | number | undefined;
  throw new HallError("INVALID_PARAMS", "progressToken must be a string or an integer");
}

/** Progress messages at once, and per second after that. */
const progressMax = 20;
const progressMsMin = 1_000 / progressMax;

const noProgress = { progress(): void {}, flush(): void {} };

/** Forwards increasing progress: 20 messages at once, then 20 per second. The newest of the others waits. */
function createProgress(current: () => Current): {
  readonly progress: CallContext["progress"];
  flush(): void;
} {
  let last = Number.NEGATIVE_INFINITY;
  /** When the message before the last 20 would have been sent at an even pace. */
  let paceAt = Number.NEGATIVE_INFINITY;
  let waiting: { readonly timer: NodeJS.Timeout; newest: Progress } | undefined;

  function send({ progress, total, message, elapsedSeconds }: Progress): void {
    clearTimeout(waiting?.timer);
    waiting = undefined;
    paceAt = Math.max(paceAt, performance.now() - progressMax * progressMsMin) + progressMsMin;
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
    progress(update) {
      if (!(update.progress > last) || tokenOf(current().params) === undefined) return;
      last = update.progress;
      const earlyMs = paceAt - performance.now();
      if (earlyMs <= 0) send(update);
      else if (waiting) waiting.newest = update;
      else {
        waiting = { timer: setTimeout(flush, earlyMs).unref(), newest: update };
        // The last one is sent before the answer.
        current().request.exchange.beforeReply = flush;
      }
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
