import type { LanguageModelV3Message } from "@ai-sdk/provider";
import { openModel } from "../agents/model/provider.ts";
import { takeTurn } from "../agents/model/turn.ts";
import { openingFor, type PlannerConfig } from "../agents/planners.ts";
import { HallError } from "../base/errors.ts";
import { isObject, type JsonObject } from "../base/json.ts";
import type { Secrets } from "../base/log.ts";
import { wordOf } from "../base/sanitize.ts";

export interface SamplingOptions {
  readonly planner: PlannerConfig;
  readonly secrets: Secrets;
  readonly env: NodeJS.ProcessEnv;
}

const answerMsMax = 300_000;
const tokensMax = 16_384;
const tokensDefault = 1_024;

/** Answers `sampling/createMessage` with the planner's model, after the user agreed. */
export async function sampleWithModel(
  params: JsonObject,
  signal: AbortSignal,
  { planner, secrets, env }: SamplingOptions,
): Promise<JsonObject> {
  const opening = openingFor(undefined, planner, env);
  if (!opening)
    throw new HallError("UNAVAILABLE", "no model is configured", {
      next: [{ do: "edit-config", field: "planner.model" }],
    });
  const model = await openModel({ ...opening, secrets });
  const until = performance.now() + answerMsMax;
  const { systemPrompt, messages, maxTokens, temperature, stopSequences } = params;
  const prompt: LanguageModelV3Message[] = [
    ...(typeof systemPrompt === "string"
      ? [{ role: "system" as const, content: systemPrompt }]
      : []),
    ...(Array.isArray(messages) ? messages.filter(isObject).map(readMessage) : []),
  ];
  const call = {
    prompt,
    maxOutputTokens: typeof maxTokens === "number" ? Math.min(maxTokens, tokensMax) : tokensDefault,
    abortSignal: signal,
    ...(typeof temperature === "number" ? { temperature } : {}),
    ...(Array.isArray(stopSequences) ? { stopSequences: stopSequences.map(String) } : {}),
  };
  const { content, finish } = await takeTurn(model, call, {
    signal,
    remainingMs: () => until - performance.now(),
  });
  const text = content.map((part) => (part.type === "text" ? part.text : "")).join("");
  return {
    role: "assistant",
    content: { type: "text", text },
    model: opening.model,
    stopReason: finish === "length" ? "maxTokens" : "endTurn",
  };
}

function readMessage({ role, content }: JsonObject): LanguageModelV3Message {
  const parts = (Array.isArray(content) ? content : [content]).filter(isObject);
  const text = (part: JsonObject): { type: "text"; text: string } => ({
    type: "text",
    text: wordOf(part.text, ""),
  });
  if (role === "assistant") return { role, content: parts.map(text) };
  return {
    role: "user",
    content: parts.map((part) =>
      part.type === "image" && typeof part.data === "string"
        ? { type: "file", mediaType: wordOf(part.mimeType, ""), data: part.data }
        : text(part),
    ),
  };
}
