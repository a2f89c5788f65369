import type {
  QuickJSContext,
  QuickJSHandle,
  QuickJSRuntime,
  QuickJSWASMModule,
} from "quickjs-emscripten-core";
import type { ClockRecorder, HallPort } from "../hall-port.ts";
import type {
  ConditionSummary,
  DefinitionSummary,
  EvaluationLimits,
  EvaluationResult,
  ThreadOrder,
  ToolEntry,
} from "../protocol.ts";
import { shareDeclarations } from "./declarations.ts";
import { type Prelude, preludeSource } from "./prelude.ts";
import { RealmCalls } from "./realm-calls.ts";

export interface RealmOptions {
  readonly quickjs: QuickJSWASMModule;
  readonly hall: HallPort;
  readonly clock: ClockRecorder;
  /** From 0 to below 1, the same for the same seed. */
  random(): number;
}

type RealmOrder = Pick<
  Extract<ThreadOrder, { kind: "evaluate" }>,
  "code" | "limits" | "input" | "tools"
>;

const stackBytesMax = 512 * 1024;
/** QuickJS asks once in this many calls and loop iterations whether to continue. */
const stepsPerCheck = 10_000;
const definitionsMax = 200;
/** The time to describe a value or an error once a program has ended. */
const graceMs = 250;
/** Between two checks of the limits. */
const jobsAtOnce = 100;

/** For `evalCode`: a script that may use `await` at its top level. Its result is a promise. */
const asyncScript = 1 << 7;
const compileOnly = 1 << 5;
const fileName = "program";

/** Why a program was stopped. It cannot catch this. */
type Stop = "time" | "steps" | "output" | "interrupt";

type Ended = { readonly value: QuickJSHandle } | { readonly condition: ConditionSummary };

/** The JavaScript of one session: a QuickJS context that reaches nothing but the functions of its prelude. */
export class Realm {
  readonly #options: RealmOptions;
  readonly #runtime: QuickJSRuntime;
  readonly #context: QuickJSContext;
  readonly #calls: RealmCalls;
  readonly #prelude: ReadonlyMap<keyof Prelude, QuickJSHandle>;
  #limits: EvaluationLimits = { timeoutMs: 0, outputCharacters: 0, calls: 0 };
  #deadline = Number.POSITIVE_INFINITY;
  #checks = 0;
  #stopped: Stop | undefined;
  #output = { stdout: "", stderr: "" };
  /** The program was stopped: it may clean up, and call nothing. */
  #isEnding = false;

  constructor(options: RealmOptions) {
    this.#options = options;
    this.#calls = new RealmCalls(options);
    this.#runtime = options.quickjs.newRuntime();
    this.#runtime.setMaxStackSize(stackBytesMax);
    this.#runtime.setInterruptHandler(() => this.#shallStop());
    this.#context = this.#runtime.newContext();
    this.#prelude = this.#load();
  }

  /** False if a stopped program left work behind that would run on: a new realm is needed. */
  get isUsable(): boolean {
    return !this.#runtime.hasPendingJob();
  }

  dispose(): void {
    for (const handle of this.#prelude.values()) handle.dispose();
    this.#context.dispose();
    this.#runtime.dispose();
  }

  /** `strip` removes the types of TypeScript; it is called if the code is no JavaScript. */
  async evaluate(
    { code, limits, input, tools }: RealmOrder,
    strip: (code: string) => Promise<string | undefined>,
  ): Promise<EvaluationResult> {
    const startedAt = performance.now();
    this.#begin(limits, startedAt);
    if (tools) this.bind(tools);
    this.#call("setInput", JSON.stringify(input ?? {})).dispose();
    this.#call("mark").dispose();
    const warnings: string[] = [];
    const ended = await this.#run(code, strip, warnings);
    const stop = this.#stopped;
    this.#stopped = undefined;
    this.#isEnding = true;
    this.#deadline = performance.now() + graceMs;
    if (stop) this.#runJobs();
    this.#stopped = undefined;
    this.#deadline = performance.now() + graceMs;
    const described = this.#describe(ended, stop, input !== undefined);
    const definitions = this.definitions(true);
    const leftOut = definitions.length - definitionsMax;
    this.#forgetCalls();
    return {
      ...described,
      stdout: this.#output.stdout,
      stderr: this.#output.stderr,
      warnings,
      definitions: definitions.slice(0, definitionsMax),
      definitionsLeftOut: leftOut > 0 ? leftOut : undefined,
      steps: this.#checks * stepsPerCheck,
      ms: Math.round((performance.now() - startedAt) * 1_000) / 1_000,
    };
  }

  bind(tools: readonly ToolEntry[]): void {
    this.#call("bind", JSON.stringify(tools)).dispose();
  }

  definitions(isSinceMark: boolean): readonly DefinitionSummary[] {
    const flag = isSinceMark ? this.#context.true : this.#context.false;
    const text = this.#textOf("definitions", flag);
    return text === undefined ? [] : (JSON.parse(text) as DefinitionSummary[]);
  }

  /** The syntax error of code that is not run; undefined if there is none. */
  checkSyntax(code: string): ConditionSummary | undefined {
    this.#begin({ timeoutMs: 4_000, outputCharacters: 0, calls: 0 }, performance.now());
    const compiled = this.#compile(code, inFunction(code), asyncScript | compileOnly);
    if ("condition" in compiled) return compiled.condition;
    compiled.value.dispose();
    return undefined;
  }

  #begin(limits: EvaluationLimits, startedAt: number): void {
    this.#limits = limits;
    this.#deadline = startedAt + limits.timeoutMs;
    this.#checks = 0;
    this.#stopped = undefined;
    this.#output = { stdout: "", stderr: "" };
    this.#calls.begin();
    this.#isEnding = false;
  }

  async #run(
    code: string,
    strip: (code: string) => Promise<string | undefined>,
    warnings: string[],
  ): Promise<Ended> {
    let evaluated = this.#evaluate(code);
    if ("condition" in evaluated && evaluated.condition.type === "SyntaxError") {
      const stripped = await strip(code);
      if (stripped !== undefined) evaluated = this.#evaluate(stripped);
    }
    if ("condition" in evaluated) return evaluated;
    const outcome = this.#call("outcome", evaluated.value);
    evaluated.value.dispose();
    return this.#finish(outcome, warnings);
  }

  /** Compiles the code and runs it up to its first `await`. A condition is an error of syntax. */
  #evaluate(code: string): Ended {
    return this.#compile(shareDeclarations(code), inFunction(code), asyncScript);
  }

  /** `wrapped` is compiled instead if the script has a `return` outside of functions. */
  #compile(script: string, wrapped: string, flags: number): Ended {
    const result = this.#context.evalCode(script, fileName, flags);
    if (!result.error) return { value: result.value };
    if (script === wrapped || !isReturn(this.#peek(result.error)))
      return { condition: this.#conditionOf(result.error) };
    result.error.dispose();
    return this.#compile(wrapped, wrapped, flags);
  }

  /** Runs jobs and delivers answers until the program and the calls it began have ended. */
  #finish(outcome: QuickJSHandle, warnings: string[]): Ended {
    let isWarned = false;
    for (;;) {
      this.#runJobs();
      const state = this.#context.getPromiseState(outcome);
      const isDone = state.type !== "pending";
      const isWaiting = this.#calls.areOpen;
      if (isDone && isWaiting && !isWarned && !this.#stopped) {
        warnings.push(`calls were not awaited: ${this.#calls.names.join(", ")}`);
        isWarned = true;
      }
      if (!this.#stopped && isWaiting) {
        this.#deliver();
        continue;
      }
      outcome.dispose();
      if (state.type === "fulfilled") return { value: state.value };
      if (state.type === "rejected") return { condition: this.#conditionOf(state.error) };
      return { condition: neverSettled };
    }
  }

  #runJobs(): void {
    while (!this.#stopped && this.#runtime.hasPendingJob()) {
      const result = this.#runtime.executePendingJobs(jobsAtOnce);
      // A job's error is that of the promise it belongs to; a stopped job sets the reason itself.
      if (result.error) result.error.dispose();
      else this.#findStop();
    }
  }

  /** Waits for one answer and hands it to the program. */
  #deliver(): void {
    const arrived = this.#calls.wait(this.#deadline - performance.now());
    if (!arrived) {
      this.#shallStop();
      return;
    }
    const number = this.#context.newNumber(arrived.number);
    this.#call("settle", number, arrived.answer).dispose();
    number.dispose();
  }

  #forgetCalls(): void {
    this.#calls.forget();
    this.#call("forget").dispose();
  }

  #shallStop(): boolean {
    this.#checks++;
    return this.#findStop() !== undefined;
  }

  #findStop(): Stop | undefined {
    if (this.#stopped) return this.#stopped;
    if (this.#options.hall.isStopped) this.#stopped = "interrupt";
    else if (performance.now() > this.#deadline) this.#stopped = "time";
    else if (this.#checks * stepsPerCheck > (this.#limits.steps ?? Number.POSITIVE_INFINITY))
      this.#stopped = "steps";
    return this.#stopped;
  }

  #describe(
    ended: Ended,
    stop: Stop | undefined,
    wantsJson: boolean,
  ): Pick<EvaluationResult, "values" | "condition" | "json"> {
    if (stop !== undefined) {
      if ("value" in ended) ended.value.dispose();
      return { values: [], condition: this.#stopCondition(stop) };
    }
    if ("condition" in ended) return { values: [], condition: ended.condition };
    const { value } = ended;
    const isNothing = this.#context.typeof(value) === "undefined";
    const text = isNothing ? undefined : this.#textOf("format", value);
    const json = wantsJson && !isNothing ? this.#textOf("json", value) : undefined;
    value.dispose();
    if (text === undefined)
      return isNothing ? { values: [] } : { values: [], condition: undescribable };
    const left = this.#limits.outputCharacters - this.#outputLength;
    if (text.length > left) return { values: [], condition: this.#stopCondition("output") };
    return { values: [text], json };
  }

  #stopCondition(stop: Stop): ConditionSummary {
    const { timeoutMs, outputCharacters, steps } = this.#limits;
    const [type, message] = {
      time: ["TIME-BUDGET-EXCEEDED", `the program ran longer than ${timeoutMs / 1_000} s`],
      steps: ["STEP-BUDGET-EXCEEDED", `the program took more than ${steps} steps`],
      output: [
        "OUTPUT-BUDGET-EXCEEDED",
        `output and values exceed the limit of ${outputCharacters} characters`,
      ],
      interrupt: ["INTERRUPTED", "the program was interrupted"],
    }[stop] as [string, string];
    return { type, message, restarts: [], backtrace: [] };
  }

  /** Disposes the error. */
  #conditionOf(error: QuickJSHandle): ConditionSummary {
    const text = this.#textOf("describeError", error);
    error.dispose();
    if (text === undefined) return undescribable;
    const { name, message, stack } = JSON.parse(text) as Record<string, string>;
    const lines = (stack ?? "").split("\n").map((line) => line.trim().replace(/^at /, ""));
    const backtrace = lines.filter((line) => line.includes(`${fileName}:`)).slice(0, 100);
    const place = /program:(\d+):(\d+)/.exec(backtrace[0] ?? "");
    return {
      type: budgetTypes[`${name}: ${message}`] ?? `${name}`,
      message: `${message}`.slice(0, this.#limits.outputCharacters),
      restarts: [],
      backtrace,
      position: place
        ? { line: Number(place[1]), column: Number(place[2]), isExact: true }
        : undefined,
    };
  }

  /** The message of an error, for our own decisions. */
  #peek(error: QuickJSHandle): string {
    const message = this.#context.getProp(error, "message");
    const text = this.#context.getString(message);
    message.dispose();
    return text;
  }

  // The functions that the prelude gets and gives.

  #load(): ReadonlyMap<keyof Prelude, QuickJSHandle> {
    const context = this.#context;
    const { clock, random } = this.#options;
    const number = (read: () => number) => () => context.newNumber(read());
    const host = context.newObject();
    const functions = {
      send: (kind: QuickJSHandle, request: QuickJSHandle) =>
        context.newNumber(this.#request(context.getString(kind), context.getString(request))),
      log: (stream: QuickJSHandle, text: QuickJSHandle) =>
        this.#log(context.getString(stream) as "stdout" | "stderr", context.getString(text)),
      clock: number(() => clock.read("clock", Date.now)),
      timer: number(() => clock.read("timer", () => performance.now())),
      random: number(random),
    };
    for (const [name, fn] of Object.entries(functions)) {
      const handle = context.newFunction(name, fn as () => QuickJSHandle);
      context.setProp(host, name, handle);
      handle.dispose();
    }
    const load = context.unwrapResult(context.evalCode(preludeSource(), "prelude"));
    const made = context.unwrapResult(context.callFunction(load, context.undefined, host));
    const names = preludeNames.map((name) => [name, context.getProp(made, name)] as const);
    for (const handle of [host, load, made]) handle.dispose();
    return new Map(names);
  }

  #call(name: keyof Prelude, ...args: readonly (QuickJSHandle | string)[]): QuickJSHandle {
    const context = this.#context;
    const handles = args.map((arg) => (typeof arg === "string" ? context.newString(arg) : arg));
    const fn = this.#prelude.get(name) as QuickJSHandle;
    const result = context.callFunction(fn, context.undefined, ...handles);
    for (const [at, handle] of handles.entries())
      if (typeof args[at] === "string") handle.dispose();
    if (!result.error) return result.value;
    result.error.dispose();
    return context.undefined;
  }

  /** Undefined if the program's own getters fail or take too long. */
  #textOf(name: keyof Prelude, value: QuickJSHandle): string | undefined {
    const result = this.#call(name, value);
    const text =
      this.#context.typeof(result) === "string" ? this.#context.getString(result) : undefined;
    result.dispose();
    return text;
  }

  get #outputLength(): number {
    return this.#output.stdout.length + this.#output.stderr.length;
  }

  #log(stream: "stdout" | "stderr", text: string): void {
    const left = this.#limits.outputCharacters - this.#outputLength;
    this.#output[stream] += text.slice(0, Math.max(0, left));
    if (text.length > left) this.#stopped ??= "output";
  }

  #request(kind: string, text: string): number {
    if (this.#isEnding) throw new Error("the program has ended");
    return this.#calls.request(kind, text);
  }
}

const preludeNames = [
  "bind",
  "setInput",
  "settle",
  "forget",
  "outcome",
  "format",
  "json",
  "describeError",
  "mark",
  "definitions",
] as const satisfies readonly (keyof Prelude)[];

/** Errors of QuickJS that mean a limit of ours. */
const budgetTypes: Readonly<Record<string, string>> = {
  "InternalError: out of memory": "MEMORY-BUDGET-EXCEEDED",
  "InternalError: stack overflow": "DEPTH-BUDGET-EXCEEDED",
  "RangeError: Maximum call stack size exceeded": "DEPTH-BUDGET-EXCEEDED",
};

const neverSettled: ConditionSummary = {
  type: "Error",
  message: "the program waits for a promise that nothing resolves; there are no timers",
  restarts: [],
  backtrace: [],
};

const undescribable: ConditionSummary = {
  type: "Error",
  message: "the value or error cannot be shown: its own functions fail or take too long",
  restarts: [],
  backtrace: [],
};

function isReturn(message: string): boolean {
  return message === "return not in a function";
}

/** For `return` at the top level. On one line, so that lines stay where they are. */
function inFunction(code: string): string {
  return `(async () => {${code}\n})()`;
}
