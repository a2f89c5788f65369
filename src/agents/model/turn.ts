import { setTimeout as sleep } from "node:timers/promises";
import {
  APICallError,
  type LanguageModelV3,
  type LanguageModelV3CallOptions,
  type LanguageModelV3Content,
  type LanguageModelV3FinishReason,
  type LanguageModelV3StreamPart,
  type LanguageModelV3StreamResult,
  type LanguageModelV3Usage,
} from "@ai-sdk/provider";
import type { Advice } from "../../base/advice.ts";
import { type ErrorCode, HallError, messageOf } from "../../base/errors.ts";
import { isObject, type JsonObject } from "../../base/json.ts";
import type { Secrets } from "../../base/log.ts";
import { backoffMs } from "../../base/timing.ts";

/** One answer of a model. */
export interface Turn {
  /** Texts, reasoning and calls, in order. `providerMetadata` has to be sent back in the next turn. */
  readonly content: readonly LanguageModelV3Content[];
  readonly finish: LanguageModelV3FinishReason["unified"];
  readonly usage: LanguageModelV3Usage;
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

/** Asks the model, and retries if the provider is busy or the connection breaks. No tool has run by then, so nothing runs twice. */
export async function takeTurn(
  model: LanguageModelV3,
  call: LanguageModelV3CallOptions,
  options: TurnOptions,
): Promise<Turn> {
  for (let tries = 1; ; tries++) {
    try {
      return await askOnce(model, call, options);
    } catch (error) {
      options.signal.throwIfAborted();
      const delayMs = delayFor(error, tries);
      if (delayMs === undefined || delayMs >= options.remainingMs()) throw error;
      options.onRetry?.(error, delayMs);
      await sleep(delayMs, undefined, { signal: options.signal });
    }
  }
}

/** A stream ended before the model finished. */
class CutOff extends Error {
  constructor() {
    super("the answer was cut off");
    this.name = "CutOff";
  }
}

function delayFor(error: unknown, tries: number): number | undefined {
  if (tries >= triesMax || !isRetryable(error, tries)) return undefined;
  const stated = APICallError.isInstance(error) ? readRetryAfter(error.responseHeaders) : undefined;
  return stated ?? backoffMs(tries, backoff);
}

function isRetryable(error: unknown, tries: number): boolean {
  if (error instanceof CutOff) return true;
  if (APICallError.isInstance(error))
    return error.isRetryable && (error.statusCode !== undefined || tries < unreachedTriesMax);
  // The response body broke off.
  return error instanceof TypeError;
}

function readRetryAfter(headers: Record<string, string> | undefined): number | undefined {
  const ms = Number(headers?.["retry-after-ms"]);
  if (Number.isFinite(ms) && ms >= 0 && headers?.["retry-after-ms"] !== undefined) return ms;
  const text = headers?.["retry-after"];
  if (text === undefined) return undefined;
  const seconds = Number(text);
  const delayMs = Number.isFinite(seconds) ? seconds * 1_000 : Date.parse(text) - Date.now();
  return Number.isFinite(delayMs) ? Math.max(0, delayMs) : undefined;
}

async function askOnce(
  model: LanguageModelV3,
  call: LanguageModelV3CallOptions,
  { signal, onText }: TurnOptions,
): Promise<Turn> {
  const { stream } = await model.doStream({ ...call, abortSignal: signal });
  const reader = new TurnReader(onText);
  for await (const part of stream) {
    const finish = reader.take(part);
    if (finish)
      return {
        content: reader.content,
        finish: finish.finishReason.unified,
        usage: finish.usage,
      };
  }
  throw new CutOff();
}

type Finish = Extract<LanguageModelV3StreamPart, { type: "finish" }>;
type Writable = { -readonly [Key in keyof LanguageModelV3Content]: LanguageModelV3Content[Key] } & {
  text: string;
};

/** Assembles a turn from the parts of a stream. */
class TurnReader {
  readonly content: LanguageModelV3Content[] = [];
  readonly #open = new Map<string, Writable>();
  readonly #onText: TurnOptions["onText"];
  #text = "";

  constructor(onText: TurnOptions["onText"]) {
    this.#onText = onText;
  }

  /** Returns the part that ends the turn. Throws an error that the stream reports. */
  take(part: LanguageModelV3StreamPart): Finish | undefined {
    switch (part.type) {
      case "text-start":
      case "reasoning-start": {
        const piece = {
          type: part.type === "text-start" ? "text" : "reasoning",
          text: "",
          ...metadataOf(part),
        } as Writable;
        this.#open.set(`${piece.type} ${part.id}`, piece);
        this.content.push(piece as LanguageModelV3Content);
        return undefined;
      }
      case "text-delta":
        this.#extend(`text ${part.id}`, part);
        this.#text += part.delta;
        this.#onText?.(this.#text);
        return undefined;
      case "reasoning-delta":
        this.#extend(`reasoning ${part.id}`, part);
        return undefined;
      case "text-end":
      case "reasoning-end":
        Object.assign(
          this.#open.get(`${part.type === "text-end" ? "text" : "reasoning"} ${part.id}`) ?? {},
          metadataOf(part),
        );
        return undefined;
      case "tool-call":
        this.content.push(part);
        return undefined;
      case "error":
        throw part.error;
      case "finish":
        // A provider whose connection broke ends the turn without a reason.
        if (part.finishReason.raw === undefined && part.finishReason.unified === "other")
          throw new CutOff();
        return part;
      default:
        // Parts of a call are repeated in the whole call; files and sources are not requested.
        return undefined;
    }
  }

  #extend(
    key: string,
    part: { readonly delta: string; readonly providerMetadata?: unknown },
  ): void {
    const piece = this.#open.get(key);
    if (piece) Object.assign(piece, { text: piece.text + part.delta }, metadataOf(part));
  }
}

function metadataOf({ providerMetadata }: { readonly providerMetadata?: unknown }): object {
  return providerMetadata === undefined ? {} : { providerMetadata };
}

/** A whole turn as a stream, for models that do not stream. */
export function streamOf({ content, finish, usage }: Turn): LanguageModelV3StreamResult["stream"] {
  return new ReadableStream({
    start(controller) {
      content.forEach((part, at) => {
        const id = String(at);
        if (part.type !== "text" && part.type !== "reasoning") {
          if (part.type === "tool-call") controller.enqueue(part);
          return;
        }
        controller.enqueue({
          type: `${part.type}-start`,
          id,
          ...(part.providerMetadata ? { providerMetadata: part.providerMetadata } : {}),
        });
        controller.enqueue({ type: `${part.type}-delta`, id, delta: part.text });
        controller.enqueue({ type: `${part.type}-end`, id });
      });
      controller.enqueue({ type: "finish", finishReason: { unified: finish, raw: finish }, usage });
      controller.close();
    },
  });
}

/** A model that repeats the recorded turns of an earlier run. */
export function createRecordedModel(turns: readonly JsonObject[]): LanguageModelV3 {
  let next = 0;
  return {
    specificationVersion: "v3",
    provider: "record",
    modelId: "record",
    supportedUrls: {},
    doGenerate: () => Promise.reject(new HallError("EXECUTION", "a recorded model only streams")),
    async doStream() {
      const turn = turns[next++];
      if (!turn) throw new HallError("EXECUTION", "the record has no further turn");
      return { stream: streamOf(turn as unknown as Turn) };
    },
  };
}

export function textOfTurn({ content }: Pick<Turn, "content">): string {
  return content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("");
}

/** The JSON object in a model's text, with or without a code fence around it. */
export function findObject(text: string): JsonObject | undefined {
  const start = text.indexOf("{");
  const end = text.lastIndexOf("}");
  if (start === -1 || end < start) return undefined;
  try {
    const value: unknown = JSON.parse(text.slice(start, end + 1));
    return isObject(value) ? value : undefined;
  } catch {
    // Plain text.
    return undefined;
  }
}

/** A model's failure as one of ours. Contains no key and nothing of the request. */
export function explainModelError(
  error: unknown,
  { model, secrets }: { readonly model: string; readonly secrets: Secrets },
): HallError {
  if (error instanceof HallError) return error;
  const clean = (text: string): string => secrets.scrub(text);
  if (error instanceof CutOff)
    return new HallError("UNAVAILABLE", `${model}: the answer was cut off`);
  if (!APICallError.isInstance(error))
    return new HallError("UNAVAILABLE", clean(`${model}: ${describe(error)}`), { next: [test] });
  const { statusCode } = error;
  if (statusCode === undefined) {
    return new HallError(
      "UNAVAILABLE",
      clean(`${model} cannot be reached at ${originOf(error.url)}`),
      {
        hint: "Check planner.baseUrl and the network; for a model on this machine, start its server.",
      },
    );
  }
  const { code, hint, next } =
    meanings.find(({ statuses }) => statuses.includes(statusCode)) ??
    (statusCode >= 500 ? busy : refused);
  return new HallError(code, clean(`${model} answered ${statusCode}: ${describe(error)}`), {
    hint,
    next: next ?? [],
  });
}

interface Meaning {
  readonly statuses: readonly number[];
  readonly code: ErrorCode;
  readonly hint: string;
  readonly next?: readonly Advice[];
}

const test: Advice = { do: "run-command", command: "models test" };

const meanings: readonly Meaning[] = [
  {
    statuses: [401, 403],
    code: "DENIED",
    hint: "The provider refused the key.",
    next: [test],
  },
  {
    statuses: [404],
    code: "NOT_FOUND",
    hint: "Check the model's name and planner.baseUrl.",
    next: [test],
  },
  {
    statuses: [402, 429],
    code: "RATE_LIMITED",
    hint: "The provider's rate or spending limit is reached: wait, or use another model.",
  },
  { statuses: [408], code: "TIMEOUT", hint: "Retry later." },
  { statuses: [413], code: "TOO_LARGE", hint: "Shorten the task or its data." },
];
const busy: Meaning = {
  statuses: [],
  code: "UNAVAILABLE",
  hint: "The provider has a problem: retry later.",
};
const refused: Meaning = {
  statuses: [],
  code: "EXECUTION",
  hint: "See the provider's message.",
  next: [test],
};

const charactersMax = 300;

/** The provider's own message. */
function describe(error: unknown): string {
  const body = APICallError.isInstance(error) ? readBody(error.responseBody) : undefined;
  const text = body ?? messageOf(error);
  return text.replace(/\s+/g, " ").trim().slice(0, charactersMax);
}

function readBody(text: string | undefined): string | undefined {
  try {
    const body: unknown = JSON.parse(text ?? "");
    const inner = isObject(body) ? (body.error ?? body.message) : undefined;
    const message = isObject(inner) ? inner.message : inner;
    return typeof message === "string" ? message : undefined;
  } catch {
    // A proxy's HTML page or an empty body: the status is enough.
    return undefined;
  }
}

function originOf(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : "its address";
}
