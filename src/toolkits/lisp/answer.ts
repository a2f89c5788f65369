import { type Advice, adviceForModel, contentForModel } from "../../base/advice.ts";
import type { JsonObject } from "../../base/json.ts";
import { plural } from "../../base/text.ts";
import type { Outcome } from "../../tool.ts";
import type { ConditionReport, Evaluation, Syntax } from "./protocol.ts";

/** What one call of a program came to, for the answer. */
export interface CallReport {
  readonly name: string;
  readonly ms: number;
  /** `ok`, or the code of the failure in lower case. */
  readonly status: string;
}

export interface Told {
  readonly session: string;
  readonly run: string;
  readonly calls: readonly CallReport[];
  /** Said where the caller has to send the handle back to come to the same session. */
  readonly isHandleNeeded: boolean;
  readonly isShort: boolean;
  /** How to continue a program that stopped for an approval. */
  readonly next: readonly Advice[];
}

const backtraceMax = 20;

/** The layout people and models read: streams, warnings, then one line for each value, or the error. */
export function answerEvaluation(
  evaluation: Evaluation,
  { session, run, calls, isHandleNeeded, isShort, next }: Told,
): Outcome {
  const {
    values,
    stdout,
    stderr,
    warnings,
    condition,
    definitions,
    definitionsLeftOut,
    ms,
    steps,
  } = evaluation;
  const parts = [
    section("stdout", stdout),
    section("stderr", stderr),
    section("warnings", warnings.join("\n")),
  ];
  if (condition) parts.push(`${tellCondition(condition, isShort ? 0 : backtraceMax)}\n`);
  else parts.push(...values.map((value) => `=> ${value}\n`));
  if (definitionsLeftOut)
    parts.push(
      `; ${definitionsLeftOut} more definitions than are told of here: see list-definitions\n`,
    );
  const notes = [
    ...(next.length > 0 ? [`; once approved: ${adviceForModel(next)}`] : []),
    ...(isHandleNeeded ? [`; session ${session}`] : []),
  ];
  const structured: JsonObject = {
    values,
    stdout,
    stderr,
    warnings,
    ...(condition ? { condition: { ...condition } } : {}),
    definitions: definitions.map((definition) => ({ ...definition })),
    package: evaluation.package,
    session,
    run,
    timing: { ms, steps },
    calls: calls.map((call) => ({ ...call })),
    ...(next.length > 0 ? { next } : {}),
  };
  return {
    content: [
      { type: "text", text: parts.join("").slice(0, -1) },
      ...(notes.length > 0 ? [contentForModel(notes.join("\n"))] : []),
    ],
    structuredContent: structured,
    ...(condition ? { isError: true } : {}),
  };
}

/** Its header line, the text as it was printed, and one newline. */
function section(name: string, text: string): string {
  return text === "" ? "" : `[${name}]\n${text}\n`;
}

export function tellCondition(
  { type, message, backtrace, position }: ConditionReport,
  framesMax: number,
): string {
  // What the reader says names its own place.
  const place =
    position && !message.includes("line ")
      ? ` (in the form at line ${position.line} column ${position.column})`
      : "";
  const head = `[ERROR] ${type}\n${message}${place}${limitHints[type] ?? ""}`;
  if (framesMax === 0 || backtrace.length === 0) return head;
  const frames = backtrace.slice(0, framesMax).map((frame, index) => `${index}: ${frame}`);
  return `${head}\n\n[Backtrace]\n${frames.join("\n")}`;
}

const limitHints: Readonly<Record<string, string>> = {
  "TIME-BUDGET-EXCEEDED":
    "\nThe timeout is set with configure-limits, or for one evaluation with `timeout`.",
  "OUTPUT-BUDGET-EXCEEDED": "\nHow much may be written is set with configure-limits.",
};

export function tellSyntax(syntax: Syntax): Outcome {
  const text =
    syntax.kind === "whole" ? `${plural(syntax.forms, "form")}, no syntax errors.` : syntax.problem;
  return {
    content: [{ type: "text", text }],
    structuredContent: { isValid: syntax.kind === "whole", ...syntax },
  };
}
