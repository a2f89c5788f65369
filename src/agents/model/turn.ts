import { setTimeout as sleep } from "node:timers/promises";
import {
  APICallError,
  type LanguageModelV3,
  type LanguageModelV3CallOptions,
  type LanguageModelV3Content,
  type LanguageModelV3FinishReason,
  type LanguageModelV3Reasoning,
  type LanguageModelV3StreamPart,
  type LanguageModelV3Text,
  type LanguageModelV3Usage,
} from "@ai-sdk/provider";
import type { Advice } from "../../base/advice.ts";
import { type ErrorCode, HallError, messageOf } from "../../base/errors.ts";
import { isObject, type JsonObject, parseObject } from "../../base/json.ts";
import type { Secrets } from "../../base/log.ts";
import { backoffMs } from "../../base/timing.ts";

/** One answer of a model. */
export interface Turn {
  /** Texts, reasoning and calls, in order. `providerMetadata` has to be sent back in the next turn. */
  readonly content: readonly LanguageModelV3Content[];
  readonly finish: LanguageModelV3FinishReason["unified"];
  readonly usage: LanguageModelV3Usage;
}

/** A provider's model, which streams, or one that answers at once: the client's model, or a record. */
export type Model = LanguageModelV3 | WholeModel;

export interface WholeModel {
  readonly modelId: string;
  answer(call: LanguageModelV3CallOptions): Promise<Turn>;
}

export interface TurnOptions {
  readonly signal: AbortSignal;
  /** No retry begins that could not end in time. */
  remainingMs(): number;
  /** Gets the text so far, so that it survives a broken connection. */
  onText?(text: string): void;
  onRetry?(error: unknown, delayMs: number): void;
}

const triesMax = 4;
/** A server that refuses connections rarely comes up within seconds. */
const unreachedTriesMax = 2;
const backoff = { firstMs: 1_000, maxMs: 20_000 };

/**
 * Asks the model, and retries if the provider is busy or the connection breaks. No tool has run by
 * then, so nothing runs twice.
 */
export async function takeTurn(
  model: Model,
  call: LanguageModelV3CallOptions,
  { signal, remainingMs, onText, onRetry }: TurnOptions,
): Promise<Turn> {
  if ("answer" in model) return model.answer(call);
  for (let tries = 1; ; tries++) {
    try {
      return await ask(model, { ...call, abortSignal: signal }, onText);
    } catch (error) {
      signal.throwIfAborted();
      const delayMs = delayFor(error, tries);
      if (delayMs === undefined || delayMs >= remainingMs()) throw error;
      onRetry?.(error, delayMs);
      await sleep(delayMs, undefined, { signal });
    }
  }
}

/** Models whose endpoint answers whole instead of streaming. */
const whole = new WeakSet<LanguageModelV3>();

async function ask(
  model: LanguageModelV3,
  call: LanguageModelV3CallOptions,
  onText: TurnOptions["onText"],
): Promise<Turn> {
  if (!whole.has(model)) {
    const { stream, response } = await model.doStream(call);
    if (!/^application\/json\b/i.test(response?.headers?.["content-type"] ?? ""))
      return readTurn(stream, onText);
    await stream.cancel();
    whole.add(model);
  }
  const { content, finishReason, usage } = await model.doGenerate(call);
  return { content, finish: finishReason.unified, usage };
}

/** A stream ended before the model finished. */
class CutOff extends Error {}

function delayFor(error: unknown, tries: number): number | undefined {
  if (tries >= triesMax || !isRetryable(error, tries)) return undefined;
  const stated = APICallError.isInstance(error) ? readRetryAfter(error.responseHeaders) : undefined;
  return stated ?? backoffMs(tries, backoff);
}

function isRetryable(error: unknown, tries: number): boolean {
  if (APICallError.isInstance(error))
    return error.isRetryable && (error.statusCode !== undefined || tries < unreachedTriesMax);
  // A TypeError: the response body broke off.
  return error instanceof CutOff || error instanceof TypeError;
}

function readRetryAfter(headers: Record<string, string> = {}): number | undefined {
  const { "retry-after-ms": ms, "retry-after": after } = headers;
  if (ms !== undefined && Number(ms) >= 0) return Number(ms);
  if (after === undefined) return undefined;
  const delayMs = Number.isNaN(Number(after))
    ? Date.parse(after) - Date.now()
    : Number(after) * 1e3;
  return Number.isNaN(delayMs) ? undefined : Math.max(0, delayMs);
}

/** Assembles a turn from the parts of a stream. Throws an error that the stream reports. */
async function readTurn(
  stream: ReadableStream<LanguageModelV3StreamPart>,
  onText: TurnOptions["onText"],
): Promise<Turn> {
  const content: LanguageModelV3Content[] = [];
  const open = new Map<string, LanguageModelV3Text | LanguageModelV3Reasoning>();
  let text = "";
  for await (const part of stream) {
    switch (part.type) {
      case "text-start":
      case "reasoning-start": {
        const type = part.type === "text-start" ? "text" : "reasoning";
        const piece = { type, text: "", ...metadataOf(part) } as const;
        open.set(`${type} ${part.id}`, piece);
        content.push(piece);
        break;
      }
      case "text-delta":
      case "text-end":
      case "reasoning-delta":
      case "reasoning-end": {
        const isText = part.type.startsWith("text");
        const delta = "delta" in part ? part.delta : "";
        const piece = open.get(`${isText ? "text" : "reasoning"} ${part.id}`);
        if (piece) Object.assign(piece, { text: piece.text + delta }, metadataOf(part));
        if (isText) {
          text += delta;
          onText?.(text);
        }
        break;
      }
      case "tool-call":
        content.push(part);
        break;
      case "error":
        throw part.error;
      case "finish": {
        const { finishReason, usage } = part;
        // A provider whose connection broke ends the turn without a reason.
        if (finishReason.raw === undefined && finishReason.unified === "other") throw new CutOff();
        return { content, finish: finishReason.unified, usage };
      }
      // Other parts repeat a call in pieces, or are not requested.
    }
  }
  throw new CutOff();
}

function metadataOf<Metadata>({ providerMetadata }: { providerMetadata?: Metadata }): {
  providerMetadata?: Metadata;
} {
  return providerMetadata === undefined ? {} : { providerMetadata };
}

export function textOfTurn({ content }: Turn, separator = ""): string {
  return content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join(separator);
}

/** The JSON object in a model's text, with or without a code fence around it. */
export function findObject(text: string): JsonObject | undefined {
  return parseObject(text.slice(text.indexOf("{"), text.lastIndexOf("}") + 1));
}

const test: Advice = { do: "run-command", command: "models test" };

/** A model's failure as one of ours. Contains no key and nothing of the request. */
export function explainModelError(
  error: unknown,
  { model, secrets }: { readonly model: string; readonly secrets: Secrets },
): HallError {
  if (error instanceof HallError) return error;
  if (error instanceof CutOff)
    return new HallError("UNAVAILABLE", `${model}: the answer was cut off`);
  // Scrubbed before it is cut: half a key would not be recognised.
  const clean = (text: string): string =>
    secrets.scrub(text).replace(/\s+/g, " ").trim().slice(0, 300);
  if (!APICallError.isInstance(error))
    return new HallError("UNAVAILABLE", `${model}: ${clean(messageOf(error))}`, { next: [test] });
  const { statusCode, url, responseBody = "" } = error;
  if (statusCode === undefined) {
    const address = URL.canParse(url) ? clean(new URL(url).origin) : "its address";
    return new HallError("UNAVAILABLE", `${model} cannot be reached at ${address}`, {
      hint: "Check planner.baseUrl and the network; for a model on this machine, start its server.",
    });
  }
  const { code, hint, next = [] } = meaningOf(statusCode);
  const message = clean(findMessage(responseBody) ?? messageOf(error));
  return new HallError(code, `${model} answered ${statusCode}: ${message}`, { hint, next });
}

interface Meaning {
  readonly code: ErrorCode;
  readonly hint: string;
  readonly next?: readonly Advice[];
}

function meaningOf(status: number): Meaning {
  switch (status) {
    case 401:
    case 403:
      return { code: "DENIED", hint: "The provider refused the key.", next: [test] };
    case 404:
      return {
        code: "NOT_FOUND",
        hint: "Check the model's name and planner.baseUrl.",
        next: [test],
      };
    case 402:
    case 429:
      return {
        code: "RATE_LIMITED",
        hint: "The provider's rate or spending limit is reached: wait, or use another model.",
      };
    case 408:
      return { code: "TIMEOUT", hint: "Retry later." };
    case 413:
      return { code: "TOO_LARGE", hint: "Shorten the task or its data." };
  }
  return status >= 500
    ? { code: "UNAVAILABLE", hint: "The provider has a problem: retry later." }
    : { code: "EXECUTION", hint: "See the provider's message.", next: [test] };
}

/** The provider's own message; undefined for a proxy's HTML page or an empty body. */
function findMessage(body: string): string | undefined {
  const parsed = parseObject(body);
  const inner = parsed?.error ?? parsed?.message;
  const message = isObject(inner) ? inner.message : inner;
  return typeof message === "string" ? message : undefined;
}
