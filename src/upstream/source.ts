import { hashOf, type JsonObject } from "../base/json.ts";
import { isSecretName, secretShapes } from "../base/secret-signs.ts";
import type { ServerConfig } from "../config/schema.ts";
import { type WrittenEntry, written } from "../config/variables.ts";
import { projectFiles, realProgram } from "./program.ts";

/**
 * The command, URL or document of a server as the files have it, with `${NAME}` in the place of values, and its
 * prefix. A change invalidates the lock entry and the approval: with another's prefix, an approved server
 * could answer in its place. The names of variables count: a project must not send
 * another secret to an approved server. The values do not: they change, and the lock is committed.
 */
export function sourceOf(config: ServerConfig): string {
  const { env, headers, oauth, envFile, perPerson, fromFile, ...reached } = config[written] ?? {};
  const texts = Object.entries({ env, headers, oauth, envFile, perPerson }).filter(
    ([, text]) => text !== undefined,
  );
  const rest = [
    ...(texts.length > 0 ? [Object.fromEntries(texts)] : []),
    ...(config.prefix === undefined ? [] : [{ prefix: config.prefix }]),
  ];
  if (config.type === "stdio")
    return hashOf([
      reached.command ?? config.command,
      reached.args ?? config.args,
      // Those of the file differ between machines, and the lock is committed.
      Object.keys(config.env)
        .filter((name) => !fromFile?.names.includes(name))
        .sort(),
      reached.cwd ?? config.cwd ?? null,
      ...rest,
    ]);
  if (config.type === "openapi")
    return hashOf([
      config.type,
      reached.openapi ?? config.openapi,
      reached.baseUrl ?? config.baseUrl ?? null,
      reached.auth ?? config.auth,
      Object.keys(config.headers).sort(),
      config.include,
      config.exclude,
      ...rest,
    ]);
  return hashOf([
    config.type,
    reached.url ?? config.url,
    Object.keys(config.headers).sort(),
    ...rest,
  ]);
}

/**
 * The subject of an approval: the source, the contents of the project's files that it runs, and
 * rights in its sandbox.
 */
export function approvalOf(config: ServerConfig): string {
  const source = sourceOf(config);
  if (config.type !== "stdio") return source;
  const files = boundFiles(config);
  const rights = typeof config.sandbox === "object" ? [config.sandbox] : [];
  return Object.keys(files).length === 0 && rights.length === 0
    ? source
    : hashOf([source, files, ...rights]);
}

/** The project's files that it runs, and its dotenv file. */
function boundFiles(
  config: Extract<ServerConfig, { readonly type: "stdio" }>,
): Readonly<Record<string, string>> {
  const { fromFile, envFile = "" } = config[written] ?? {};
  const digest = fromFile?.digest;
  return { ...projectFiles(config), ...(digest === undefined ? {} : { [envFile]: digest }) };
}

/**
 * The same for display. Literal values of a project's file are shown: they decide what runs, and
 * where it sends data.
 */
export function describeSource(config: ServerConfig): string {
  return `${describeAddress(config)}${describePrefix(config)}`;
}

function describePrefix({ prefix }: ServerConfig): string {
  if (prefix === undefined) return "";
  return prefix === "" ? ", its tools without a prefix" : `, its tools as ${prefix}.*`;
}

function describeAddress(config: ServerConfig): string {
  const texts = config[written] ?? {};
  if (config.type === "openapi") {
    const { openapi = config.openapi, baseUrl = config.baseUrl, auth = config.auth } = texts;
    const { headers = config.headers, oauth = {} } = texts;
    const where = baseUrl === undefined ? "" : ` at ${baseUrl}`;
    return `the API of ${quoted(openapi)}${where}${listed(" with", auth, texts)}${listed(" with headers", headers, texts)}${listed(" and a login with", oauth, texts)}`;
  }
  if (config.type !== "stdio") {
    const { url = config.url, headers = config.headers, oauth = {} } = texts;
    return `${url} over ${config.type}${listed(" with headers", headers, texts)}${listed(" and a login with", oauth, texts)}`;
  }
  const { cwd = config.cwd, env = texts.fromFile ? {} : config.env } = texts;
  const hidden = hiddenArguments(config);
  const words = commandLine(config).map((word, at) => hidden.get(at)?.shown ?? quoted(word));
  return `${words.join(" ")}${cwd === undefined ? "" : ` in ${cwd}`}${listed(" with", env, texts)}${describeEnvFile(texts)}${describeProgram(config)}`;
}

/** Names only: the values may be secrets of the user. */
function describeEnvFile({ envFile, fromFile }: WrittenEntry): string {
  if (envFile === undefined || !fromFile) return "";
  const names = [...fromFile.names].sort().map(quoted).join(", ") || "nothing";
  return ` and ${names} from ${quoted(envFile)}`;
}

/** The program that its PATH finds, and the project's files that it runs. */
function describeProgram(config: Extract<ServerConfig, { readonly type: "stdio" }>): string {
  const program = realProgram(config);
  const files = Object.entries(boundFiles(config)).map(
    ([file, digest]) => `${quoted(file)} (sha256 ${digest.slice(0, 12)})`,
  );
  const found =
    program === undefined || program === config.command
      ? ""
      : `; the program is ${quoted(program)}`;
  return `${found}${files.length === 0 ? "" : `; in this project: ${files.join(", ")}`}`;
}

/** Program and arguments as the files have them. */
export function commandLine(
  config: Extract<ServerConfig, { readonly type: "stdio" }>,
): readonly string[] {
  const { command = config.command, args = config.args } = config[written] ?? {};
  return [command, ...args];
}

function listed(
  words: string,
  values: Readonly<Record<string, unknown>>,
  { isOfProject }: WrittenEntry,
): string {
  const names = Object.keys(values).sort();
  const shown = names.map((name) => {
    const text = String(values[name]);
    return `${name}=${isOfProject || named.test(text) ? quoted(text) : mask}`;
  });
  return names.length === 0 ? "" : `${words} ${shown.join(", ")}`;
}

const mask = "***";

/** The values that `describeSource` hides, by the name of their variable, header or option. */
export function hiddenValues(config: ServerConfig): Readonly<Record<string, string>> {
  const texts = config[written] ?? {};
  if (texts.isOfProject) return {};
  const values =
    config.type === "stdio"
      ? (texts.env ?? (texts.fromFile ? {} : config.env))
      : { ...(texts.headers ?? config.headers), ...texts.oauth, ...texts.auth };
  const options = [...hiddenArguments(config).values()].map(({ name, value }) => [name, value]);
  const all: [string, string][] = [...Object.entries(values), ...options].map(([name, value]) => [
    String(name),
    String(value),
  ]);
  return Object.fromEntries(all.filter(([, value]) => !named.test(value)));
}

/** The command line or URL of an entry as lists show it: `${NAME}` as written, and never a secret. */
export function describeTarget({ command, args, url, openapi }: JsonObject): string {
  if (url !== undefined || openapi !== undefined) return withoutSecrets(String(url ?? openapi));
  const words = [command, ...(Array.isArray(args) ? args : [])].map(String);
  const hidden = secretArguments(words);
  return words.map((word, at) => hidden.get(at)?.shown ?? withoutSecrets(word)).join(" ");
}

/** Without passwords and values of the query in a URL, and without texts that look like keys. */
function withoutSecrets(word: string): string {
  const open = word.includes("://")
    ? word
        .replace(/(:\/\/[^/?#@]*:)[^/?#@]+@/, `$1${mask}@`)
        .replace(/([?&][^=&#]*=)(?!\$\{[^{}]*\}(?:[&#]|$))[^&#]+/g, `$1${mask}`)
    : word;
  return secretShapes.reduce((text, shape) => text.replace(shape, mask), open);
}

interface HiddenArgument {
  readonly name: string;
  readonly value: string;
  readonly shown: string;
}

/** The secrets in the command line of the user's own files. */
function hiddenArguments(config: ServerConfig): ReadonlyMap<number, HiddenArgument> {
  const isShown = config.type !== "stdio" || config[written]?.isOfProject;
  return isShown ? new Map() : secretArguments(commandLine(config));
}

/** Secrets after options such as `--api-key`, by their place in the command line. */
function secretArguments(words: readonly string[]): ReadonlyMap<number, HiddenArgument> {
  const found = new Map<number, HiddenArgument>();
  for (const [at, word] of words.entries()) {
    const [, name = words[at - 1] ?? "", value = word] = /^(--?[\w-]+)=(.+)$/s.exec(word) ?? [];
    const isSecret = /^--?[\w-]+$/.test(name) && isSecretName(name.replace(/^-+/, ""));
    if (!isSecret || named.test(value) || value.startsWith("-")) continue;
    found.set(at, { name, value, shown: value === word ? mask : `${name}=${mask}` });
  }
  return found;
}

/**
 * A variable instead of a value. A project's file holds no secret of the user's; their own may hold
 * one anywhere else.
 */
const named = /^([A-Za-z]+ )?\$\{[^{}]*\}$/;

function quoted(word: string): string {
  return /^[\w./:=@%+,~${}-]+$/.test(word) ? word : JSON.stringify(word);
}
