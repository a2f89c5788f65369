// The functions that programs have beyond the language: natives of the package GUILDHALL, and one package for each
// toolkit, whose functions are its tools. All go through the hall; programs can reach nothing else.
import { isObject, type JsonObject } from "../../../base/json.ts";
import { defineFunction, nativeFunction } from "../../../lisp/define.ts";
import { tableGet } from "../../../lisp/equality.ts";
import type { Machine } from "../../../lisp/machine.ts";
import { addPackage, allPackages } from "../../../lisp/packages.ts";
import { Str } from "../../../lisp/string.ts";
import { NIL, Package, Sym } from "../../../lisp/symbol.ts";
import { Cons, itemsOf, Table, type Value, Vec } from "../../../lisp/values.ts";
import type { HallPort } from "../hall-port.ts";
import { lispName } from "../names.ts";
import type { ToolEntry } from "../protocol.ts";
import { toJson, toLisp } from "./json.ts";
import { askHall, callTool, defineToolErrors, receive } from "./tool-call.ts";

export interface ToolFunctions {
  /** Binds the available tools as packages of a session, and unbinds the others. */
  bind(m: Machine, tools: readonly ToolEntry[]): void;
  /** Sets the arguments of a saved program. */
  setInput(input: JsonObject): void;
}

export function defineToolFunctions(hall: HallPort): ToolFunctions {
  const catalog = createToolCatalog(hall);
  let input: JsonObject = {};
  defineToolErrors();
  defineFunction(
    "GUILDHALL:CALL-TOOL name &rest arguments",
    (m, name, args) => call(m, catalog, catalog.nameOf(m, name), args),
    '(call-tool "toolkit__tool" :argument value …): the tool\'s result as data.',
  );
  defineFunction(
    "GUILDHALL:FIND-TOOLS task &key limit",
    (m, task, limit) => findTools(m, hall, task, limit),
    '(find-tools "what you need"): the tools that fit, best first: hash tables with name, signature, description.',
  );
  defineFunction(
    "GUILDHALL:LIST-TOOLS &key match toolkit group",
    (m, match, toolkit, group) => listTools(m, catalog, { match, toolkit, group }),
    '(list-tools :match "text"): the names of tools.',
  );
  defineFunction(
    "GUILDHALL:TOOL-SCHEMA name",
    (m, name) => toLisp(m, askHall(m, hall, { kind: "schema", name: catalog.nameOf(m, name) })),
    "The input and output schemas of a tool.",
  );
  defineFunction(
    "GUILDHALL:SHOW part",
    (m, part) => showPart(m, hall, part),
    "Adds an image, or other content that a tool returned as a handle, to the answer.",
  );
  defineFunction(
    "GUILDHALL:JREF json &rest path",
    (m, json, path) => path.reduce((inner, key) => part(m, inner, key), dataOf(m, json, path)),
    '(jref x "results" 0 "title"): a part of JSON, or NIL. A string is read as JSON.',
  );
  defineFunction(
    "GUILDHALL:INPUT &rest path",
    (m, path) => path.reduce((inner, key) => part(m, inner, key), toLisp(m, input)),
    '(input "week"): an argument of a saved program, or NIL.',
  );
  defineFunction("GUILDHALL:JSON-ENCODE value", (m, value) =>
    m.string(JSON.stringify(toJson(m, value))),
  );
  defineFunction("GUILDHALL:JSON-DECODE text", (m, text) => decode(m, text));
  defineFunction(
    "GUILDHALL:COMPLETIONS prefix",
    (m, prefix) => m.list(complete(m, textOf(m, prefix)).map((name) => m.string(name))),
    "Symbols that begin with the prefix.",
  );
  return {
    bind: (m, tools) => catalog.bind(m, tools),
    setInput(given) {
      input = given;
    },
  };
}

interface ToolCatalog {
  readonly hall: HallPort;
  readonly tools: readonly ToolEntry[];
  bind(m: Machine, tools: readonly ToolEntry[]): void;
  /** The full name for a string, or for the symbol of a tool's function. */
  nameOf(m: Machine, designator: Value): string;
  /** Undefined if several tools have the symbol. */
  onlyName(symbol: Sym): string | undefined;
  /** Undefined for an unknown tool. */
  schemaOf(m: Machine, name: string): ToolDescription | undefined;
}

interface ToolDescription {
  readonly description: string;
  readonly inputSchema: JsonObject;
}

function findDescription(m: Machine, hall: HallPort, name: string): ToolDescription | undefined {
  const answer = receive(m, hall, hall.send({ kind: "schema", name }));
  return "failure" in answer ? undefined : (answer.value as ToolDescription);
}

function createToolCatalog(hall: HallPort): ToolCatalog {
  let tools: readonly ToolEntry[] = [];
  const described = new Map<string, ToolDescription | undefined>();
  /** Names as different as `my_notes` and `my-notes` become one symbol, which then has no meaning. */
  const bySymbol = new Map<Sym, readonly string[]>();
  const catalog: ToolCatalog = {
    hall,
    get tools() {
      return tools;
    },
    bind(m, now) {
      for (const symbol of bySymbol.keys()) symbol.fn = null;
      described.clear();
      bySymbol.clear();
      tools = now;
      for (const entry of now) {
        const symbol = bindTool(m, catalog, entry);
        bySymbol.set(symbol, [...(bySymbol.get(symbol) ?? []), entry.fullName]);
      }
    },
    nameOf(m, designator) {
      const names = designator instanceof Sym ? bySymbol.get(designator) : undefined;
      if (names === undefined) return textOf(m, designator);
      const [name = "", ...others] = names;
      if (others.length === 0) return name;
      return m.fail(`ambiguous: use (call-tool "…") with one of ${names.join(", ")}`);
    },
    onlyName(symbol) {
      const names = bySymbol.get(symbol) ?? [];
      return names.length === 1 ? names[0] : undefined;
    },
    schemaOf(m, name) {
      if (!described.has(name)) described.set(name, findDescription(m, hall, name));
      return described.get(name);
    },
  };
  return catalog;
}

/** Makes the tool a function: `(search-tool:web-search :query "x")`. */
function bindTool(m: Machine, catalog: ToolCatalog, { toolkit, name }: ToolEntry): Sym {
  const pkg = toolkitPackage(m, toolkit);
  const symbolName = lispName(name);
  const symbol = pkg.symbols.get(symbolName) ?? new Sym(symbolName, pkg);
  pkg.symbols.set(symbolName, symbol);
  pkg.external.add(symbolName);
  const fn = nativeFunction(symbol, "&rest arguments", (inner, args: Value[]) =>
    call(inner, catalog, catalog.nameOf(inner, symbol), args),
  );
  // Fetched on demand: thousands of descriptions are too much to copy into every thread.
  const describe = (): ToolDescription | undefined => {
    const only = catalog.onlyName(symbol);
    return only === undefined ? undefined : catalog.schemaOf(m, only);
  };
  Object.defineProperty(fn.code, "documentation", {
    get: () => describe()?.description ?? null,
  });
  Object.defineProperty(fn.code, "lambdaList", {
    get: () => lambdaListOf(describe()),
  });
  symbol.fn = fn;
  return symbol;
}

function call(m: Machine, catalog: ToolCatalog, name: string, args: readonly Value[]): Value {
  return callTool(m, catalog.hall, { name, args, schema: catalog.schemaOf(m, name)?.inputSchema });
}

/** Adds a suffix if the language or the program already has a package of that name. */
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
  return m.fail(`cannot make a package for the toolkit ${toolkit}: the name is taken`);
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

function findTools(m: Machine, hall: HallPort, task: Value, limit: Value | undefined): Value {
  const found = askHall(m, hall, {
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
  { hall, tools }: ToolCatalog,
  { match, toolkit, group }: ToolFilter,
): Value {
  const text = match === undefined || match === NIL ? "" : textOf(m, match).toLowerCase();
  const kit = toolkit === undefined || toolkit === NIL ? undefined : lispName(textOf(m, toolkit));
  const members =
    group === undefined || group === NIL
      ? undefined
      : new Set(askHall(m, hall, { kind: "group", name: textOf(m, group) }) as string[]);
  const fitting = tools.filter(
    (tool) =>
      [tool.fullName, shownOf(tool)].some((name) => name.toLowerCase().includes(text)) &&
      (kit === undefined || lispName(tool.toolkit) === kit) &&
      (members?.has(tool.fullName) ?? true),
  );
  return m.list(fitting.map((tool) => m.string(shownOf(tool))));
}

function shownOf({ fullName, shown = fullName }: ToolEntry): string {
  return shown;
}

function showPart(m: Machine, hall: HallPort, part: Value): Value {
  const handle = part instanceof Table ? tableGet(part, new Str("handle"))?.value : part;
  if (!(handle instanceof Str)) return m.typeError(part, "(OR STRING HASH-TABLE)");
  askHall(m, hall, { kind: "show", handle: handle.toString() });
  return part;
}

/** Many servers return JSON as text; looking into it as a string would find nothing, silently. */
function dataOf(m: Machine, json: Value, path: readonly Value[]): Value {
  return json instanceof Str && path.length > 0 ? decode(m, json) : json;
}

/** By key in an object, by index in an array; a negative index counts from the end. */
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
    return m.error("PARSE-ERROR", { TEXT: m.string(`invalid JSON: ${error.message}`) });
  }
}

const completionsMax = 100;

/** As a user types them: `search-tool:web-search`, `mapcar`. */
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
