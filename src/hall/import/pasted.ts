import { parseArgs } from "node:util";
import { HallError, messageOf } from "../../base/errors.ts";
import { isObject, type JsonObject } from "../../base/json.ts";
import { parseJsonText, readValue } from "../../config/json.ts";
import type { ImportedClient, ServerEntry } from "./clients.ts";
import { editorVariables, excludeTools, ignored, renamed, shellVariables } from "./entry.ts";

/** Reads text that the documentation of servers offers to copy: the JSON of any client, or a line for Claude Code. */

type NewEntry = Pick<ServerEntry, "name" | "value">;

/** Reads copied entries, whatever client they were written for. */
export const anyClient: Pick<ImportedClient, "name" | "keys" | "variables"> = {
  name: "the client it is written for",
  keys: {
    serverUrl: renamed("url"),
    httpUrl: renamed("url"),
    excludeTools,
    autoApprove: ignored,
    alwaysAllow: ignored,
    ...Object.fromEntries(
      ["openapi", "baseUrl", "auth", "include", "exclude", "oauth", "allowPrivate"].map((key) => [
        key,
        renamed(key),
      ]),
    ),
  },
  variables: {
    pattern: editorVariables.pattern,
    read: (match, machine) =>
      editorVariables.read(match, machine) ?? (isShellVariable(match[0]) ? match[0] : undefined),
  },
};

function isShellVariable(text: string): boolean {
  return [...text.matchAll(shellVariables.pattern)].some(([found]) => found === text);
}

/** A server as flags describe it. */
export interface ServerFlags {
  readonly url?: string | undefined;
  readonly transport?: string | undefined;
  /** `Name: value`. */
  readonly headers: readonly string[];
  /** `NAME=value`; `NAME` alone takes the value of this environment. */
  readonly env: readonly string[];
  /** An OpenAPI document instead of a server, with what else its entry has. */
  readonly api?: ApiFlags | undefined;
}

export interface ApiFlags {
  readonly openapi: string;
  readonly baseUrl?: string | undefined;
  /** `SCHEME=value`; `SCHEME` alone leaves the value to a secret. */
  readonly auth: readonly string[];
  readonly include: readonly string[];
}

/** The entry of a command line or a URL. Throws INVALID_PARAMS. */
export function entryFrom(words: readonly string[], flags: ServerFlags): JsonObject {
  const { headers, env, transport, api } = flags;
  const [first, ...args] = words;
  if (api) return apiEntry(api, first ?? flags.url ?? env[0], headers);
  const url =
    flags.url ?? (first !== undefined && /^(https?|wss?):\/\//.test(first) ? first : undefined);
  if (url !== undefined) {
    const extra = flags.url === undefined ? args : words;
    if (extra.length > 0)
      throw new HallError(
        "INVALID_PARAMS",
        `unexpected "${extra[0]}": a server with a url has no command`,
        {
          hint: "Give either a url or a command.",
        },
      );
    if (env.length > 0)
      throw new HallError("INVALID_PARAMS", "--env is for a server that runs a command", {
        hint: "Set a header instead: --header 'Name: value'",
      });
    return { type: transport ?? typeOf(url), url, headers: pairs(headers, readHeader) };
  }
  if (first === undefined)
    throw new HallError("INVALID_PARAMS", "the server has neither a command nor a url", {
      hint: "Example: guildhall add files -- npx -y @modelcontextprotocol/server-filesystem .",
    });
  if (headers.length > 0)
    throw new HallError("INVALID_PARAMS", "--header is for a server with a url", {
      hint: "Set a variable instead: --env NAME=value",
    });
  return { command: first, args, env: pairs(env, readVariable) };
}

function apiEntry(
  { openapi, baseUrl, auth, include }: ApiFlags,
  other: string | undefined,
  headers: readonly string[],
): JsonObject {
  if (other !== undefined)
    throw new HallError("INVALID_PARAMS", "--openapi takes neither a command nor a url", {
      hint: "The document names the API's address; use --base-url for another one.",
    });
  return {
    openapi,
    ...(baseUrl === undefined ? {} : { baseUrl }),
    headers: pairs(headers, readHeader),
    auth: pairs(auth, readCredential),
    ...(include.length === 0 ? {} : { include }),
  };
}

/** An empty value: the entry gets a variable, once the document has said what it is for. */
function readCredential(text: string): readonly [string, string] {
  const at = text.indexOf("=");
  return at === -1 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
}

function typeOf(url: string): string {
  return /^wss?:/.test(url) ? "ws" : "http";
}

function pairs(
  texts: readonly string[],
  read: (text: string) => readonly [string, string],
): JsonObject {
  return Object.fromEntries(texts.map(read));
}

function readHeader(text: string): readonly [string, string] {
  const [, key, value] = /^([^\s:]+):\s*(.*)$/s.exec(text) ?? [];
  if (key !== undefined && value !== undefined) return [key, value];
  // The text may hold a secret.
  throw new HallError("INVALID_PARAMS", "a header has no name or no value", {
    hint: "Write it as --header 'Name: value'",
  });
}

function readVariable(text: string): readonly [string, string] {
  const [, key, value] = /^([A-Za-z_]\w*)(?:=(.*))?$/s.exec(text) ?? [];
  if (key !== undefined) return [key, value ?? `\${${key}}`];
  throw new HallError("INVALID_PARAMS", "a variable has no valid name", {
    hint: "Write it as --env NAME=value",
  });
}

/** The entries in a copied text. `name` is for an entry without one. Throws INVALID_PARAMS or ConfigError. */
export function readPasted(text: string, name: string | undefined): readonly NewEntry[] {
  const trimmed = text.trim().replace(/^\$\s+/, "");
  if (isClaudeLine(splitWords(trimmed))) return readClaudeLine(splitWords(trimmed));
  const json = /^"[^"]*"\s*:/.test(trimmed) ? `{${trimmed}}` : trimmed;
  const { root } = parseJsonText({ file: "pasted text", text: json });
  const tree = readValue(root);
  if (!isObject(tree)) throw noServers();
  const map = mapIn(tree);
  if (map) {
    const entries = Object.entries(map).map(([key, value]) => ({ name: key, value }));
    if (entries.length === 0 || !entries.every(({ value }) => isObject(value))) throw noServers();
    return entries.length === 1 && name !== undefined
      ? entries.map(({ value }) => ({ name, value }))
      : entries;
  }
  if (name === undefined)
    throw new HallError("INVALID_PARAMS", "the pasted entry has no name", {
      hint: "Give the name first: guildhall add NAME '{…}'",
    });
  return [{ name, value: tree }];
}

const maps = ["mcpServers", "servers", "mcp_servers", "context_servers"];

/** Undefined if the tree is the entry of one server. */
function mapIn(tree: JsonObject): JsonObject | undefined {
  const inner = maps.map((key) => tree[key]).find(isObject);
  if (inner) return inner;
  return ["command", "url", "serverUrl", "httpUrl", "openapi"].some((key) => key in tree)
    ? undefined
    : tree;
}

function noServers(): HallError {
  return new HallError("INVALID_PARAMS", "the pasted text names no server", {
    hint: "Paste the mcpServers object of another client, or a line that begins with `claude mcp add`.",
  });
}

export function isClaudeLine([program, mcp, add]: readonly string[]): boolean {
  return program === "claude" && mcp === "mcp" && (add === "add" || add === "add-json");
}

/** The words after `claude mcp`. Throws INVALID_PARAMS. */
export function readClaudeLine([, , add, ...args]: readonly string[]): readonly NewEntry[] {
  const { values, positionals } = parseClaudeFlags(args);
  // Claude Code takes several variables after one flag.
  const at = positionals.findIndex((word) => !/^[A-Za-z_]\w*=/.test(word));
  const [name, ...words] = positionals.slice(Math.max(at, 0));
  if (name === undefined) throw noServers();
  if (add === "add-json") return readPasted(words.join(" "), name);
  const env = [...(values.env ?? []), ...positionals.slice(0, Math.max(at, 0))];
  const { transport, header: headers = [] } = values;
  return [{ name, value: entryFrom(words, { transport, headers, env }) }];
}

function parseClaudeFlags(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        env: { type: "string", short: "e", multiple: true },
        header: { type: "string", short: "H", multiple: true },
        transport: { type: "string", short: "t" },
        scope: { type: "string", short: "s" },
      },
    });
  } catch (cause) {
    throw new HallError("INVALID_PARAMS", `this line cannot be read: ${messageOf(cause)}`, {
      hint: "Write -- before the server's command.",
      cause,
    });
  }
}

/** The words of a shell's line, with quotes and continued lines. */
export function splitWords(line: string): readonly string[] {
  const words = line
    .replace(/\\\r?\n/g, " ")
    .match(/(?:'[^']*'|"(?:\\.|[^"\\])*"|\\.|[^\s'"\\])+/gs);
  return (words ?? []).map((word) =>
    word.replace(/'([^']*)'|"((?:\\.|[^"\\])*)"|\\(.)/gs, (_whole, single, double, escaped) =>
      String(single ?? double?.replace(/\\(["\\$`])/g, "$1") ?? escaped),
    ),
  );
}
