/**
 * Runs inside QuickJS before any program and gives it `tools`, `console` and a recorded clock. Its source is
 * evaluated there, so it uses nothing from outside its parameters. Only texts and numbers cross to the host.
 */
export function prelude(host: PreludeHost, camel: (name: string) => string): Prelude {
  const { stringify, parse } = JSON;
  const { keys: keysOf, defineProperty, create, getOwnPropertyNames } = Object;
  const NativeDate = Date;
  const { isArray } = Array;
  const isText = (value: unknown): value is string => typeof value === "string";
  const realm = globalThis as unknown as Record<string, unknown>;
  const define = (name: string, value: unknown): unknown =>
    defineProperty(realm, name, { value, writable: true, configurable: true, enumerable: false });

  /** A failed call of a tool. */
  class ToolError extends Error {
    readonly code: string;
    readonly tool: string;
    readonly data: unknown;
    constructor(tool: string, { code, message, hint, details }: PreludeFailure) {
      super(hint === undefined || message.includes(hint) ? message : `${message} (${hint})`);
      this.name = "ToolError";
      this.code = code;
      this.tool = tool;
      this.data = details;
    }
  }

  // Calls. The host answers with `settle`, in the order in which answers arrive.
  type Waiting = { tool: string; resolve(value: unknown): void; reject(error: unknown): void };
  const waiting = new Map<number, Waiting>();
  const ask = (tool: string, kind: string, request: unknown): Promise<unknown> =>
    new Promise((resolve, reject) => {
      waiting.set(host.send(kind, stringify(request)), { tool, resolve, reject });
    });

  const call = (name: string, args: unknown = {}): Promise<unknown> =>
    ask(name, "call", { name, arguments: args });

  /** Structured results become data, a text a string, several parts an array, binary content a handle. */
  function resultOf(tool: string, value: PreludeOutcome): unknown {
    if (typeof value !== "object" || value === null || !isArray(value.content)) return value;
    const texts = value.content.map((part) => (part.type === "text" ? `${part.text ?? ""}` : part));
    if (value.isError) {
      const message = texts.filter(isText).join("\n").trim() || "the tool failed";
      throw new ToolError(tool, { code: "EXECUTION", message, details: value });
    }
    if (value.structuredContent !== undefined) return value.structuredContent;
    return texts.length === 1 ? texts[0] : texts;
  }

  // Tools. A toolkit is made when it is first used: a hall can have thousands of tools.
  let entries: readonly PreludeTool[] = [];
  /** Exact names come first; a short name that fits several is not defined. */
  function table<T>(what: string, items: ReadonlyMap<string, T>): object {
    const known: Record<string, T> = create(null);
    const spelled = new Map<string, number>();
    for (const name of items.keys()) spelled.set(camel(name), (spelled.get(camel(name)) ?? 0) + 1);
    for (const [name, item] of items) if (spelled.get(camel(name)) === 1) known[camel(name)] = item;
    for (const [name, item] of items) known[name] = item;
    return new Proxy(known, {
      get(target, name) {
        if (typeof name === "symbol" || name in target) return Reflect.get(target, name);
        // Asked for by `await` and JSON.stringify.
        if (name === "then" || name === "toJSON") return undefined;
        const near = keysOf(target).filter((key) => key.toLowerCase().includes(name.toLowerCase()));
        const some = (near.length > 0 ? near : keysOf(target)).slice(0, 10).join(", ");
        throw new ToolError(name, {
          code: "NOT_FOUND",
          message: `${what} has no "${name}" (expected: ${some || "nothing is available"})`,
        });
      },
      set: () => false,
      defineProperty: () => false,
      deleteProperty: () => false,
    });
  }

  function bind(text: string): void {
    entries = parse(text) as PreludeTool[];
    const kits = new Map<string, PreludeTool[]>();
    for (const entry of entries) {
      const kit = kits.get(entry.toolkit);
      if (kit) kit.push(entry);
      else kits.set(entry.toolkit, [entry]);
    }
    const made = new Map<string, object>();
    const toolkit = (name: string): object => {
      const kit = made.get(name) ?? table(name, functionsOf(kits.get(name) ?? []));
      made.set(name, kit);
      return kit;
    };
    const names = new Map([...kits.keys()].map((name) => [name, name]));
    const tools = table("tools", names) as Record<string, string>;
    define(
      "tools",
      new Proxy(tools, {
        get: (target, name) => {
          const found: unknown = Reflect.get(target, name);
          return isText(found) && typeof name === "string" ? toolkit(found) : found;
        },
      }),
    );
    known.tools = realm.tools;
  }

  function functionsOf(kit: readonly PreludeTool[]): ReadonlyMap<string, unknown> {
    return new Map(
      kit.map(({ name, fullName }) => {
        const fn = (args?: unknown): Promise<unknown> => call(fullName, args);
        defineProperty(fn, "name", { value: name });
        return [name, fn];
      }),
    );
  }

  define("ToolError", ToolError);
  define("callTool", call);
  define("findTools", async (task: string, { limit = 5 } = {}) => {
    const found = (await ask("find_tools", "find", { task, limit })) as { tools?: unknown };
    return found.tools ?? [];
  });
  define("toolSchema", (name: string) => ask(name, "schema", { name }));
  define("show", (part: string | { handle: string }) =>
    ask("show", "show", { handle: isText(part) ? part : part.handle }),
  );
  define("listTools", async ({ match = "", toolkit = "", group = "" } = {}) => {
    const members = group === "" ? undefined : await ask(group, "group", { name: group });
    return entries
      .filter(
        ({ fullName, shown = fullName, toolkit: kit }) =>
          [fullName, shown].some((name) => name.toLowerCase().includes(match.toLowerCase())) &&
          (toolkit === "" || kit === toolkit || camel(kit) === toolkit) &&
          (members === undefined || (members as string[]).includes(fullName)),
      )
      .map(({ fullName, shown = fullName }) => shown);
  });

  // Values as text: JSON where there is a form in it, a label for everything else.
  const depthMax = 50;
  function plain(value: unknown, depth: number, above: readonly unknown[]): unknown {
    switch (typeof value) {
      case "string":
      case "boolean":
        return value;
      case "number":
        return Number.isFinite(value) ? value : `${value}`;
      case "bigint":
        return `${value}n`;
      case "undefined":
        return depth === 0 ? undefined : null;
      case "symbol":
        return value.toString();
      case "function":
        return `[Function: ${value.name || "anonymous"}]`;
    }
    if (value === null) return null;
    if (above.includes(value)) return "[Circular]";
    if (depth > depthMax) return "[Too deep]";
    return plainObject(value as object, depth, [...above, value]);
  }

  function plainObject(value: object, depth: number, above: readonly unknown[]): unknown {
    const inner = (item: unknown): unknown => plain(item, depth + 1, above);
    if (isArray(value)) return value.map(inner);
    const { toJSON } = value as { toJSON?: unknown };
    if (typeof toJSON === "function") return plain(toJSON.call(value, ""), depth + 1, above);
    if (value instanceof Error) return `[${value.name}: ${value.message}]`;
    if (value instanceof Map)
      return { "[Map]": [...value].map(([key, item]) => [inner(key), inner(item)]) };
    if (value instanceof Set) return { "[Set]": [...value].map(inner) };
    if (value instanceof Promise) return "[Promise]";
    if (value instanceof RegExp) return `${value}`;
    if (ArrayBuffer.isView(value) && !(value instanceof DataView))
      return [...(value as Uint8Array)].map(inner);
    const copy: Record<string, unknown> = {};
    for (const key of keysOf(value)) {
      const item = (value as Record<string, unknown>)[key];
      if (item !== undefined && typeof item !== "function")
        defineProperty(copy, key, { value: inner(item), enumerable: true });
    }
    return copy;
  }

  /** Labels at the top have no quotes. */
  function format(value: unknown): string {
    const shown = plain(value, 0, []);
    const isLabel = typeof value !== "string" && isText(shown) && !(value instanceof NativeDate);
    return isLabel ? shown : (stringify(shown) ?? "undefined");
  }

  const print =
    (stream: "stdout" | "stderr") =>
    (...items: unknown[]): void =>
      host.log(stream, `${items.map((item) => (isText(item) ? item : format(item))).join(" ")}\n`);
  const [log, warn] = [print("stdout"), print("stderr")];
  define("console", { log, info: log, debug: log, warn, error: warn, trace: warn });

  // The clock is read through the host and recorded; `random` has a seed. A replay then takes the same branches.
  function HallDate(this: unknown, ...given: unknown[]): unknown {
    if (!new.target) return new NativeDate(host.clock()).toString();
    const args = given.length > 0 ? given : [host.clock()];
    return Reflect.construct(NativeDate, args, new.target);
  }
  defineProperty(HallDate, "name", { value: "Date" });
  defineProperty(HallDate, "length", { value: 7 });
  HallDate.UTC = NativeDate.UTC;
  HallDate.parse = NativeDate.parse;
  HallDate.now = () => host.clock();
  HallDate.prototype = NativeDate.prototype;
  defineProperty(NativeDate.prototype, "constructor", { value: HallDate });
  define("Date", HallDate);
  define("performance", { now: () => host.timer() });
  Math.random = () => host.random();

  const known: Record<string, unknown> = create(null);
  let marked: Record<string, unknown> = create(null);
  define("input", {});
  for (const name of getOwnPropertyNames(realm)) known[name] = realm[name];

  return {
    bind,
    format,
    setInput(text) {
      define("input", parse(text));
      known.input = realm.input;
    },
    settle(number, text) {
      const waits = waiting.get(number);
      waiting.delete(number);
      if (!waits) return;
      const answer = parse(text) as { value: PreludeOutcome } | { failure: PreludeFailure };
      try {
        if ("failure" in answer) throw new ToolError(waits.tool, answer.failure);
        waits.resolve(resultOf(waits.tool, answer.value));
      } catch (error) {
        waits.reject(error);
      }
    },
    forget: () => waiting.clear(),
    // An evaluation answers with an object, so that a promise as its value is not awaited by itself.
    outcome: async (evaluated) => (await (evaluated as Promise<{ value: unknown }>)).value,
    json: (value) => stringify(plain(value, 0, [])),
    describeError(error) {
      if (!(error instanceof Error))
        return stringify({ name: "Error", message: format(error), stack: "" });
      const { name, message, stack, code } = error as ToolError;
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

/** What the host gives to the prelude. */
export interface PreludeHost {
  /** Sends a request of this kind, given as JSON; returns its number. */
  send(kind: string, request: string): number;
  log(stream: "stdout" | "stderr", text: string): void;
  clock(): number;
  timer(): number;
  random(): number;
}

/** What the prelude gives to the host. */
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

interface PreludeTool {
  readonly toolkit: string;
  readonly name: string;
  readonly fullName: string;
  readonly shown?: string;
}

interface PreludeFailure {
  readonly code: string;
  readonly message: string;
  readonly hint?: string;
  readonly details?: unknown;
}

interface PreludeOutcome {
  readonly content?: readonly { readonly type?: string; readonly text?: string }[];
  readonly structuredContent?: unknown;
  readonly isError?: boolean;
}
