import { camelName } from "../names.ts";
import { createCalls, createText, createTools, recordClock } from "./prelude-parts.ts";

const parts = { camelName, createCalls, createText, createTools, recordClock };

/** The source of a function that takes the functions of the host and returns those that programs use. */
export function preludeSource(): string {
  const sources = Object.entries(parts).map(([name, part]) => `${name}: ${part}`);
  return `((host) => (${prelude})(host, { ${sources.join(", ")} }))`;
}

/**
 * Runs inside QuickJS before any program and gives it `tools`, `console` and a recorded clock. Its source is
 * evaluated there, so it uses nothing from outside its parameters. Only texts and numbers cross to the host.
 */
function prelude(
  host: PreludeHost,
  { camelName: camel, createCalls, createText, createTools, recordClock }: typeof parts,
): Prelude {
  const { stringify, parse } = JSON;
  const { defineProperty, create, getOwnPropertyNames } = Object;
  const isText = (value: unknown): value is string => typeof value === "string";
  const realm = globalThis as unknown as Record<string, unknown>;
  const define = (name: string, value: unknown): unknown =>
    defineProperty(realm, name, { value, writable: true, configurable: true, enumerable: false });

  const calls = createCalls(host);
  const { ToolError, ask, call, settle, forget } = calls;
  const { toolsOf, list } = createTools(calls, camel);
  const { format, json } = createText();
  define("ToolError", ToolError);
  define("callTool", call);
  define("listTools", list);
  define("findTools", async (task: string, { limit = 5 } = {}) => {
    const found = (await ask("find_tools", "find", { task, limit })) as { tools?: unknown };
    return found.tools ?? [];
  });
  define("toolSchema", (name: string) => ask(name, "schema", { name }));
  define("show", (part: string | { handle: string }) =>
    ask("show", "show", { handle: isText(part) ? part : part.handle }),
  );

  const print =
    (stream: "stdout" | "stderr") =>
    (...items: unknown[]): void =>
      host.log(stream, `${items.map((item) => (isText(item) ? item : format(item))).join(" ")}\n`);
  const [log, warn] = [print("stdout"), print("stderr")];
  define("console", { log, info: log, debug: log, warn, error: warn, trace: warn });
  recordClock(host, define);

  const known: Record<string, unknown> = create(null);
  let marked: Record<string, unknown> = create(null);
  define("input", {});
  for (const name of getOwnPropertyNames(realm)) known[name] = realm[name];
  /** Given by the hall, so it is no definition of the program. */
  const give = (name: string, value: unknown): void => {
    define(name, value);
    known[name] = value;
  };

  return {
    bind: (text) => give("tools", toolsOf(text)),
    setInput: (text) => give("input", parse(text)),
    settle,
    forget,
    format,
    json,
    // An evaluation answers with an object, so that a promise as its value is not awaited by itself.
    outcome: async (evaluated) => (await (evaluated as Promise<{ value: unknown }>)).value,
    describeError(error) {
      if (!(error instanceof Error))
        return stringify({ name: "Error", message: format(error), stack: "" });
      const { name, message, stack, code } = error as Error & { code?: string };
      return stringify({ name: `${name}`, message: `${message}`, stack: `${stack ?? ""}`, code });
    },
    mark() {
      marked = create(null);
      for (const name of getOwnPropertyNames(realm)) marked[name] = realm[name];
    },
    definitions(isSinceMark) {
      const before = isSinceMark ? marked : known;
      const names = getOwnPropertyNames(realm).filter(
        (name) => ![known[name], before[name]].some((value) => Object.is(value, realm[name])),
      );
      return stringify(
        names.map((name) => {
          const value = realm[name];
          const isClass = typeof value === "function" && `${value}`.startsWith("class");
          if (typeof value !== "function") return { type: "variable", name };
          return { type: isClass ? "class" : "function", name };
        }),
      );
    },
  };
}

/** The functions that the host gives to the prelude. */
export interface PreludeHost {
  /** Sends a request of this kind, given as JSON; returns its number. */
  send(kind: string, request: string): number;
  log(stream: "stdout" | "stderr", text: string): void;
  clock(): number;
  timer(): number;
  random(): number;
}

/** The functions that the prelude gives to the host. */
export interface Prelude {
  bind(tools: string): void;
  setInput(input: string): void;
  settle(number: number, answer: string): void;
  forget(): void;
  outcome(evaluated: unknown): Promise<unknown>;
  format(value: unknown): string;
  json(value: unknown): string | undefined;
  describeError(error: unknown): string;
  /** Begins an evaluation, for the definitions since then. */
  mark(): void;
  definitions(isSinceMark: boolean): string;
}

export interface PreludeFailure {
  readonly code: string;
  readonly message: string;
  readonly hint?: string;
  readonly details?: unknown;
}

export interface PreludeOutcome {
  readonly content?: readonly { readonly type?: string; readonly text?: string }[];
  readonly structuredContent?: unknown;
  readonly isError?: boolean;
}
