import { HallError, messageOf } from "../base/errors.ts";
import type { Dialled } from "./dial.ts";

/** Interprets HTTP responses. */

/** The token is missing or rejected. */
export function isRefused({ status }: Dialled): boolean {
  return status === 401 || status === 403;
}

export function retryAfterMs(response: Pick<Dialled, "status" | "headers">): number | undefined {
  if (response.status !== 429 && response.status !== 503) return undefined;
  const header = response.headers.get("retry-after");
  if (header === null) return undefined;
  const seconds = Number(header);
  if (Number.isFinite(seconds)) return Math.max(0, seconds * 1000);
  const date = Date.parse(header);
  return Number.isNaN(date) ? undefined : Math.max(0, date - Date.now());
}

/** The error for an HTTP response that carries no message. */
export async function refusal(response: Dialled, hasSession: boolean): Promise<HallError> {
  const { status } = response;
  await response.body?.cancel().catch(() => {});
  if (status === 404 && hasSession)
    return new HallError("UNAVAILABLE", "the session has expired", {
      details: { expired: true },
    });
  if (isRefused(response))
    return new HallError("DENIED", `HTTP ${status}: the server rejected the token`, {
      details: { status },
    });
  if (status >= 300 && status < 400)
    return new HallError(
      "BAD_ANSWER",
      `HTTP ${status}: redirects to another host are not followed`,
    );
  const waitMs = retryAfterMs(response);
  const details = {
    status,
    ...(waitMs === undefined ? {} : { retryAfterSeconds: Math.ceil(waitMs) / 1000 }),
  };
  if (status === 429)
    return new HallError("RATE_LIMITED", "HTTP 429: the server limits the rate of calls", {
      details,
    });
  if (status >= 500) return new HallError("UNAVAILABLE", `HTTP ${status}`, { details });
  if (status >= 400) return new HallError("EXECUTION", `HTTP ${status}`, { details });
  return new HallError(
    "BAD_ANSWER",
    `HTTP ${status} with ${response.headers.get("content-type") ?? "no content type"}`,
  );
}

export function explain(error: unknown): HallError {
  if (error instanceof HallError) return error;
  return new HallError("UNAVAILABLE", `cannot be reached: ${reasonOf(error)}`, {
    cause: error,
    details: { unreachable: true },
  });
}

export function cutShort(error: unknown): HallError {
  return new HallError("BAD_ANSWER", `the response ended early: ${reasonOf(error)}`, {
    cause: error,
    hint: "The tool may or may not have done its work.",
  });
}

/** If several addresses fail, report the first one. */
function reasonOf(error: unknown): string {
  const first: unknown = error instanceof AggregateError ? error.errors[0] : error;
  return messageOf(first);
}

export function isEventStream(response: Dialled): boolean {
  return (
    response.ok &&
    (response.headers.get("content-type")?.toLowerCase().startsWith("text/event-stream") ?? false)
  );
}

/** The bytes of a body, up to a limit and a pause between chunks. */
export async function* whileAlive(
  response: Dialled,
  silentMsMax: number,
  cut: () => void,
): AsyncGenerator<Uint8Array> {
  const timer = setTimeout(cut, silentMsMax);
  timer.unref();
  try {
    for await (const chunk of response.body ?? []) {
      timer.refresh();
      yield chunk;
    }
  } finally {
    clearTimeout(timer);
  }
}

export async function readAll(response: Dialled, bytesMax: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of response.body ?? []) {
      bytes += chunk.length;
      if (bytes > bytesMax)
        throw new HallError("TOO_LARGE", `the answer is over ${bytesMax} bytes`);
      chunks.push(chunk);
    }
  } catch (error) {
    throw error instanceof HallError ? error : cutShort(error);
  }
  return Buffer.concat(chunks);
}
