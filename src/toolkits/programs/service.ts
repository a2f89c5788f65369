import { errorType, HallError } from "../../base/errors.ts";
import { isObject, type JsonObject } from "../../base/json.ts";
import type { Scope } from "../../base/scope.ts";
import type { Spell } from "../../registry/shown-names.ts";
import type { CallContext, Outcome, Target, Tool } from "../../tool.ts";
import type { CallReport } from "./answer.ts";
import { type HallRequest, writeFailure, writeValue } from "./protocol.ts";
import type { EvaluateOrder, FindRecorded, RecordedAnswer } from "./recording.ts";

/** The tools that programs may call, and how. */
export interface ToolAccess {
  findTool(name: string): Target | undefined;
  /** Throws NOT_FOUND, with similar names. */
  getTool(name: string, spell?: (target: Target) => string): Target;
  /** True unless it is known to only read: refused in explore mode. */
  mayChange(target: Target): boolean;
  /** The tool as programs may read it. Default: unchanged. */
  describe?(target: Target): Tool;
  /** The tool's name as the caller sees it in its list. */
  readonly spell: Spell;
  /** The full names of a group's tools; undefined for an unknown group. */
  listGroup(name: string): readonly string[] | undefined;
}

export interface HallServiceOptions {
  readonly access: ToolAccess;
  readonly context: CallContext;
  readonly order: EvaluateOrder;
  /** Recorded answers, used before any tool is called. */
  readonly replay?: FindRecorded | undefined;
  /** True if requests without a recorded answer are served. Default true. */
  readonly isLive?: boolean;
  /** Default: none. */
  readonly contents?: ContentHandles | undefined;
  record?(answer: RecordedAnswer): void;
}

/** The hall's work for one evaluation: calls through the gateway, counted, reported and recorded. */
export class HallService {
  readonly calls: CallReport[] = [];
  /** The same by full names, for the record. */
  readonly recordedCalls: CallReport[] = [];
  readonly contents: ContentHandles;
  readonly #options: HallServiceOptions;
  readonly #shown = new ShownContent();
  #begun = 0;
  /** Counts reports; the client requires a number that grows. */
  #progress = 0;
  #reported = "evaluating";
  #isStopped = false;

  constructor(options: HallServiceOptions) {
    this.#options = options;
    this.contents = options.contents ?? new ContentHandles();
  }

  /** Content that the program wants in the answer. */
  get shown(): readonly JsonObject[] {
    return this.#shown.parts;
  }

  /** True if a call was refused that a person can still approve. */
  get isStopped(): boolean {
    return this.#isStopped;
  }

  /** A HallRequest as JSON in, a HallAnswer as JSON out. */
  readonly serve = async (text: string, scope: Scope): Promise<string> => {
    const { order, replay, isLive = true, record } = this.#options;
    const request = JSON.parse(text) as HallRequest;
    // Each answer shows its content again, so `show` is never recorded.
    if (request.kind === "show")
      return isLive ? this.#answerText(request, scope) : writeValue(true);

    const recorded = this.#exceedsCallLimit(request)
      ? writeFailure(tooManyCalls(order.limits.calls))
      : replay?.(text);
    const answer =
      recorded ??
      (isLive ? await this.#answerText(request, scope) : writeFailure(notRecorded(request)));
    record?.({ request: text, answer });
    return answer;
  };

  /** Recorded answers count as well: a resumed program gets no new budget. */
  #exceedsCallLimit({ kind }: HallRequest): boolean {
    return (kind === "call" || kind === "find") && ++this.#begun > this.#options.order.limits.calls;
  }

  async #answerText(request: HallRequest, scope: Scope): Promise<string> {
    try {
      return writeValue(await this.#answer(request, scope));
    } catch (error) {
      if (!(error instanceof HallError)) throw error;
      this.#isStopped ||= error.code === "APPROVAL_NEEDED";
      return writeFailure(error);
    }
  }

  async #answer(request: HallRequest, scope: Scope): Promise<unknown> {
    const { access, context } = this.#options;
    switch (request.kind) {
      case "call":
        return this.contents.replace(await this.#call(request.name, request.arguments, scope));
      case "find": {
        const args = { task: request.task, limit: request.limit };
        return (await this.#callGateway("find_tools", args, scope)).structuredContent;
      }
      case "schema": {
        const target = access.findTool(request.name);
        if (!target) throw new HallError("NOT_FOUND", `unknown tool "${request.name}"`);
        const { description, inputSchema, outputSchema } = access.describe?.(target) ?? target.tool;
        return {
          name: access.spell(target, context),
          description: description ?? "",
          inputSchema,
          outputSchema,
        };
      }
      case "group": {
        const members = access.listGroup(request.name);
        if (!members) throw new HallError("NOT_FOUND", `unknown group "${request.name}"`);
        return members;
      }
      case "show":
        this.#shown.add(this.contents.get(request.handle));
        return true;
    }
  }

  async #call(name: string, args: JsonObject, scope: Scope): Promise<Outcome> {
    const { access, order, context } = this.#options;
    const isExplore = order.mode === "explore";
    // Explore mode does not wait for servers that still start: an unknown tool may change something.
    const spell = (found: Target): string => access.spell(found, context);
    const target = access.findTool(name) ?? (isExplore ? access.getTool(name, spell) : undefined);
    const shown = target ? spell(target) : name;
    if (target?.toolkit.source === "hall" && !isForPrograms(target)) throw notForPrograms(shown);
    if (isExplore && target && mayChange(target, access)) throw notInExplore(shown);

    const startedAt = performance.now();
    const report = (status: string): void => {
      const ms = Math.round(performance.now() - startedAt);
      this.calls.push({ name: shown, ms, status });
      this.recordedCalls.push({ name: target?.fullName ?? name, ms, status });
    };
    this.#reported = `${this.#begun}/${order.limits.calls} ${shown}`;
    this.#progress += 1;
    context.progress({ progress: this.#progress, message: this.#reported });
    try {
      const outcome = await this.#callGateway(shown, args, scope);
      report(outcome.isError ? "error" : "ok");
      return outcome;
    } catch (error) {
      report(error instanceof HallError ? errorType(error.code) : "internal");
      throw error;
    }
  }

  /** Repeats the last progress with the elapsed time, so that a client sees that the program runs. */
  reportTime(seconds: number): void {
    this.#progress += 1;
    this.#options.context.progress({
      progress: this.#progress,
      message: this.#reported,
      elapsedSeconds: Math.round(seconds),
    });
  }

  async #callGateway(name: string, args: JsonObject, scope: Scope): Promise<Outcome> {
    const { context } = this.#options;
    if (!context.call)
      throw new HallError("EXECUTION", "tools can be called only inside the gateway");
    return context.call(name, args, scope);
  }
}

/** Other tools of the hall would bypass the call limit and the checks here. */
function isForPrograms({ fullName }: Target): boolean {
  return fullName === "find_tools" || fullName.endsWith("_agent");
}

/** An agent chooses its own tools, so it may change things, too. */
function mayChange(target: Target, access: ToolAccess): boolean {
  return target.toolkit.source === "hall"
    ? target.fullName.endsWith("_agent")
    : access.mayChange(target);
}

function notForPrograms(name: string): HallError {
  return new HallError("DENIED", `${name} is not available to programs`, {
    hint: "Call the tool itself by its name.",
  });
}

function notInExplore(name: string): HallError {
  return new HallError(
    "DENIED",
    `${name} may change or send something, so it cannot be called in explore mode`,
    { hint: 'Evaluate with mode "act" (command line: --act) if the change is intended.' },
  );
}

function tooManyCalls(callsMax: number): HallError {
  return new HallError("BUDGET", `the evaluation reached its limit of ${callsMax} tool calls`, {
    hint: "Call fewer tools, or raise max-calls with configure-limits.",
  });
}

function notRecorded(request: HallRequest): HallError {
  const name = request.kind === "call" ? request.name : request.kind;
  return new HallError("EXECUTION", `no recorded call of ${name} with these arguments`, {
    hint: "The program, or data it depends on, has changed since.",
  });
}

/** Per evaluation; past it the oldest are dropped. */
const heldCharactersMax = 32 * 1024 * 1024;

/** Content that a program cannot read, such as images: it stays in the hall, and the program gets a handle. */
export class ContentHandles {
  readonly #held = new Map<string, JsonObject>();
  #last = 0;
  #characters = 0;

  /** The outcome with handles in place of binary content. */
  replace(outcome: Outcome): Outcome {
    const { content, structuredContent, isError = false } = outcome;
    const readable = content.map((part) =>
      bytesOf(part) === undefined
        ? part
        : { type: part.type, mimeType: part.mimeType, handle: this.#hold(part) },
    );
    return { content: readable, structuredContent, isError };
  }

  /** Throws NOT_FOUND if the content was dropped, INVALID_PARAMS for anything that was never one. */
  get(handle: string): JsonObject {
    const found = this.#held.get(handle);
    if (found) return found;
    if (!/^content-\d+$/.test(handle))
      throw new HallError("INVALID_PARAMS", "show takes an image or a file that a tool returned", {
        hint: "Print other values, or return them.",
      });
    throw new HallError("NOT_FOUND", `"${handle}" is no longer available`, {
      hint: "Call the tool again, and show its content at once.",
    });
  }

  #hold(part: JsonObject): string {
    const handle = `content-${++this.#last}`;
    this.#held.set(handle, part);
    this.#characters += sizeOf(part);
    for (const [oldest, content] of this.#held) {
      if (this.#characters <= heldCharactersMax || oldest === handle) break;
      this.#held.delete(oldest);
      this.#characters -= sizeOf(content);
    }
    return handle;
  }
}

const shownPartsMax = 20;
const shownCharactersMax = 4 * 1024 * 1024;

/** Content for the answer, each part once, within what clients accept in one answer. */
class ShownContent {
  readonly parts: JsonObject[] = [];
  #characters = 0;

  add(part: JsonObject): void {
    if (this.parts.includes(part)) return;
    const size = sizeOf(part);
    if (this.parts.length >= shownPartsMax || this.#characters + size > shownCharactersMax)
      throw new HallError(
        "BUDGET",
        `shown content exceeds the limit of ${shownPartsMax} parts or ${shownCharactersMax / 1024 / 1024} MiB`,
        { hint: "Show less in one evaluation." },
      );
    this.#characters += size;
    this.parts.push(part);
  }
}

/** Base64, as received. */
function bytesOf(part: JsonObject): string | undefined {
  const bytes = isObject(part.resource) ? part.resource.blob : part.data;
  return typeof bytes === "string" ? bytes : undefined;
}

function sizeOf(part: JsonObject): number {
  return bytesOf(part)?.length ?? 0;
}
