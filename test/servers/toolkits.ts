import { type ErrorCode, HallError } from "../../src/base/errors.ts";
import { isObject, type JsonObject } from "../../src/base/json.ts";
import type {
  CallContext,
  ListKind,
  Outcome,
  Prompt,
  Questions,
  Resource,
  Tool,
  Toolkit,
} from "../../src/tool.ts";

/** Small toolkits that do one thing each, for tests. */
export type Run = (args: JsonObject, context: CallContext) => Promise<Outcome> | Outcome;
export type TestTool = Omit<Tool, "name" | "inputSchema"> & {
  readonly inputSchema?: JsonObject;
  readonly run: Run;
};

export function createToolkit(
  id: string,
  tools: Readonly<Record<string, TestTool>>,
  rest: Partial<Toolkit> = {},
): Toolkit {
  return {
    id,
    list: async () =>
      Object.entries(tools).map(([name, { run: _run, ...tool }]) => ({
        inputSchema: { type: "object" },
        ...tool,
        name,
      })),
    call: async (tool, args, context) => {
      const found = tools[tool.name];
      if (!found) throw new HallError("NOT_FOUND", `${id} has no tool named "${tool.name}"`);
      return found.run(args, context);
    },
    health: async () => ({ state: "available" }),
    close: async () => {},
    ...rest,
  };
}

export function text(words: string): Outcome {
  return { content: [{ type: "text", text: words }] };
}

/**
 * `echo.echo` gives back its arguments; `echo.typed` wants `text` and knows `times`, which is 1
 * unless told otherwise.
 */
export function createEchoToolkit(id = "echo"): Toolkit {
  const run: Run = (args) => ({ ...text(JSON.stringify(args)), structuredContent: args });
  const properties = { text: { type: "string" }, times: { type: "integer", default: 1 } };
  return createToolkit(id, {
    echo: { run },
    typed: {
      inputSchema: { type: "object", properties, required: ["text"], additionalProperties: false },
      run,
    },
  });
}

export interface SlowToolkit extends Toolkit {
  /** Calls of `slow.wait` that run now. */
  readonly running: number;
  /** Why waiting calls were cancelled, in order. */
  readonly aborted: HallError[];
  /** Ends every running call of `slow.wait`. */
  finish(): void;
}

/**
 * `slow.wait {ms}` waits that long, without `ms` until `finish` or a cancel, and reports progress
 * when it starts; `slow.deaf` never ends and ignores cancels.
 */
export function createSlowToolkit(timeoutMs?: number): SlowToolkit {
  const aborted: HallError[] = [];
  const waiting = new Set<() => void>();
  let running = 0;
  const wait: Run = ({ ms }, { progress, scope: { signal } }) => {
    running++;
    progress({ progress: 0 });
    return new Promise<Outcome>((resolve, reject) => {
      const end = (): void => {
        waiting.delete(end);
        resolve(text("waited"));
      };
      waiting.add(end);
      const timer = typeof ms === "number" ? setTimeout(end, ms) : undefined;
      signal.addEventListener("abort", () => {
        clearTimeout(timer);
        waiting.delete(end);
        aborted.push(signal.reason as HallError);
        reject(signal.reason);
      });
    }).finally(() => running--);
  };
  const facts = timeoutMs === undefined ? {} : { facts: { timeoutMs } };
  const toolkit = createToolkit("slow", {
    wait: { run: wait, ...facts },
    deaf: { run: () => new Promise(() => {}), ...facts },
  });
  const finish = (): void => waiting.forEach((end) => void end());
  return Object.defineProperty(Object.assign(toolkit, { aborted, finish }), "running", {
    get: () => running,
  }) as SlowToolkit;
}

/**
 * `failing.hall {code}` throws that HallError, `failing.plain` something nobody expects,
 * `failing.told` fails in MCP's own way.
 */
export function createFailingToolkit(): Toolkit {
  return createToolkit("failing", {
    hall: {
      run: ({ code }) => {
        throw new HallError(code as ErrorCode, `failed with ${code}`, {
          details: { why: "on purpose" },
        });
      },
    },
    plain: {
      run: () => {
        throw new TypeError("the password is hunter2");
      },
    },
    told: { run: () => ({ ...text("no such issue"), isError: true }) },
  });
}

export const questions = {
  name: {
    method: "elicitation/create",
    params: {
      message: "Your name?",
      requestedSchema: {
        type: "object",
        properties: { name: { type: "string" } },
        required: ["name"],
      },
    },
  },
  poem: {
    method: "sampling/createMessage",
    params: {
      messages: [{ role: "user", content: { type: "text", text: "A poem" } }],
      maxTokens: 100,
    },
  },
  roots: { method: "roots/list", params: {} },
} as const satisfies Questions;

export interface AskingToolkit extends Toolkit {
  /** How often work before a question was done. */
  readonly steps: string[];
}

/**
 * Asks the client: `asking.one`, three things at once in `asking.many`, one after the other in
 * `asking.twice`, two at the same time in `asking.parallel`.
 */
export function createAskingToolkit(timeoutMs?: number): AskingToolkit {
  const steps: string[] = [];
  const facts = timeoutMs === undefined ? {} : { facts: { timeoutMs } };
  const answer = (answers: unknown): Outcome => ({
    ...text(JSON.stringify(answers)),
    structuredContent: answers,
  });
  const one: Run = async (args, context) => {
    steps.push("before");
    const { name } = await context.ask({ name: questions.name });
    steps.push("after");
    return answer({ name, args });
  };
  const tools: Record<string, TestTool> = {
    one: { run: one },
    other: { run: one },
    defaults: {
      inputSchema: { type: "object", properties: { colour: { type: "string", default: "red" } } },
      run: one,
    },
    many: { run: async (_args, context) => answer(await context.ask(questions)) },
    twice: {
      async run(_args, context) {
        steps.push("first");
        const { name: first } = await context.ask({ name: questions.name });
        steps.push("second");
        const { name: second } = await context.ask({
          name: { ...questions.name, params: { ...questions.name.params, message: "And again?" } },
        });
        return answer({ first, second });
      },
    },
    parallel: {
      async run(_args, context) {
        const [a, b] = await Promise.all([
          context.ask({ a: questions.name }),
          context.ask({ b: questions.name }),
        ]);
        return answer({ ...a, ...b });
      },
    },
    /** A key that every object has by inheritance. */
    inherited: {
      run: async (_args, context) => answer(await context.ask({ constructor: questions.name })),
    },
    progress: {
      async run(_args, context) {
        context.progress({ progress: 1, total: 2 });
        await context.ask({ name: questions.name });
        context.progress({ progress: 2, total: 2 });
        return text("done");
      },
    },
  };
  return Object.assign(
    createToolkit(
      "asking",
      Object.fromEntries(
        Object.entries(tools).map(([name, tool]) => [name, { ...tool, ...facts }]),
      ),
    ),
    { steps },
  );
}

export interface LibraryToolkit extends Toolkit {
  /** Says that a resource has changed. */
  touch(uri: string): void;
  setResources(uris: readonly string[]): void;
  setPrompts(names: readonly string[]): void;
  /** The watchers, by uri. */
  watchers(uri: string): number;
}

/** Books as resources, one template, prompts, completion; no tools. */
export function createLibraryToolkit(): LibraryToolkit {
  const watched = new Map<string, Set<() => void>>();
  const changes = createChanges();
  let resources: readonly Resource[] = ["book://alice", "book://bob"].map(bookAt);
  let prompts: readonly Prompt[] = [
    {
      name: "review",
      description: "Review a book",
      arguments: [{ name: "title", required: true }, { name: "tone" }],
    },
  ];
  const toolkit = createToolkit(
    "library",
    {},
    {
      onChange: changes.onChange,
      resources: {
        list: async () => resources,
        templates: async () => [{ uriTemplate: "page://{number}", name: "page" }],
        covers: (uri) => uri.startsWith("page://"),
        async read(uri) {
          if (uri === "page://404")
            throw new HallError("NOT_FOUND", `Resource not found: ${uri}`, { details: { uri } });
          return { contents: [{ uri, mimeType: "text/plain", text: `contents of ${uri}` }] };
        },
        watch(uri, listener) {
          const listeners = watched.get(uri) ?? new Set();
          watched.set(uri, listeners.add(listener));
          return () => listeners.delete(listener);
        },
      },
      prompts: {
        list: async () => prompts,
        get: async (name, args) => ({
          messages: [
            { role: "user", content: { type: "text", text: `${name} ${JSON.stringify(args)}` } },
          ],
        }),
      },
      async complete(reference, argument, context) {
        if (argument.value === "ask") await context.ask({ name: questions.name });
        return {
          completion: {
            values: [`${reference.name ?? reference.uri}:${argument.value}`],
            total: 1,
            hasMore: false,
          },
        };
      },
    },
  );
  return Object.assign(toolkit, {
    touch: (uri: string) => watched.get(uri)?.forEach((listener) => void listener()),
    watchers: (uri: string) => watched.get(uri)?.size ?? 0,
    setResources(uris: readonly string[]) {
      resources = uris.map(bookAt);
      changes.tell("resources");
    },
    setPrompts(names: readonly string[]) {
      prompts = names.map((name) => ({ name }));
      changes.tell("prompts");
    },
  });
}

function bookAt(uri: string): Resource {
  return { uri, name: uri.replace("book://", "") };
}

export interface ChangingToolkit extends Toolkit {
  /** Offers these tools from now on and announces it. This listing waits for `ready`. */
  setTools(names: readonly string[], ready?: Promise<unknown>): void;
}

export function createChangingToolkit(names: readonly string[] = ["one"]): ChangingToolkit {
  const changes = createChanges();
  let now: { readonly names: readonly string[]; readonly ready?: Promise<unknown> | undefined } = {
    names,
  };
  const toolkit = createToolkit(
    "changing",
    {},
    {
      onChange: changes.onChange,
      async list() {
        const { names: listed, ready } = now;
        await ready;
        return listed.map((name) => ({ name, inputSchema: { type: "object" } }));
      },
      call: async ({ name }) => text(name),
    },
  );
  return Object.assign(toolkit, {
    setTools(next: readonly string[], ready?: Promise<unknown>) {
      now = { names: next, ready };
      changes.tell("tools");
    },
  });
}

function createChanges(): {
  onChange(listener: (kind: ListKind) => void): () => void;
  tell(kind: ListKind): void;
} {
  const listeners = new Set<(kind: ListKind) => void>();
  return {
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    tell: (kind) => listeners.forEach((listener) => void listener(kind)),
  };
}

/** Promises `count` as a number and sends something else. */
export function createLiarToolkit(): Toolkit {
  const outputSchema = {
    type: "object",
    properties: { count: { type: "number" } },
    required: ["count"],
  };
  return createToolkit("liar", {
    wrong: { outputSchema, run: () => ({ ...text("?"), structuredContent: { count: "many" } }) },
    missing: { outputSchema, run: () => text("?") },
    empty: { run: () => ({}) as Outcome },
    nothing: { run: () => undefined as unknown as Outcome },
    failing: { outputSchema, run: () => ({ ...text("cannot count today"), isError: true }) },
    throwing: {
      outputSchema,
      run: () => {
        throw new HallError("EXECUTION", "cannot count at all");
      },
    },
  });
}

/** Answers that cannot be written as JSON, and one that is too long. */
export function createHeavyToolkit(): Toolkit {
  const cycle: Record<string, unknown> = {};
  cycle.self = cycle;
  return createToolkit("heavy", {
    cycle: { run: () => ({ content: [], structuredContent: cycle }) },
    bigint: { run: () => ({ content: [], structuredContent: { count: 10n } }) },
    throwing: {
      run: () => ({
        content: [],
        structuredContent: {
          toJSON() {
            throw new Error("not today");
          },
        },
      }),
    },
    large: { run: () => text("x".repeat(11 * 1024 * 1024)) },
  });
}

export interface ReportingToolkit extends Toolkit {
  /** Calls of `reporting.steps` that have ended. */
  readonly finished: number;
  /** True once `reporting.late` has reported after its end. */
  readonly hasReportedLate: boolean;
}

/**
 * `reporting.steps {progress: [[n, total?], …]}` reports those, `reporting.logs` one line on every
 * level, `reporting.late` reports after it has ended.
 */
export function createReportingToolkit(): ReportingToolkit {
  let hasReportedLate = false;
  let finished = 0;
  const toolkit = createToolkit("reporting", {
    steps: {
      async run({ progress, pauseMs, holdMs }, context) {
        for (const [step, total] of progress as [number, number?][]) {
          context.progress({
            progress: step,
            ...(total === undefined ? {} : { total }),
            message: `at ${step}`,
          });
          if (typeof pauseMs === "number")
            await new Promise((resolve) => setTimeout(resolve, pauseMs));
        }
        if (typeof holdMs === "number") await new Promise((resolve) => setTimeout(resolve, holdMs));
        finished++;
        return text("reported");
      },
    },
    logs: {
      run(_args, context) {
        for (const level of [
          "debug",
          "info",
          "notice",
          "warning",
          "error",
          "critical",
          "alert",
          "emergency",
        ] as const)
          context.log(level, { said: level }, "reporter");
        return text("logged");
      },
    },
    late: {
      run(_args, context) {
        setTimeout(() => {
          context.progress({ progress: 1 });
          context.log("emergency", "too late");
          hasReportedLate = true;
        }, 10);
        return text("ended");
      },
    },
  });
  return Object.defineProperties(toolkit, {
    hasReportedLate: { get: () => hasReportedLate },
    finished: { get: () => finished },
  }) as ReportingToolkit;
}

/** The text of an answer to `tools/call`. */
export function said(answer: JsonObject): unknown {
  const { content } = isObject(answer.result) ? answer.result : {};
  return Array.isArray(content) && isObject(content[0]) ? content[0].text : undefined;
}
