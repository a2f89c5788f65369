import type { IncomingMessage, ServerResponse } from "node:http";
import type { TLSSocket } from "node:tls";
import type { Advice } from "../../base/advice.ts";
import { type ErrorCode, errorTable, HallError, messageOf } from "../../base/errors.ts";
import { type JsonObject, parseObject } from "../../base/json.ts";
import { createInOrder } from "../../base/one-at-a-time.ts";
import { EventStream, type StreamEvent } from "../../net/event-stream.ts";
import { isAllowed } from "../rights.ts";
import type { AccessTokens } from "./access-tokens.ts";
import { readBody } from "./body.ts";
import { headerValues, type Identity, refuseWithout } from "./guard.ts";
import { callbackPath } from "./issuer-sign-in.ts";
import { type PageFiles, pageHeaders } from "./page-files.ts";
import type { OpenedSession, PageCaller, PageSessions } from "./page-sessions.ts";
import { sendJson } from "./post.ts";
import { invalidRequest, notAllowed, type Refusal, refuseUnavailable } from "./refusal.ts";

/** The hall behind the page. */
export interface PageHost {
  /** The scope that a method requires; undefined for an unknown one. */
  scopeOf(method: string): string | undefined;
  /** Throws HallError. */
  ask(method: string, params: JsonObject, caller: PageCaller): Promise<unknown>;
  /** Sends what came after the event of this id, then all that follows. Returns a function that ends it. */
  follow(
    after: string | undefined,
    caller: Identity,
    send: (event: StreamEvent) => void,
  ): () => void;
}

export interface PageDoorOptions {
  readonly files: PageFiles;
  readonly sessions: PageSessions;
  readonly host: PageHost;
  /** People sign in at their issuers. */
  readonly accessTokens?:
    | Pick<AccessTokens, "signInIssuers" | "beginSignIn" | "finishSignIn">
    | undefined;
  /** Where browsers reach the hall, if it is not where it listens. */
  readonly publicUrl?: string | undefined;
  /** Of the page, the same for every request. */
  readonly bodyBytesMax: number;
}

const csrfHeader = "x-guildhall-csrf";
const api = "/api/page/";

/**
 * Serves the page and its API. The files hold no secret and are for everybody who reaches the port.
 * Every request of the API needs a session: the cookie, the header that only the page's own origin
 * can send, and no sign of another origin.
 */
export class PageDoor {
  readonly #options: PageDoorOptions;

  constructor(options: PageDoorOptions) {
    this.#options = options;
  }

  /** True for requests that are answered here, without the token that other routes require. */
  isFor(request: IncomingMessage, path: string): boolean {
    if (path.startsWith(api) || path.startsWith("/assets/") || path === callbackPath) return true;
    return path === "/" && wantsPage(request);
  }

  async serve(
    request: IncomingMessage,
    response: ServerResponse,
    path: string,
  ): Promise<Refusal | undefined> {
    if (path.startsWith(api)) return this.#serveApi(request, response, path.slice(api.length));
    const isRead = request.method === "GET" || request.method === "HEAD";
    if (!isRead) return notAllowed("GET, HEAD");
    // The page reads the answer of an issuer, and sends it on in the session that asked for it.
    const file = path === callbackPath ? "/" : path;
    return this.#options.files.send(file, request, response)
      ? undefined
      : { status: 404, code: "NOT_FOUND", message: "the page has no such file, or is not built" };
  }

  async #serveApi(
    request: IncomingMessage,
    response: ServerResponse,
    method: string,
  ): Promise<Refusal | undefined> {
    for (const [name, value] of Object.entries(pageHeaders)) response.setHeader(name, value);
    response.setHeader("cache-control", "no-store");
    const foreign = refuseForeign(request);
    if (foreign) return foreign;
    if (method === "events") {
      if (request.method !== "GET") return notAllowed("GET");
      const caller = await this.#identify(request);
      return "refusal" in caller ? caller.refusal : this.#follow(request, response, caller);
    }

    if (request.method !== "POST") return notAllowed("POST");
    const isJson = /^application\/json\b/i.test(request.headers["content-type"] ?? "");
    if (!isJson) return invalidRequest(415, "the body must be application/json", { closes: true });
    if (method === "sign-in") return this.#signIn(request, response);
    const caller = await this.#identify(request);
    if ("refusal" in caller) return caller.refusal;
    if (method === "sign-out") return this.#signOut(request, response);
    return this.#ask(request, response, method, caller);
  }

  async #ask(
    request: IncomingMessage,
    response: ServerResponse,
    method: string,
    caller: PageCaller,
  ): Promise<Refusal | undefined> {
    const { host } = this.#options;
    const scope = host.scopeOf(method);
    if (scope === undefined)
      return { status: 404, code: "NOT_FOUND", message: "the page has no such method" };
    const refusal = refuseWithout(scope, caller);
    if (refusal) return refusal;
    const params = await this.#readParams(request);
    if ("refusal" in params) return params.refusal;
    try {
      const result = await host.ask(method, params.body, caller);
      sendAnswer(response, { result });
    } catch (error) {
      sendAnswer(response, { error: describeError(error) });
    }
    return undefined;
  }

  async #signIn(request: IncomingMessage, response: ServerResponse): Promise<Refusal | undefined> {
    const params = await this.#readParams(request);
    if ("refusal" in params) return params.refusal;
    const { sessions, accessTokens } = this.#options;
    const { code, token, issuer, answer, state, verifier } = params.body;
    let opened: OpenedSession | undefined;
    try {
      if (typeof code === "string") opened = await sessions.open({ code });
      else if (typeof token === "string") opened = await sessions.open({ token });
      else if (typeof issuer !== "string" || !accessTokens) {
        sendAnswer(response, { result: { issuers: accessTokens?.signInIssuers ?? [] } });
        return undefined;
      } else if (typeof answer !== "string") {
        sendAnswer(response, { result: await accessTokens.beginSignIn(issuer) });
        return undefined;
      } else {
        const answered = { answer, state: String(state), verifier: String(verifier) };
        opened = await sessions.open({ token: await accessTokens.finishSignIn(issuer, answered) });
      }
    } catch (error) {
      sendAnswer(response, { error: describeError(error) });
      return undefined;
    }
    if (!opened)
      return {
        status: 401,
        code: "DENIED",
        message: "the code or token is wrong, used or expired",
        next: [{ do: "run-command", command: "open" }],
      };
    const { id, csrf, seconds } = opened;
    response.setHeader("set-cookie", this.#cookie(request, id, seconds));
    sendAnswer(response, { result: { csrf } });
    return undefined;
  }

  async #signOut(request: IncomingMessage, response: ServerResponse): Promise<undefined> {
    await this.#options.sessions.close(cookieOf(request) ?? "");
    response.setHeader("set-cookie", this.#cookie(request, "", 0));
    sendAnswer(response, { result: {} });
    return undefined;
  }

  #cookie(request: IncomingMessage, value: string, seconds: number): string {
    const { publicUrl } = this.#options;
    const isEncrypted = (request.socket as Partial<TLSSocket>).encrypted === true;
    // A proxy may have taken the encryption off.
    const isSecure = isEncrypted || publicUrl === `https://${request.headers.host}`;
    const name = cookieName(request);
    return `${name}=${value}; Path=/api/page; HttpOnly; SameSite=Strict; Max-Age=${seconds}${isSecure ? "; Secure" : ""}`;
  }

  async #identify(request: IncomingMessage): Promise<PageCaller | { readonly refusal: Refusal }> {
    const [csrf, ...more] = headerValues(request, csrfHeader);
    const id = cookieOf(request);
    const isGiven = id !== undefined && csrf !== undefined && more.length === 0;
    try {
      const caller = isGiven ? await this.#options.sessions.find(id, csrf) : undefined;
      return caller ?? { refusal: signedOut };
    } catch (error) {
      if (!(error instanceof HallError)) throw error;
      return { refusal: refuseUnavailable(error) };
    }
  }

  #follow(
    request: IncomingMessage,
    response: ServerResponse,
    caller: Identity,
  ): Refusal | undefined {
    if (!isAllowed(caller.rights, "read")) return refuseWithout("read", caller);
    const stream = new EventStream(response, {
      keepAliveMs: 15_000,
      bufferBytesMax: 1024 * 1024,
      stalledMsMax: 10_000,
    });
    const after = headerValues(request, "last-event-id")[0];
    const inOrder = createInOrder();
    const stop = this.#options.host.follow(after, caller, (event) => {
      void inOrder(async () => {
        // A session that has ended meanwhile gets no more events.
        if ("refusal" in (await this.#identify(request))) stream.end();
        else stream.send(event);
      });
    });
    response.on("close", stop);
    return undefined;
  }

  async #readParams(
    request: IncomingMessage,
  ): Promise<{ readonly body: JsonObject } | { readonly refusal: Refusal }> {
    const bytes = await readBody(request, this.#options.bodyBytesMax);
    if (!Buffer.isBuffer(bytes)) return { refusal: bytes };
    const body = parseObject(bytes.toString("utf8"));
    if (body) return { body };
    return { refusal: { status: 400, code: "PARSE", message: "the body must be a JSON object" } };
  }
}

/** True for a browser; programs do not ask for text/html. */
function wantsPage({ method, headers }: IncomingMessage): boolean {
  return (
    (method === "GET" || method === "HEAD") && /(^|,)\s*text\/html\b/i.test(headers.accept ?? "")
  );
}

const signedOut: Refusal = {
  status: 401,
  code: "DENIED",
  message: "this browser is not signed in",
  next: [{ do: "run-command", command: "open" }],
};

/**
 * Other ports of this host are other origins but the same site, and get its cookies: SameSite does not
 * stop them, the exact origin does.
 */
function refuseForeign(request: IncomingMessage): Refusal | undefined {
  const { origin, host, "sec-fetch-site": site } = request.headers;
  const isForeign = site !== undefined && site !== "same-origin";
  const isOtherOrigin = origin !== undefined && new URL(origin).host !== host;
  if (!isForeign && !isOtherOrigin) return undefined;
  return { status: 403, code: "DENIED", message: "this Origin is not allowed", closes: true };
}

/**
 * Halls on different ports of one host must not replace each other's cookie. The port is the one
 * that the browser knows: halls behind a balancer share the cookie, whichever port each listens on.
 */
function cookieName({ headers }: IncomingMessage): string {
  return `guildhall_${/:(\d+)$/.exec(headers.host ?? "")?.[1] ?? "0"}`;
}

function cookieOf(request: IncomingMessage): string | undefined {
  const prefix = `${cookieName(request)}=`;
  const pairs = (request.headers.cookie ?? "").split(";").map((pair) => pair.trim());
  const found = pairs.filter((pair) => pair.startsWith(prefix));
  // Two of the same name: another port has set one of them.
  return found.length === 1 ? found[0]?.slice(prefix.length) : undefined;
}

/** A failure as the page shows it: the next steps become buttons. */
export interface PageError {
  readonly code: ErrorCode;
  readonly message: string;
  readonly hint: string | undefined;
  readonly next: readonly Advice[];
}

export function describeError(failure: unknown): PageError {
  const error =
    failure instanceof HallError ? failure : new HallError("INTERNAL", messageOf(failure));
  const { code, message, next = [] } = error;
  return { code, message, hint: error.hint ?? errorTable[code].hint, next };
}

function sendAnswer(response: ServerResponse, answer: object): void {
  sendJson(response, 200, JSON.stringify(answer));
}
