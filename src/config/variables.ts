import { createHash } from "node:crypto";
import { dirname, relative, resolve } from "node:path";
import { parseEnv } from "node:util";
import { messageOf } from "../base/errors.ts";
import { isObject, type JsonObject } from "../base/json.ts";
import { readProjectFile } from "../base/project-files.ts";
import { ConfigError, type Path, type Problem, quote } from "./error.ts";
import { readConfigFile } from "./files.ts";
import type { Layer } from "./layer.ts";
import { isInside, realOf } from "./project-limits.ts";
import type { Config } from "./schema.ts";

/**
 * Expands `${NAME}`, `${env:NAME}` and `${NAME:-default}` in all strings of mcpServers, in mcp.headers,
 * store.url, store.key and listen.tokenFile; `$${` is a literal `${`. One pass: values are not expanded again.
 */
interface Expanded {
  readonly tree: JsonObject;
  readonly problems: readonly Problem[];
  /** Values of variables in fields that may hold secrets, to redact in the log. */
  readonly secrets: readonly string[];
}

/** Sections in which only these fields are expanded. */
const fieldsExpanded: ReadonlyMap<string, readonly string[]> = new Map([
  ["auth", ["issuers"]],
  ["listen", ["tokenFile"]],
  ["mcp", ["headers"]],
  ["store", ["url", "key"]],
]);
const charactersMax = 1024 * 1024;
const referencesMax = 10_000;
/** Deeper than any field; the schema rejects anything below. */
const depthMax = 8;
/** Fields in which the value of a variable may be a secret. A command or a folder is not. */
const secretSections: ReadonlySet<unknown> = new Set([
  "env",
  "headers",
  "url",
  "args",
  "oauth",
  "auth",
  "baseUrl",
  "openapi",
]);
/** Common in paths: redacting them would make a log unreadable. */
const openNames = new Set([
  "HOME",
  "USER",
  "LOGNAME",
  "PATH",
  "PWD",
  "SHELL",
  "LANG",
  "TMPDIR",
  "HOSTNAME",
  "USERPROFILE",
  "APPDATA",
  "LOCALAPPDATA",
]);

/** A default value is not used if a secret of that name is stored but `unreadable`. */
export function expandVariables(
  tree: JsonObject,
  env: NodeJS.ProcessEnv,
  unreadable: ReadonlyMap<string, string> = new Map(),
): Expanded {
  const problems: Problem[] = [];
  const secrets = new Set<string>();
  let characters = 0;
  let references = 0;

  function expandText(text: string, path: Path): string {
    return text.replace(/\$\$\{|\$\{([^{}]*)\}|\$\{/g, (written, inner: string | undefined) => {
      if (written === "$${") return "${";
      const value = read(written, inner, path);
      characters += value.length;
      if (characters > charactersMax || ++references > referencesMax) throw new TooMuch(path);
      return value;
    });
  }

  function read(written: string, inner: string | undefined, path: Path): string {
    const [, name, otherwise] = /^(?:env:)?([A-Za-z_]\w*)(?::-(.*))?$/s.exec(inner ?? "") ?? [];
    if (name === undefined) {
      problems.push({
        path,
        text: `has ${quote(written)}; expected \${NAME}, \${env:NAME} or \${NAME:-default}; write $\${ for a literal \${`,
      });
      return written;
    }
    const value = Object.hasOwn(env, name) ? env[name] : undefined;
    if (otherwise !== undefined && !value && !unreadable.has(name)) return otherwise;
    if (value === undefined) {
      const unset = { name, why: "is not set" };
      problems.push({ path, text: `the variable ${name} ${unset.why}`, unset });
      return written;
    }
    if (maySecretStandAt(path) && !openNames.has(name)) secrets.add(value);
    return value;
  }

  function expand(value: unknown, path: Path): unknown {
    if (typeof value === "string") return value.includes("${") ? expandText(value, path) : value;
    if (path.length > depthMax) return value;
    if (Array.isArray(value)) return value.map((item, index) => expand(item, [...path, index]));
    return isObject(value)
      ? Object.fromEntries(
          Object.entries(value).map(([key, inner]) => [key, expand(inner, [...path, key])]),
        )
      : value;
  }

  try {
    return {
      tree: Object.fromEntries(
        Object.entries(tree).map(([key, value]) => [key, expandSection(key, value)]),
      ),
      problems,
      secrets: [...secrets],
    };
  } catch (error) {
    if (!(error instanceof TooMuch)) throw error;
    return {
      tree,
      // Nothing was expanded, so this is not the problem of a single server.
      problems: [
        {
          path: error.path.slice(0, 1),
          text: `too many variables; expected at most ${referencesMax} with ${charactersMax} characters in total; use fewer`,
        },
      ],
      secrets: [],
    };
  }

  function expandSection(key: string, value: unknown): unknown {
    if (key === "mcpServers") return expand(value, [key]);
    if (!isObject(value)) return value;
    const fields = (fieldsExpanded.get(key) ?? []).filter((field) => field in value);
    const expanded = fields.map((field) => [field, expand(value[field], [key, field])]);
    return expanded.length === 0 ? value : { ...value, ...Object.fromEntries(expanded) };
  }
}

function maySecretStandAt([section, second, third, fourth]: Path): boolean {
  return (
    (section === "mcpServers" && secretSections.has(third)) ||
    (section === "auth" && fourth === "clientSecret") ||
    ((section === "mcp" || section === "store") && secretSections.has(second))
  );
}

class TooMuch extends Error {
  readonly path: Path;

  constructor(path: Path) {
    super("too many variables");
    this.path = path;
  }
}

/**
 * The command or URL of a server as written, before variables are expanded. A person approves
 * which variable goes where; its value may change, but another variable is another secret. Kept under
 * a symbol, as it is not a config field.
 */
export const written = Symbol("written");

const writtenTexts = ["command", "cwd", "url", "openapi", "baseUrl", "envFile"] as const;
const writtenLists = ["args", "perPerson"] as const;
const writtenMaps = ["env", "headers", "oauth", "auth"] as const;
const writtenFields = [...writtenTexts, ...writtenLists, ...writtenMaps];

/** Only the fields that are present. */
export type WrittenEntry = Readonly<
  Partial<Record<(typeof writtenTexts)[number], string>> &
    Partial<Record<(typeof writtenLists)[number], readonly string[]>> &
    Partial<Record<(typeof writtenMaps)[number], JsonObject>>
> & {
  /** The variables that the file of `envFile` sets. */
  readonly fromFile?: EnvFile | undefined;
  /** The entry is from the project's file. */
  readonly isOfProject?: boolean;
};

/** Adds to each server what `tree`, the unexpanded layers, has for it. */
export function withWritten(
  config: Config,
  { mcpServers }: JsonObject,
  {
    isOfProject,
    envFiles,
  }: {
    isOfProject(path: Path): boolean;
    readonly envFiles: ReadonlyMap<string, EnvFile>;
  },
): Config {
  const servers = Object.entries(config.mcpServers).map(([name, entry]) => {
    const unexpanded = isObject(mcpServers) ? mcpServers[name] : undefined;
    const texts: WrittenEntry = {
      ...(isObject(unexpanded) ? writtenIn(unexpanded) : {}),
      ...(envFiles.has(name) ? { fromFile: envFiles.get(name) } : {}),
      isOfProject: isOfProject(["mcpServers", name]),
    };
    return [name, { ...entry, [written]: texts }];
  });
  return { ...config, mcpServers: Object.fromEntries(servers) };
}

/** The entry was checked, so the fields have their types. */
function writtenIn(entry: JsonObject): WrittenEntry {
  const present = writtenFields.filter((field) => entry[field] !== undefined);
  return Object.fromEntries(present.map((field) => [field, entry[field]]));
}

/** A layer of variables with the variable's name in the place of each value, as `${NAME}`. */
export function namedVariables({ tree, locate }: Pick<Layer, "tree" | "locate">): JsonObject {
  const name = (value: unknown, path: Path): unknown => {
    if (Array.isArray(value)) return [`\${${locate(path)}}`];
    if (!isObject(value)) return `\${${locate(path)}}`;
    return Object.fromEntries(
      Object.entries(value).map(([key, inner]) => [key, name(inner, [...path, key])]),
    );
  };
  return { mcpServers: name(isObject(tree.mcpServers) ? tree.mcpServers : {}, ["mcpServers"]) };
}

/** The variables named in a text. */
export function variablesIn(text: unknown): readonly string[] {
  if (typeof text !== "string") return [];
  return [...text.matchAll(/\$\$\{|\$\{(?:env:)?([A-Za-z_]\w*)/g)].flatMap(([, name]) =>
    name === undefined ? [] : [name],
  );
}

/** The variables that a server gets from its `envFile`. */
interface EnvFile {
  /** The variables that its `env` does not set itself. */
  readonly names: readonly string[];
  /** Of a file in the project: a person approves its contents. */
  readonly digest?: string | undefined;
}

interface EnvFiles {
  /** The servers with the variables of their files in `env`. */
  readonly tree: JsonObject;
  readonly problems: readonly Problem[];
  /** Every file that is named, to watch. */
  readonly files: readonly string[];
  /** Values, to redact in the log. */
  readonly secrets: readonly string[];
  readonly ofServers: ReadonlyMap<string, EnvFile>;
  /** True for a variable that a file of the project sets. */
  isOfProject(path: Path): boolean;
}

interface Sources {
  readonly folder: string;
  readonly userFile: string;
  sourceAt(path: Path): Layer["source"] | undefined;
}

const bytesMax = 256 * 1024;

/** Reads the dotenv files that entries name. Their values are literal: `${NAME}` has no meaning in them. */
export async function readEnvFiles(tree: JsonObject, sources: Sources): Promise<EnvFiles> {
  const problems: Problem[] = [];
  const files: string[] = [];
  const secrets: string[] = [];
  const ofServers = new Map<string, EnvFile>();
  const servers: [string, unknown][] = [];
  for (const [name, server] of Object.entries(isObject(tree.mcpServers) ? tree.mcpServers : {})) {
    servers.push([name, server]);
    if (!isObject(server) || typeof server.envFile !== "string" || server.disabled === true)
      continue;
    const path = ["mcpServers", name, "envFile"];
    const isUsers = sources.sourceAt(path) === "user";
    const file = resolve(isUsers ? dirname(sources.userFile) : sources.folder, server.envFile);
    files.push(file);
    try {
      const isProjects = isInside(realOf(file), realOf(sources.folder));
      if (!isProjects && sources.sourceAt(path) === "project") throw new ConfigError(outside);
      const text = await read(file, isProjects ? sources.folder : undefined);
      const parsed = parseEnv(text);
      const own = isObject(server.env) ? server.env : {};
      servers[servers.length - 1] = [name, { ...server, env: { ...parsed, ...own } }];
      secrets.push(...Object.values(parsed).filter((value) => value !== undefined));
      ofServers.set(name, {
        names: Object.keys(parsed).filter((key) => !Object.hasOwn(own, key)),
        ...(isProjects ? { digest: createHash("sha256").update(text).digest("hex") } : {}),
      });
    } catch (error) {
      problems.push({ path, text: messageOf(error) });
    }
  }
  return {
    tree: servers.length === 0 ? tree : { ...tree, mcpServers: Object.fromEntries(servers) },
    problems,
    files,
    secrets,
    ofServers,
    isOfProject: ([section, name, field, key]) => {
      if (section !== "mcpServers" || field !== "env") return false;
      const found = ofServers.get(String(name));
      return found?.digest !== undefined && found.names.includes(String(key));
    },
  };
}

const outside =
  "is outside the project; expected a file inside; store the values with guildhall secret set instead";

/** Throws ConfigError, DENIED for a link or anything else that is not a regular file, TOO_LARGE. */
async function read(file: string, project: string | undefined): Promise<string> {
  const text =
    project === undefined
      ? (await readConfigFile(file))?.text
      : await readProjectFile(project, relative(project, file), bytesMax);
  if (text === undefined)
    throw new ConfigError(
      `"${file}" was not found; expected a dotenv file; create it or remove envFile`,
    );
  return text;
}
