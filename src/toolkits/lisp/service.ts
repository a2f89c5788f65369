import { errorType, HallError } from "../../base/errors.ts";
import type { JsonObject } from "../../base/json.ts";
import type { Scope } from "../../base/scope.ts";
import type { CallContext, Outcome, Target, Tool } from "../../tool.ts";
import type { CallReport } from "./answer.ts";
import { writeFailure, writeValue } from "./answer-text.ts";
import { createHoldings, createShown, type Holdings } from "./holdings.ts";
import type { Answered, EvaluateOrder, Replay } from "./journal.ts";
import type { HallRequest } from "./protocol.ts";

/** What the hall does for one evaluation: its calls through the gateway, counted, told of, written down. */
export interface Service {
  /** A HallRequest as JSON in, an Answer as JSON out. */
  serve(request: string, scope: Scope): Promise<string>;
  readonly calls: readonly CallReport[];
  /** Content the program wants in the answer. */
  readonly shown: readonly JsonObject[];
  readonly holdings: Holdings;
  /** Whether a call was refused that a person can still allow. */
  readonly isStopped: boolean;
}

export interface ServiceOptions {
  findTool(name: string): Target | undefined;
  /** Throws NOT_FOUND, with names that are near. */
  getTool(name: string): Target;
  isDestructive(target: Target): boolean;
  /** The tool as programs may read it. Default: as it is. */
  describe?(target: Target): Tool;
  /** The full names of a group's tools. */
  listGroup(name: string): readonly string[] | undefined;
  readonly context: CallContext;
  readonly order: EvaluateOrder;
  /** Answers from an earlier time, taken before anything is called. */
  readonly replay?: Replay | undefined;
  /** Whether what was not recorded is called. Default true. */
  readonly isLive?: boolean;
  /** What is behind the handles a program has had already. Default: nothing. */
  readonly holdings?: Holdings | undefined;
  record?(answered: Answered): void;
}

export function createService(options: ServiceOptions): Service {
  const {
    findTool,
    getTool,
    isDestructive,
    describe = ({ tool }) => tool,
    listGroup,
    context,
    order,
    replay,
    isLive = true,
    holdings = createHoldings(),
    record,
  } = options;
  const calls: CallReport[] = [];
  const shown = createShown();
  let begun = 0;
  let isStopped = false;

  async function callTool(name: string, args: JsonObject, scope: Scope): Promise<Outcome> {
    // What is not known yet cannot be said to change nothing: in explore mode it is not waited for.
    const target = findTool(name) ?? (order.mode === "explore" ? getTool(name) : undefined);
    if (target?.toolkit.source === "hall" && !mayBeCalled(target))
      throw notForPrograms(target.fullName);
    if (order.mode === "explore" && target && mayChange(target, isDestructive))
      throw notInExplore(target.fullName);
    if (!context.call)
      throw new HallError("EXECUTION", "tools can be called inside the gateway only");
    const startedAt = performance.now();
    const report = (status: string): void =>
      void calls.push({
        name: target?.fullName ?? name,
        ms: Math.round(performance.now() - startedAt),
        status,
      });
    context.progress({
      progress: begun,
      message: `${begun}/${order.limits.calls} ${target?.fullName ?? name}`,
    });
    try {
      const outcome = await context.call(name, args, scope);
      report(outcome.isError ? "error" : "ok");
      return outcome;
    } catch (error) {
      report(error instanceof HallError ? errorType(error.code) : "internal");
      throw error;
    }
  }

  async function answer(request: HallRequest, scope: Scope): Promise<unknown> {
    switch (request.kind) {
      case "call":
        return holdings.hold(await callTool(request.name, request.arguments, scope));
      case "find":
        if (!context.call)
          throw new HallError("EXECUTION", "tools can be found inside the gateway only");
        return (
          await context.call("find_tools", { task: request.task, limit: request.limit }, scope)
        ).structuredContent;
      case "schema": {
        const target = findTool(request.name);
        if (!target) throw new HallError("NOT_FOUND", `there is no tool "${request.name}"`);
        const { description, inputSchema, outputSchema } = describe(target);
        return {
          name: target.fullName,
          description: description ?? "",
          inputSchema,
          ...(outputSchema ? { outputSchema } : {}),
        };
      }
      case "group": {
        const members = listGroup(request.name);
        if (!members) throw new HallError("NOT_FOUND", `there is no group "${request.name}"`);
        return members;
      }
      case "show":
        shown.add(holdings.get(request.handle));
        return true;
    }
  }

  /** What is answered from a record counts as well: a program that goes on has no new budget. */
  function isOneTooMany({ kind }: HallRequest): boolean {
    return (kind === "call" || kind === "find") && ++begun > order.limits.calls;
  }

  async function answerText(request: HallRequest, scope: Scope): Promise<string> {
    try {
      return writeValue(await answer(request, scope));
    } catch (error) {
      if (!(error instanceof HallError)) throw error;
      isStopped ||= error.code === "APPROVAL_NEEDED";
      return writeFailure(error);
    }
  }

  async function serve(text: string, scope: Scope): Promise<string> {
    const request = JSON.parse(text) as HallRequest;
    // An answer shows what it shows anew, so that is in no record.
    if (request.kind === "show") return isLive ? answerText(request, scope) : writeValue(true);
    const recorded = isOneTooMany(request)
      ? writeFailure(callsUsedUp(order.limits.calls))
      : replay?.(text);
    const given =
      recorded ?? (isLive ? await answerText(request, scope) : writeFailure(notRecorded(request)));
    record?.({ request: text, answer: given });
    return given;
  }

  return {
    serve,
    calls,
    shown: shown.parts,
    holdings,
    get isStopped() {
      return isStopped;
    },
  };
}

/** Those of the hall that stand for other calls, or for this session, would go round what is counted and looked at here. */
function mayBeCalled({ fullName }: Target): boolean {
  return fullName === "find_tools" || fullName.endsWith("_agent");
}

function notForPrograms(name: string): HallError {
  return new HallError("DENIED", `${name} is not for programs`, {
    hint: "Call the tool that is meant by its own name.",
  });
}

/** An agent calls tools of its own choice, so it may change things, too. */
function mayChange(target: Target, isDestructive: (target: Target) => boolean): boolean {
  return target.toolkit.source === "hall"
    ? target.fullName.endsWith("_agent")
    : isDestructive(target);
}

function notInExplore(name: string): HallError {
  return new HallError(
    "DENIED",
    `${name} may destroy or send, so it is not bound in explore mode`,
    {
      hint: 'Evaluate with mode "act" if that is meant; at the command line with --act.',
    },
  );
}

function callsUsedUp(callsMax: number): HallError {
  return new HallError("BUDGET", `an evaluation may call ${callsMax} tools`, {
    hint: "Do less at once, or raise max-calls with configure-limits.",
  });
}

function notRecorded(request: HallRequest): HallError {
  const name = request.kind === "call" ? request.name : request.kind;
  return new HallError("EXECUTION", `${name} was not called like this when it was recorded`, {
    hint: "The program, or what it depends on, has changed since.",
  });
}
