import type {
  LanguageModelV3,
  LanguageModelV3Content,
  LanguageModelV3Message,
  LanguageModelV3ToolCall,
  LanguageModelV3ToolResultPart,
  LanguageModelV3Usage,
} from "@ai-sdk/provider";
import { isObject, type JsonObject } from "../../base/json.ts";
import type { Secrets } from "../../base/log.ts";
import type { Conclusion, Job, OfferedTool, Planner, StopReason, Usage } from "../planner.ts";
import {
  createResults,
  createToolNames,
  describeTools,
  plannerTools,
  type Results,
  writePrompt,
} from "./prompt.ts";
import { explainModelError, type Turn, takeTurn } from "./turn.ts";

export interface ModelPlannerOptions {
  readonly kind: "model" | "sampling";
  /** Called when there is a job. */
  open(job: Job): Promise<LanguageModelV3>;
  readonly secrets: Secrets;
}

/** A model calls tools turn by turn until it answers. The same loop for configured models and for sampling. */
export function createModelPlanner({ kind, open, secrets }: ModelPlannerOptions): Planner {
  return {
    kind,
    async plan(job) {
      const model = await open(job);
      return new Conversation(model, job, secrets).hold();
    },
  };
}

/** Calls of one turn that run concurrently. */
const parallelMax = 4;
/** Tools that a model can see, including those it finds. */
const shownMax = 40;
const nudge = "Your answer was empty. Answer now with what you have.";
const lastTurn = "This is your last turn: make no more calls and answer with what you have.";

class Conversation {
  readonly #model: LanguageModelV3;
  readonly #job: Job;
  readonly #secrets: Secrets;
  readonly #results: Results = createResults();
  readonly #names = createToolNames(Object.values(plannerTools));
  readonly #messages: LanguageModelV3Message[];
  readonly #tools: OfferedTool[];
  /** The last text the model wrote. */
  #text = "";
  #turns = 0;

  constructor(model: LanguageModelV3, job: Job, secrets: Secrets) {
    this.#model = model;
    this.#job = job;
    this.#secrets = secrets;
    this.#tools = [...job.offer.tools];
    this.#messages = writePrompt(job, this.#results);
  }

  async hold(): Promise<Conclusion> {
    let isFirst = true;
    try {
      for (;;) {
        this.#job.beginTurn();
        this.#turns++;
        const turn = await this.#ask();
        isFirst = false;
        const calls = turn.content.filter((part) => part.type === "tool-call");
        if (calls.length > 0 && !isCut(turn)) await this.#answerCalls(calls);
        else if (this.#text !== "" || isCut(turn)) return this.#conclude(turn);
        else this.#messages.push({ role: "user", content: [{ type: "text", text: nudge }] });
      }
    } catch (error) {
      const failure = explainModelError(error, {
        model: this.#model.modelId,
        secrets: this.#secrets,
      });
      // Before the first answer another planner can still take over.
      if (isFirst && failure.code !== "BUDGET") throw failure;
      return {
        ...this.#carry(),
        stopped: "failed",
        ...(failure.code === "BUDGET" ? {} : { problem: failure.message }),
      };
    }
  }

  async #ask(): Promise<Turn> {
    const { signal } = this.#job;
    const tools = describeTools(this.#tools, this.#names, {
      hasMore: this.#job.offer.toolCount > this.#job.offer.tools.length,
    });
    const turn = await takeTurn(
      this.#model,
      { prompt: this.#messages, tools, toolChoice: { type: "auto" } },
      {
        signal,
        remainingMs: () => this.#job.remainingMs(),
        onText: (text) => this.#write(text),
        onRetry: (error, delayMs) =>
          this.#job.note(
            "observe",
            `${explainModelError(error, { model: this.#model.modelId, secrets: this.#secrets }).message}; retrying in ${Math.round(delayMs)} ms`,
            { isTransient: true },
          ),
      },
    );
    this.#record(turn);
    return turn;
  }

  #write(text: string): void {
    this.#text = text;
    this.#job.draft(text);
  }

  #record({ content, usage, finish }: Turn): void {
    const texts = content.flatMap((part) => (part.type === "text" ? [part.text] : []));
    const calls = content.flatMap((part) =>
      part.type === "tool-call" ? [this.#names.full(part.toolName)] : [],
    );
    const text = texts.join("\n").trim();
    if (text !== "" || calls.length === 0) this.#write(text);
    this.#job.spend(readUsage(usage), {
      content: content as unknown as JsonObject[],
      finish,
      usage: usage as unknown as JsonObject,
    });
    this.#job.note("think", text === "" ? `calls ${calls.join(", ")}` : text);
    const said = content.flatMap(repeatPart);
    if (said.length > 0) this.#messages.push({ role: "assistant", content: said });
  }

  /** Runs the calls of one turn, a few at a time, and answers them in order. */
  async #answerCalls(calls: readonly LanguageModelV3ToolCall[]): Promise<void> {
    const answers: LanguageModelV3ToolResultPart[] = [];
    let next = 0;
    const work = async (): Promise<void> => {
      for (let at = next++; at < calls.length; at = next++) {
        const call = calls[at] as LanguageModelV3ToolCall;
        const { text, isError } = await this.#answer(call);
        answers[at] = {
          type: "tool-result",
          toolCallId: call.toolCallId,
          toolName: call.toolName,
          output: { type: isError ? "error-text" : "text", value: text },
        };
      }
    };
    const settled = await Promise.allSettled(
      Array.from({ length: Math.min(parallelMax, calls.length) }, work),
    );
    const failed = settled.find((one) => one.status === "rejected");
    if (failed) throw failed.reason;
    this.#messages.push({ role: "tool", content: answers });
    if (this.#turns === this.#job.request.limits.turns - 1)
      this.#messages.push({ role: "user", content: [{ type: "text", text: lastTurn }] });
  }

  async #answer({ toolName, input }: LanguageModelV3ToolCall): Promise<ToolAnswer> {
    const args = parseArguments(input);
    if (args === undefined) {
      this.#job.note("verify", `the arguments for ${this.#names.full(toolName)} are not JSON`);
      return failure(
        `The arguments are not a JSON object: ${input.slice(0, 300)}\nRepeat the call with a JSON object that matches the schema.`,
      );
    }
    if (toolName === plannerTools.read)
      return {
        text: this.#results.read(
          String(args.handle ?? ""),
          args.range === undefined ? undefined : String(args.range),
        ),
      };
    if (toolName === plannerTools.find) return this.#findMore(String(args.query ?? ""));
    const result = await this.#job.call(this.#names.full(toolName), args);
    return { text: this.#results.keep(result), isError: result.outcome.isError ?? false };
  }

  async #findMore(query: string): Promise<ToolAnswer> {
    if (query.trim() === "")
      return failure('find_more requires {"query": "what a tool should do"}');
    const found = await this.#job.find(query, 10);
    const fresh = found
      .filter(({ name }) => !this.#tools.some((tool) => tool.name === name))
      .slice(0, shownMax - this.#tools.length);
    this.#tools.push(...fresh);
    if (found.length === 0) return { text: "None of your tools does that." };
    const isShown = ({ name }: OfferedTool): boolean =>
      this.#tools.some((tool) => tool.name === name);
    return {
      text: found
        .filter(isShown)
        .map((tool) => `${this.#names.shown(tool.name)}: ${tool.description.slice(0, 200)}`)
        .join("\n"),
    };
  }

  #conclude({ finish }: Turn): Conclusion {
    return { ...this.#carry(), stopped: stopOf[finish] };
  }

  #carry(): Pick<Conclusion, "answer" | "carried" | "result"> {
    const { content, structured } = this.#results.carried(this.#text);
    return {
      answer: this.#text,
      carried: content,
      ...(Object.keys(structured).length > 0 ? { result: structured } : {}),
    };
  }
}

interface ToolAnswer {
  readonly text: string;
  readonly isError?: boolean;
}

const failure = (text: string): ToolAnswer => ({ text, isError: true });

const stopOf: Readonly<Record<Turn["finish"], StopReason>> = {
  stop: "done",
  "tool-calls": "done",
  other: "done",
  length: "length",
  "content-filter": "filter",
  error: "failed",
};

/** The turn ended early, so its calls may be incomplete. */
function isCut({ finish }: Turn): boolean {
  return finish === "length" || finish === "content-filter" || finish === "error";
}

function readUsage({ inputTokens, outputTokens, raw }: LanguageModelV3Usage): Usage {
  const estimated = raw?.estimated === true;
  return {
    inputTokens: inputTokens.total ?? 0,
    outputTokens: outputTokens.total ?? 0,
    ...(estimated ? { estimated } : {}),
  };
}

function parseArguments(input: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(input.trim() === "" ? "{}" : input);
    return isObject(value) ? value : undefined;
  } catch {
    // The model is asked to repeat the call.
    return undefined;
  }
}

type AssistantPart = Extract<LanguageModelV3Message, { role: "assistant" }>["content"][number];

/** A part of the model's answer as a message of the next turn, with the provider's metadata. */
function repeatPart(part: LanguageModelV3Content): AssistantPart[] {
  switch (part.type) {
    case "text":
    case "reasoning":
      return part.text === "" && part.providerMetadata === undefined
        ? []
        : [{ type: part.type, text: part.text, ...optionsOf(part) }];
    case "tool-call":
      return [
        {
          type: "tool-call",
          toolCallId: part.toolCallId,
          toolName: part.toolName,
          input: parseArguments(part.input) ?? {},
          ...optionsOf(part),
        },
      ];
    default:
      return [];
  }
}

function optionsOf({
  providerMetadata,
}: Pick<LanguageModelV3Content, "providerMetadata">): Pick<AssistantPart, "providerOptions"> {
  return providerMetadata === undefined ? {} : { providerOptions: providerMetadata };
}
