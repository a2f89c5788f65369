import { hasKey, openModel, parseModelName } from "../agents/model/provider.ts";
import { openingFor, type PlannerConfig, plannerMeta } from "../agents/planners.ts";
import { HallError, messageOf } from "../base/errors.ts";
import { isObject } from "../base/json.ts";
import type { Secrets } from "../base/log.ts";
import type { Scope } from "../base/scope.ts";
import type { CallContext } from "../tool.ts";
import type { StepInput } from "./step.ts";

/** A model that writes: a prompt in, text out. Rejects when it cannot. */
export type ModelWriter = (prompt: string, signal: AbortSignal) => Promise<string>;

/** A part of a document that a model may write. The draft is its starting point and the fallback. */
export interface DraftSection {
  readonly name: string;
  /** The content and form to write. */
  readonly ask: string;
  readonly draft: string;
  /** The faults of a text; empty if it fits. */
  check(text: string): readonly string[];
}

export function faultIf(isWrong: boolean, fault: string): readonly string[] {
  return isWrong ? [fault] : [];
}

const repairsMax = 3;
const charactersMax = 64 * 1024;

/** Undefined without a model. `background`: the description, facts of the repository and other documents. */
export async function openSectionWriter(
  input: StepInput,
  background: string,
): Promise<SectionWriter | undefined> {
  const model = await input.settings.writer(input.context);
  return model && new SectionWriter(input, model, background);
}

/** Writes the sections of a step's documents with a model. */
class SectionWriter {
  /** The sections that kept their draft, and why. */
  readonly notes: string[] = [];
  readonly #input: StepInput;
  readonly #writer: ModelWriter;
  readonly #background: string;

  constructor(input: StepInput, writer: ModelWriter, background: string) {
    this.#input = input;
    this.#writer = writer;
    this.#background = background;
  }

  /** Asks for the section, then up to three times for a repair. Keeps the draft if the text still does not fit. */
  async write(percent: number, { name, ask, draft, check }: DraftSection): Promise<string> {
    const { run, context } = this.#input;
    run.report(percent, `Writing: ${name}`);
    const first = `Write one section of a feature's documents in Markdown.\n\n${this.#background}\n\n# The section: ${name}\n\n${ask}\n\n# Draft to start from\n\n${draft}\n\nAnswer with the section alone: no introduction, no code fence around it, no heading of its own.`;
    let prompt = first;
    let faults: readonly string[] = [];
    for (let attempt = 0; attempt <= repairsMax; attempt++) {
      const text = cleanText(await askWriter(this.#writer, prompt, context.scope));
      faults = text === "" ? ["it is empty"] : check(text);
      if (faults.length === 0) return text;
      run.note(`${name}: the model's text does not fit (${faults.join("; ")})`);
      prompt = `${first}\n\n# Your last answer\n\n${text}\n\n# Faults\n\n${faults.map((fault) => `- ${fault}`).join("\n")}\n\nAnswer with the whole corrected section.`;
    }
    this.notes.push(
      `"${name}" is the draft without a model: the model's text did not fit (${faults.join("; ")})`,
    );
    return draft;
  }
}

async function askWriter(writer: ModelWriter, prompt: string, scope: Scope): Promise<string> {
  try {
    return await scope.race(writer(prompt, scope.signal));
  } catch (error) {
    if (scope.cancelReason) throw scope.cancelReason;
    if (error instanceof HallError) throw error;
    throw new HallError("EXECUTION", `the model could not write: ${messageOf(error)}`, {
      cause: error,
      hint: 'Try again, or set "planner.kind" to "local" for drafts without a model.',
    });
  }
}

/** Removes a code fence around the whole answer. */
function cleanText(text: string): string {
  const inner = /^\s*```(?:markdown|md)?\n([\s\S]*?)\n```\s*$/.exec(text)?.[1] ?? text;
  return inner.slice(0, charactersMax).replaceAll("\r\n", "\n").trim();
}

const outputTokensMax = 16_000;

/**
 * The configured model if it has a key. The client's own model only on request: a document takes many questions, and a
 * client may show each one to its user. Undefined for drafts without a model.
 */
export function createModelWriter({
  planner = {},
  secrets,
}: {
  /** The planner of agents also writes for the workflow. */
  readonly planner?: PlannerConfig | undefined;
  readonly secrets: Secrets;
}): (context: CallContext) => Promise<ModelWriter | undefined> {
  return async (context) => {
    const choice = context.meta?.[plannerMeta] ?? planner.kind ?? "auto";
    if (choice === "sampling")
      return isObject(context.capabilities?.sampling) ? sampleWith(context) : undefined;
    const opening = openingFor(undefined, planner, process.env);
    if (choice === "local" || !opening) return undefined;
    if (choice === "auto" && !hasKey(parseModelName(opening.model), opening)) return undefined;

    const { takeTurn, explainModelError } = await import("../agents/model/turn.ts");
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

function sampleWith(context: CallContext): ModelWriter {
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
