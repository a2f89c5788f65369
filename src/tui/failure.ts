import { type ErrorCode, errorTable, HallError } from "../base/errors.ts";
import { makeHarmless } from "../base/harmless.ts";
import { isObject, type JsonObject } from "../base/json.ts";
import { keepHead } from "./output.ts";

/** What went wrong as a person reads it. The whole of it is in the log. */
export interface Failure {
  readonly kind: "failed" | "timed out" | "cancelled" | "unavailable";
  /** One sentence: what happened to what. */
  readonly message: string;
  /** What to do next. */
  readonly hint: string;
  /** Whether the same again could go well. */
  readonly mayRetry: boolean;
}

/** `subject` is what was tried: a tool, a server. */
export function explainFailure(error: unknown, subject: string): Failure {
  if (!(error instanceof HallError))
    return failed(subject, error instanceof Error ? error.message : String(error), logHint, true);
  if (error.relayed) return explainRefusal(error.relayed, subject);
  return explainCode(error.code, { subject, message: error.message, hint: error.hint });
}

/** A tool's result that says it failed. */
export function explainResult(result: JsonObject, subject: string): Failure {
  const meta = isObject(result._meta) ? result._meta["guildhall/error"] : undefined;
  const details = isObject(meta)
    ? meta
    : isObject(result.structuredContent)
      ? result.structuredContent
      : {};
  const code = codeOf(details.error_type);
  const message = typeof details.message === "string" ? details.message : textOf(result);
  const hint = typeof details.suggestion === "string" ? details.suggestion : undefined;
  return code
    ? explainCode(code, { subject, message, hint })
    : failed(subject, message, hint ?? retryHint, true);
}

const logHint = "The log has the details.";
const retryHint = "Mend what it names, then try again.";

interface Told {
  readonly subject: string;
  readonly message: string;
  readonly hint?: string | undefined;
}

function explainCode(
  code: ErrorCode,
  { subject, message, hint = errorTable[code].hint }: Told,
): Failure {
  const row = errorTable[code];
  switch (code) {
    case "TIMEOUT":
      return timedOut(subject, message, hint);
    case "CANCELLED":
      return cancelled(subject);
    case "UNAVAILABLE":
      return {
        kind: "unavailable",
        message: sentence(subject, "could not be reached", message),
        hint: clean(hint),
        mayRetry: true,
      };
    default:
      return failed(subject, message, hint, !hopeless.has(row.retry));
  }
}

/** The same again would end the same way. */
const hopeless: ReadonlySet<string> = new Set(["no", "after a fix", "other version"]);

/** The number of a server of 2025-11-25 that wants a person to visit a page before it is called again. */
export const visitFirst = -32042;

/** The numbers that servers of the workflow use, and those of JSON-RPC. */
function explainRefusal(
  {
    code,
    message,
    data,
  }: { readonly code: number; readonly message: string; readonly data?: unknown },
  subject: string,
): Failure {
  const details = isObject(data) ? data : {};
  const known = codeOf(details.error_type);
  const hint = typeof details.suggestion === "string" ? details.suggestion : undefined;
  if (known) return explainCode(known, { subject, message, hint });
  switch (code) {
    case -32001:
      return timedOut(
        subject,
        message,
        hint ?? "Try again; a longer time is set with mcp.timeout.",
      );
    case -32002:
      return cancelled(subject);
    case visitFirst:
      return failed(
        subject,
        message,
        hint ?? "When that is done in the browser, r tries again.",
        true,
      );
    case -32601:
      return failed(
        subject,
        message,
        hint ?? "The server does not know it: check that it is the one you mean.",
        false,
      );
    case -32602:
      return failed(subject, message, hint ?? "Correct what it names, then try again.", false);
    default:
      return failed(subject, message, hint ?? logHint, code !== -32600 && code !== -32700);
  }
}

function timedOut(subject: string, message: string, hint: string): Failure {
  return {
    kind: "timed out",
    message: sentence(subject, "timed out", message),
    hint: clean(hint),
    mayRetry: true,
  };
}

function cancelled(subject: string): Failure {
  return {
    kind: "cancelled",
    message: `${clean(subject)} was cancelled`,
    hint: "What was done by then stays.",
    mayRetry: true,
  };
}

function failed(subject: string, message: string, hint: string, mayRetry: boolean): Failure {
  return {
    kind: "failed",
    message: sentence(subject, "failed", message),
    hint: clean(hint),
    mayRetry,
  };
}

const messageCharactersMax = 500;

function sentence(subject: string, what: string, why: string): string {
  const reason = clean(keepHead(why, 2 * messageCharactersMax)).slice(0, messageCharactersMax);
  return reason === "" ? `${clean(subject)} ${what}` : `${clean(subject)} ${what}: ${reason}`;
}

function clean(text: string): string {
  return makeHarmless(text).replace(/\s+/g, " ").trim();
}

function codeOf(type: unknown): ErrorCode | undefined {
  const code = typeof type === "string" ? type.toUpperCase() : "";
  return Object.hasOwn(errorTable, code) ? (code as ErrorCode) : undefined;
}

function textOf({ content }: JsonObject): string {
  const parts = Array.isArray(content) ? content.filter(isObject) : [];
  return parts.map(({ text }) => (typeof text === "string" ? text : "")).join(" ");
}
