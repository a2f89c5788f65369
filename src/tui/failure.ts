import { type Advice, adviceCommand, isForPeople, readAdvice } from "../base/advice.ts";
import { type ErrorCode, errorTable, HallError } from "../base/errors.ts";
import { isObject, type JsonObject } from "../base/json.ts";
import { sanitize } from "../base/sanitize.ts";
import { keepHead } from "./output.ts";

/** A failure as the screens show it; the log has the details. */
export interface Failure {
  readonly kind: "failed" | "timed out" | "cancelled" | "unavailable";
  /** The subject, how it failed and why, in one line. */
  readonly message: string;
  /** The next step for the user. */
  readonly hint: string;
  /** True if trying again can succeed. */
  readonly mayRetry: boolean;
}

/** `subject` is what was attempted: a tool, a server. */
export function explainFailure(error: unknown, subject: string): Failure {
  if (!(error instanceof HallError)) {
    const message = error instanceof Error ? error.message : String(error);
    return failure("failed", { subject, message, hint: logHint, mayRetry: true });
  }
  const { relayed, code, message, hint, next } = error;
  if (relayed) return explainRefusal(relayed, subject);
  return explainCode(code, { subject, message, hint: adviceOr(hint, next) });
}

/** A tool result with `isError`. */
export function explainResult(result: JsonObject, subject: string): Failure {
  const own = isObject(result._meta) ? result._meta["guildhall/error"] : undefined;
  const details = [own, result.structuredContent].find(isObject) ?? {};
  const message = typeof details.message === "string" ? details.message : textOf(result);
  const hint = hintOf(details);
  const code = codeOf(details.error_type);
  if (code) return explainCode(code, { subject, message, hint });
  return failure("failed", { subject, message, hint: hint ?? fixHint, mayRetry: true });
}

/** The next steps in the words of this client. */
export function describeAdvice(next: readonly Advice[]): string {
  return next.map(adviceSentence).join(" ");
}

function adviceSentence(advice: Advice): string {
  switch (advice.do) {
    case "approve":
      return `Approve it on the Approvals screen within ${advice.withinSeconds} s, then retry.`;
    case "call-tool":
      return `Call ${advice.tool} with ${JSON.stringify(advice.arguments)}.`;
    case "run-step":
      return `Run the step ${advice.step}.`;
    case "set-variable":
      return `Set the environment variable ${advice.name}.`;
    case "edit-config":
      return `Set "${advice.field}" in the config.`;
    case "retry-after":
      return `Retry in ${advice.seconds} s.`;
    default:
      return `Run \`guildhall ${adviceCommand(advice)}\`.`;
  }
}

function adviceOr(hint: string | undefined, next: readonly Advice[]): string | undefined {
  return next.length === 0 ? hint : describeAdvice(next);
}

function hintOf({ suggestion, next }: JsonObject): string | undefined {
  return adviceOr(typeof suggestion === "string" ? suggestion : undefined, readAdvice(next));
}

const logHint = "The log has the details.";
const fixHint = "Correct the input, then retry.";

interface Explained {
  readonly subject: string;
  readonly message: string;
  readonly hint?: string | undefined;
}

function explainCode(code: ErrorCode, { subject, message, hint }: Explained): Failure {
  const row = errorTable[code];
  const explained = { subject, message, hint: hint ?? row.hint, mayRetry: true };
  switch (code) {
    case "TIMEOUT":
      return failure("timed out", explained);
    case "CANCELLED":
      return failure("cancelled", { ...explained, message: "", hint: cancelledHint });
    case "UNAVAILABLE":
      return failure("unavailable", explained);
    default:
      return failure("failed", { ...explained, mayRetry: !permanent.has(row.retry) });
  }
}

/** Retry classes of the error table for which the same call fails again. */
const permanent: ReadonlySet<string> = new Set(["no", "after a fix", "other version"]);
const cancelledHint = "Changes made before that are kept.";

/** MCP 2025-11-25: the user must visit a page before the call can succeed. */
export const urlElicitationRequired = -32042;

/** JSON-RPC errors of other servers, with the codes that workflow servers use. */
function explainRefusal(
  relayed: { readonly code: number; readonly message: string; readonly data?: unknown },
  subject: string,
): Failure {
  const { code, message, data } = relayed;
  const details = isObject(data) ? data : {};
  const hint = hintOf(details);
  const known = codeOf(details.error_type);
  if (known) return explainCode(known, { subject, message, hint });
  const explain = (kind: Failure["kind"], fallback: string, mayRetry: boolean): Failure =>
    failure(kind, { subject, message, hint: hint ?? fallback, mayRetry });
  switch (code) {
    case -32001:
      return explain("timed out", "Retry, or raise mcp.timeout in the config.", true);
    case -32002:
      return failure("cancelled", { subject, message: "", hint: cancelledHint, mayRetry: true });
    case urlElicitationRequired:
      return explain("failed", "Finish in the browser, then press r to retry.", true);
    case -32601:
      return explain(
        "failed",
        "The server does not support it. Check that it is the right one.",
        false,
      );
    case -32602:
      return explain("failed", fixHint, false);
    default:
      return explain("failed", logHint, code !== -32600 && code !== -32700);
  }
}

const messageCharactersMax = 500;

const verbs: Readonly<Record<Failure["kind"], string>> = {
  failed: "failed",
  "timed out": "timed out",
  cancelled: "was cancelled",
  unavailable: "is unavailable",
};

function failure(
  kind: Failure["kind"],
  { subject, message, hint, mayRetry }: Explained & { hint: string; readonly mayRetry: boolean },
): Failure {
  const reason = clean(keepHead(message, 2 * messageCharactersMax)).slice(0, messageCharactersMax);
  const summary = `${clean(subject)} ${verbs[kind]}`;
  return {
    kind,
    message: reason === "" ? summary : `${summary}: ${reason}`,
    hint: clean(hint),
    mayRetry,
  };
}

function clean(text: string): string {
  return sanitize(text).replace(/\s+/g, " ").trim();
}

function codeOf(type: unknown): ErrorCode | undefined {
  const code = typeof type === "string" ? type.toUpperCase() : "";
  return Object.hasOwn(errorTable, code) ? (code as ErrorCode) : undefined;
}

function textOf({ content }: JsonObject): string {
  const parts = Array.isArray(content) ? content.filter(isObject).filter(isForPeople) : [];
  return parts.map(({ text }) => (typeof text === "string" ? text : "")).join(" ");
}
