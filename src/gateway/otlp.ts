import { messageOf } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { version } from "../base/version.ts";

export interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly name: string;
  readonly isNested: boolean;
  /** Milliseconds since 1970, with fractions. */
  readonly startedAt: number;
  readonly endedAt: number;
  readonly errorType: string | undefined;
  readonly attributes: Readonly<Record<string, string>>;
}

/** Sends spans to an OpenTelemetry collector, as OTLP over HTTP in JSON. */
export interface Exporter {
  send(span: Span): void;
  /** Tries once to send the queued spans. */
  close(): Promise<void>;
}

export interface ExporterOptions {
  readonly url: string;
  readonly log: Pick<Log, "warn">;
  readonly everyMs?: number;
}

const waitingMax = 4_096;
const batchMax = 512;
const answerMsMax = 10_000;

/**
 * Never delays a call. While the collector is unavailable spans are queued up to a limit; then the
 * oldest are dropped and counted.
 */
export function createExporter({ url, log, everyMs = 2_000 }: ExporterOptions): Exporter {
  const endpoint = endpointOf(url);
  const waiting: Span[] = [];
  let dropped = 0;
  let timer: NodeJS.Timeout | undefined;
  let sending: Promise<void> | undefined;
  let isFailing = false;

  function send(span: Span): void {
    if (waiting.length >= waitingMax) {
      waiting.shift();
      dropped++;
    }
    waiting.push(span);
    if (waiting.length >= batchMax && !isFailing) flush();
    else schedule();
  }

  function schedule(): void {
    timer ??= setTimeout(flush, everyMs).unref();
  }

  function flush(): void {
    clearTimeout(timer);
    timer = undefined;
    sending ??= post().finally(() => {
      sending = undefined;
      if (waiting.length > 0) schedule();
    });
  }

  async function post(): Promise<void> {
    const batch = waiting.splice(0, batchMax);
    if (batch.length === 0) return;
    try {
      const response = await fetch(endpoint, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(writeSpans(batch)),
        redirect: "error",
        signal: AbortSignal.timeout(answerMsMax),
      });
      await response.body?.cancel();
      if (response.ok) return succeeded();
      // Do not resend a batch the collector rejected for good.
      failed(isTransient(response.status) ? batch : [], `HTTP ${response.status}`);
    } catch (error) {
      failed(batch, messageOf(error));
    }
  }

  function succeeded(): void {
    if (isFailing) log.warn({ endpoint, dropped }, "trace export works again");
    isFailing = false;
    dropped = 0;
  }

  function failed(batch: readonly Span[], reason: string): void {
    const room = Math.max(0, waitingMax - waiting.length);
    dropped += Math.max(0, batch.length - room);
    waiting.unshift(...batch.slice(Math.max(0, batch.length - room)));
    if (!isFailing)
      log.warn(
        { endpoint, reason },
        "cannot export traces; spans are queued, and the oldest are dropped if there are too many",
      );
    isFailing = true;
  }

  return {
    send,
    async close() {
      clearTimeout(timer);
      await sending;
      while (waiting.length > 0 && !isFailing) await post();
      clearTimeout(timer);
    },
  };
}

function isTransient(status: number): boolean {
  return status === 429 || status === 502 || status === 503 || status === 504;
}

/** The base URL of the collector or the full endpoint, as in other exporters. */
function endpointOf(url: string): string {
  const whole = new URL(url);
  if (whole.pathname === "/") whole.pathname = "/v1/traces";
  return whole.href;
}

function writeSpans(spans: readonly Span[]): unknown {
  const resource = {
    attributes: [attribute("service.name", "guildhall"), attribute("service.version", version)],
  };
  return {
    resourceSpans: [
      {
        resource,
        scopeSpans: [{ scope: { name: "guildhall", version }, spans: spans.map(writeSpan) }],
      },
    ],
  };
}

const kinds = { internal: 1, server: 2 };
const statusError = 2;

function writeSpan(span: Span): unknown {
  const { traceId, spanId, parentSpanId, name, errorType } = span;
  const marks = {
    ...span.attributes,
    ...(errorType === undefined ? {} : { "error.type": errorType }),
  };
  return {
    traceId,
    spanId,
    parentSpanId,
    name,
    kind: span.isNested ? kinds.internal : kinds.server,
    startTimeUnixNano: nanoseconds(span.startedAt),
    endTimeUnixNano: nanoseconds(span.endedAt),
    attributes: Object.entries(marks).map(([key, value]) => attribute(key, value)),
    status: errorType === undefined ? undefined : { code: statusError },
  };
}

function attribute(key: string, value: string): unknown {
  return { key, value: { stringValue: value } };
}

/** BigInt: a number cannot hold nanoseconds since 1970. */
function nanoseconds(ms: number): string {
  return String(BigInt(Math.round(ms * 1_000)) * 1_000n);
}
