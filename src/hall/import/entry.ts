import { isObject, type JsonObject } from "../../base/json.ts";
import { mergeTrees } from "../../config/layer.ts";
import { kindOfHost } from "../../net/host.ts";
import { type ImportPlaces, pathsOf } from "./document.ts";

/** Translates the value of a key into a part of a server in our config. */
export type KeyReader = (value: unknown) => JsonObject;
export type KeyReaders = Readonly<Record<string, KeyReader>>;

export interface TranslatedEntry {
  /** As in our config, not yet validated. */
  readonly server: JsonObject;
  /** Keys that have no meaning here. */
  readonly unknownKeys: readonly string[];
}

export function translateEntry(entry: JsonObject, keys: KeyReaders): TranslatedEntry {
  const present = Object.entries(entry).filter(
    ([, value]) => value !== undefined && value !== null,
  );
  const parts = present.flatMap(([key, value]) =>
    Object.hasOwn(keys, key) ? [keys[key]?.(value) ?? {}] : [],
  );
  return {
    server: withoutDefaults(parts.reduce<JsonObject>(mergeTrees, {})),
    unknownKeys: present.map(([key]) => key).filter((key) => !Object.hasOwn(keys, key)),
  };
}

export const renamed =
  (key: string): KeyReader =>
  (value) => ({ [key]: value });

/** For keys that only matter to people or to the client itself. */
export const ignored: KeyReader = () => ({});

/** Clients accept numbers and booleans where an environment has only text. */
export const textMap =
  (key: string): KeyReader =>
  (value) => ({ [key]: isObject(value) ? mapValues(value, toText) : value });

export const includeTools: KeyReader = (names) => ({ tools: { include: names } });
export const excludeTools: KeyReader = (names) =>
  Array.isArray(names) && names.length === 0 ? {} : { tools: { exclude: names } };

/** Limited to the range that our config accepts. */
export const timeoutIn =
  (unit: "s" | "ms", key: "timeoutSeconds" | "startTimeoutSeconds" = "timeoutSeconds"): KeyReader =>
  (value) => {
    if (typeof value !== "number" || value <= 0) return {};
    const seconds = Math.round(unit === "s" ? value : value / 1_000);
    return { [key]: Math.min(600, Math.max(1, seconds)) };
  };

/** The keys that most clients share. */
export const commonKeys: KeyReaders = {
  type: (type) => ({ type: transports[String(type).toLowerCase().replaceAll("_", "-")] ?? type }),
  command: renamed("command"),
  args: (args) => ({ args: Array.isArray(args) ? args.map(toText) : args }),
  env: textMap("env"),
  envFile: renamed("envFile"),
  cwd: renamed("cwd"),
  url: renamed("url"),
  headers: textMap("headers"),
  disabled: (isDisabled) => (isDisabled === true ? { disabled: true } : {}),
  enabled: (isEnabled) => (isEnabled === false ? { disabled: true } : {}),
  disabledTools: excludeTools,
  name: ignored,
  description: ignored,
  icon: ignored,
  version: ignored,
};

const transports: Readonly<Record<string, string>> = {
  stdio: "stdio",
  local: "stdio",
  http: "http",
  https: "http",
  remote: "http",
  "streamable-http": "http",
  streamablehttp: "http",
  sse: "sse",
  ws: "ws",
  websocket: "ws",
};

/** Removes defaults, empty values, and fields of the other kind of server. */
function withoutDefaults(server: JsonObject): JsonObject {
  const isMixed = "command" in server && "url" in server;
  const isRemote = typeof server.url === "string" || typeof server.openapi === "string";
  const foreign = isRemote ? ["args", "env", "envFile", "cwd"] : ["headers"];
  const kept = Object.entries(server).filter(([key, value]) => {
    if (key === "type") return value !== "stdio" && value !== "http";
    const isEmpty = typeof value === "object" && Object.keys(value ?? {}).length === 0;
    return !isEmpty && (isMixed || !foreign.includes(key));
  });
  return Object.fromEntries(kept);
}

function mapValues(map: JsonObject, change: (value: unknown) => unknown): JsonObject {
  return Object.fromEntries(
    Object.entries(map).flatMap(([key, value]) => (value === null ? [] : [[key, change(value)]])),
  );
}

function toText(value: unknown): unknown {
  return typeof value === "number" || typeof value === "boolean" ? String(value) : value;
}

/** How a client's values refer to variables. */
export interface VariableSyntax {
  readonly pattern: RegExp;
  /** The reference in our config's syntax; undefined if only the client can resolve it. */
  read(match: RegExpExecArray, machine: ImportPlaces): string | undefined;
}

/** Translates every reference. Text that only looks like one of ours is escaped. */
export function rewriteVariables(
  value: unknown,
  syntax: VariableSyntax,
  machine: ImportPlaces,
): { readonly value: unknown; readonly unresolved: readonly string[] } {
  const unresolved: string[] = [];

  function rewriteText(text: string): string {
    let rewritten = "";
    let end = 0;
    for (const match of text.matchAll(syntax.pattern)) {
      const reference = syntax.read(match, machine);
      if (reference === undefined) unresolved.push(match[0]);
      rewritten += escapeText(text.slice(end, match.index)) + (reference ?? escapeText(match[0]));
      end = match.index + match[0].length;
    }
    return rewritten + escapeText(text.slice(end));
  }

  function rewrite(inner: unknown): unknown {
    if (typeof inner === "string") return rewriteText(inner);
    if (Array.isArray(inner)) return inner.map(rewrite);
    if (!isObject(inner)) return inner;
    return Object.fromEntries(Object.entries(inner).map(([key, each]) => [key, rewrite(each)]));
  }

  return { value: rewrite(value), unresolved };
}

export const noVariables: VariableSyntax = { pattern: /(?!)/g, read: () => undefined };

/** `${NAME}` and `${NAME:-default}`, as in our config. */
export const shellVariables: VariableSyntax = {
  pattern: /\$\{([A-Za-z_]\w*)(?::-([^{}]*))?\}/g,
  read: ([text]) => text,
};

/** `${env:NAME}`, `${userHome}`, `${workspaceFolder}` and others, as in VS Code. */
export const editorVariables: VariableSyntax = {
  pattern: /\$\{(?:(\w+):)?([^{}]*)\}/g,
  read({ 1: kind, 2: name = "", index }, machine) {
    if (kind === "env") return variable(name);
    // The client asks for inputs; here they are variables.
    if (kind === "input") return variable(variableName(name));
    if (kind !== undefined) return undefined;
    const { sep, basename } = pathsOf(machine);
    switch (name) {
      case "workspaceFolder":
        // Servers run in the project's folder.
        return index === 0 ? "." : machine.folder;
      case "workspaceFolderBasename":
        return basename(machine.folder);
      case "userHome":
        return variable(machine.platform === "win32" ? "USERPROFILE" : "HOME");
      case "pathSeparator":
      case "/":
        return sep;
    }
    return undefined;
  },
};

export function variable(name: string): string {
  return `\${${name}}`;
}

/** "api-key" becomes API_KEY. */
export function variableName(words: string): string {
  const name = words
    .replace(/([a-z\d])([A-Z])/g, "$1_$2")
    .replace(/[^A-Za-z\d]+/g, "_")
    .replace(/^_+|_+$/g, "")
    .toUpperCase();
  return /^[A-Z]/.test(name) ? name.slice(0, 90) : `VALUE_${name}`.slice(0, 90);
}

function escapeText(text: string): string {
  // A function, because `$$` in a replacement means one `$`.
  return text.replace(/\$\{/g, () => "$${");
}

/** True if an entry starts a hall, which must not run behind a hall. `ownScript` is the file of this process. */
export function isHall(
  name: string,
  { command, args, url }: JsonObject,
  ownScript: string | undefined,
): boolean {
  const isNamedHall = /^guildhall/i.test(name);
  if (typeof url === "string") return isNamedHall && isLoopbackUrl(url);
  if (typeof command !== "string") return false;
  if (isHallProgram(command)) return true;

  // Shells and wrappers take a whole command line as one argument.
  const rest = Array.isArray(args) ? args.map(String).flatMap((part) => part.split(/\s+/)) : [];
  const words = [command, ...rest];
  if (isNamedHall && words.some(isLoopbackUrl)) return true;
  return words.some(
    (word, index) =>
      (isHallProgram(word) || word === ownScript || isHallScript(word)) &&
      words[index + 1] === "mcp",
  );
}

/** "guildhall", "guildhall@1.2.3", or a path that ends like that. */
function isHallProgram(word: string): boolean {
  return /(^|[\\/])guildhall(@[\w.^~-]+)?(\.(cmd|exe|ps1))?$/i.test(word);
}

function isHallScript(word: string): boolean {
  return /guildhall[\w.@-]*[\\/](dist[\\/]cli\.m?js|src[\\/]cli[\\/]main\.ts)$/i.test(word);
}

function isLoopbackUrl(url: string): boolean {
  return URL.canParse(url) && kindOfHost(new URL(url).hostname) === "loopback";
}
