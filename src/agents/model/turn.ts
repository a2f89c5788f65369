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

/** What a model said in one turn. */
export interface Turn {
  /** Texts, thoughts and calls, in order; what a provider has to see again next time is in their `providerMetadata`. */
  readonly content: readonly LanguageModelV3Content[];
  readonly finish: LanguageModelV3FinishReason["unified"];
  readonly usage: LanguageModelV3Usage;
}

export interface TurnOptions {
  readonly signal: AbortSignal;
  /** A try that could not end in time is not made. */
  remainingMs(): number;
  /** Hears the text as it comes, from its beginning: what is left should the line break. */
  heard?(text: string): void;
  /** Hears that it is tried again, and why. */
  retrying?(error: unknown, delayMs: number): void;
}

const triesMax = 4;
/** Whoever does not listen at all will hardly begin to within seconds. */
const unreachedTriesMax = 2;
const delayMsMax = 20_000;

/** Asks once, and again where the provider is busy or the line broke; nothing has been done by then, so nothing is done twice. */
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
      options.retrying?.(error, delayMs);
      await sleep(delayMs, undefined, { signal: options.signal });
    }
  }
}

/** A stream that ended before the model had. */
export class CutOff extends Error {
  constructor() {
    super("the answer was cut off");
    this.name = "CutOff";
  }
}

function delayFor(error: unknown, tries: number): number | undefined {
  if (tries >= triesMax || !isWorthAnother(error, tries)) return undefined;
  const told = APICallError.isInstance(error) ? readRetryAfter(error.responseHeaders) : undefined;
  // Full jitter: agents that were refused together must not come back together.
  return told ?? Math.random() * Math.min(delayMsMax, 500 * 2 ** tries);
}

function isWorthAnother(error: unknown, tries: number): boolean {
  if (error instanceof CutOff) return true;
  if (APICallError.isInstance(error))
    return error.isRetryable && (error.statusCode !== undefined || tries < unreachedTriesMax);
  // The body broke off under the reader's hands.
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
  { signal, heard }: TurnOptions,
): Promise<Turn> {
  const { stream } = await model.doStream({ ...call, abortSignal: signal });
  const gathered = new Gathered(heard);
  for await (const part of stream) {
    const finish = gathered.take(part);
    if (finish)
      return {
        content: gathered.content,
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

/** Puts the pieces of a stream together. */
class Gathered {
  readonly content: LanguageModelV3Content[] = [];
  readonly #open = new Map<string, Writable>();
  readonly #heard: TurnOptions["heard"];
  #text = "";

  constructor(heard: TurnOptions["heard"]) {
    this.#heard = heard;
  }

  /** Returns the part that ends the turn. Throws what the stream says went wrong. */
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
        this.#heard?.(this.#text);
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
        // A provider that lost the line ends the turn without a reason of its own.
        if (part.finishReason.raw === undefined && part.finishReason.unified === "other")
          throw new CutOff();
        return part;
      default:
        // Pieces of a call, files, sources: the whole call comes by itself, and the rest is nothing we ask for.
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

/** A whole turn as the stream it would have come in. */
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
