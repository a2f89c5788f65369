import { isObject, type JsonObject } from "../../base/json.ts";
import type { Path } from "../../config/error.ts";
import { fieldAt } from "../../config/layer.ts";
import { unknownName } from "../settings.ts";
import type { ImportPlaces, PathTemplate } from "./document.ts";
import {
  commonKeys,
  editorVariables,
  excludeTools,
  ignored,
  includeTools,
  type KeyReaders,
  noVariables,
  renamed,
  shellVariables,
  textMap,
  timeoutIn,
  type VariableSyntax,
  variable,
  variableName,
} from "./entry.ts";

/** A program with a list of MCP servers: where its files are, what its entries mean, and how to add the hall. */
export interface ImportedClient {
  /** As in `guildhall install claude-code`. */
  readonly id: string;
  readonly name: string;
  readonly files: readonly ClientFile[];
  /** How its values refer to variables. Default: they cannot. */
  readonly variables?: VariableSyntax;
  /** How to read keys that differ from `commonKeys`. */
  readonly keys?: KeyReaders;
  /** The lists of servers in a file. Default: the map at the file's `at`. */
  listsIn?(tree: unknown, file: ClientFile, machine: ImportPlaces): readonly ServerList[];
  /** Where the map of servers is, if that depends on the content of the file. */
  mapIn?(tree: unknown): Path;
  /** The entry for a local program. Default: `{command, args}`. */
  entryFor?(command: readonly [string, ...string[]]): JsonObject;
}

export interface ClientFile {
  readonly scope: "project" | "user";
  /** A `*` in the last part stands for any name. */
  readonly path: PathTemplate;
  /** Where the map of servers is in the file. */
  readonly at: Path;
  /** Read but never written. */
  readonly isReadOnly?: boolean | undefined;
}

export interface ServerList {
  readonly entries: readonly ServerEntry[];
  /** The folder they are for, if it is not the project's. */
  readonly elsewhere?: string | undefined;
}

export interface ServerEntry {
  readonly name: string;
  readonly value: unknown;
  readonly path: Path;
}

/** If several clients have the same server, the first one's name is used. */
export const clients: readonly ImportedClient[] = [
  {
    id: "claude-code",
    name: "Claude Code",
    files: [project(".mcp.json"), user("$CLAUDE_CONFIG_DIR/.claude.json")],
    variables: shellVariables,
    keys: {
      oauth: readOauth({ clientId: "clientId", callbackPort: "callbackPort" }),
      alwaysLoad: ignored,
      timeout: timeoutIn("ms"),
    },
    listsIn: listsOfClaudeCode,
    entryFor: typedEntry,
  },
  {
    id: "claude-desktop",
    name: "Claude Desktop",
    files: [
      user({
        linux: "$XDG_CONFIG_HOME/Claude/claude_desktop_config.json",
        darwin: "~/Library/Application Support/Claude/claude_desktop_config.json",
        win32: "$APPDATA/Claude/claude_desktop_config.json",
      }),
      // Installed from the Microsoft Store.
      user({
        win32:
          "$LOCALAPPDATA/Packages/Claude_pzs8sxrjxfjjc/LocalCache/Roaming/Claude/claude_desktop_config.json",
      }),
    ],
  },
  {
    id: "cursor",
    name: "Cursor",
    files: [project(".cursor/mcp.json"), user("~/.cursor/mcp.json")],
    variables: editorVariables,
    keys: {
      auth: readOauth({ clientId: "CLIENT_ID", clientSecret: "CLIENT_SECRET", scope: "scopes" }),
    },
  },
  {
    id: "vscode",
    name: "VS Code",
    files: [
      project(".vscode/mcp.json", ["servers"]),
      ...["Code", "Code - Insiders", "VSCodium"].flatMap(filesOfVscode),
      // GitHub Copilot outside of the editor.
      readOnly(user("$COPILOT_HOME/mcp-config.json")),
      readOnly(project(".vscode/settings.json", ["mcp", "servers"])),
    ],
    variables: editorVariables,
    keys: { gallery: ignored, dev: ignored, tools: ignored },
    entryFor: typedEntry,
  },
  {
    id: "codex",
    name: "Codex",
    files: [
      project(".codex/config.toml", ["mcp_servers"]),
      user("$CODEX_HOME/config.toml", ["mcp_servers"]),
    ],
    keys: {
      env_vars: (names) => ({ env: Object.fromEntries(variableNames(names).map(toVariable)) }),
      http_headers: textMap("headers"),
      env_http_headers: (map) => ({
        headers: Object.fromEntries(
          Object.entries(isObject(map) ? map : {}).map(([key, name]) => [
            key,
            variable(String(name)),
          ]),
        ),
      }),
      bearer_token_env_var: (name) => bearer(variable(String(name))),
      bearer_token: bearer,
      enabled_tools: includeTools,
      disabled_tools: excludeTools,
      tool_timeout_sec: timeoutIn("s"),
      scopes: (scopes) =>
        Array.isArray(scopes) && scopes.length > 0 ? { oauth: { scope: scopes.join(" ") } } : {},
      startup_timeout_sec: timeoutIn("s", "startTimeoutSeconds"),
      startup_timeout_ms: timeoutIn("ms", "startTimeoutSeconds"),
      required: ignored,
      supports_parallel_tool_calls: ignored,
    },
  },
  {
    id: "gemini-cli",
    name: "Gemini CLI",
    files: [project(".gemini/settings.json"), user("~/.gemini/settings.json")],
    // `$NAME`, `${NAME}`, `${NAME:-default}` and `%NAME%`.
    variables: {
      pattern: /\$\{([A-Za-z_]\w*)(?::-([^{}]*))?\}|\$([A-Za-z_]\w*)|%([A-Za-z_]\w*)%/g,
      read: ([text, , , bare, windows]) => {
        const name = bare ?? windows;
        return name === undefined ? text : variable(name);
      },
    },
    keys: {
      httpUrl: (url) => ({ url, type: "http" }),
      includeTools,
      excludeTools,
      timeout: timeoutIn("ms"),
      oauth: readOauth({
        clientId: "clientId",
        clientSecret: "clientSecret",
        issuer: "issuer",
        scope: "scopes",
      }),
    },
    listsIn: listsOfGemini,
  },
  {
    id: "windsurf",
    name: "Windsurf",
    files: [
      user("~/.codeium/windsurf/mcp_config.json"),
      // The plugin for other editors.
      readOnly(user("~/.codeium/mcp_config.json")),
    ],
    variables: editorVariables,
    keys: { serverUrl: renamed("url") },
  },
  {
    id: "zed",
    name: "Zed",
    files: [
      project(".zed/settings.json", ["context_servers"]),
      user(
        {
          linux: "$XDG_CONFIG_HOME/zed/settings.json",
          darwin: "~/.config/zed/settings.json",
          win32: "$APPDATA/Zed/settings.json",
        },
        ["context_servers"],
      ),
    ],
    keys: {
      command: readZedCommand,
      timeout: timeoutIn("ms"),
      source: ignored,
      settings: ignored,
    },
  },
  {
    id: "continue",
    name: "Continue",
    files: [
      project(".continue/mcpServers/*"),
      user("~/.continue/mcpServers/*"),
      user("~/.continue/config.yaml"),
      readOnly(user("~/.continue/config.json", ["experimental", "modelContextProtocolServers"])),
    ],
    // `${{ secrets.NAME }}` and `${{ inputs.NAME }}`.
    variables: {
      pattern: /\$\{\{\s*(?:[\w-]+\/)*(?:secrets|inputs|env)\.([\w.-]+)\s*\}\}/g,
      read: ([, name = ""]) => variable(variableName(name)),
    },
    keys: {
      requestOptions: (options) =>
        isObject(options) ? textMap("headers")(options.headers ?? {}) : {},
      apiKey: bearer,
      connectionTimeout: ignored,
      timeout: timeoutIn("ms"),
      faviconUrl: ignored,
      sourceFile: ignored,
    },
    listsIn: listsOfContinue,
  },
  {
    id: "opencode",
    name: "opencode",
    files: [
      ...["", ".opencode/"].flatMap((folder) => [
        project(`${folder}opencode.json`, ["mcp"]),
        project(`${folder}opencode.jsonc`, ["mcp"]),
      ]),
      user("$XDG_CONFIG_HOME/opencode/opencode.json", ["mcp"]),
      user("$XDG_CONFIG_HOME/opencode/opencode.jsonc", ["mcp"]),
    ],
    // `{env:NAME}`; only opencode can read `{file:…}`.
    variables: {
      pattern: /\{(env|file):([^{}]+)\}/g,
      read: ([, kind, name = ""]) =>
        kind === "env" && /^[A-Za-z_]\w*$/.test(name) ? variable(name) : undefined,
    },
    keys: {
      command: (command) =>
        Array.isArray(command) ? { command: command[0], args: command.slice(1) } : { command },
      environment: textMap("env"),
      // Limits listing, not calls.
      timeout: ignored,
      oauth: ignored,
    },
    listsIn: (tree) => [mapAt(tree, mapOfOpencode(tree))],
    mapIn: mapOfOpencode,
    entryFor: (command) => ({ type: "local", command }),
  },
];

/** The lists of servers in a file of this client. */
export function listServers(
  client: ImportedClient,
  tree: unknown,
  file: ClientFile,
  machine: ImportPlaces,
): readonly ServerList[] {
  return client.listsIn?.(tree, file, machine) ?? [mapAt(tree, file.at)];
}

/** A map of servers by name. */
export function mapAt(tree: unknown, at: Path): ServerList {
  const map = fieldAt(tree, at);
  const entries = Object.entries(isObject(map) ? map : {});
  return { entries: entries.map(([name, value]) => ({ name, value, path: [...at, name] })) };
}

export function keysOf(client: Pick<ImportedClient, "keys">): KeyReaders {
  return { ...commonKeys, ...client.keys };
}

export function variablesOf(client: Pick<ImportedClient, "variables">): VariableSyntax {
  return client.variables ?? noVariables;
}

function project(path: string, at: Path = ["mcpServers"]): ClientFile {
  return { scope: "project", path: `./${path}`, at };
}

function user(path: PathTemplate, at: Path = ["mcpServers"]): ClientFile {
  return { scope: "user", path, at };
}

function readOnly(file: ClientFile): ClientFile {
  return { ...file, isReadOnly: true };
}

/** Each profile has a file of its own; older versions kept the servers in the settings. */
function filesOfVscode(program: string): ClientFile[] {
  const path = (name: string): PathTemplate => ({
    linux: `$XDG_CONFIG_HOME/${program}/User/${name}`,
    darwin: `~/Library/Application Support/${program}/User/${name}`,
    win32: `$APPDATA/${program}/User/${name}`,
  });
  return [
    user(path("mcp.json"), ["servers"]),
    readOnly(user(path("profiles/*/mcp.json"), ["servers"])),
    readOnly(user(path("settings.json"), ["mcp", "servers"])),
  ];
}

function typedEntry([command, ...args]: readonly [string, ...string[]]): JsonObject {
  return { type: "stdio", command, args };
}

/** The nearest list first, because Claude Code uses that if two have the same name. */
function listsOfClaudeCode(
  tree: unknown,
  { at }: ClientFile,
  { folder }: ImportPlaces,
): readonly ServerList[] {
  const projects = fieldAt(tree, ["projects"]);
  const lists = Object.keys(isObject(projects) ? projects : {}).map((name): ServerList => {
    const list = mapAt(tree, ["projects", name, "mcpServers"]);
    return plainPath(name) === plainPath(folder) ? list : { ...list, elsewhere: name };
  });
  return [
    ...lists.filter(({ elsewhere }) => elsewhere === undefined),
    mapAt(tree, at),
    ...lists.filter(({ elsewhere }) => elsewhere !== undefined),
  ];
}

function plainPath(path: string): string {
  return path.replaceAll("\\", "/").replace(/\/+$/, "");
}

/** Gemini uses SSE for `url` and the newer transport for `httpUrl`. */
function listsOfGemini(tree: unknown, { at }: ClientFile): readonly ServerList[] {
  const entries = mapAt(tree, at).entries.map((entry) => {
    const { value } = entry;
    const isSse =
      isObject(value) &&
      typeof value.url === "string" &&
      value.type === undefined &&
      value.httpUrl === undefined;
    return isSse ? { ...entry, value: { ...value, type: "sse" } } : entry;
  });
  return [{ entries }];
}

/** `config.yaml` has a list instead of a map. */
function listsOfContinue(tree: unknown, { at }: ClientFile): readonly ServerList[] {
  const list = fieldAt(tree, at);
  if (!Array.isArray(list)) return [mapAt(tree, at)];
  return [{ entries: list.map((item, index) => entryOfContinue(item, [...at, index], index)) }];
}

function entryOfContinue(item: unknown, path: Path, index: number): ServerEntry {
  const unnamed = `server-${index + 1}`;
  if (!isObject(item)) return { name: unnamed, value: item, path };
  // The oldest form wraps everything in `transport` and has no name.
  const value = isObject(item.transport) ? item.transport : item;
  if (typeof item.name === "string") return { name: item.name, value, path };
  const args = Array.isArray(value.args) ? value.args : [];
  const last = args.findLast((word) => typeof word === "string" && !word.startsWith("-"));
  return { name: String(last ?? unnamed), value, path };
}

/** Since version 2 below `mcp.servers`; the older `mcp` still works. */
function mapOfOpencode(tree: unknown): readonly string[] {
  const inner = fieldAt(tree, ["mcp", "servers"]);
  return isObject(inner) && typeof inner.type !== "string" ? ["mcp", "servers"] : ["mcp"];
}

/** Older versions have an object with path, args and env. */
function readZedCommand(command: unknown): JsonObject {
  if (!isObject(command)) return { command };
  const { path, args = [], env = {} } = command;
  return { command: path, ...commonKeys.args?.(args), ...commonKeys.env?.(env) };
}

/** A client registered by hand. `fields` maps our field to the client's. */
function readOauth(fields: Readonly<Record<string, string>>): (login: unknown) => JsonObject {
  return (login) => {
    if (!isObject(login) || login[fields.clientId ?? ""] === undefined) return {};
    const values = Object.entries(fields).map(([ours, theirs]) => [ours, login[theirs]] as const);
    const oauth = values.flatMap(([key, value]) => {
      if (key !== "scope") return value === undefined ? [] : [[key, value]];
      return Array.isArray(value) && value.length > 0 ? [[key, value.join(" ")]] : [];
    });
    return { oauth: Object.fromEntries(oauth) };
  };
}

function bearer(token: unknown): JsonObject {
  return { headers: { Authorization: `Bearer ${token}` } };
}

/** Names, or objects with a name. */
function variableNames(list: unknown): string[] {
  return (Array.isArray(list) ? list : []).flatMap((item: unknown) => {
    if (typeof item === "string") return [item];
    return isObject(item) && typeof item.name === "string" ? [item.name] : [];
  });
}

function toVariable(name: string): readonly [string, string] {
  return [name, variable(name)];
}

/** A client by its id or the start of it. Throws NOT_FOUND. */
export function getClient(id: string): ImportedClient {
  const client =
    clients.find((each) => each.id === id) ?? clients.find((each) => each.id.startsWith(`${id}-`));
  if (client) return client;
  const ids = clients.map((each) => each.id);
  throw unknownName(
    "client",
    id,
    ids,
    "For another client, use one of the lines that `guildhall serve` prints.",
  );
}
