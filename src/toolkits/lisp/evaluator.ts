/** `evaluate-lisp` and its companions: one program composes many tools, and only what it returns is read by a model. */
import { type ErrorCode, HallError } from "../../base/errors.ts";
import { createIds } from "../../base/ids.ts";
import type { JsonObject } from "../../base/json.ts";
import { Scope } from "../../base/scope.ts";
import type { CallContext, Outcome, Target, Tool } from "../../tool.ts";
import { answerEvaluation, tellCondition, tellSyntax } from "./answer.ts";
import {
  configureLimits,
  describeLastError,
  evaluateLisp,
  listDefinitions,
  resetSession,
  validateSyntax,
} from "./definitions.ts";
import {
  type Answered,
  createJournal,
  createReplay,
  type Entry,
  type EvaluateOrder,
  withoutFailures,
} from "./journal.ts";
import { createRun, type EndedEvaluation, type EvaluationRun } from "./kept-run.ts";
import type {
  ClockReadings,
  DefinitionType,
  EvaluationLimits,
  Mode,
  Report,
  ToolEntry,
} from "./protocol.ts";
import { createService, type Service } from "./service.ts";
import { createSessions, type Session, type Stopped, type Which } from "./sessions.ts";
import { createLispThread, type LispThread } from "./thread.ts";

export interface Evaluator {
  call(tool: Tool, args: JsonObject, context: CallContext): Promise<Outcome>;
  close(): Promise<void>;
}

export interface EvaluatorOptions {
  /** What programs may call. The same list as long as nothing changed. */
  tools(): readonly Target[];
  findTool(name: string): Target | undefined;
  /** Throws NOT_FOUND, with names that are near. */
  getTool(name: string): Target;
  /** Whether it may destroy or send: refused in explore mode. */
  isDestructive(target: Target): boolean;
  /** The tool as programs may read it. Default: as it is. */
  describe?(target: Target): Tool;
  /** The full names of a group's tools; undefined for a group there is not. */
  listGroup(name: string): readonly string[] | undefined;
  /** Told of every evaluation that has ended. */
  keep?(run: EvaluationRun): void;
  /** The built worker. Default: beside this module, or beside the bundle it is in. */
  readonly worker?: URL | undefined;
}

const defaultLimits: EvaluationLimits = { timeoutMs: 30_000, outputCharacters: 100_000, calls: 50 };
/** What no evaluation may exceed, whatever was configured. */
const timeoutMsMax = 600_000;
/** A program that has not noticed that its time is over. */
const overtimeMs = 2_000;
const syntaxMsMax = 4_000;
/** Kept back from an inherited deadline, so that what was printed can still be told. */
const tellingMs = 250;

type Evaluated = Extract<Report, { kind: "evaluated" }>;

interface Running {
  readonly service: Service;
  readonly scope: Scope;
  readonly readings: ClockReadings | undefined;
}

const runIds = createIds("lisp");

export function createEvaluator(options: EvaluatorOptions): Evaluator {
  const sessions = createSessions({ worker: options.worker, limits: defaultLimits });
  const kept = createKeeping(options.keep);
  let checker: LispThread | undefined;
  const toolEntries = listEntries(options.tools);

  /** The tools, unless the session's thread knows them already. */
  function freshTools(session: Session): readonly ToolEntry[] | undefined {
    const now = toolEntries();
    if (session.tools === now) return undefined;
    session.tools = now;
    return now;
  }

  async function run(
    session: Session,
    order: EvaluateOrder,
    { service, scope, readings }: Running,
  ): Promise<Evaluated> {
    // The thread keeps its time itself; should it be unable to, it is ended from here.
    const watched = new Scope(scope, order.limits.timeoutMs + overtimeMs, "the program");
    try {
      return await session.thread.run(
        { ...order, readings, tools: freshTools(session) },
        "evaluated",
        { scope: watched, serve: service.serve },
      );
    } finally {
      watched.close();
    }
  }

  /** A new thread, brought to where the session was before an entry, without calling anything. */
  async function rewind(session: Session, entry: Entry, context: CallContext): Promise<void> {
    const place = session.journal.entries.indexOf(entry);
    const before = session.journal.entries.slice(0, place);
    if (!session.journal.isWhole || place === -1)
      throw new HallError("BUDGET", "the session is too long to be run again", {
        hint: "Send the code again.",
      });
    await sessions.renew(session);
    session.journal = createJournal();
    for (const { order, answers, readings } of before) {
      const kept = session.journal.begin(order);
      for (const answered of answers) session.journal.add(kept, answered);
      session.journal.end(kept, readings);
      const service = createService({
        ...options,
        context,
        order,
        replay: createReplay(answers),
        isLive: false,
      });
      await run(session, order, { service, scope: context.scope, readings });
    }
  }

  async function evaluate(args: EvaluateArguments, context: CallContext): Promise<Outcome> {
    return sessions.use(
      { caller: context.caller, scope: context.scope, handle: args.session },
      async (session) => {
        const goesOn = args.resume === undefined ? undefined : findStopped(session, args.resume);
        session.stopped = undefined;
        // What its programs know may be what strangers wrote, whoever calls now.
        if (session.taintedBy !== undefined) context.flow?.taint(session.taintedBy);
        if (goesOn) await rewind(session, goesOn.entry, context);
        const order = goesOn?.entry.order ?? createOrder(args, session);
        const entry = session.journal.begin(order);
        const replay = goesOn && createReplay(withoutFailures(goesOn.entry.answers, forgotten));
        const record = (answered: Answered): void => session.journal.add(entry, answered);
        const service = createService({
          ...options,
          context,
          order,
          replay,
          holdings: goesOn?.holdings,
          record,
        });
        const startedAt = Date.now();
        const before = goesOn ? goesOn.before : session.lastRun;
        const { evaluation, clock } = await run(session, withinDeadline(order, context.scope), {
          service,
          scope: context.scope,
          readings: goesOn?.readings,
        });
        session.journal.end(entry, clock.readings);
        const id = runIds();
        session.lastError = evaluation.condition ?? session.lastError;
        session.taintedBy ??= context.flow?.taintedBy();
        session.lastRun = id;
        if (service.isStopped && session.journal.isWhole)
          session.stopped = {
            run: id,
            entry,
            before,
            holdings: service.holdings,
            readings: clock.beforeRefusal,
          };
        const { handle, seed, tools = [] } = session;
        const caller = context.caller?.client ?? "";
        kept.add({
          id,
          session: handle,
          seed,
          caller,
          startedAt,
          before,
          entry,
          tools,
          evaluation,
          calls: service.calls,
        });
        const answer = answerEvaluation(evaluation, {
          session: handle,
          run: id,
          calls: service.calls,
          isHandleNeeded: !context.caller?.isLasting,
          isShort: args.verbosity === "short",
          next: session.stopped
            ? [{ do: "call-tool", tool: evaluateLisp.name, arguments: { code: "", resume: id } }]
            : [],
        });
        return service.shown.length === 0
          ? answer
          : { ...answer, content: [...answer.content, ...service.shown] };
      },
    );
  }

  const calls: Readonly<
    Record<string, (args: JsonObject, context: CallContext) => Promise<Outcome>>
  > = {
    [evaluateLisp.name]: (args, context) => evaluate(args as unknown as EvaluateArguments, context),
    [listDefinitions.name]: (args, context) =>
      sessions.use(which(args, context), async ({ thread, handle }) => {
        const type = (args.type ?? "all") as DefinitionType;
        const { definitions, package: name } = await thread.run(
          { kind: "definitions", type },
          "definitions",
          { scope: context.scope, serve: nothing },
        );
        const lines = definitions.map(
          (definition) =>
            `${definition.type} ${definition.name}${definition.documentation ? ` - ${definition.documentation}` : ""}`,
        );
        return tell(lines.join("\n") || "Nothing is defined.", {
          definitions,
          package: name,
          session: handle,
        });
      }),
    [resetSession.name]: (args, context) =>
      sessions.use(which(args, context), async (session) => {
        await sessions.renew(session);
        session.journal = createJournal();
        session.lastError = undefined;
        session.lastRun = undefined;
        session.taintedBy = undefined;
        session.stopped = undefined;
        return tell("The session is new: nothing is defined, the package is CL-USER.", {
          session: session.handle,
        });
      }),
    [configureLimits.name]: (args, context) =>
      sessions.use(which(args, context), async (session) => {
        session.limits = readLimits(args, session.limits);
        const { timeoutMs, outputCharacters, calls: callsMax } = session.limits;
        const warning =
          timeoutMs === 0
            ? " Without a timeout a program that loops runs until the 600 s no evaluation may exceed."
            : "";
        return tell(
          `timeout ${timeoutMs === 0 ? "none" : `${timeoutMs / 1_000} s`}, max-output ${outputCharacters} characters, max-calls ${callsMax}.${warning}`,
          {
            timeout: timeoutMs / 1_000,
            "max-output": outputCharacters,
            "max-calls": callsMax,
            session: session.handle,
          },
        );
      }),
    [validateSyntax.name]: async (args, context) => {
      // Reading is work as well, and whatever is sent must not hold up the hall.
      checker = checker?.isAlive ? checker : createLispThread({ worker: options.worker, seed: 0 });
      const watched = new Scope(context.scope, syntaxMsMax, "reading the code");
      try {
        const { syntax } = await checker.run({ kind: "syntax", code: `${args.code}` }, "syntax", {
          scope: watched,
          serve: nothing,
        });
        return tellSyntax(syntax);
      } finally {
        watched.close();
      }
    },
    [describeLastError.name]: (args, context) =>
      sessions.use(which(args, context), async ({ lastError, handle }) => {
        if (!lastError) return tell("There was no error in this session.", { session: handle });
        const restarts =
          lastError.restarts.length > 0 ? `\n\n[Restarts]\n${lastError.restarts.join("\n")}` : "";
        return tell(`${tellCondition(lastError, lastError.backtrace.length)}${restarts}`, {
          condition: lastError,
          session: handle,
        });
      }),
  };

  return {
    call(tool, args, context) {
      const found = Object.hasOwn(calls, tool.name) ? calls[tool.name] : undefined;
      if (!found)
        throw new HallError("NOT_FOUND", `the evaluator has no tool named "${tool.name}"`);
      return found(args, context);
    },
    async close() {
      await Promise.all([sessions.close(), checker?.close()]);
      kept.flush();
    },
  };
}

interface EvaluateArguments {
  readonly code: string;
  readonly package?: string;
  readonly session?: string;
  readonly timeout?: number;
  readonly mode?: Mode;
  readonly verbosity?: "normal" | "short";
  readonly resume?: string;
}

function createOrder(
  { code, package: name, timeout, mode = "explore" }: EvaluateArguments,
  { limits }: Session,
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

/** The time there really is. */
function withinDeadline(order: EvaluateOrder, scope: Scope): EvaluateOrder {
  return {
    ...order,
    limits: {
      ...order.limits,
      timeoutMs: Math.max(1, Math.min(order.limits.timeoutMs, scope.remainingMs - tellingMs)),
    },
  };
}

/** Hands on what has ended once its answer is on the way: making a record of it takes longer than many a program. */
function createKeeping(keep: (run: EvaluationRun) => void = () => {}): {
  add(ended: EndedEvaluation): void;
  flush(): void;
} {
  const waiting: EndedEvaluation[] = [];
  const flush = (): void => {
    for (const ended of waiting.splice(0)) keep(createRun(ended));
  };
  return {
    add(ended) {
      if (waiting.push(ended) === 1) setImmediate(flush);
    },
    flush,
  };
}

/** What failed for want of an approval, or because the program ended, is asked again. */
const forgotten: ReadonlySet<ErrorCode> = new Set(["APPROVAL_NEEDED", "CANCELLED"]);

function findStopped({ stopped }: Session, run: string): Stopped {
  if (stopped?.run === run) return stopped;
  throw new HallError(
    "NOT_FOUND",
    `there is no run "${run.slice(0, 40)}" of this session that could go on`,
    {
      hint: "Only the last evaluation of a session can, and only when it waits for an approval. Send the code again.",
    },
  );
}

function readLimits(
  args: JsonObject,
  { timeoutMs, outputCharacters, calls }: EvaluationLimits,
): EvaluationLimits {
  const {
    timeout,
    "max-output": output,
    "max-calls": callsMax,
  } = args as { timeout?: number; "max-output"?: number; "max-calls"?: number };
  return {
    timeoutMs: timeout === undefined ? timeoutMs : timeout * 1_000,
    outputCharacters: output ?? outputCharacters,
    calls: callsMax ?? calls,
  };
}

function which(args: JsonObject, { caller, scope }: CallContext): Which {
  return { caller, scope, handle: args.session as string | undefined };
}

const nothing = (): Promise<never> =>
  Promise.reject(new HallError("EXECUTION", "nothing can be called here"));

function tell(text: string, structuredContent: JsonObject): Outcome {
  return { content: [{ type: "text", text }], structuredContent };
}

/** The names of tools, made anew only when they have changed. */
function listEntries(tools: () => readonly Target[]): () => readonly ToolEntry[] {
  let seen: readonly Target[] | undefined;
  let entries: readonly ToolEntry[] = [];
  return () => {
    const now = tools();
    if (now !== seen) {
      seen = now;
      entries = now.map(({ toolkit, tool, fullName }) => ({
        toolkit: toolkit.prefix ?? toolkit.id,
        name: tool.name,
        fullName,
      }));
    }
    return entries;
  };
}
