/**
 * Pictures from any provider with OpenAI's images API. Providers disagree on parameters: new models
 * reject `response_format` and small sizes, older ones need the first and know the second. A rejected
 * parameter is dropped and the request repeated.
 */
import type { Advice } from "../../base/advice.ts";
import { type ErrorCode, HallError } from "../../base/errors.ts";
import { isObject, type JsonObject, parseJson } from "../../base/json.ts";
import type { Scope } from "../../base/scope.ts";
import { createDialler, type DialInit, explain, readAll } from "../../net/dial.ts";
import { kindOfHost } from "../../net/host.ts";
import type { ImageRequest } from "./image.ts";

export interface ImageProvider {
  /** The API's base; `/images/generations` is added if it is missing. */
  readonly url: string;
  readonly model?: string | undefined;
  /** Sent to the provider and written nowhere else. */
  readonly key?: string | undefined;
}

export interface ProviderImage {
  readonly bytes: Buffer;
  readonly mimeType: string;
  /** The size requested last; not the caller's if the provider rejected that one. */
  readonly size: string;
  readonly revisedPrompt?: string | undefined;
}

/** It must fit into one message as base64. */
const imageBytesMax = 7 * 1024 * 1024;
const replyBytesMax = 16 * 1024 * 1024;
const attemptsMax = 3;
const largestSize = "1024x1024";

const styleSuffixes: Readonly<Record<ImageRequest["style"], string>> = {
  realistic: ". Realistic, like a photograph.",
  artistic: ". In the style of a painting, with visible brush strokes.",
  cartoon: ". As a cartoon, with flat colours and clear outlines.",
  abstract: ". As an abstract composition of shapes and colours.",
};

export async function requestImage(
  provider: ImageProvider,
  request: ImageRequest,
  scope: Scope,
): Promise<ProviderImage> {
  const url = generationsUrl(provider);
  let body: JsonObject = {
    ...(provider.model !== undefined && { model: provider.model }),
    prompt: `${request.prompt}${styleSuffixes[request.style]}`,
    n: 1,
    size: request.size,
    response_format: "b64_json",
  };

  const headers = {
    "content-type": "application/json",
    accept: "application/json",
    ...(provider.key !== undefined && { authorization: `Bearer ${provider.key}` }),
  };

  for (let attempt = 1; ; attempt++) {
    const init = { method: "POST", headers, body: JSON.stringify(body) };
    const reply = await send(url, scope, init, replyBytesMax);
    const text = reply.bytes.toString("utf8");
    if (reply.status >= 200 && reply.status < 300)
      return readImage(text, url, String(body.size), scope);

    const isRejected = reply.status === 400 || reply.status === 422;
    const simpler = isRejected ? withoutRejected(body, messageIn(text)) : undefined;
    if (!simpler || attempt === attemptsMax) throw refusalOf(reply, url, provider);
    body = simpler;
  }
}

function generationsUrl({ url, key }: ImageProvider): URL {
  const base = URL.canParse(url) ? new URL(url) : undefined;
  const next: Advice[] = [{ do: "edit-config", field: "images.url" }];
  if (!base || (base.protocol !== "http:" && base.protocol !== "https:")) {
    const hint = "Set images.url to the API's base, such as https://api.openai.com/v1.";
    throw new HallError("UNAVAILABLE", "images.url is not an http or https URL", { hint, next });
  }
  if (key !== undefined && base.protocol === "http:" && kindOfHost(base.hostname) !== "loopback") {
    const hint = "Use an https URL, or remove images.apiKeyEnv.";
    throw new HallError("UNAVAILABLE", "images.url is not encrypted, so the key was not sent", {
      hint,
      next,
    });
  }
  const path = base.pathname.replace(/\/+$/, "").replace(/\/images\/generations$/, "");
  base.pathname = `${path}/images/generations`;
  return base;
}

interface Reply {
  readonly status: number;
  readonly retryAfter: string | null;
  readonly bytes: Buffer;
}

/** Does not follow redirects: the key is meant for the configured address only. */
async function send(
  url: URL,
  scope: Scope,
  init: Omit<DialInit, "signal">,
  bytesMax: number,
): Promise<Reply> {
  const dialler = createDialler(undefined);
  try {
    const response = await dialler.send(url, { ...init, signal: scope.signal });
    const bytes = await readAll(response, bytesMax);
    return { status: response.status, retryAfter: response.headers.get("retry-after"), bytes };
  } catch (error) {
    if (scope.cancelReason) throw scope.cancelReason;
    const { code, message } = explain(error);
    throw new HallError(code, `image provider ${url.origin}: ${message}`, { cause: error });
  } finally {
    dialler.close();
  }
}

function messageIn(text: string): string {
  const parsed = parseJson(text);
  const error = isObject(parsed) ? (parsed.error ?? parsed.detail ?? parsed.message) : undefined;
  const message = isObject(error) ? error.message : error;
  return typeof message === "string" ? message : text.slice(0, 300);
}

/** The same request without the parameter that the message rejects, if one can be dropped. */
function withoutRejected(body: JsonObject, message: string): JsonObject | undefined {
  if (/response_format/i.test(message) && "response_format" in body) {
    const { response_format: _rejected, ...rest } = body;
    return rest;
  }
  const isSize = /\bsize\b|\d+x\d+/i.test(message);
  return isSize && body.size !== largestSize ? { ...body, size: largestSize } : undefined;
}

function refusalOf(reply: Reply, { origin }: URL, { key }: ImageProvider): HallError {
  const { status } = reply;
  // Some providers quote the key they reject.
  const reason = messageIn(reply.bytes.toString("utf8"))
    .replaceAll(key ?? "\u0000", "…")
    .replace(/\s+/g, " ")
    .slice(0, 300);
  const seconds = Number(reply.retryAfter ?? Number.NaN);
  const hasWait = Number.isFinite(seconds);

  const { code, next } = classifyStatus(status);
  return new HallError(
    code,
    `image provider ${origin} answered HTTP ${status}${reason ? `: ${reason}` : ""}`,
    {
      details: { status, ...(hasWait && { retryAfterSeconds: seconds }) },
      next: hasWait && next.length === 0 ? [{ do: "retry-after", seconds }] : next,
    },
  );
}

function classifyStatus(status: number): { code: ErrorCode; next: readonly Advice[] } {
  const edit = (...fields: string[]): Advice[] =>
    fields.map((field) => ({ do: "edit-config", field }));
  if (status === 401 || status === 403)
    return { code: "UNAVAILABLE", next: edit("images.apiKeyEnv") };
  if (status === 404) return { code: "UNAVAILABLE", next: edit("images.url", "images.model") };
  if (status === 429) return { code: "RATE_LIMITED", next: [] };
  return { code: status >= 500 ? "UNAVAILABLE" : "EXECUTION", next: [] };
}

async function readImage(
  text: string,
  url: URL,
  size: string,
  scope: Scope,
): Promise<ProviderImage> {
  const parsed = parseJson(text);
  const first: unknown =
    isObject(parsed) && Array.isArray(parsed.data) ? parsed.data[0] : undefined;
  if (!isObject(first)) throw malformed(url, "the reply has no image in `data`");

  const bytes = await readBytes(first, url, scope);
  if (bytes.length > imageBytesMax)
    throw new HallError("TOO_LARGE", "the image exceeds the limit of 7 MiB");
  const mimeType = mimeTypeOf(bytes);
  if (!mimeType) throw malformed(url, "the image is not a PNG, JPEG, WebP or GIF");

  const revised = first.revised_prompt;
  const revisedPrompt = typeof revised === "string" ? revised.slice(0, 4_000) : undefined;
  return { bytes, mimeType, size, revisedPrompt };
}

async function readBytes(image: JsonObject, provider: URL, scope: Scope): Promise<Buffer> {
  if (typeof image.b64_json === "string") return decode(image.b64_json, provider);
  if (typeof image.url !== "string")
    throw malformed(provider, "the image has neither `b64_json` nor `url`");
  if (image.url.startsWith("data:")) return decode(image.url, provider);
  if (!URL.canParse(image.url, provider.href)) throw malformed(provider, "`url` is not a URL");

  // A private address is fetched only if it is the provider's own.
  const url = new URL(image.url, provider.href);
  if (url.origin === provider.origin) {
    const reply = await send(url, scope, { headers: { accept: "image/*" } }, imageBytesMax);
    if (reply.status === 200) return reply.bytes;
    throw malformed(provider, `the linked image answered HTTP ${reply.status}`);
  }
  const { createFetcher } = await import("../../net/public-fetch.ts");
  const fetched = await createFetcher()(url, { signal: scope.signal, bytesMax: imageBytesMax });
  return fetched.bytes;
}

function decode(text: string, url: URL): Buffer {
  const plain = text.replace(/^data:[^,]*,/, "");
  if (!/^[A-Za-z0-9+/\s]+=*\s*$/.test(plain)) throw malformed(url, "`b64_json` is not base64");
  return Buffer.from(plain, "base64");
}

function mimeTypeOf(bytes: Buffer): string | undefined {
  const head = bytes.toString("latin1", 0, 12);
  if (head.startsWith("\x89PNG\r\n\x1a\n")) return "image/png";
  if (head.startsWith("\xff\xd8\xff")) return "image/jpeg";
  if (head.startsWith("RIFF") && head.endsWith("WEBP")) return "image/webp";
  return head.startsWith("GIF8") ? "image/gif" : undefined;
}

function malformed({ origin }: URL, problem: string): HallError {
  return new HallError("BAD_ANSWER", `image provider ${origin}: ${problem}`, {
    hint: "Check that images.url points to OpenAI's images API.",
  });
}
