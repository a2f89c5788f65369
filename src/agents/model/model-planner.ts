import type {
  LanguageModelV3Content,
  LanguageModelV3Message,
  LanguageModelV3ToolCall,
  LanguageModelV3ToolResultPart,
} from "@ai-sdk/provider";
import { type JsonObject, parseObject } from "../../base/json.ts";
import type { Secrets } from "../../base/log.ts";
import type { Conclusion, OfferedTool, PlannedRun, Planner, StopReason } from "../planner.ts";
import { describeTools, plannerTools, Results, ToolNames, writePrompt } from "./prompt.ts";
import { explainModelError, type Model, type Turn, takeTurn, textOfTurn } from "./turn.ts";

export interface ModelPlannerOptions {
  readonly kind: "model" | "sampling";
  /** Called when a run starts. */
  open(): Promise<Model>;
  readonly secrets: Secrets;
}

/** A model calls tools turn by turn until it answers. The same loop for configured models and for sampling. */
export function createModelPlanner({ kind, open, secrets }: ModelPlannerOptions): Planner {
  return {
    kind,
    plan: async (run) => new Conversation(await open(), run, secrets).run(),
  };
}

/** Calls of one turn that run concurrently. */
const parallelMax = 4;
/** Tools that a model can see, including those it finds. */
const shownMax = 40;
const nudge = "Your answer was empty. Answer now with what you have.";
const lastTurn = "This is your last turn: make no more calls and answer with what you have.";

class Conversation {
  readonly #model: Model;
  readonly #run: PlannedRun;
  readonly #secrets: Secrets;
  readonly #results = new Results();
  readonly #names = new ToolNames(Object.values(plannerTools));
  readonly #messages: LanguageModelV3Message[];
  readonly #tools: OfferedTool[];
  /** The last text the model wrote. */
  #text = "";
  #turns = 0;

  constructor(model: Model, run: PlannedRun, secrets: Secrets) {
    this.#model = model;
    this.#run = run;
    this.#secrets = secrets;
    this.#tools = [...run.offer.tools];
    this.#messages = writePrompt(run, this.#results);
  }

  async run(): Promise<Conclusion> {
    let hasAnswered = false;
    try {
      for (;;) {
        this.#run.beginTurn();
        this.#turns++;
        const turn = await this.#ask();
        hasAnswered = true;
        const calls = turn.content.filter((part) => part.type === "tool-call");
        // The calls of a turn that ended early may be incomplete.
        const isCut = ["length", "content-filter", "error"].includes(turn.finish);
        if (calls.length > 0 && !isCut) await this.#answerCalls(calls);
        else if (this.#text !== "" || isCut) return this.#conclude(stopOf[turn.finish]);
        else this.#report(nudge);
      }
    } catch (error) {
      const failure = this.#explain(error);
      if (failure.code === "BUDGET") return this.#conclude("failed");
      // Before the first answer another planner can still take over.
      if (!hasAnswered) throw failure;
      return { ...this.#conclude("failed"), problem: failure.message };
    }
  }

  #report(text: string): void {
    this.#messages.push({ role: "user", content: [{ type: "text", text }] });
  }

  #explain(error: unknown): ReturnType<typeof explainModelError> {
    return explainModelError(error, { model: this.#model.modelId, secrets: this.#secrets });
  }

  async #ask(): Promise<Turn> {
    const { signal, offer } = this.#run;
    const hasMore = offer.toolCount > offer.tools.length;
    const tools = describeTools(this.#tools, this.#names, { hasMore });
    const turn = await takeTurn(
      this.#model,
      { prompt: this.#messages, tools, toolChoice: { type: "auto" } },
      {
        signal,
        remainingMs: () => this.#run.remainingMs(),
        onText: (text) => this.#write(text),
        onRetry: (error, delayMs) =>
          this.#run.note(
            "observe",
            `${this.#explain(error).message}; retrying in ${Math.round(delayMs)} ms`,
            { isTransient: true },
          ),
      },
    );
    this.#record(turn);
    return turn;
  }

  #write(text: string): void {
    this.#text = text;
    this.#run.draft(text);
  }

  #record(turn: Turn): void {
    const { content, usage } = turn;
    const text = textOfTurn(turn, "\n").trim();
    const calls = content.flatMap((part) =>
      part.type === "tool-call" ? [this.#names.toFullName(part.toolName)] : [],
    );
    if (text !== "" || calls.length === 0) this.#write(text);
    this.#run.spend(
      {
        inputTokens: usage.inputTokens.total ?? 0,
        outputTokens: usage.outputTokens.total ?? 0,
        estimated: usage.raw?.estimated === true,
      },
      turn as unknown as JsonObject,
    );
    this.#run.note("think", text === "" ? `calls ${calls.join(", ")}` : text);
    const said = content.flatMap(repeatPart);
    if (said.length > 0) this.#messages.push({ role: "assistant", content: said });
  }

  /** Runs the calls of one turn, a few at a time, and answers them in order. */
  async #answerCalls(calls: readonly LanguageModelV3ToolCall[]): Promise<void> {
    const answers: LanguageModelV3ToolResultPart[] = [];
    for (let at = 0; at < calls.length; at += parallelMax) {
      const batch = calls.slice(at, at + parallelMax).map((call) => this.#answer(call));
      for (const settled of await Promise.allSettled(batch)) {
        if (settled.status === "rejected") throw settled.reason;
        answers.push(settled.value);
      }
    }
    this.#messages.push({ role: "tool", content: answers });
    if (this.#turns === this.#run.request.limits.turns - 1) this.#report(lastTurn);
  }

  async #answer(call: LanguageModelV3ToolCall): Promise<LanguageModelV3ToolResultPart> {
    const { toolCallId, toolName } = call;
    const { text, isError = false } = await this.#carryOut(call);
    const output = { type: isError ? "error-text" : "text", value: text } as const;
    return { type: "tool-result", toolCallId, toolName, output };
  }

  async #carryOut({ toolName, input }: LanguageModelV3ToolCall): Promise<ToolAnswer> {
    const args = parseArguments(input);
    if (args === undefined) {
      this.#run.note(
        "verify",
        `the arguments for ${this.#names.toFullName(toolName)} are not JSON`,
      );
      return {
        text: `The arguments are not a JSON object: ${input.slice(0, 300)}\nRepeat the call with a JSON object that matches the schema.`,
        isError: true,
      };
    }
    if (toolName === plannerTools.read)
      return { text: this.#results.read(String(args.handle ?? ""), String(args.range ?? "")) };
    if (toolName === plannerTools.find) return this.#findMore(String(args.query ?? ""));
    const result = await this.#run.call(this.#names.toFullName(toolName), args);
    return { text: this.#results.keep(result), isError: result.outcome.isError };
  }

  async #findMore(query: string): Promise<ToolAnswer> {
    if (query.trim() === "")
      return { text: 'find_more requires {"query": "what a tool should do"}', isError: true };
    const found = await this.#run.find(query);
    if (found.length === 0) return { text: "None of your tools does that." };
    const isShown = ({ name }: OfferedTool): boolean =>
      this.#tools.some((tool) => tool.name === name);
    const fresh = found.filter((tool) => !isShown(tool));
    this.#tools.push(...fresh.slice(0, shownMax - this.#tools.length));
    return {
      text: found
        .filter(isShown)
        .map((tool) => `${this.#names.toModelName(tool.name)}: ${tool.description.slice(0, 200)}`)
        .join("\n"),
    };
  }

  #conclude(stopped: StopReason): Conclusion {
    return { answer: this.#text, stopped, ...this.#results.carried(this.#text) };
  }
}

interface ToolAnswer {
  readonly text: string;
  readonly isError?: boolean | undefined;
}

const stopOf: Readonly<Record<Turn["finish"], StopReason>> = {
  stop: "done",
  "tool-calls": "done",
  other: "done",
  length: "length",
  "content-filter": "filter",
  error: "failed",
};

function parseArguments(input: string): JsonObject | undefined {
  return parseObject(input.trim() === "" ? "{}" : input);
}

type AssistantPart = Extract<LanguageModelV3Message, { role: "assistant" }>["content"][number];

/** A part of the model's answer as a message of the next turn, with the provider's metadata. */
function repeatPart(part: LanguageModelV3Content): AssistantPart[] {
  const { providerMetadata } = part;
  const options = providerMetadata === undefined ? {} : { providerOptions: providerMetadata };
  switch (part.type) {
    case "text":
    case "reasoning":
      return part.text === "" && providerMetadata === undefined
        ? []
        : [{ type: part.type, text: part.text, ...options }];
    case "tool-call": {
      const { type, toolCallId, toolName, input } = part;
      return [{ type, toolCallId, toolName, input: parseArguments(input) ?? {}, ...options }];
    }
    default:
      return [];
  }
}
