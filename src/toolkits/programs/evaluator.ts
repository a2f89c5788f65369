/** The programs of a hall, in either language: one composes many tools, and a model reads only its result. */
import type { Advice } from "../../base/advice.ts";
import { type ErrorCode, HallError } from "../../base/errors.ts";
import type { JsonObject } from "../../base/json.ts";
import { Scope } from "../../base/scope.ts";
import { createIds } from "../../base/text.ts";
import { startHeartbeat } from "../../base/timing.ts";
import type { Spelling, SpellingOf } from "../../registry/shown-names.ts";
import type { CallContext, Outcome, Target, Tool } from "../../tool.ts";
import { formatEvaluation, formatSaved, formatSyntax, formatText } from "./answer.ts";
import { formatLastError, formatLimits, listSessionDefinitions, readLimits } from "./companions.ts";
import type {
  ClockReadings,
  DefinitionType,
  EvaluationLimits,
  EvaluationMode,
  EvaluationResult,
  Language,
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
  type ProgramSession,
  ProgramSessions,
  refuseCalls,
  type SessionSelector,
  type StoppedRun,
} from "./sessions.ts";
import { ProgramThread } from "./thread.ts";

export interface EvaluatorOptions extends ToolAccess {
  readonly spellingOf: SpellingOf;
  /** The tools for programs. Must return the same list as long as nothing changed. */
  tools(): readonly Target[];
  /** The same for what policies show to the caller; undefined if that is everything. */
  seenBy?(context: CallContext): SeenTools | undefined;
  /** Called with every finished evaluation. */
  saveRun?(run: EvaluationRun): void;
  /** The folder of the built workers. Default: beside this module, or beside the bundle it is in. */
  readonly workers?: URL | undefined;
}

/** A program that a person has approved, as a tool. */
export interface SavedProgram {
  /** `programs.weekly_report`. */
  readonly fullName: string;
  readonly language: Language;
  readonly code: string;
  readonly mode: EvaluationMode;
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
  /** Of a saved program. */
  readonly input?: JsonObject;
}

interface Evaluation {
  readonly id: string;
  readonly evaluation: EvaluationResult;
  readonly service: HallService;
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

const runIds: Readonly<Record<Language, () => string>> = {
  lisp: createIds("lisp"),
  js: createIds("js"),
};
/** The tools that evaluate. */
const evaluateTools: Readonly<Record<Language, string>> = {
  lisp: "evaluate-lisp",
  js: "evaluate-js",
};

export class Evaluator {
  readonly #options: EvaluatorOptions;
  readonly #sessions: ProgramSessions;
  readonly #syntaxThreads = new Map<Language, ProgramThread>();
  /** The tools as of the last look, and the lists made of them. */
  #tools: readonly Target[] | undefined;
  readonly #entries = new Map<Spelling, readonly ToolEntry[]>();
  readonly #unsaved: FinishedEvaluation[] = [];

  constructor(options: EvaluatorOptions) {
    this.#options = options;
    this.#sessions = new ProgramSessions({ workers: options.workers, limits: defaultLimits });
  }

  async call({ name }: Tool, args: JsonObject, context: CallContext): Promise<Outcome> {
    const language =
      name === evaluateTools.js ? "js" : ((args.language as Language | undefined) ?? "lisp");
    const selector: SessionSelector = {
      caller: context.caller,
      scope: context.scope,
      language,
      handle: args.session as string | undefined,
    };
    switch (name) {
      case evaluateTools.lisp:
      case evaluateTools.js:
        return this.#sessions.use(selector, (session) => {
          if (session.language !== language) throw otherLanguage(session);
          return this.#answer(session, args as unknown as EvaluateArguments, context);
        });
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
        return this.#checkSyntax(language, `${args.code}`, context.scope);
      case "describe-last-error":
        return this.#sessions.use(selector, async (session) => formatLastError(session));
      default:
        throw new HallError("NOT_FOUND", `unknown tool "${name}"`);
    }
  }

  async close(): Promise<void> {
    const threads = [...this.#syntaxThreads.values()];
    await Promise.all([this.#sessions.close(), ...threads.map((thread) => thread.close())]);
    this.#saveRuns();
  }

  /** Runs a saved program in a session of its own. */
  run(program: SavedProgram, input: JsonObject, context: CallContext): Promise<Outcome> {
    const { language, code, mode, fullName } = program;
    const { caller, scope } = context;
    return this.#sessions.use({ caller, scope, language, isFresh: true }, async (session) => {
      const evaluated = await this.#evaluate(session, { code, mode, input }, context, fullName);
      const { evaluation, id, service } = evaluated;
      return formatSaved(evaluation, {
        run: id,
        shown: service.shown,
        next: resumeAdvice(session, true),
      });
    });
  }

  async #answer(
    session: ProgramSession,
    args: EvaluateArguments,
    context: CallContext,
  ): Promise<Outcome> {
    const { id, evaluation, service } = await this.#evaluate(session, args, context);
    return formatEvaluation(evaluation, {
      session: session.handle,
      run: id,
      calls: service.calls,
      shown: service.shown,
      isHandleNeeded: !context.caller?.isLasting,
      isShort: args.verbosity === "short",
      next: resumeAdvice(session),
    });
  }

  async #evaluate(
    session: ProgramSession,
    args: EvaluateArguments,
    context: CallContext,
    program?: string,
  ): Promise<Evaluation> {
    const resumed = args.resume === undefined ? undefined : findStopped(session, args.resume);
    session.stopped = undefined;
    // Its programs may still hold untrusted text, even if the caller has changed.
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

    const { handle, language, seed, tools = [] } = session;
    const id = runIds[language]();
    const { contents, recordedCalls } = service;
    session.lastError = evaluation.condition ?? session.lastError;
    session.taint = context.flow?.read();
    session.lastRun = id;
    if (service.isStopped && session.history.isComplete)
      session.stopped = { run: id, entry, before, contents, readings: clock.beforeRefusal };

    const caller = context.caller?.client ?? "";
    this.#save({
      id,
      session: handle,
      language,
      program,
      seed,
      caller,
      startedAt,
      before,
      entry,
      tools,
      evaluation,
      calls: recordedCalls,
    });
    return { id, evaluation, service };
  }

  async #run(
    session: ProgramSession,
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
  async #rewind(session: ProgramSession, entry: HistoryEntry, context: CallContext): Promise<void> {
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

  async #reset(session: ProgramSession): Promise<Outcome> {
    await this.#sessions.renew(session);
    session.history = new SessionHistory();
    session.lastError = undefined;
    session.lastRun = undefined;
    session.taint = undefined;
    session.stopped = undefined;
    const place = session.language === "lisp" ? ", the package is CL-USER" : "";
    return formatText(`The session is reset: nothing is defined${place}.`, {
      session: session.handle,
    });
  }

  /** In a thread, because reading hostile code must not block the hall. */
  async #checkSyntax(language: Language, code: string, scope: Scope): Promise<Outcome> {
    let thread = this.#syntaxThreads.get(language);
    if (!thread?.isAlive) {
      thread = new ProgramThread({ language, workers: this.#options.workers, seed: 0 });
      this.#syntaxThreads.set(language, thread);
    }
    const watched = new Scope(scope, syntaxMsMax, "reading the code");
    try {
      const work = { scope: watched, serve: refuseCalls };
      const { syntax } = await thread.run({ kind: "syntax", code }, "syntax", work);
      return formatSyntax(syntax);
    } finally {
      watched.close();
    }
  }

  /** The tools, unless the session's thread knows them already. */
  #changedTools(session: ProgramSession, context: CallContext): readonly ToolEntry[] | undefined {
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
  { code, package: name, timeout, mode = "explore", input }: EvaluateArguments,
  { limits }: ProgramSession,
): EvaluateOrder {
  const timeoutMs = timeout === undefined ? limits.timeoutMs : timeout * 1_000;
  return {
    kind: "evaluate",
    code,
    package: name,
    mode,
    ...(input ? { input } : {}),
    limits: { ...limits, timeoutMs: timeoutMs === 0 ? timeoutMsMax : timeoutMs },
  };
}

/** Shortens the timeout to the time that is left. */
function withinDeadline(order: EvaluateOrder, scope: Scope): EvaluateOrder {
  const { limits } = order;
  const timeoutMs = Math.max(1, Math.min(limits.timeoutMs, scope.remainingMs - answerMs));
  return { ...order, limits: { ...limits, timeoutMs } };
}

function otherLanguage({ handle, language }: ProgramSession): HallError {
  return new HallError("NOT_FOUND", `session "${handle}" is for ${evaluateTools[language]}`, {
    hint: "Leave `session` out to start a new one.",
  });
}

/** How to resume a program that needs an approval. */
function resumeAdvice(
  { stopped, language, handle }: ProgramSession,
  needsHandle = false,
): readonly Advice[] {
  if (!stopped) return [];
  const args = { code: "", resume: stopped.run, ...(needsHandle ? { session: handle } : {}) };
  return [{ do: "call-tool", tool: evaluateTools[language], arguments: args }];
}

function findStopped({ stopped }: ProgramSession, run: string): StoppedRun {
  if (stopped?.run === run) return stopped;
  throw new HallError("NOT_FOUND", `run "${run.slice(0, 40)}" cannot be resumed in this session`, {
    hint: "Only the last evaluation of a session can resume, and only if it needs an approval. Send the code again.",
  });
}
