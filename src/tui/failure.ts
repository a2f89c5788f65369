import { type Advice, adviceCommand, isForPeople, readAdvice, settingOf } from "../base/advice.ts";
import { type ErrorCode, errorTable, HallError, messageOf } from "../base/errors.ts";
import { isObject, type JsonObject } from "../base/json.ts";
import { sanitize, wordOf } from "../base/sanitize.ts";
import { urlElicitationRequired } from "../client/questions.ts";
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
  if (!(error instanceof HallError))
    return failure({ ...failed, hint: logHint }, { subject, message: messageOf(error) });
  const { relayed, code, message, hint, next } = error;
  if (!relayed) return explainCode(code, { subject, message, hint: adviceOr(hint, next) });

  // JSON-RPC errors of other servers, with the codes that workflow servers use.
  const details = isObject(relayed.data) ? relayed.data : {};
  const cause = { subject, message: relayed.message, hint: hintOf(details) };
  const known = codeOf(details.error_type);
  return known
    ? explainCode(known, cause)
    : failure(refusals[relayed.code] ?? { ...failed, hint: logHint }, cause);
}

/** A tool result with `isError`. */
export function explainResult(result: JsonObject, subject: string): Failure {
  const own = isObject(result._meta) ? result._meta["guildhall/error"] : undefined;
  const details = [own, result.structuredContent].find(isObject) ?? {};
  const cause = {
    subject,
    message: wordOf(details.message, textOf(result)),
    hint: hintOf(details),
  };
  const code = codeOf(details.error_type);
  return code ? explainCode(code, cause) : failure({ ...failed, hint: fixHint }, cause);
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
      return `Set ${settingOf(advice)} in ${advice.file ?? "the config"}.`;
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

/** Ends in a failure of this kind, unless the cause brings its own hint. */
type Ending = Omit<Failure, "message">;

const failed = { kind: "failed", mayRetry: true } as const;

const refusals: Readonly<Record<number, Ending>> = {
  [-32001]: {
    kind: "timed out",
    hint: "Retry, or raise mcp.timeout in the config.",
    mayRetry: true,
  },
  [-32002]: { kind: "cancelled", hint: "", mayRetry: true },
  [urlElicitationRequired]: {
    ...failed,
    hint: "Finish in the browser, then press r to retry.",
  },
  [-32600]: { kind: "failed", hint: logHint, mayRetry: false },
  [-32601]: {
    kind: "failed",
    hint: "The server does not support it. Check that it is the right one.",
    mayRetry: false,
  },
  [-32602]: { kind: "failed", hint: fixHint, mayRetry: false },
  [-32700]: { kind: "failed", hint: logHint, mayRetry: false },
};

interface Cause {
  readonly subject: string;
  readonly message: string;
  readonly hint?: string | undefined;
}

const kinds: Readonly<Partial<Record<ErrorCode, Failure["kind"]>>> = {
  TIMEOUT: "timed out",
  CANCELLED: "cancelled",
  UNAVAILABLE: "unavailable",
};

/** Retry classes of the error table for which the same call fails again. */
const permanent: ReadonlySet<string> = new Set(["no", "after a fix", "other version"]);

function explainCode(code: ErrorCode, cause: Cause): Failure {
  const { hint, retry } = errorTable[code];
  return failure({ kind: kinds[code] ?? "failed", hint, mayRetry: !permanent.has(retry) }, cause);
}

const messageCharactersMax = 500;

const verbs: Readonly<Record<Failure["kind"], string>> = {
  failed: "failed",
  "timed out": "timed out",
  cancelled: "was cancelled",
  unavailable: "is unavailable",
};

function failure({ kind, hint, mayRetry }: Ending, cause: Cause): Failure {
  const summary = `${clean(cause.subject)} ${verbs[kind]}`;
  if (kind === "cancelled")
    return { kind, message: summary, hint: "Changes made before that are kept.", mayRetry };
  const head = clean(keepHead(cause.message, 2 * messageCharactersMax));
  const reason = head.slice(0, messageCharactersMax);
  const message = reason === "" ? summary : `${summary}: ${reason}`;
  return { kind, message, hint: clean(cause.hint ?? hint), mayRetry };
}

function clean(text: string): string {
  return sanitize(text).replace(/\s+/g, " ").trim();
}

function codeOf(type: unknown): ErrorCode | undefined {
  const code = wordOf(type, "").toUpperCase();
  return Object.hasOwn(errorTable, code) ? (code as ErrorCode) : undefined;
}

function textOf({ content }: JsonObject): string {
  const parts = Array.isArray(content) ? content.filter(isObject).filter(isForPeople) : [];
  return parts.map(({ text }) => wordOf(text, "")).join(" ");
}
