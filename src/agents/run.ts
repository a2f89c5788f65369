import type { Advice } from "../base/advice.ts";
import { errorType, fullMessageOf, HallError } from "../base/errors.ts";
import type { JsonObject } from "../base/json.ts";
import { Scope } from "../base/scope.ts";
import { findNear, formatBytes, shortenLine } from "../base/text.ts";
import { startHeartbeat } from "../base/timing.ts";
import { jsonSize, redact } from "../gateway/record.ts";
import type { Outcome, Progress } from "../tool.ts";
import {
  type Conclusion,
  describeFailure,
  isEmpty,
  type OfferedTool,
  type PlannedRun,
  type Planner,
  type PlannerKind,
  type RunPhase,
  type RunRequest,
  type RunStep,
  type StepResult,
  type StopReason,
  shownName,
  textOf,
  type Usage,
} from "./planner.ts";
import type { Workbench } from "./workbench.ts";

export interface RunOptions {
  readonly bench: Workbench;
  /** The call the run belongs to: the run ends with it. */
  readonly scope: Scope;
  progress(progress: Progress): void;
  /** How often a silent run reports its elapsed time. Default 2,000. */
  readonly pulseMs?: number | undefined;
}

/** One event of a run. */
export interface TraceEvent {
  /** Milliseconds since the run began. */
  readonly ms: number;
  readonly phase: RunPhase;
  readonly text: string;
  /** The step it belongs to, counted from 1. */
  readonly step?: number | undefined;
  /** True for events that a replay does not repeat, such as retries. */
  readonly isTransient?: boolean | undefined;
}

/** A call that was refused inside the run, and that the user can approve. */
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
  readonly planner: PlannerKind;
  readonly answer: string;
  readonly stopped: StopReason;
  readonly problem?: string | undefined;
  /** How to fix the problem; only if `next` is empty. */
  readonly hint?: string | undefined;
  readonly next: readonly Advice[];
  readonly steps: readonly RunStep[];
  /** The result of each step, in the order of steps. */
  readonly results: readonly Outcome[];
  /** The tool's name of each step, as the client sees it in its list. */
  readonly shown: readonly string[];
  readonly trace: readonly TraceEvent[];
  /** The turns of the model, kept for a replay. */
  readonly turns: readonly JsonObject[];
  readonly finds: readonly FoundTools[];
  readonly usage: RunUsage;
  readonly approvals: readonly NeededApproval[];
  /** Tools and planners that could not be used, and why. */
  readonly limitations: readonly string[];
  readonly conclusion: Conclusion | undefined;
}

export interface FoundTools {
  readonly query: string;
  readonly tools: readonly OfferedTool[];
}

const noUsage: RunUsage = { turns: 0, inputTokens: 0, outputTokens: 0 };

/**
 * One run of an agent: counts its steps and cost against the limits, and records its trace. The
 * planner gets it as a `PlannedRun` and calls tools through it. However the run ends (an answer, a
 * limit, a failure, a cancellation), it returns everything obtained by then.
 */
export class AgentRun implements PlannedRun {
  readonly request: RunRequest;
  readonly offer: Workbench;
  readonly #scope: Scope;
  readonly #options: RunOptions;
  readonly #startedAt = performance.now();
  /** An entry is undefined while its call is under way. */
  readonly #steps: (StepResult | undefined)[] = [];
  readonly #log = {
    trace: [] as TraceEvent[],
    turns: [] as JsonObject[],
    finds: [] as FoundTools[],
    approvals: [] as NeededApproval[],
    limitations: new Set<string>(),
  };
  #reported = { progress: 0, message: "thinking" };
  #planner: PlannerKind = "local";
  #usage = noUsage;
  #resultBytes = 0;
  #draft = "";
  /** The first limit that the run reached. */
  #limit: StopReason | undefined;

  constructor(request: RunRequest, options: RunOptions) {
    const { bench, scope } = options;
    this.request = request;
    this.offer = bench;
    this.#options = options;
    const timeMs = Math.min(request.limits.seconds * 1_000, timeWithin(scope));
    this.#scope = new Scope(scope, timeMs, request.agent);

    const names = bench.tools.slice(0, 5).map(({ name }) => name);
    const fit = bench.fits ? "best" : "none clearly fits; nearest";
    this.note("observe", `${bench.toolCount} tools; ${fit}: ${names.join(", ")}`);
  }

  get signal(): AbortSignal {
    return this.#scope.signal;
  }

  remainingMs(): number {
    return this.#scope.remainingMs;
  }

  /** Runs the first planner, and the next one if it fails before its first step. Never throws. */
  async work(planners: readonly Planner[]): Promise<EndedRun> {
    const stop = startHeartbeat(
      (seconds) => this.#report(0, this.#reported.message, Math.round(seconds)),
      this.#options.pulseMs,
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
      // Calls under way were cancelled as well. Wait for a tick so that their steps have a result.
      await new Promise((resolve) => setImmediate(resolve));
      const hasBegun = this.#usage.turns > 1 || this.#steps.length > 0 || this.#limit !== undefined;
      if (others.length === 0 || hasBegun || this.#scope.cancelReason)
        return this.#end(undefined, error);
      const reason = messageOf(error);
      this.note("observe", `the ${planner.kind} planner failed: ${reason}`, { isTransient: true });
      this.#log.limitations.add(`the ${planner.kind} planner (${reason})`);
      this.#usage = noUsage;
      return this.#workWith(others);
    }
  }

  async find(query: string, limit = 10): Promise<readonly OfferedTool[]> {
    this.#requireTime();
    const tools = await this.#scope.race(this.offer.find(query, limit));
    this.#log.finds.push({ query, tools });
    const names = tools.map(({ name }) => name).join(", ");
    this.note("observe", `${tools.length} tools for "${shortenLine(query, 80)}": ${names}`);
    return tools;
  }

  async call(name: string, args: JsonObject): Promise<StepResult> {
    this.#requireTime();
    const { steps, bytes } = this.request.limits;
    if (this.#steps.length >= steps) throw this.#stopAt("steps", `${steps} tool calls`);
    if (this.#resultBytes >= bytes) throw this.#stopAt("bytes", `${formatBytes(bytes)} of results`);

    const tool = this.offer.get(name);
    const full = tool?.name ?? shortenLine(name, 100);
    const shown = tool ? shownName(tool) : full;
    const startedAt = performance.now();
    const step = this.#steps.push(undefined);
    if (tool?.unavailable !== undefined)
      this.note("observe", `${full} is not available: ${tool.unavailable}`, { step });
    this.#reportStep(step, `${shown} …`);
    this.note("execute", `${full} ${shortenLine(redact(args), 200)}`, { step });

    const result = await this.#attempt(step, tool ?? full, args).then(
      (outcome) => ({ outcome }),
      (error: unknown) => describeError(error, shown),
    );
    const ms = Math.round((performance.now() - startedAt) * 10) / 10;
    const verdict = this.#verify(step, { full, shown }, result);
    const { outcome } = result;
    const done = { step: { tool: full, arguments: args, ms, ...verdict }, shown, outcome };
    this.#steps[step - 1] = done;
    this.#requireTime();
    return done;
  }

  note(phase: RunPhase, text: string, more: Pick<TraceEvent, "step" | "isTransient"> = {}): void {
    const ms = Math.round(performance.now() - this.#startedAt);
    this.#log.trace.push({ ms, phase, text: shortenLine(text, 1_000), ...more });
  }

  draft(text: string): void {
    this.#draft = text;
  }

  beginTurn(): void {
    this.#requireTime();
    const { limits } = this.request;
    const { turns, inputTokens, outputTokens } = this.#usage;
    if (turns >= limits.turns) throw this.#stopAt("turns", `${limits.turns} turns`);
    if (inputTokens + outputTokens >= limits.tokens)
      throw this.#stopAt("tokens", `${limits.tokens} tokens`);
    this.#usage = { ...this.#usage, turns: turns + 1 };
  }

  spend({ inputTokens, outputTokens, estimated }: Usage, turn?: JsonObject): void {
    const sum = this.#usage;
    this.#usage = {
      turns: sum.turns,
      inputTokens: sum.inputTokens + inputTokens,
      outputTokens: sum.outputTokens + outputTokens,
      ...(estimated || sum.estimated ? { estimated: true } : {}),
    };
    if (turn) this.#log.turns.push(turn);
  }

  async #attempt(step: number, tool: OfferedTool | string, args: JsonObject): Promise<Outcome> {
    if (typeof tool === "string") throw this.#unknownTool(tool);
    const call = this.offer.call(tool, args, {
      scope: this.#scope,
      planner: this.#planner,
      progress: ({ progress: done, total, message = "" }) =>
        this.#reportStep(step, `${shownName(tool)}: ${message}`, total ? done / total : 0),
    });
    return this.#scope.race(call);
  }

  #unknownTool(name: string): HallError {
    const known = this.offer.tools.map(shownName);
    const near = findNear(name, known);
    const question = near.length > 0 ? `; did you mean ${near.join(", ")}?` : "";
    return new HallError("NOT_FOUND", `${this.request.agent} has no tool "${name}"${question}`);
  }

  /** Classifies the result of a step, and records approvals and unusable tools for the answer. */
  #verify(
    step: number,
    { full, shown }: { readonly full: string; readonly shown: string },
    { outcome, error }: Attempted,
  ): Pick<RunStep, "outcome" | "excerpt"> {
    const bytes = jsonSize(outcome);
    this.#resultBytes += bytes;
    const word = outcomeOf(outcome, error);
    const excerpt = shortenLine(error ? fullMessageOf(error) : textOf(outcome), 300);
    const findings: Readonly<Record<string, string>> = {
      ok: `ok, ${formatBytes(bytes)}`,
      empty: "empty result",
    };
    this.note("verify", findings[word] ?? `${word}: ${excerpt}`, { step });
    this.note("learn", `${full}: ${word}`, { step });

    if (error?.code === "APPROVAL_NEEDED")
      this.#log.approvals.push({
        tool: shown,
        why: error.message,
        ...error.details,
        next: error.next,
      });
    else if (error && limitingCodes.has(error.code))
      this.#log.limitations.add(`${shown} (${shortenLine(fullMessageOf(error), 200)})`);
    return { outcome: word, excerpt };
  }

  #reportStep(step: number, text: string, share = 0): void {
    const progress = step + Math.max(0, Math.min(share, 0.99));
    this.#report(progress, `${step}/${this.request.limits.steps} ${shortenLine(text, 200)}`);
  }

  /** Progress must grow with every notification, even when only time has passed. */
  #report(progress: number, message: string, elapsedSeconds?: number): void {
    this.#reported = { progress: Math.max(this.#reported.progress + 0.0001, progress), message };
    const total = this.request.limits.steps;
    this.#options.progress({ ...this.#reported, total, elapsedSeconds });
  }

  #requireTime(): void {
    if (this.#scope.cancelReason) throw this.#scope.cancelReason;
  }

  #stopAt(limit: StopReason, amount: string): HallError {
    this.#limit ??= limit;
    return new HallError("BUDGET", `the run reached its limit of ${amount}`, {
      details: { limit },
    });
  }

  #end(conclusion: Conclusion | undefined, error?: unknown): EndedRun {
    const stopped =
      conclusion?.stopped === "done"
        ? "done"
        : (this.#stoppedFromOutside() ?? conclusion?.stopped ?? "failed");
    const taken = this.#steps.filter((done) => done !== undefined);
    const isFailure = stopped === "failed";
    const failure = isFailure && error instanceof HallError ? error : undefined;
    return {
      ...this.#log,
      limitations: [...this.#log.limitations],
      planner: this.#planner,
      answer: conclusion?.answer ?? this.#draft,
      stopped,
      problem: conclusion?.problem ?? (isFailure ? messageOf(error) : undefined),
      hint: failure?.next.length === 0 ? failure.hint : undefined,
      next: failure?.next ?? [],
      steps: taken.map(({ step }) => step),
      results: taken.map(({ outcome }) => outcome),
      shown: taken.map(({ shown }) => shown),
      usage: this.#usage,
      conclusion,
    };
  }

  #stoppedFromOutside(): StopReason | undefined {
    const { cancelReason } = this.#scope;
    if (!cancelReason) return this.#limit;
    return cancelReason.code === "TIMEOUT" ? "time" : "cancelled";
  }
}

interface Attempted {
  readonly outcome: Outcome;
  readonly error?: HallError;
}

function describeError(failure: unknown, tool: string): Attempted {
  const error =
    failure instanceof HallError
      ? failure
      : new HallError("INTERNAL", `${tool} failed unexpectedly`);
  return { outcome: describeFailure(error), error };
}

function outcomeOf(outcome: Outcome, error: HallError | undefined): RunStep["outcome"] {
  if (error) return errorType(error.code);
  if (outcome.isError) return "error";
  return isEmpty(outcome) ? "empty" : "ok";
}

/** A run ends a little before its call, to leave time for the answer. */
function timeWithin(scope: Scope): number {
  const left = scope.remainingMs;
  return left - Math.min(1_000, left / 10);
}

/** Errors that mean that the tool cannot be used, not that the arguments were wrong. */
const limitingCodes: ReadonlySet<string> = new Set([
  "UNAVAILABLE",
  "NOT_FOUND",
  "TIMEOUT",
  "DENIED",
  "RATE_LIMITED",
  "OVERLOADED",
  "BAD_ANSWER",
  "INTERNAL",
]);

/** Messages of other errors are not shown to callers, because they may contain secrets. */
function messageOf(error: unknown): string {
  return error instanceof HallError ? error.message : "unexpected error";
}
