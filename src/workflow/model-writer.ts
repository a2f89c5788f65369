import { hasKey, parseModelName } from "../agents/model/provider.ts";
import { openingFor, type PlannerConfig, plannerMeta } from "../agents/planners.ts";
import { HallError } from "../base/errors.ts";
import { isObject } from "../base/json.ts";
import type { Secrets } from "../base/log.ts";
import type { CallContext } from "../tool.ts";
import type { Writer } from "./writer.ts";

export interface ModelWriterOptions {
  /** The planner of agents also writes for the workflow. */
  readonly planner?: PlannerConfig | undefined;
  readonly secrets: Secrets;
  readonly env?: NodeJS.ProcessEnv | undefined;
}

const outputTokensMax = 16_000;

/**
 * The configured model if it has a key. The client's own model only on request: a document takes many questions, and a
 * client may show each one to its user. Undefined for drafts without a model.
 */
export function createModelWriter({
  planner = {},
  secrets,
  env = process.env,
}: ModelWriterOptions): (context: CallContext) => Promise<Writer | undefined> {
  return async (context) => {
    const choice = context.meta?.[plannerMeta] ?? planner.kind ?? "auto";
    if (choice === "sampling")
      return isObject(context.capabilities?.sampling) ? sampleWith(context) : undefined;
    const opening = openingFor(undefined, planner, env);
    if (
      choice === "local" ||
      !opening ||
      (choice === "auto" && !hasKey(parseModelName(opening.model), opening))
    )
      return undefined;
    const [{ openModel }, { takeTurn }, { explainModelError }] = await Promise.all([
      import("../agents/model/open-model.ts"),
      import("../agents/model/turn.ts"),
      import("../agents/model/model-error.ts"),
    ]);
    const model = await openModel({ ...opening, secrets });
    return async (prompt, signal) => {
      try {
        const { content } = await takeTurn(
          model,
          {
            prompt: [{ role: "user", content: [{ type: "text", text: prompt }] }],
            maxOutputTokens: outputTokensMax,
          },
          { signal, remainingMs: () => context.scope.remainingMs },
        );
        return content.map((part) => (part.type === "text" ? part.text : "")).join("");
      } catch (error) {
        signal.throwIfAborted();
        throw explainModelError(error, { model: opening.model, secrets });
      }
    };
  };
}

function sampleWith(context: CallContext): Writer {
  let asked = 0;
  return async (prompt) => {
    const key = `write-${++asked}`;
    const params = {
      messages: [{ role: "user", content: { type: "text", text: prompt } }],
      maxTokens: outputTokensMax,
    };
    const { [key]: result } = await context.ask({
      [key]: { method: "sampling/createMessage", params },
    });
    const content = result?.content;
    const parts = Array.isArray(content) ? content : [content];
    const text = parts
      .map((part) => (isObject(part) && typeof part.text === "string" ? part.text : ""))
      .join("");
    if (text === "") throw new HallError("BAD_ANSWER", "the client's model returned no text");
    return text;
  };
}
