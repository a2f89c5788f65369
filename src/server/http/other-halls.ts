import { createHmac, timingSafeEqual } from "node:crypto";
import { type IncomingMessage, type ServerResponse, request as sendPlain } from "node:http";
import { request as sendSecure } from "node:https";
import { isDeepStrictEqual } from "node:util";
import { HallError } from "../../base/errors.ts";
import { isObject, type JsonObject } from "../../base/json.ts";
import type { Scope } from "../../base/scope.ts";
import type { Id, Message } from "../../wire/message.ts";
import { rightsWithoutToken } from "../rights.ts";
import type { Identity } from "./guard.ts";
import type { Refusal } from "./refusal.ts";

/** The other halls that share the database, as a listener sees them. */
export interface HallsNearby {
  /** This hall. */
  readonly hall: string;
  /** Shared by all; signs who the caller is. */
  readonly key: Buffer;
  /** Where a hall listens; undefined if it has not been there for a while. */
  find(hall: string): string | undefined;
  /** True while it renews its lease. */
  isThere(hall: string): boolean;
  /** Another hall that takes new requests. */
  any(): string | undefined;
  /** Reads which halls are there now. Throws UNAVAILABLE. */
  refresh(): Promise<void>;
}

type Signed = Pick<IncomingMessage, "method" | "url">;

const asHall: Identity = { principal: "hall", rights: { scopes: [] } };
const header = "x-guildhall-caller";
const signedMsMax = 30_000;
/** A hall that was suspended may continue within this time; after it, the hall counts as gone. */
const silentMsMax = 10_000;
const watchMs = 500;

/**
 * A session, a suspended call and a task live in the hall that began them. Their ids begin with its
 * name, so that any hall can pass a request about them on to it.
 */
export class OtherHalls {
  readonly #nearby: HallsNearby;

  constructor(nearby: HallsNearby) {
    this.#nearby = nearby;
  }

  get hall(): string {
    return this.#nearby.hall;
  }

  /** The hall that an id names, if it is another one that can be reached. */
  ownerOf(id: unknown): string | undefined {
    const hall = hallOf(id);
    if (hall === undefined || hall === this.hall) return undefined;
    return this.#nearby.find(hall) === undefined ? undefined : hall;
  }

  /** As `ownerOf`, also for a hall that has just started. */
  async locate(id: unknown): Promise<string | undefined> {
    const hall = hallOf(id);
    const isNew = hall !== undefined && hall !== this.hall && !this.#nearby.find(hall);
    if (isNew) await this.#nearby.refresh().catch(() => {});
    return this.ownerOf(id);
  }

  /** The hall that has what a modern request continues. */
  async ownerOfRequest(message: Message): Promise<string | undefined> {
    const params = message.kind === "request" ? message.params : undefined;
    if (!params) return undefined;
    if (typeof params.requestState === "string") {
      const [encoded = ""] = params.requestState.split(".", 1);
      return this.locate(Buffer.from(encoded, "base64url").toString());
    }
    return this.locate(params.taskId);
  }

  /** The caller that another hall vouches for; undefined for a request that no hall passed on. */
  identify(request: IncomingMessage): Identity | "forged" | undefined {
    const given = request.headers[header];
    if (given === undefined) return undefined;
    const [text = "", signature = ""] = String(given).split(".");
    const ours = this.#sign(request, text);
    const theirs = Buffer.from(signature, "base64url");
    if (ours.length !== theirs.length || !timingSafeEqual(ours, theirs)) return "forged";
    const { until, ...caller } = JSON.parse(Buffer.from(text, "base64url").toString());
    if (until < Date.now()) return "forged";
    // Compared by identity elsewhere.
    return isDeepStrictEqual(caller.rights, rightsWithoutToken)
      ? { ...caller, rights: rightsWithoutToken }
      : caller;
  }

  /**
   * Passes a request on and its answer back. False if the other hall does not listen any more:
   * nothing was sent, and this hall answers as for an unknown id.
   */
  forward(
    hall: string,
    request: IncomingMessage,
    response: ServerResponse,
    {
      caller,
      body,
      id,
    }: { readonly caller: Identity; readonly body?: Buffer; readonly id?: Id | undefined },
  ): Promise<Refusal | undefined | false> {
    const url = this.#nearby.find(hall);
    if (url === undefined) return Promise.resolve(false);
    const headers = {
      ...passedOn(request),
      [header]: this.#vouch(request, caller),
      ...(body ? { "content-length": body.length } : {}),
    };
    return new Promise((resolve) => {
      const send = url.startsWith("https:") ? sendSecure : sendPlain;
      const outgoing = send(new URL(request.url ?? "/", url), { method: request.method, headers });
      let watch: NodeJS.Timeout | undefined;
      const end = (result: Refusal | undefined | false): void => {
        clearInterval(watch);
        resolve(result);
      };
      watch = this.#watch(hall, () => outgoing.destroy(new Error("silent")));
      outgoing.on("response", (incoming) => {
        response.writeHead(incoming.statusCode ?? 502, passedBack(incoming));
        response.flushHeaders();
        incoming.pipe(response);
        incoming.on("error", () => response.destroy());
        incoming.on("close", () => end(undefined));
      });
      outgoing.on("error", (error: NodeJS.ErrnoException) => {
        if (response.headersSent) response.destroy();
        if (response.headersSent || response.destroyed) end(undefined);
        else if (error.code === "ECONNREFUSED" || error.code === "EHOSTUNREACH") end(false);
        else end(hallEnded(id));
      });
      response.on("close", () => outgoing.destroy());
      outgoing.end(body);
    });
  }

  /** Asks another hall for something that only it can do, with this hall as the caller. Throws HallError. */
  async ask(hall: string, path: string, body: JsonObject, scope: Scope): Promise<JsonObject> {
    const url = this.#nearby.find(hall);
    const gone = new HallError(
      "UNAVAILABLE",
      "the hall that its service is connected to has ended",
    );
    if (url === undefined) throw gone;
    const request = { method: "POST", url: path };
    const answer = await fetch(new URL(path, url), {
      method: "POST",
      body: JSON.stringify(body),
      headers: { "content-type": "application/json", [header]: this.#vouch(request, asHall) },
      signal: scope.signal,
    })
      .then((response) => response.json() as Promise<unknown>)
      .catch(() => {
        throw scope.cancelReason ?? gone;
      });
    if (!isObject(answer)) throw gone;
    return answer;
  }

  /** Another hall that takes new requests. */
  any(): string | undefined {
    return this.#nearby.any();
  }

  #vouch(request: Signed, caller: Identity): string {
    const text = JSON.stringify({ ...caller, until: Date.now() + signedMsMax });
    const encoded = Buffer.from(text).toString("base64url");
    return `${encoded}.${this.#sign(request, encoded).toString("base64url")}`;
  }

  #sign({ method, url }: Signed, text: string): Buffer {
    return createHmac("sha256", this.#nearby.key).update(`${method} ${url} ${text}`).digest();
  }

  #watch(hall: string, gone: () => void): NodeJS.Timeout {
    let seenAt = performance.now();
    return setInterval(() => {
      if (this.#nearby.isThere(hall)) seenAt = performance.now();
      else if (performance.now() - seenAt > silentMsMax) gone();
    }, watchMs).unref();
  }
}

function hallOf(id: unknown): string | undefined {
  return typeof id === "string" ? /^([0-9a-f]{12})\./.exec(id)?.[1] : undefined;
}

/** The answer for a call whose hall does not respond. It is unknown whether the call did its work. */
function hallEnded(id: Id | undefined): Refusal {
  return {
    status: 503,
    code: "UNAVAILABLE",
    message: "the hall that has this call ended or does not answer; it may have done its work",
    headers: { "retry-after": "1" },
    details: { retryAfterSeconds: 1 },
    next: [{ do: "retry-after", seconds: 1 }],
    id,
  };
}

const kept = new Set(["accept", "content-type", "last-event-id", "user-agent", "origin"]);

/** Without the caller's token: the other hall trusts our signature. */
function passedOn({ headers }: IncomingMessage): JsonObject & Record<string, string | string[]> {
  const entries = Object.entries(headers).filter(
    ([name, value]) => value !== undefined && (kept.has(name) || name.startsWith("mcp-")),
  );
  return Object.fromEntries(entries) as Record<string, string | string[]>;
}

const ofConnection = new Set(["connection", "keep-alive", "transfer-encoding", "date"]);

function passedBack({ headers }: IncomingMessage): Record<string, string | string[]> {
  const entries = Object.entries(headers).filter(
    ([name, value]) => value !== undefined && !ofConnection.has(name),
  );
  return Object.fromEntries(entries) as Record<string, string | string[]>;
}

/** The id of a message, for a refusal. */
export function idOf(message: unknown): Id | undefined {
  return isObject(message) && message.kind === "request" ? (message.id as Id) : undefined;
}
