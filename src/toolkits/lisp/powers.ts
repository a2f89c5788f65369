// What a program can do beyond the language: call tools, find them, read their results. Natives of the package GUILDHALL, and one
// package for each toolkit, whose functions are its tools. Everything goes through the hall; nothing else is reachable.
import { isObject, type JsonObject } from "../../base/json.ts";
import { defineFunction, nativeFunction } from "../../lisp/define.ts";
import { tableGet } from "../../lisp/equality.ts";
import type { Machine } from "../../lisp/machine.ts";
import { addPackage, allPackages } from "../../lisp/packages.ts";
import { Str } from "../../lisp/string.ts";
import { NIL, Package, Sym } from "../../lisp/symbol.ts";
import { Cons, itemsOf, Table, type Value, Vec } from "../../lisp/values.ts";
import type { HallLine } from "./hall-line.ts";
import { toJson, toLisp } from "./json.ts";
import { lispName } from "./names.ts";
import type { ToolEntry } from "./protocol.ts";
import { ask, receive, startTool, type ToolCall } from "./tool-call.ts";
import { defineToolErrors } from "./tool-errors.ts";

/** The hall, as the natives of one thread use it. */
export interface Powers {
  /** The tools there are, as packages of a session; those that are gone leave. */
  bind(m: Machine, tools: readonly ToolEntry[]): void;
}

export function definePowers(line: HallLine): Powers {
  const book = createToolBook(line);
  defineToolErrors();
  defineFunction(
    "GUILDHALL:CALL-TOOL",
    "name &rest arguments",
    (m: Machine, name: Value, args: Value[]) =>
      start(m, book, book.nameOf(m, name), args).finish(m),
    {
      documentation:
        '(call-tool "toolkit.tool" :argument value …): what the tool answers, as data.',
    },
  );
  defineFunction(
    "GUILDHALL:FIND-TOOLS",
    "task &key limit",
    (m: Machine, task: Value, limit?: Value) => findTools(m, line, task, limit),
    {
      documentation:
        '(find-tools "what you need"): the tools that fit, best first: hash tables with name, signature, description.',
    },
  );
  defineFunction(
    "GUILDHALL:LIST-TOOLS",
    "&key match toolkit group",
    (m: Machine, match?: Value, toolkit?: Value, group?: Value) =>
      listTools(m, book, { match, toolkit, group }),
    {
      documentation: '(list-tools :match "text"): the full names of tools.',
    },
  );
  defineFunction(
    "GUILDHALL:TOOL-SCHEMA",
    "name",
    (m: Machine, name: Value) =>
      toLisp(m, ask(m, line, { kind: "schema", name: book.nameOf(m, name) })),
    {
      documentation: "What a tool takes and gives, as JSON Schema.",
    },
  );
  defineFunction("GUILDHALL:SHOW", "part", (m: Machine, part: Value) => showPart(m, line, part), {
    documentation: "Puts an image, or whatever else a tool gave only a handle of, into the answer.",
  });
  defineFunction(
    "GUILDHALL:JREF",
    "json &rest path",
    (m: Machine, json: Value, path: Value[]) =>
      path.reduce((inner, key) => part(m, inner, key), json),
    {
      documentation: '(jref x "results" 0 "title"): a part of JSON, NIL where there is none.',
    },
  );
  defineFunction("GUILDHALL:JSON-ENCODE", "value", (m: Machine, value: Value) =>
    m.string(JSON.stringify(toJson(m, value))),
  );
  defineFunction("GUILDHALL:JSON-DECODE", "text", (m: Machine, text: Value) => decode(m, text));
  defineFunction(
    "GUILDHALL:COMPLETIONS",
    "prefix",
    (m: Machine, prefix: Value) =>
      m.list(complete(m, textOf(m, prefix)).map((name) => m.string(name))),
    {
      documentation: "Symbols that begin so.",
    },
  );
  return { bind: (m, tools) => book.bind(m, tools) };
}

interface ToolBook {
  readonly line: HallLine;
  readonly tools: readonly ToolEntry[];
  bind(m: Machine, tools: readonly ToolEntry[]): void;
  /** The full name for a string, or for the symbol of a tool's function. */
  nameOf(m: Machine, designator: Value): string;
  /** Undefined where the hall knows no such tool. */
  schemaOf(m: Machine, name: string): ToolDescription | undefined;
}

interface ToolDescription {
  readonly description: string;
  readonly inputSchema: JsonObject;
}

function findDescription(m: Machine, line: HallLine, name: string): ToolDescription | undefined {
  const answer = receive(m, line, line.start({ kind: "schema", name }));
  return "failure" in answer ? undefined : (answer.value as ToolDescription);
}

function createToolBook(line: HallLine): ToolBook {
  let tools: readonly ToolEntry[] = [];
  const described = new Map<string, ToolDescription | undefined>();
  const bySymbol = new Map<Sym, string>();
  const book: ToolBook = {
    line,
    get tools() {
      return tools;
    },
    bind(m, now) {
      for (const symbol of bySymbol.keys()) symbol.fn = null;
      described.clear();
      bySymbol.clear();
      tools = now;
      for (const entry of now) bySymbol.set(bindTool(m, book, entry), entry.fullName);
    },
    nameOf: (m, designator) =>
      (designator instanceof Sym ? bySymbol.get(designator) : undefined) ?? textOf(m, designator),
    schemaOf(m, name) {
      if (!described.has(name)) described.set(name, findDescription(m, line, name));
      return described.get(name);
    },
  };
  return book;
}

/** Its function: `(search-tool:web-search :query "x")`. */
function bindTool(m: Machine, book: ToolBook, { toolkit, name, fullName }: ToolEntry): Sym {
  const pkg = toolkitPackage(m, toolkit);
  const symbolName = lispName(name);
  const symbol = pkg.symbols.get(symbolName) ?? new Sym(symbolName, pkg);
  pkg.symbols.set(symbolName, symbol);
  pkg.external.add(symbolName);
  const fn = nativeFunction(symbol, "&rest arguments", (inner: Machine, args: Value[]) =>
    start(inner, book, fullName, args).finish(inner),
  );
  fn.code.start = (inner, args) => start(inner, book, fullName, args);
  // Asked for when somebody wants to read it: thousands of descriptions are too much to carry into every thread.
  Object.defineProperty(fn.code, "documentation", {
    get: () => book.schemaOf(m, fullName)?.description ?? null,
  });
  Object.defineProperty(fn.code, "lambdaList", {
    get: () => lambdaListOf(book.schemaOf(m, fullName)),
  });
  symbol.fn = fn;
  return symbol;
}

function start(m: Machine, book: ToolBook, name: string, args: readonly Value[]): ToolCall {
  return startTool(m, book.line, { name, args, schema: book.schemaOf(m, name)?.inputSchema });
}

/** A toolkit whose name is taken, by the language or by the program, gets a tail. */
function toolkitPackage(m: Machine, toolkit: string): Package {
  const name = lispName(toolkit);
  for (const candidate of [name, `${name}-TOOLS`]) {
    const found = m.packages.get(candidate);
    if (found && toolPackages.has(found)) return found;
    if (found) continue;
    const made = new Package(candidate);
    made.documentation = `The tools of ${toolkit}.`;
    toolPackages.add(made);
    addPackage(m, made);
    return made;
  }
  return m.fail(`no package can be made for the toolkit ${toolkit}`);
}

const toolPackages = new WeakSet<Package>();

function lambdaListOf(tool: ToolDescription | undefined): string {
  const properties = isObject(tool?.inputSchema.properties)
    ? Object.keys(tool.inputSchema.properties)
    : [];
  return properties.length === 0
    ? "&rest arguments"
    : `&key ${properties.map((name) => lispName(name).toLowerCase()).join(" ")}`;
}

const foundMax = 20;

function findTools(m: Machine, line: HallLine, task: Value, limit: Value | undefined): Value {
  const found = ask(m, line, {
    kind: "find",
    task: textOf(m, task),
    limit: typeof limit === "number" ? Math.min(Math.max(1, limit), foundMax) : 5,
  });
  return toLisp(m, isObject(found) ? found.tools : []);
}

interface ToolFilter {
  readonly match: Value | undefined;
  readonly toolkit: Value | undefined;
  readonly group: Value | undefined;
}

function listTools(
  m: Machine,
  { line, tools }: ToolBook,
  { match, toolkit, group }: ToolFilter,
): Value {
  const text = match === undefined || match === NIL ? "" : textOf(m, match).toLowerCase();
  const kit = toolkit === undefined || toolkit === NIL ? undefined : lispName(textOf(m, toolkit));
  const members =
    group === undefined || group === NIL
      ? undefined
      : new Set(ask(m, line, { kind: "group", name: textOf(m, group) }) as string[]);
  const fitting = tools.filter(
    (tool) =>
      tool.fullName.toLowerCase().includes(text) &&
      (kit === undefined || lispName(tool.toolkit) === kit) &&
      (members?.has(tool.fullName) ?? true),
  );
  return m.list(fitting.map(({ fullName }) => m.string(fullName)));
}

function showPart(m: Machine, line: HallLine, part: Value): Value {
  const handle = part instanceof Table ? tableGet(part, new Str("handle"))?.value : part;
  if (!(handle instanceof Str)) return m.typeError(part, "(OR STRING HASH-TABLE)");
  ask(m, line, { kind: "show", handle: handle.toString() });
  return part;
}

/** By key in an object, by index in an array; from the end where it is negative. */
function part(m: Machine, json: Value, key: Value): Value {
  if (json instanceof Table)
    return (
      tableGet(json, key instanceof Sym ? m.string(key.name.toLowerCase()) : key)?.value ?? NIL
    );
  if (typeof key !== "number") return NIL;
  if (json instanceof Vec) return json.items[key < 0 ? json.length + key : key] ?? NIL;
  return json instanceof Cons ? itemOf(m, json, key) : NIL;
}

function itemOf(m: Machine, list: Cons, key: number): Value {
  if (key < 0) return itemsOf(list).at(key) ?? NIL;
  let at: Value = list;
  for (let left = key; left > 0 && at instanceof Cons; left--) at = at.cdr;
  m.tick(key);
  return at instanceof Cons ? at.car : NIL;
}

function decode(m: Machine, text: Value): Value {
  const json = textOf(m, text);
  m.tick(json.length >> 3);
  try {
    return toLisp(m, JSON.parse(json));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return m.error("PARSE-ERROR", { TEXT: m.string(`not JSON: ${error.message}`) });
  }
}

const completionsMax = 100;

/** As a person types them: `search-tool:web-search`, `mapcar`. */
function complete(m: Machine, prefix: string): string[] {
  const wanted = prefix.toLowerCase();
  const user = m.packages.get("COMMON-LISP-USER");
  const names = new Set<string>();
  for (const pkg of allPackages(m)) {
    if (pkg.name === "LISP-SYSTEM" || pkg.name === "KEYWORD") continue;
    const isOpen = pkg === user || user?.uses.includes(pkg);
    for (const symbol of pkg.symbols.values()) {
      const name = isOpen ? symbol.name.toLowerCase() : `${pkg.name}:${symbol.name}`.toLowerCase();
      if (name.startsWith(wanted) && (symbol.fn || symbol.macro || symbol.value !== undefined))
        names.add(name);
    }
  }
  return [...names].sort().slice(0, completionsMax);
}

function textOf(m: Machine, value: Value): string {
  if (value instanceof Str) return value.toString();
  return value instanceof Sym ? value.name.toLowerCase() : m.typeError(value, "(OR STRING SYMBOL)");
}
