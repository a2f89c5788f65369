/**
 * Pictures from any endpoint that speaks OpenAI's images API. Endpoints differ in what they accept: the newest models refuse
 * `response_format` and small sizes, older ones need the first and know the second. What is refused by name is left out and asked again.
 */
import { HallError } from "../../base/errors.ts";
import { isObject, type JsonObject } from "../../base/json.ts";
import type { Scope } from "../../base/scope.ts";
import { explain, readAll } from "../../net/answer.ts";
import { createDialler } from "../../net/dial.ts";
import { kindOfHost } from "../../net/host.ts";

export interface ImagesEndpoint {
  /** Up to where `/images/generations` begins. */
  readonly url: string;
  readonly model?: string | undefined;
  /** Never written anywhere. */
  readonly key?: string | undefined;
}

interface ImageRequest {
  readonly prompt: string;
  readonly style: string;
  /** Such as 512x512. */
  readonly size: string;
}

export interface EndpointImage {
  readonly bytes: Buffer;
  readonly mimeType: string;
  /** What was asked for in the end, where the endpoint did not make the size wanted. */
  readonly size: string;
  /** The prompt as the model was really given it, where the endpoint says. */
  readonly revisedPrompt?: string | undefined;
}

/** As base64 it has to fit into one message. */
const imageBytesMax = 7 * 1024 * 1024;
const answerBytesMax = 16 * 1024 * 1024;
const attemptsMax = 3;
const largestSize = "1024x1024";

export async function requestImage(
  endpoint: ImagesEndpoint,
  request: ImageRequest,
  scope: Scope,
): Promise<EndpointImage> {
  const url = addressOf(endpoint);
  let body: JsonObject = {
    ...(endpoint.model !== undefined && { model: endpoint.model }),
    prompt: `${request.prompt}${styleSuffixes[request.style] ?? ""}`,
    n: 1,
    size: request.size,
    response_format: "b64_json",
  };
  for (let attempt = 1; ; attempt++) {
    const answer = await post(url, body, endpoint, scope);
    if (answer.status >= 200 && answer.status < 300)
      return readImage(answer, { url, size: String(body.size), scope });
    const simpler =
      answer.status === 400 || answer.status === 422
        ? leaveOutRefused(body, messageOf(answer))
        : undefined;
    if (!simpler || attempt === attemptsMax) throw refusalOf(answer, url, endpoint);
    body = simpler;
  }
}

const styleSuffixes: Readonly<Record<string, string>> = {
  realistic: ". Realistic, like a photograph.",
  artistic: ". In the style of a painting, with visible brush strokes.",
  cartoon: ". As a cartoon, with flat colours and clear outlines.",
  abstract: ". As an abstract composition of shapes and colours.",
};

function addressOf({ url, key }: ImagesEndpoint): URL {
  const base = URL.canParse(url) ? new URL(url) : undefined;
  if (!base || (base.protocol !== "http:" && base.protocol !== "https:")) {
    throw unusable(
      "images.url is no http address",
      "Set images.url to the API's base, such as https://api.openai.com/v1, or remove it to have pictures drawn here.",
    );
  }
  if (key !== undefined && base.protocol === "http:" && kindOfHost(base.hostname) !== "loopback") {
    throw unusable(
      "images.url is not encrypted, so the key was not sent",
      "Use https, or remove images.apiKeyEnv.",
    );
  }
  base.pathname = `${base.pathname.replace(/\/+$/, "").replace(/\/images\/generations$/, "")}/images/generations`;
  return base;
}

function unusable(message: string, hint: string): HallError {
  return new HallError("UNAVAILABLE", message, { hint });
}

interface Answer {
  readonly status: number;
  readonly retryAfter: string | null;
  readonly text: string;
}

/** Redirects are not followed: the key is meant for the address in the config. */
async function post(
  url: URL,
  body: JsonObject,
  { key }: ImagesEndpoint,
  scope: Scope,
): Promise<Answer> {
  const dialler = createDialler(undefined);
  const headers = {
    "content-type": "application/json",
    accept: "application/json",
    ...(key !== undefined && { authorization: `Bearer ${key}` }),
  };
  try {
    const response = await dialler.send(url, {
      method: "POST",
      headers,
      body: JSON.stringify(body),
      signal: scope.signal,
    });
    const bytes = await readAll(response, answerBytesMax);
    return {
      status: response.status,
      retryAfter: response.headers.get("retry-after"),
      text: bytes.toString("utf8"),
    };
  } catch (error) {
    if (scope.cancelled) throw scope.cancelled;
    const told = explain(error);
    throw new HallError(told.code, `the images endpoint at ${url.origin}: ${told.message}`, {
      cause: error,
    });
  } finally {
    dialler.close();
  }
}

function messageOf({ text }: Answer): string {
  const parsed = parseJson(text);
  const error = isObject(parsed) ? (parsed.error ?? parsed.detail ?? parsed.message) : undefined;
  const message = isObject(error) ? error.message : error;
  return typeof message === "string" ? message : text.slice(0, 300);
}

/** The same request without what the endpoint said it does not take; undefined when nothing is left to try. */
function leaveOutRefused(body: JsonObject, message: string): JsonObject | undefined {
  if (/response_format/i.test(message) && "response_format" in body) {
    const { response_format: _refused, ...rest } = body;
    return rest;
  }
  return /\bsize\b|\d+x\d+/i.test(message) && body.size !== largestSize
    ? { ...body, size: largestSize }
    : undefined;
}

function refusalOf(answer: Answer, { origin }: URL, { key, model }: ImagesEndpoint): HallError {
  const { status } = answer;
  // Some endpoints quote the key they refuse.
  const said = messageOf(answer)
    .replaceAll(key ?? "\u0000", "…")
    .replace(/\s+/g, " ")
    .slice(0, 300);
  const message = `the images endpoint at ${origin} answered HTTP ${status}${said ? `: ${said}` : ""}`;
  const retryAfterSeconds = Number(answer.retryAfter ?? Number.NaN);
  const details = { status, ...(Number.isFinite(retryAfterSeconds) && { retryAfterSeconds }) };
  if (status === 401 || status === 403) {
    const hint =
      key === undefined
        ? "Name the variable that holds the key in images.apiKeyEnv."
        : "Check the key in the variable that images.apiKeyEnv names.";
    return new HallError("UNAVAILABLE", message, { details, hint });
  }
  if (status === 404)
    return new HallError("UNAVAILABLE", message, {
      details,
      hint: `Check images.url and images.model (${model ?? "none set"}).`,
    });
  if (status === 429)
    return new HallError("RATE_LIMITED", message, {
      details,
      hint: "Wait and try again; the endpoint's quota may be used up.",
    });
  if (status >= 500)
    return new HallError("UNAVAILABLE", message, {
      details,
      hint: "Try again later, or look at the endpoint.",
    });
  return new HallError("EXECUTION", message, {
    details,
    hint: "Change the prompt or the size; the message is the endpoint's.",
  });
}

interface Found {
  readonly url: URL;
  readonly size: string;
  readonly scope: Scope;
}

async function readImage({ text }: Answer, { url, size, scope }: Found): Promise<EndpointImage> {
  const parsed = parseJson(text);
  const first: unknown =
    isObject(parsed) && Array.isArray(parsed.data) ? parsed.data[0] : undefined;
  if (!isObject(first)) throw malformed(url, "its answer has no image in `data`");
  const bytes =
    typeof first.b64_json === "string"
      ? decode(first.b64_json, url)
      : typeof first.url === "string"
        ? await fetchImage(first.url, url, scope)
        : undefined;
  if (!bytes) throw malformed(url, "the image has neither `b64_json` nor `url`");
  if (bytes.length > imageBytesMax)
    throw new HallError(
      "TOO_LARGE",
      `the image has ${bytes.length} bytes; at most ${imageBytesMax} can be passed on`,
    );
  const mimeType = kindOfImage(bytes);
  if (!mimeType) throw malformed(url, "what it sent is no PNG, JPEG, WebP or GIF");
  return {
    bytes,
    mimeType,
    size,
    revisedPrompt:
      typeof first.revised_prompt === "string" ? first.revised_prompt.slice(0, 4_000) : undefined,
  };
}

function decode(text: string, url: URL): Buffer {
  const plain = text.replace(/^data:[^,]*,/, "");
  if (!/^[A-Za-z0-9+/\s]+=*\s*$/.test(plain)) throw malformed(url, "`b64_json` is not base64");
  return Buffer.from(plain, "base64");
}

/** Where the endpoint says the picture is; inside this network only when that is where the endpoint itself is. */
async function fetchImage(address: string, endpoint: URL, scope: Scope): Promise<Buffer> {
  if (address.startsWith("data:")) return decode(address, endpoint);
  if (!URL.canParse(address, endpoint.href)) throw malformed(endpoint, "`url` is no address");
  const url = new URL(address, endpoint.href);
  if (url.origin === endpoint.origin) return fetchBeside(url, scope);
  const { createFetcher } = await import("../../net/public-fetch.ts");
  return (await createFetcher()(url, { signal: scope.signal, bytesMax: imageBytesMax })).bytes;
}

/** From the endpoint's own host, without the key: whoever may ask it for pictures may fetch them. */
async function fetchBeside(url: URL, scope: Scope): Promise<Buffer> {
  const dialler = createDialler(undefined);
  try {
    const response = await dialler.send(url, {
      headers: { accept: "image/*" },
      signal: scope.signal,
    });
    if (!response.ok)
      throw malformed(url, `the picture it names is not there (HTTP ${response.status})`);
    return await readAll(response, imageBytesMax);
  } catch (error) {
    throw scope.cancelled ?? explain(error);
  } finally {
    dialler.close();
  }
}

function kindOfImage(bytes: Buffer): string | undefined {
  if (bytes.subarray(0, 8).equals(Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])))
    return "image/png";
  if (bytes[0] === 0xff && bytes[1] === 0xd8 && bytes[2] === 0xff) return "image/jpeg";
  const head = bytes.toString("latin1", 0, 12);
  if (head.startsWith("RIFF") && head.endsWith("WEBP")) return "image/webp";
  return head.startsWith("GIF8") ? "image/gif" : undefined;
}

function malformed({ origin }: URL, problem: string): HallError {
  return new HallError("BAD_ANSWER", `the images endpoint at ${origin}: ${problem}`, {
    hint: "Check that images.url speaks OpenAI's images API.",
  });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Not JSON: whoever asked says what is missing.
    return undefined;
  }
}
