import type { Advice } from "../base/advice.ts";
import { errorType, HallError } from "../base/errors.ts";
import type { JsonObject } from "../base/json.ts";
import { findNear } from "../base/near.ts";
import { startPulse } from "../base/pulse.ts";
import { Scope } from "../base/scope.ts";
import { jsonSize } from "../gateway/json-size.ts";
import { redact } from "../gateway/redact.ts";
import type { Outcome, Progress } from "../tool.ts";
import type {
  Conclusion,
  Job,
  OfferedTool,
  Phase,
  Planner,
  RunLimits,
  Step,
  StepResult,
  StopReason,
  Usage,
} from "./planner.ts";
import { describeFailure, excerptMax, excerptOf, isEmpty, shorten } from "./step.ts";
import type { Workbench } from "./workbench.ts";

/** What an agent is asked, with what its file says. */
export interface RunRequest {
  readonly agent: string;
  readonly task: string;
  readonly data?: unknown;
  readonly context?: string | undefined;
  readonly instructions: string;
  readonly limits: RunLimits;
}

export interface RunOptions {
  readonly bench: Workbench;
  /** The call the run is for: its end is the run's. */
  readonly scope: Scope;
  /** Tells whoever waits how far it is. */
  progress(progress: Progress): void;
  /** How often a run that is silent gives a sign of life. Default 2,000. */
  readonly pulseMs?: number | undefined;
}

/** One event of a run, in one of the five phases. */
export interface TraceEvent {
  /** Milliseconds since the run began. */
  readonly ms: number;
  readonly phase: Phase;
  readonly text: string;
  /** Which step it is about, counted from 1. */
  readonly step?: number;
}

/** A call that a person may still allow. */
export interface NeededApproval {
  readonly tool: string;
  readonly why: string;
  readonly next: readonly Advice[];
  readonly [detail: string]: unknown;
}

export interface RunUsage extends Usage {
  readonly turns: number;
}

/** How a run ended, with everything it obtained. */
export interface EndedRun {
  readonly answer: string;
  readonly stopped: StopReason;
  readonly problem?: string | undefined;
  /** What to do about it. */
  readonly hint?: string | undefined;
  readonly steps: readonly Step[];
  /** What each step gave, in the order of steps. */
  readonly results: readonly Outcome[];
  readonly trace: readonly TraceEvent[];
  readonly usage: RunUsage;
  readonly approvals: readonly NeededApproval[];
  /** What could not be used, and why. */
  readonly limitations: readonly string[];
  readonly conclusion: Conclusion | undefined;
}

/**
 * One run: a task, the steps taken for it, what they cost and gave. It is the job its planner works on. Whatever ends it – an answer, a
 * limit, a failure, a caller who no longer waits – what was obtained by then is what it gives.
 */
export class Run implements Job {
  readonly agent: string;
  readonly task: string;
  readonly data: unknown;
  readonly context: string | undefined;
  readonly instructions: string;
  readonly limits: RunLimits;
  readonly tools: readonly OfferedTool[];
  readonly fits: boolean;
  readonly toolCount: number;
  readonly better: string | undefined;
  /** What models said, turn by turn. */
  readonly said: JsonObject[] = [];
  /** What was looked for, and what was found. */
  readonly finds: { readonly query: string; readonly tools: readonly OfferedTool[] }[] = [];
  readonly #bench: Workbench;
  readonly #scope: Scope;
  readonly #progress: RunOptions["progress"];
  readonly #pulseMs: number | undefined;
  #reported = { progress: 0, message: "thinking" };
  readonly #startedAt = performance.now();
  readonly #steps: (StepResult | Begun)[] = [];
  readonly #trace: TraceEvent[] = [];
  readonly #approvals: NeededApproval[] = [];
  readonly #limitations = new Set<string>();
  #planner: Planner["kind"] = "local";
  #usage: RunUsage = { turns: 0, inputTokens: 0, outputTokens: 0 };
  #resultBytes = 0;
  #draft = "";
  /** The limit that the run came to. */
  #limit: StopReason | undefined;

  constructor(
    { agent, task, data, context, instructions, limits }: RunRequest,
    { bench, scope, progress, pulseMs }: RunOptions,
  ) {
    this.agent = agent;
    this.task = task;
    this.data = data;
    this.context = context;
    this.instructions = instructions;
    this.limits = limits;
    this.tools = bench.tools;
    this.fits = bench.fits;
    this.toolCount = bench.toolCount;
    this.better = bench.better;
    this.#bench = bench;
    this.#progress = progress;
    this.#pulseMs = pulseMs;
    this.#scope = new Scope(scope, Math.min(limits.seconds * 1_000, timeFor(scope)), agent);
    this.note("observe", describeTools(this));
  }

  get signal(): AbortSignal {
    return this.#scope.signal;
  }

  remainingMs(): number {
    return this.#scope.remainingMs;
  }

  /** Lets planners work on it, the next one where one cannot even begin. Never throws. */
  async work(planners: readonly Planner[]): Promise<EndedRun> {
    const stop = startPulse(
      (seconds) => this.#report(0, this.#reported.message, Math.round(seconds)),
      this.#pulseMs,
    );
    try {
      return await this.#workWith(planners);
    } finally {
      stop();
      this.#scope.close();
    }
  }

  async #workWith([planner, ...others]: readonly Planner[]): Promise<EndedRun> {
    if (!planner) return this.#end(undefined, new HallError("INTERNAL", "no planner is available"));
    this.#planner = planner.kind;
    try {
      return this.#end(await this.#scope.race(planner.plan(this)));
    } catch (error) {
      const hasBegun = this.#usage.turns > 1 || this.#steps.length > 0 || this.#limit !== undefined;
      if (others.length === 0 || hasBegun || this.#scope.cancelled)
        return this.#end(undefined, error);
      this.note("observe", `the ${planner.kind} planner cannot work: ${sayable(error)}`);
      this.#limitations.add(`the ${planner.kind} planner (${sayable(error)})`);
      this.#usage = { turns: 0, inputTokens: 0, outputTokens: 0 };
      return this.#workWith(others);
    }
  }

  /** Who has worked on it last. */
  get planner(): Planner["kind"] {
    return this.#planner;
  }

  async find(query: string, limit = 10): Promise<readonly OfferedTool[]> {
    this.#requireTime();
    const tools = await this.#scope.race(this.#bench.find(query, limit));
    this.finds.push({ query, tools });
    this.note(
      "observe",
      `${tools.length} tools for "${shorten(query, 80)}": ${tools.map(({ name }) => name).join(", ")}`,
    );
    return tools;
  }

  async call(name: string, args: JsonObject): Promise<StepResult> {
    this.#requireTime();
    if (this.#steps.length >= this.limits.steps)
      throw this.#stopAt("steps", `${this.limits.steps} calls of tools`);
    if (this.#resultBytes >= this.limits.resultBytes)
      throw this.#stopAt("bytes", `${this.limits.resultBytes} bytes of results`);
    const tool = this.#bench.get(name);
    const full = tool?.name ?? shorten(name, 100);
    const startedAt = performance.now();
    const step = this.#steps.push({ tool: full, args, startedAt });
    if (tool?.unavailable !== undefined)
      this.#noteStep(step, "observe", `${full} is not available: ${tool.unavailable}`);
    this.#tell(step, `${full} …`);
    this.#noteStep(step, "execute", `${full} ${shorten(redact(args), 200)}`);
    const { outcome, error } = await this.#attempt(step, tool, full, args);
    const result = this.#verify(step, {
      tool: full,
      args,
      outcome,
      error,
      ms: performance.now() - startedAt,
    });
    this.#steps[step - 1] = result;
    this.#requireTime();
    return result;
  }

  note(phase: Phase, text: string): void {
    this.#trace.push({ ms: this.#elapsedMs(), phase, text: shorten(text, 1_000) });
  }

  draft(text: string): void {
    this.#draft = text;
  }

  beginTurn(): void {
    this.#requireTime();
    const { turns, inputTokens, outputTokens } = this.#usage;
    if (turns >= this.limits.turns) throw this.#stopAt("turns", `${this.limits.turns} turns`);
    if (inputTokens + outputTokens >= this.limits.tokens)
      throw this.#stopAt("tokens", `${this.limits.tokens} tokens`);
    this.#usage = { ...this.#usage, turns: turns + 1 };
  }

  spend({ inputTokens, outputTokens, estimated }: Usage, said?: JsonObject): void {
    const sum = this.#usage;
    this.#usage = {
      turns: sum.turns,
      inputTokens: sum.inputTokens + inputTokens,
      outputTokens: sum.outputTokens + outputTokens,
      ...(estimated || sum.estimated ? { estimated: true } : {}),
    };
    if (said) this.said.push(said);
  }

  async #attempt(
    step: number,
    tool: OfferedTool | undefined,
    name: string,
    args: JsonObject,
  ): Promise<Pick<Attempt, "outcome" | "error">> {
    try {
      if (!tool) throw this.#unknownTool(name);
      const progress = ({ progress: done, total, message = "" }: Progress): void =>
        this.#tell(step, `${name}: ${message}`, total ? done / total : 0);
      const how = { scope: this.#scope, planner: this.#planner, progress };
      return {
        outcome: await this.#scope.race(this.#bench.call(tool, args, how)),
        error: undefined,
      };
    } catch (failure) {
      const error =
        failure instanceof HallError
          ? failure
          : new HallError("INTERNAL", `${name} failed in a way nobody expected`);
      return { outcome: describeFailure(error), error };
    }
  }

  #unknownTool(name: string): HallError {
    const near = findNear(
      name,
      this.tools.map((tool) => tool.name),
    );
    return new HallError(
      "NOT_FOUND",
      `${name} is not one of the tools of ${this.agent}${near.length > 0 ? `; did you mean ${near.join(", ")}?` : ""}`,
    );
  }

  /** Looks at what came back, and writes down what was learnt of the tool. */
  #verify(step: number, { tool, args, outcome, error, ms }: Attempt): StepResult {
    const bytes = jsonSize(outcome);
    this.#resultBytes += bytes;
    const word = error
      ? errorType(error.code)
      : outcome.isError
        ? "error"
        : isEmpty(outcome)
          ? "empty"
          : "ok";
    const excerpt = error ? shorten(error.message, excerptMax) : excerptOf(outcome);
    this.#noteStep(
      step,
      "verify",
      word === "ok"
        ? `ok, ${bytes} bytes`
        : word === "empty"
          ? "nothing came back"
          : `${word}: ${excerpt}`,
    );
    this.#noteStep(step, "learn", `${tool}: ${word} in ${Math.round(ms)} ms`);
    if (error?.code === "APPROVAL_NEEDED")
      this.#approvals.push({ tool, why: error.message, next: error.next, ...error.details });
    else if (error && limiting.has(error.code))
      this.#limitations.add(`${tool} (${shorten(error.message, 200)})`);
    return {
      step: { tool, arguments: args, outcome: word, ms: Math.round(ms * 10) / 10, excerpt },
      outcome,
    };
  }

  /** How far the run is: the step, and `share` of it. */
  #tell(step: number, text: string, share = 0): void {
    this.#report(
      step + Math.max(0, Math.min(share, 0.99)),
      `${step}/${this.limits.steps} ${shorten(text, 200)}`,
    );
  }

  /** Progress must grow with every notification, even when only time has passed. */
  #report(progress: number, message: string, elapsedSeconds?: number): void {
    this.#reported = { progress: Math.max(this.#reported.progress + 0.0001, progress), message };
    const elapsed = elapsedSeconds === undefined ? {} : { elapsedSeconds };
    this.#progress({ ...this.#reported, total: this.limits.steps, ...elapsed });
  }

  #noteStep(step: number, phase: Phase, text: string): void {
    this.#trace.push({ ms: this.#elapsedMs(), phase, text: shorten(text, 1_000), step });
  }

  #elapsedMs(): number {
    return Math.round(performance.now() - this.#startedAt);
  }

  #requireTime(): void {
    if (this.#scope.cancelled) throw this.#scope.cancelled;
  }

  #stopAt(limit: StopReason, what: string): HallError {
    this.#limit ??= limit;
    return new HallError("BUDGET", `the run may use ${what}, and has`, { details: { limit } });
  }

  #end(conclusion: Conclusion | undefined, error?: unknown): EndedRun {
    const stopped =
      conclusion?.stopped === "done" ? "done" : (this.#forced() ?? conclusion?.stopped ?? "failed");
    const taken = this.#steps.map((result, at) =>
      "step" in result ? result : this.#abandon(at + 1, result),
    );
    return {
      answer: conclusion?.answer ?? this.#draft,
      stopped,
      problem: conclusion?.problem ?? (stopped === "failed" ? sayable(error) : undefined),
      hint: stopped === "failed" && error instanceof HallError ? error.hint : undefined,
      steps: taken.map(({ step }) => step),
      results: taken.map(({ outcome }) => outcome),
      trace: this.#trace,
      usage: this.#usage,
      approvals: this.#approvals,
      limitations: [...this.#limitations],
      conclusion,
    };
  }

  /** A call that still ran when the run was over: it has been called off. */
  #abandon(step: number, { tool, args, startedAt }: Begun): StepResult {
    const error = this.#scope.cancelled ?? new HallError("CANCELLED", "the run was over");
    return this.#verify(step, {
      tool,
      args,
      error,
      outcome: describeFailure(error),
      ms: performance.now() - startedAt,
    });
  }

  /** What ended it from outside. */
  #forced(): StopReason | undefined {
    const { cancelled } = this.#scope;
    return cancelled ? (cancelled.code === "TIMEOUT" ? "time" : "cancelled") : this.#limit;
  }
}

/** A step that has not come back yet. */
interface Begun {
  readonly tool: string;
  readonly args: JsonObject;
  readonly startedAt: number;
}

interface Attempt {
  readonly tool: string;
  readonly args: JsonObject;
  readonly outcome: Outcome;
  readonly error: HallError | undefined;
  readonly ms: number;
}

/** A run ends a little before its call, so that what it obtained can still be said. */
function timeFor(scope: Scope): number {
  const left = scope.remainingMs;
  return left - Math.min(1_000, left / 10);
}

/** Failures that say that something is missing, not that it was asked for in a wrong way. */
const limiting: ReadonlySet<string> = new Set([
  "UNAVAILABLE",
  "NOT_FOUND",
  "TIMEOUT",
  "DENIED",
  "RATE_LIMITED",
  "OVERLOADED",
  "BAD_ANSWER",
  "INTERNAL",
]);

function describeTools({ tools, toolCount, fits }: Run): string {
  const names = tools
    .slice(0, 5)
    .map(({ name }) => name)
    .join(", ");
  return `${toolCount} tools, ${fits ? "the best" : "none of which fits well; the nearest"}: ${names}`;
}

/** What others threw may hold anything, and this is read by whoever asked. */
function sayable(error: unknown): string {
  return error instanceof HallError ? error.message : "something went wrong that nobody expected";
}
