import { type Advice, adviceForModel, contentForModel } from "../../base/advice.ts";
import { isObject, type JsonObject } from "../../base/json.ts";
import { plural } from "../../base/text.ts";
import type { SyntaxCheck } from "../../lisp/lisp.ts";
import type { Outcome } from "../../tool.ts";
import type { ConditionSummary, EvaluationResult } from "./protocol.ts";

export interface CallReport {
  readonly name: string;
  readonly ms: number;
  /** `ok`, or the error code in lower case. */
  readonly status: string;
}

export interface AnswerOptions {
  readonly session: string;
  readonly run: string;
  readonly calls: readonly CallReport[];
  /** Content that the program wants to show. */
  readonly shown: readonly JsonObject[];
  /** True if the caller must send the handle back to reach the same session. */
  readonly isHandleNeeded: boolean;
  readonly isShort: boolean;
  /** How to resume a program that needs an approval. */
  readonly next: readonly Advice[];
}

const backtraceMax = 20;

/** The text is for people and models: streams, warnings, then one line for each value, or the error. */
export function formatEvaluation(
  { definitionsLeftOut, ms, steps, condition, json: _, ...result }: EvaluationResult,
  { session, run, calls, shown, isHandleNeeded, isShort, next }: AnswerOptions,
): Outcome {
  const { values, stdout, stderr, warnings } = result;
  const parts = [
    section("stdout", stdout),
    section("stderr", stderr),
    section("warnings", warnings.join("\n")),
  ];
  if (condition) parts.push(`${formatCondition(condition, isShort ? 0 : backtraceMax)}\n`);
  else parts.push(...values.map((value) => `=> ${value}\n`));
  if (definitionsLeftOut)
    parts.push(`; ${definitionsLeftOut} more definitions: see list-definitions\n`);

  const notes: string[] = [];
  if (next.length > 0) notes.push(`; once approved: ${adviceForModel(next)}`);
  if (isHandleNeeded) notes.push(`; session ${session}`);

  const structuredContent: JsonObject = {
    ...result,
    session,
    run,
    timing: { ms, steps },
    calls,
    ...(condition ? { condition } : {}),
    ...(next.length > 0 ? { next } : {}),
  };
  const content: JsonObject[] = [{ type: "text", text: parts.join("").slice(0, -1) }];
  if (notes.length > 0) content.push(contentForModel(notes.join("\n")));
  content.push(...shown);
  return { content, structuredContent, ...(condition ? { isError: true } : {}) };
}

export type SavedAnswerOptions = Pick<AnswerOptions, "run" | "shown" | "next">;

/** The result of a saved program: what it printed, and its last value as data if it has a form in JSON. */
export function formatSaved(
  { stdout, values, condition, json }: EvaluationResult,
  { run, shown, next }: SavedAnswerOptions,
): Outcome {
  const meta = { _meta: { "guildhall/run": run } };
  const printed = stdout === "" ? [] : [stdout.replace(/\n$/, "")];
  if (condition) {
    const text = [...printed, formatCondition(condition, 0)].join("\n");
    const content: JsonObject[] = [{ type: "text", text }];
    if (next.length > 0) content.push(contentForModel(`; once approved: ${adviceForModel(next)}`));
    return { content, isError: true, ...meta };
  }
  const value: unknown = json === undefined ? values.at(-1) : JSON.parse(json);
  if (value !== undefined) printed.push(typeof value === "string" ? value : (json ?? ""));
  return {
    content: [{ type: "text", text: printed.join("\n") }, ...shown],
    ...(isObject(value) ? { structuredContent: value } : {}),
    ...meta,
  };
}

/** A header line, the text as it was printed, and one newline. */
function section(name: string, text: string): string {
  return text === "" ? "" : `[${name}]\n${text}\n`;
}

export function formatCondition(
  { type, message, backtrace, position }: ConditionSummary,
  framesMax: number,
): string {
  const at = position?.isExact ? "at" : "in the form at";
  const place = position ? ` (${at} line ${position.line} column ${position.column})` : "";
  const head = `[ERROR] ${type}\n${message}${place}${limitHints[type] ?? ""}`;
  if (framesMax === 0 || backtrace.length === 0) return head;
  const frames = backtrace.slice(0, framesMax).map((frame, index) => `${index}: ${frame}`);
  return `${head}\n\n[Backtrace]\n${frames.join("\n")}`;
}

const limitHints: Readonly<Record<string, string>> = {
  "TIME-BUDGET-EXCEEDED":
    "\nSet the timeout with configure-limits, or for one evaluation with `timeout`.",
  "OUTPUT-BUDGET-EXCEEDED": "\nSet the output limit with configure-limits.",
  "STEP-BUDGET-EXCEEDED": "\nSet the step limit with configure-limits.",
  INTERRUPTED: "\nThe client closed its input, or the hall is shutting down.",
};

export function formatSyntax(syntax: SyntaxCheck): Outcome {
  const text =
    syntax.kind === "whole" ? `${plural(syntax.forms, "form")}, no syntax errors.` : syntax.problem;
  return formatText(text, { isValid: syntax.kind === "whole", ...syntax });
}

export function formatText(text: string, structuredContent: JsonObject): Outcome {
  return { content: [{ type: "text", text }], structuredContent };
}
