/** `evaluate-lisp` and its companions: one program composes many tools, and a model reads only its result. */
import { type ErrorCode, HallError } from "../../base/errors.ts";
import { createIds } from "../../base/ids.ts";
import type { JsonObject } from "../../base/json.ts";
import { Scope } from "../../base/scope.ts";
import { startHeartbeat } from "../../base/timing.ts";
import type { Spelling, SpellingOf } from "../../registry/shown-names.ts";
import type { CallContext, Outcome, Target, Tool } from "../../tool.ts";
import { formatCondition, formatEvaluation, formatSyntax, formatText } from "./answer.ts";
import type {
  ClockReadings,
  DefinitionType,
  EvaluationLimits,
  EvaluationMode,
  ThreadReport,
  ToolEntry,
} from "./protocol.ts";
import {
  createReplay,
  createRun,
  type EvaluateOrder,
  type EvaluationRun,
  type FinishedEvaluation,
  type HistoryEntry,
  SessionHistory,
  withoutFailures,
} from "./recording.ts";
import { HallService, type ToolAccess } from "./service.ts";
import {
  type LispSession,
  LispSessions,
  refuseCalls,
  type SessionSelector,
  type StoppedRun,
} from "./sessions.ts";
import { LispThread } from "./thread.ts";

export interface EvaluatorOptions extends ToolAccess {
  readonly spellingOf: SpellingOf;
  /** The tools for programs. Must return the same list as long as nothing changed. */
  tools(): readonly Target[];
  /** The same for what policies show to the caller; undefined if that is everything. */
  seenBy?(context: CallContext): SeenTools | undefined;
  /** Called with every finished evaluation. */
  saveRun?(run: EvaluationRun): void;
  /** The built worker. Default: beside this module, or beside the bundle it is in. */
  readonly worker?: URL | undefined;
}

type SeenTools = Pick<EvaluatorOptions, "tools" | "findTool" | "getTool" | "listGroup">;

interface EvaluateArguments {
  readonly code: string;
  readonly package?: string;
  readonly session?: string;
  readonly timeout?: number;
  readonly mode?: EvaluationMode;
  readonly verbosity?: "normal" | "short";
  readonly resume?: string;
}

interface RunOptions {
  readonly service: HallService;
  readonly context: CallContext;
  readonly readings: ClockReadings | undefined;
}

type Evaluated = Extract<ThreadReport, { kind: "evaluated" }>;

const defaultLimits: Required<EvaluationLimits> = {
  timeoutMs: 30_000,
  outputCharacters: 100_000,
  calls: 50,
  steps: 2_000_000_000,
};
const progressMs = 1_000;
/** Applies to every evaluation, whatever was configured. */
const timeoutMsMax = 600_000;
/** How long a program may miss its own timeout before its thread is ended. */
const overtimeMs = 2_000;
const syntaxMsMax = 4_000;
/** Reserved of an inherited deadline for the answer. */
const answerMs = 250;
/** Recorded failures that a resumed program tries again. */
const retried: ReadonlySet<ErrorCode> = new Set(["APPROVAL_NEEDED", "CANCELLED"]);

const runIds = createIds("lisp");

export class Evaluator {
  readonly #options: EvaluatorOptions;
  readonly #sessions: LispSessions;
  #syntaxThread: LispThread | undefined;
  /** The tools as of the last look, and the lists made of them. */
  #tools: readonly Target[] | undefined;
  readonly #entries = new Map<Spelling, readonly ToolEntry[]>();
  readonly #unsaved: FinishedEvaluation[] = [];

  constructor(options: EvaluatorOptions) {
    this.#options = options;
    this.#sessions = new LispSessions({ worker: options.worker, limits: defaultLimits });
  }

  async call({ name }: Tool, args: JsonObject, context: CallContext): Promise<Outcome> {
    const selector: SessionSelector = {
      caller: context.caller,
      scope: context.scope,
      handle: args.session as string | undefined,
    };
    switch (name) {
      case "evaluate-lisp":
        return this.#sessions.use(selector, (session) =>
          this.#evaluate(session, args as unknown as EvaluateArguments, context),
        );
      case "list-definitions":
        return this.#sessions.use(selector, (session) =>
          listSessionDefinitions(session, (args.type ?? "all") as DefinitionType, context.scope),
        );
      case "reset-session":
        return this.#sessions.use(selector, (session) => this.#reset(session));
      case "configure-limits":
        return this.#sessions.use(selector, async (session) => {
          session.limits = readLimits(args, session.limits);
          return formatLimits(session);
        });
      case "validate-syntax":
        return this.#checkSyntax(`${args.code}`, context.scope);
      case "describe-last-error":
        return this.#sessions.use(selector, async (session) => formatLastError(session));
      default:
        throw new HallError("NOT_FOUND", `unknown tool "${name}"`);
    }
  }

  async close(): Promise<void> {
    await Promise.all([this.#sessions.close(), this.#syntaxThread?.close()]);
    this.#saveRuns();
  }

  async #evaluate(
    session: LispSession,
    args: EvaluateArguments,
    context: CallContext,
  ): Promise<Outcome> {
    const resumed = args.resume === undefined ? undefined : findStopped(session, args.resume);
    session.stopped = undefined;
    // Its programs may still hold untrusted text, whoever calls now.
    if (session.taint) context.flow?.add(session.taint);
    if (resumed) await this.#rewind(session, resumed.entry, context);

    const order = resumed?.entry.order ?? createOrder(args, session);
    const entry = session.history.begin(order);
    const service = new HallService({
      access: { ...this.#options, ...this.#options.seenBy?.(context) },
      context,
      order,
      replay: resumed && createReplay(withoutFailures(resumed.entry.answers, retried)),
      contents: resumed?.contents,
      record: (answer) => session.history.add(entry, answer),
    });
    const startedAt = Date.now();
    const before = resumed ? resumed.before : session.lastRun;
    const { evaluation, clock } = await this.#run(session, withinDeadline(order, context.scope), {
      service,
      context,
      readings: resumed?.readings,
    });
    session.history.end(entry, clock.readings);

    const id = runIds();
    const { contents, calls, recordedCalls, shown } = service;
    session.lastError = evaluation.condition ?? session.lastError;
    session.taint = context.flow?.read();
    session.lastRun = id;
    if (service.isStopped && session.history.isComplete)
      session.stopped = { run: id, entry, before, contents, readings: clock.beforeRefusal };

    const { handle, seed, tools = [] } = session;
    const caller = context.caller?.client ?? "";
    this.#save({
      id,
      session: handle,
      seed,
      caller,
      startedAt,
      before,
      entry,
      tools,
      evaluation,
      calls: recordedCalls,
    });
    return formatEvaluation(evaluation, {
      session: handle,
      run: id,
      calls,
      shown,
      isHandleNeeded: !context.caller?.isLasting,
      isShort: args.verbosity === "short",
      next: session.stopped
        ? [{ do: "call-tool", tool: "evaluate-lisp", arguments: { code: "", resume: id } }]
        : [],
    });
  }

  async #run(
    session: LispSession,
    order: EvaluateOrder,
    { service, context, readings }: RunOptions,
  ): Promise<Evaluated> {
    // The thread watches its own time; this scope ends it if it cannot.
    const watched = new Scope(context.scope, order.limits.timeoutMs + overtimeMs, "the program");
    const stopProgress = startHeartbeat((seconds) => service.reportTime(seconds), progressMs);
    try {
      return await session.thread.run(
        { ...order, readings, tools: this.#changedTools(session, context) },
        "evaluated",
        { scope: watched, serve: service.serve },
      );
    } finally {
      stopProgress();
      watched.close();
    }
  }

  /** Rebuilds the session in a new thread up to an entry, without calling any tool. */
  async #rewind(session: LispSession, entry: HistoryEntry, context: CallContext): Promise<void> {
    const { history } = session;
    const place = history.entries.indexOf(entry);
    if (!history.isComplete || place === -1)
      throw new HallError("BUDGET", "the session is too long to resume", {
        hint: "Send the code again.",
      });

    await this.#sessions.renew(session);
    session.history = new SessionHistory();
    for (const { order, answers, readings } of history.entries.slice(0, place)) {
      const again = session.history.begin(order);
      for (const answer of answers) session.history.add(again, answer);
      session.history.end(again, readings);
      const service = new HallService({
        access: { ...this.#options, ...this.#options.seenBy?.(context) },
        context,
        order,
        replay: createReplay(answers),
        isLive: false,
      });
      await this.#run(session, order, { service, context, readings });
    }
  }

  async #reset(session: LispSession): Promise<Outcome> {
    await this.#sessions.renew(session);
    session.history = new SessionHistory();
    session.lastError = undefined;
    session.lastRun = undefined;
    session.taint = undefined;
    session.stopped = undefined;
    return formatText("The session is reset: nothing is defined, the package is CL-USER.", {
      session: session.handle,
    });
  }

  /** In a thread, because reading hostile code must not block the hall. */
  async #checkSyntax(code: string, scope: Scope): Promise<Outcome> {
    if (!this.#syntaxThread?.isAlive)
      this.#syntaxThread = new LispThread({ worker: this.#options.worker, seed: 0 });
    const watched = new Scope(scope, syntaxMsMax, "reading the code");
    try {
      const work = { scope: watched, serve: refuseCalls };
      const { syntax } = await this.#syntaxThread.run({ kind: "syntax", code }, "syntax", work);
      return formatSyntax(syntax);
    } finally {
      watched.close();
    }
  }

  /** The tools, unless the session's thread knows them already. */
  #changedTools(session: LispSession, context: CallContext): readonly ToolEntry[] | undefined {
    const tools = (this.#options.seenBy?.(context) ?? this.#options).tools();
    if (tools !== this.#tools) {
      this.#tools = tools;
      this.#entries.clear();
    }
    const spelling = this.#options.spellingOf(context);
    let entries = this.#entries.get(spelling);
    if (!entries) {
      entries = tools.map((target) => this.#describe(target, context));
      this.#entries.set(spelling, entries);
    }
    if (session.tools === entries) return undefined;
    session.tools = entries;
    return entries;
  }

  #describe(target: Target, context: CallContext): ToolEntry {
    const { toolkit, tool, fullName } = target;
    const shown = this.#options.spell(target, context);
    return {
      toolkit: toolkit.prefix ?? toolkit.id,
      name: tool.name,
      fullName,
      ...(shown === fullName ? {} : { shown }),
    };
  }

  /** After the answer: making the record takes longer than many programs. */
  #save(finished: FinishedEvaluation): void {
    if (this.#unsaved.push(finished) === 1) setImmediate(() => this.#saveRuns());
  }

  #saveRuns(): void {
    for (const finished of this.#unsaved.splice(0)) this.#options.saveRun?.(createRun(finished));
  }
}

function createOrder(
  { code, package: name, timeout, mode = "explore" }: EvaluateArguments,
  { limits }: LispSession,
): EvaluateOrder {
  const timeoutMs = timeout === undefined ? limits.timeoutMs : timeout * 1_000;
  return {
    kind: "evaluate",
    code,
    package: name,
    mode,
    limits: { ...limits, timeoutMs: timeoutMs === 0 ? timeoutMsMax : timeoutMs },
  };
}

/** Shortens the timeout to the time that is left. */
function withinDeadline(order: EvaluateOrder, scope: Scope): EvaluateOrder {
  const { limits } = order;
  const timeoutMs = Math.max(1, Math.min(limits.timeoutMs, scope.remainingMs - answerMs));
  return { ...order, limits: { ...limits, timeoutMs } };
}

function findStopped({ stopped }: LispSession, run: string): StoppedRun {
  if (stopped?.run === run) return stopped;
  throw new HallError("NOT_FOUND", `run "${run.slice(0, 40)}" cannot be resumed in this session`, {
    hint: "Only the last evaluation of a session can resume, and only if it needs an approval. Send the code again.",
  });
}

async function listSessionDefinitions(
  { thread, handle }: LispSession,
  type: DefinitionType,
  scope: Scope,
): Promise<Outcome> {
  const work = { scope, serve: refuseCalls };
  const { definitions, package: name } = await thread.run(
    { kind: "definitions", type },
    "definitions",
    work,
  );
  const lines = definitions.map((definition) => {
    const documentation = definition.documentation ? ` - ${definition.documentation}` : "";
    return `${definition.type} ${definition.name}${documentation}`;
  });
  return formatText(lines.join("\n") || "Nothing is defined.", {
    definitions,
    package: name,
    session: handle,
  });
}

function readLimits(args: JsonObject, limits: EvaluationLimits): EvaluationLimits {
  const given = args as Readonly<Record<string, number | undefined>>;
  return {
    timeoutMs: given.timeout === undefined ? limits.timeoutMs : given.timeout * 1_000,
    outputCharacters: given["max-output"] ?? limits.outputCharacters,
    calls: given["max-calls"] ?? limits.calls,
    steps: given["max-steps"] ?? limits.steps,
  };
}

function formatLimits({ limits, handle }: LispSession): Outcome {
  const { timeoutMs, outputCharacters, calls, steps } = limits;
  const timeout = timeoutMs === 0 ? "none" : `${timeoutMs / 1_000} s`;
  const warning =
    timeoutMs === 0 ? " Without a timeout, an endless loop runs for the maximum of 600 s." : "";
  return formatText(
    `timeout ${timeout}, max-output ${outputCharacters} characters, max-calls ${calls}, max-steps ${steps}.${warning}`,
    {
      timeout: timeoutMs / 1_000,
      "max-output": outputCharacters,
      "max-calls": calls,
      "max-steps": steps,
      session: handle,
    },
  );
}

function formatLastError({ lastError, handle }: LispSession): Outcome {
  if (!lastError) return formatText("No error in this session.", { session: handle });
  const restarts =
    lastError.restarts.length > 0 ? `\n\n[Restarts]\n${lastError.restarts.join("\n")}` : "";
  const condition = formatCondition(lastError, lastError.backtrace.length);
  return formatText(`${condition}${restarts}`, { condition: lastError, session: handle });
}
