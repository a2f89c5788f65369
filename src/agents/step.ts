import { adviceForModel } from "../base/advice.ts";
import { errorType, type HallError } from "../base/errors.ts";
import { isObject, type JsonObject } from "../base/json.ts";
import type { Outcome } from "../tool.ts";
import type { StepResult } from "./planner.ts";

// How a step describes its call: a failure, an empty result, or the beginning of the result.

/** A failure as a tool's own error, with the way to fix it. */
export function describeFailure({ code, message, hint, next, details }: HallError): Outcome {
  const errors = Array.isArray(details?.errors)
    ? `\n${JSON.stringify(details.errors).slice(0, 1_000)}`
    : "";
  const advice = next.length > 0 ? adviceForModel(next) : hint;
  return {
    content: [{ type: "text", text: `${errorType(code)}: ${message}${errors}\n${advice}` }],
    isError: true,
  };
}

/** Whether a result has no content. */
export function isEmpty({ content, structuredContent }: Outcome): boolean {
  const hasText = (item: JsonObject): boolean =>
    item.type !== "text" || String(item.text ?? "").trim() !== "";
  const hasValue = (value: unknown): boolean =>
    isObject(value) || Array.isArray(value)
      ? Object.keys(value).length > 0
      : value !== undefined && value !== null;
  return !content.some(hasText) && !hasValue(structuredContent);
}

export const excerptMax = 300;

/** The beginning of a result, on one line. */
export function excerptOf({ content, structuredContent }: Outcome): string {
  const texts = content.map((item) =>
    item.type === "text"
      ? String(item.text ?? "")
      : `[${String(item.type)} ${String(item.mimeType ?? item.uri ?? "")}]`,
  );
  const text = texts.join(" ").trim();
  return shorten(
    text === "" && structuredContent !== undefined ? JSON.stringify(structuredContent) : text,
    excerptMax,
  );
}

/** The text of a result; its data where it has no text. */
export function textOf({ content, structuredContent }: Outcome): string {
  const text = content
    .flatMap(({ type, text: own }) => (type === "text" ? [String(own ?? "")] : []))
    .join("\n");
  if (text.trim() !== "") return text;
  return structuredContent === undefined ? "(empty result)" : JSON.stringify(structuredContent);
}

/** Images, resource links and the like, which an answer carries along. */
export const carriedParts = (done: readonly StepResult[]): readonly JsonObject[] =>
  done.flatMap(({ outcome }) => outcome.content.filter(({ type }) => type !== "text"));

export function shorten(text: string, charactersMax: number): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length <= charactersMax ? line : `${line.slice(0, charactersMax - 2)} …`;
}
