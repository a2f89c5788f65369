import { HallError } from "../../base/errors.ts";
import type { JsonObject } from "../../base/json.ts";
import { version } from "../../base/version.ts";
import {
  createDialler,
  type Dialler,
  explain,
  isRefused,
  lookupOutside,
  retryAfterMs,
} from "../../net/dial.ts";
import { kindOfHost } from "../../net/host.ts";
import { readBody } from "../../net/public-fetch.ts";
import type { Outcome } from "../../tool.ts";
import type { Authorizer } from "../oauth.ts";
import { type Credentials, findCredentials, noCredentials } from "./credentials.ts";
import { encodeBody } from "./encode-body.ts";
import type { Api, Operation } from "./operation.ts";
import { type ApiAnswer, toOutcome } from "./result.ts";
import { refused, writeParameters } from "./serialize.ts";

export interface SenderOptions {
  readonly auth: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly allowPrivate: boolean;
  readonly authorizer: Authorizer | undefined;
  readonly messageBytesMax: number;
}

const redirectsMax = 3;

/** A request without its credentials. */
interface Request {
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly cookies: readonly string[];
  readonly body: Buffer | undefined;
}

/** Sends the HTTP requests of one API: a tool call becomes a request, and its response an outcome. */
export class Sender {
  readonly #options: SenderOptions;
  /** One for each origin, so that sockets stay open between calls. */
  readonly #diallers = new Map<string, Dialler>();

  constructor(options: SenderOptions) {
    this.#options = options;
  }

  /** Throws HallError if there is no response; an error response is an outcome. */
  async call(
    operation: Operation,
    api: Api,
    args: JsonObject,
    signal: AbortSignal,
  ): Promise<Outcome> {
    const { messageBytesMax } = this.#options;
    const request = writeRequest(operation, args);
    const response = await this.#sendAuthorized(operation, api, request, signal);
    // A body that becomes base64 in the result grows by a third.
    const bytesMax = Math.floor(messageBytesMax * 0.7);
    const { status, headers } = response.answer;
    const waitMs = retryAfterMs(response.answer);
    const fetched = await readBody(response.answer, response.url, { bytesMax, signal });
    const answer: ApiAnswer = { ...fetched, status, headers };
    // The result contains JSON twice: as text and as structured content.
    const outcome = toOutcome(operation, answer, Math.floor(messageBytesMax / 3));
    if (waitMs !== undefined) throw limited(answer, outcome, waitMs);
    return outcome;
  }

  close(): void {
    for (const dialler of this.#diallers.values()) dialler.close();
  }

  /** Sends credentials to the API's own origin only. Renews an OAuth token once if the API rejects it. */
  async #sendAuthorized(
    operation: Operation,
    api: Api,
    request: Request,
    signal: AbortSignal,
  ): Promise<Received> {
    const { auth, headers, authorizer } = this.#options;
    const hasHeaders = Object.keys(headers).length > 0;
    const isOwn = request.url.origin === new URL(api.baseUrl).origin;
    for (let attempt = 0; ; attempt++) {
      const credentials = isOwn
        ? await findCredentials(operation, api, { auth, hasHeaders, authorizer })
        : noCredentials;
      const sent = withCredentials(request, credentials, isOwn ? headers : {});
      const received = await this.#follow(sent, signal);
      const mayRenew = credentials.isOAuth && isRefused(received.answer) && attempt === 0;
      if (!mayRenew) return received;
      const { status, headers: given } = received.answer;
      const challenge = new Response(null, { status, headers: given });
      const isRenewed = await authorizer?.authorize(challenge, sent.headers.authorization);
      if (isRenewed !== true) return received;
      await received.answer.body?.cancel();
    }
  }

  /**
   * Follows redirects of requests that only read. Another origin gets neither credentials nor
   * headers of the config.
   */
  async #follow(start: Request, signal: AbortSignal): Promise<Received> {
    let request = start;
    for (let redirects = 0; ; redirects++) {
      const { url, method, headers, body } = request;
      const answer = await this.#diallerFor(url)
        .send(url, { method, headers, signal, ...(body ? { body } : {}) })
        .catch((error: unknown) => {
          throw signal.aborted ? signal.reason : explain(error);
        });
      const target = redirectOf(answer, url);
      const isReading = method === "GET" || method === "HEAD";
      if (!target || !isReading || redirects === redirectsMax) return { answer, url };
      const isSame = target.origin === url.origin;
      if (!isSame) this.#requireSafe(target);
      await answer.body?.cancel();
      request = { ...request, url: target, headers: isSame ? headers : bareHeaders };
    }
  }

  #requireSafe(target: URL): void {
    const kind = kindOfHost(target.hostname);
    const isEncrypted = target.protocol === "https:" || kind === "loopback";
    if (isEncrypted && (kind === "public" || this.#options.allowPrivate)) return;
    const why = isEncrypted ? "which is not public" : "which is not encrypted";
    throw new HallError("DENIED", `the API redirects to ${target.origin}, ${why}`, {
      hint: "The redirect was not followed.",
    });
  }

  #diallerFor(url: URL): Dialler {
    const known = this.#diallers.get(url.origin);
    if (known) return known;
    const dialler = createDialler(lookupOutside(url, this.#options.allowPrivate));
    this.#diallers.set(url.origin, dialler);
    return dialler;
  }
}

interface Received {
  readonly answer: Response;
  readonly url: URL;
}

const bareHeaders = {
  accept: "application/json, */*;q=0.8",
  "accept-encoding": "gzip, br",
  "user-agent": `guildhall/${version}`,
};

function writeRequest(operation: Operation, args: JsonObject): Request {
  const { path, query, headers, cookies } = writeParameters(operation, args);
  const body = encodeBody(operation, args);
  const search = query.length === 0 ? "" : `?${query.join("&")}`;
  const text = `${operation.baseUrl}${path}${search}`;
  if (!URL.canParse(text)) throw refused("the arguments make no valid address");
  return {
    method: operation.method,
    url: new URL(text),
    cookies,
    headers: {
      ...bareHeaders,
      ...headers,
      ...(body ? { "content-type": body.contentType } : {}),
    },
    body: body?.bytes,
  };
}

function withCredentials(
  { url, cookies, ...request }: Request,
  credentials: Credentials,
  configured: Readonly<Record<string, string>>,
): Request {
  const target = new URL(url);
  const query = [target.search.slice(1), ...credentials.query].filter((part) => part !== "");
  target.search = query.join("&");
  const all = [...cookies, ...credentials.cookies];
  const own = Object.entries(configured).map(([name, value]) => [name.toLowerCase(), value]);
  return {
    ...request,
    url: target,
    cookies: all,
    headers: {
      ...request.headers,
      ...Object.fromEntries(own),
      ...credentials.headers,
      ...(all.length > 0 ? { cookie: all.join("; ") } : {}),
    },
  };
}

function redirectOf({ status, headers }: Response, from: URL): URL | undefined {
  const location = headers.get("location");
  if (![301, 302, 303, 307, 308].includes(status) || location === null) return undefined;
  return URL.canParse(location, from.href) ? new URL(location, from) : undefined;
}

/** `client/retry-after.ts` reads `retryAfterSeconds`: it waits and sends again if the call has enough time left. */
function limited({ status }: ApiAnswer, { content }: Outcome, waitMs: number): HallError {
  const text = String(content[0]?.text ?? "").slice(0, 1_000);
  return new HallError(status === 429 ? "RATE_LIMITED" : "UNAVAILABLE", text, {
    details: { status, retryAfterSeconds: Math.ceil(waitMs) / 1000 },
  });
}
