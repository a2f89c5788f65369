import type { PageAnswer, PageError, PageEvent, PageMethods } from "../src/hall/page/contract.ts";

/** Requests to the hall and its event stream. The page talks to nothing else. */

/** The second secret of the session; other ports of this host get the cookie but cannot read this. */
const csrfKey = "guildhall.csrf";

export class ApiFailure extends Error {
  readonly error: PageError;

  constructor(error: PageError) {
    super(error.message);
    this.error = error;
  }
}

/** The hall does not answer: it is stopped, or restarts. */
export class Offline extends Error {}
/** The session is over. */
export class SignedOut extends Error {}

export async function ask<M extends keyof PageMethods>(
  method: M,
  params: PageMethods[M]["params"],
): Promise<PageMethods[M]["result"]> {
  return post(method, params) as Promise<PageMethods[M]["result"]>;
}

/** A sign-in at an issuer that has begun; its secrets stay in this tab. */
export interface StartedSignIn {
  readonly url: string;
  readonly state: string;
  readonly verifier: string;
}

interface IssuerAnswer extends Omit<StartedSignIn, "url"> {
  readonly issuer: string;
  readonly answer: string;
}

/** The issuers at which people can sign in. */
export async function readIssuers(): Promise<readonly string[]> {
  const { issuers } = (await post("sign-in", {})) as { issuers: readonly string[] };
  return issuers;
}

export async function beginSignIn(issuer: string): Promise<StartedSignIn> {
  return (await post("sign-in", { issuer })) as StartedSignIn;
}

export async function signIn(
  given: { code: string } | { token: string } | IssuerAnswer,
): Promise<void> {
  const { csrf } = (await post("sign-in", given)) as { csrf: string };
  localStorage.setItem(csrfKey, csrf);
}

export async function signOut(): Promise<void> {
  await post("sign-out", {});
  localStorage.removeItem(csrfKey);
}

async function post(method: string, params: object): Promise<unknown> {
  const response = await send(`/api/page/${method}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...csrf() },
    body: JSON.stringify(params),
  });
  const body: unknown = await response.json().catch(() => undefined);
  if (!response.ok) throw refusalOf(response, body, method);
  const answer = body as PageAnswer<unknown>;
  if ("error" in answer) throw new ApiFailure(answer.error);
  return answer.result;
}

function csrf(): Record<string, string> {
  return { "x-guildhall-csrf": localStorage.getItem(csrfKey) ?? "" };
}

async function send(path: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(path, { ...init, credentials: "same-origin", redirect: "error" });
  } catch {
    throw new Offline("the hall does not answer");
  }
}

/** The door refuses with a JSON-RPC error, as it does for every client. */
function refusalOf({ status }: Response, body: unknown, method: string): Error {
  if (status === 503) return new Offline("the hall is shutting down");
  const { error } = (body ?? {}) as {
    error?: { message?: string; data?: { suggestion?: string; next?: PageError["next"] } };
  };
  const message = error?.message ?? `the hall answered with ${status}`;
  if (status === 401 && method !== "sign-in") return new SignedOut(message);
  const { suggestion: hint, next = [] } = error?.data ?? {};
  return new ApiFailure({ code: "DENIED", message, hint, next });
}

/**
 * Follows the hall after this event until the signal ends it. Reconnects with the id of the last
 * event, so that nothing is missed.
 */
export async function followEvents(
  heard: (event: PageEvent) => void,
  connected: (state: "open" | "lost" | "signed-out") => void,
  { after, signal }: { readonly after: string; readonly signal: AbortSignal },
): Promise<void> {
  let last = after;
  let waitMs = retryMs;
  while (!signal.aborted) {
    const turn = await takeTurn(signal);
    try {
      const response = await send("/api/page/events", {
        headers: { ...csrf(), ...(last === "" ? {} : { "last-event-id": last }) },
        signal: turn.signal,
      });
      if (response.status === 401) return connected("signed-out");
      if (!response.ok || !response.body) throw new Offline("no event stream");
      connected("open");
      waitMs = retryMs;
      await readEvents(response.body, (id, data) => {
        last = id;
        heard(JSON.parse(data) as PageEvent);
      });
    } catch {
      // Lost below.
    } finally {
      turn.end();
    }
    // Another hidden page has the stream; this one continues when it is shown.
    if (turn.signal.aborted) continue;
    connected("lost");
    await new Promise((resolve) => setTimeout(resolve, waitMs));
    waitMs = Math.min(waitMs + retryMs, retryMsMax);
  }
}

const retryMs = 300;
const retryMsMax = 3_000;

interface Turn {
  /** Aborted when the page has to let go of its stream. */
  readonly signal: AbortSignal;
  end(): void;
}

/**
 * A browser opens six connections to a hall, for all pages together, and a stream takes one of them. Every page that
 * is shown has a stream, and of the hidden ones one, which notifies.
 */
async function takeTurn(signal: AbortSignal): Promise<Turn> {
  // Absent where the address is not trustworthy: HTTP to another machine.
  const { locks } = navigator as { readonly locks?: LockManager };
  if (!locks) return { signal, end() {} };
  if (document.visibilityState === "visible") return endWhenHidden(signal);
  const shown = new AbortController();
  const show = (): void => shown.abort();
  document.addEventListener("visibilitychange", show);
  try {
    return { signal, end: await takeLock(locks, AbortSignal.any([signal, shown.signal])) };
  } catch {
    // Shown, or signed out, before its turn came.
    return signal.aborted ? { signal, end() {} } : takeTurn(signal);
  } finally {
    document.removeEventListener("visibilitychange", show);
  }
}

function endWhenHidden(signal: AbortSignal): Turn {
  const hidden = new AbortController();
  const hide = (): void => hidden.abort();
  document.addEventListener("visibilitychange", hide);
  return {
    signal: AbortSignal.any([signal, hidden.signal]),
    end: () => document.removeEventListener("visibilitychange", hide),
  };
}

/** Resolves with the function that releases it. */
function takeLock(locks: LockManager, signal: AbortSignal): Promise<() => void> {
  return new Promise((resolve, reject) => {
    const hold = (): Promise<void> => new Promise((release) => resolve(release));
    locks.request("guildhall events", { signal }, hold).catch(reject);
  });
}

/** The hall sends something every 15 s; without it the connection is lost, such as after a sleep. */
const quietMsMax = 45_000;

async function readEvents(
  body: ReadableStream<Uint8Array>,
  heard: (id: string, data: string) => void,
): Promise<void> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  for (;;) {
    const timer = setTimeout(() => void reader.cancel(), quietMsMax);
    const { done, value } = await reader.read().finally(() => clearTimeout(timer));
    if (done) return;
    text += decoder.decode(value, { stream: true });
    const blocks = text.split("\n\n");
    text = blocks.pop() ?? "";
    for (const block of blocks) readBlock(block, heard);
  }
}

function readBlock(block: string, heard: (id: string, data: string) => void): void {
  const lines = block.split("\n");
  const field = (name: string): string[] =>
    lines.filter((line) => line.startsWith(`${name}: `)).map((line) => line.slice(name.length + 2));
  const data = field("data");
  if (data.length > 0) heard(field("id")[0] ?? "", data.join("\n"));
}
