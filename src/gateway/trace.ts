import { randomBytes } from "node:crypto";
import { HallError } from "../base/errors.ts";
import type { Call, CallContext } from "../tool.ts";
import type { Span } from "./otlp.ts";
import type { Stage } from "./stage.ts";

/** W3C Trace Context of a call. */
interface TraceContext {
  readonly traceId: string;
  readonly spanId: string;
  readonly flags: string;
}

/**
 * A span per call, with the parent from the caller's `_meta.traceparent`. Upstream and nested calls
 * receive the new span as their parent. An unsampled trace is passed on but not exported.
 */
export const traceCalls =
  (send: (span: Span) => void): Stage =>
  (next) =>
  (call, context) => {
    const parent = parseTraceparent(context.meta?.traceparent);
    const own: TraceContext = {
      traceId: parent?.traceId ?? randomHex(16),
      spanId: randomHex(8),
      flags: parent?.flags ?? "01",
    };
    const startedAt = performance.timeOrigin + performance.now();
    const end = (errorType: string | undefined): void => {
      if ((Number.parseInt(own.flags, 16) & 1) === 1)
        send(describe(call, { own, parent, startedAt, errorType }));
    };
    const fail = (error: unknown): never => {
      end(error instanceof HallError ? error.code.toLowerCase() : "internal");
      throw error;
    };
    try {
      return next(call, withTraceparent(context, own)).then((outcome) => {
        end(outcome.isError ? "tool_error" : undefined);
        return outcome;
      }, fail);
    } catch (error) {
      return fail(error);
    }
  };

function withTraceparent(
  context: CallContext,
  { traceId, spanId, flags }: TraceContext,
): CallContext {
  return { ...context, meta: { ...context.meta, traceparent: `00-${traceId}-${spanId}-${flags}` } };
}

interface Ended {
  readonly own: TraceContext;
  readonly parent: TraceContext | undefined;
  readonly startedAt: number;
  readonly errorType: string | undefined;
}

/**
 * Names follow OpenTelemetry's conventions for MCP. Never arguments, results or messages: they must
 * not leave the hall.
 */
function describe(
  { id, target, parent: parentCall, caller }: Call,
  { own, parent, startedAt, errorType }: Ended,
): Span {
  const tool = target?.fullName ?? "(unknown)";
  return {
    traceId: own.traceId,
    spanId: own.spanId,
    parentSpanId: parent?.spanId,
    name: `tools/call ${tool}`,
    isNested: parentCall !== undefined,
    startedAt,
    endedAt: performance.timeOrigin + performance.now(),
    errorType,
    attributes: {
      "mcp.method.name": "tools/call",
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.name": tool,
      "guildhall.toolkit": target?.toolkit.id ?? "(unknown)",
      "guildhall.call.id": id,
      "guildhall.connection": caller.connection,
    },
  };
}

const traceparentPattern =
  /^(?!ff)[\da-f]{2}-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-([\da-f]{2})(-.*)?$/;

function parseTraceparent(value: unknown): TraceContext | undefined {
  const [, traceId, spanId, flags] =
    typeof value === "string" ? (traceparentPattern.exec(value) ?? []) : [];
  return traceId === undefined || spanId === undefined || flags === undefined
    ? undefined
    : { traceId, spanId, flags };
}

function randomHex(bytes: number): string {
  return randomBytes(bytes).toString("hex");
}
