/**
 * The parts of the prelude. Their sources are evaluated inside QuickJS, so each uses nothing from outside its
 * parameters, and keeps the functions it needs before a program can replace them.
 */
import type { ToolEntry } from "../protocol.ts";
import type { PreludeFailure, PreludeHost, PreludeOutcome } from "./prelude.ts";

/** Calls. The host answers with `settle`, in the order in which answers arrive. */
export function createCalls(host: PreludeHost) {
  const { stringify, parse } = JSON;
  const { isArray } = Array;

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
      const message =
        texts
          .filter((one) => typeof one === "string")
          .join("\n")
          .trim() || "the tool failed";
      throw new ToolError(tool, { code: "EXECUTION", message, details: value });
    }
    if (value.structuredContent !== undefined) return value.structuredContent;
    return texts.length === 1 ? texts[0] : texts;
  }

  function settle(number: number, text: string): void {
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
  }

  return { ToolError, ask, call, settle, forget: () => waiting.clear() };
}

/** The object `tools`. A toolkit is made when it is first used: a hall can have thousands of tools. */
export function createTools(
  { ToolError, ask, call }: ReturnType<typeof createCalls>,
  camel: (name: string) => string,
) {
  const { parse } = JSON;
  const { keys: keysOf, defineProperty, create } = Object;
  let entries: readonly ToolEntry[] = [];
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

  function toolsOf(text: string): object {
    entries = parse(text) as ToolEntry[];
    const kits = new Map<string, ToolEntry[]>();
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
    return new Proxy(tools, {
      get: (target, name) => {
        const found: unknown = Reflect.get(target, name);
        return typeof found === "string" && typeof name === "string" ? toolkit(found) : found;
      },
    });
  }

  function functionsOf(kit: readonly ToolEntry[]): ReadonlyMap<string, unknown> {
    return new Map(
      kit.map(({ name, fullName }) => {
        const fn = (args?: unknown): Promise<unknown> => call(fullName, args);
        defineProperty(fn, "name", { value: name });
        return [name, fn];
      }),
    );
  }

  const list = async ({ match = "", toolkit = "", group = "" } = {}): Promise<string[]> => {
    const members = group === "" ? undefined : await ask(group, "group", { name: group });
    return entries
      .filter(
        ({ fullName, shown = fullName, toolkit: kit }) =>
          [fullName, shown].some((name) => name.toLowerCase().includes(match.toLowerCase())) &&
          (toolkit === "" || kit === toolkit || camel(kit) === toolkit) &&
          (members === undefined || (members as string[]).includes(fullName)),
      )
      .map(({ fullName, shown = fullName }) => shown);
  };

  return { toolsOf, list };
}

/** Values as text: JSON where there is a form in it, a label for everything else. */
export function createText() {
  const { stringify } = JSON;
  const { keys: keysOf, defineProperty } = Object;
  const { isArray } = Array;
  const NativeDate = Date;
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
    const isLabel =
      typeof value !== "string" && typeof shown === "string" && !(value instanceof NativeDate);
    return isLabel ? shown : (stringify(shown) ?? "undefined");
  }

  return { format, json: (value: unknown) => stringify(plain(value, 0, [])) };
}

/** The clock is read through the host and recorded; `random` has a seed. A replay then takes the same branches. */
export function recordClock(
  host: PreludeHost,
  define: (name: string, value: unknown) => void,
): void {
  const { defineProperty } = Object;
  const NativeDate = Date;
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
}
