import { realpathSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { HallError } from "../base/errors.ts";
import { isObject, type JsonObject } from "../base/json.ts";
import { describeThisProcess } from "../base/processes.ts";
import { readRegular } from "../base/project-files.ts";
import type { KeptSecret, SecretStore } from "../base/secret-store.ts";
import type { Problem } from "./error.ts";
import { repositoryRoot } from "./files.ts";
import { fieldAt } from "./layer.ts";
import { realOf } from "./project-limits.ts";
import type { ServerConfig } from "./schema.ts";
import { expandVariables, variablesIn, written } from "./variables.ts";

/**
 * Config values that must not reach a log: those from variables (`expanded`), those that `GUILDHALL__`
 * variables set in env, headers and url, those with a secret's name, and the database password.
 */
export function findSecrets(
  tree: JsonObject,
  variables: JsonObject,
  expanded: readonly string[],
): string[] {
  const secrets = new Set(expanded);
  for (const { env, headers, url, auth } of serversOf(variables)) {
    for (const text of [url, ...valuesOf(env), ...valuesOf(headers), ...valuesOf(auth)])
      if (typeof text === "string") secrets.add(bare(text));
  }
  for (const { env, headers, oauth, auth } of serversOf(tree)) {
    for (const text of valuesOf(auth)) if (typeof text === "string") secrets.add(bare(text));
    for (const map of [env, headers, oauth]) {
      for (const [key, text] of Object.entries(isObject(map) ? map : {}))
        if (secretName.test(key) && typeof text === "string") secrets.add(bare(text));
    }
  }
  for (const password of passwordsOf(fieldAt(tree, ["store", "url"]))) secrets.add(password);
  const teamKey = fieldAt(tree, ["store", "key"]);
  if (typeof teamKey === "string") secrets.add(teamKey);
  secrets.delete("");
  return [...secrets];
}

const secretName =
  /token|secret|passw|credential|auth|cookie|api[-_]?key|private[-_]?key|access[-_]?key/i;

/** As written, and as sent. */
function passwordsOf(url: unknown): string[] {
  if (typeof url !== "string" || !URL.canParse(url)) return [];
  const { password, searchParams } = new URL(url);
  return [password, safeDecode(password), searchParams.get("password") ?? ""];
}

function safeDecode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // Not percent-encoded: sent as written.
  }
}

/** Without the scheme: a log may show a token without its "Bearer". */
function bare(text: string): string {
  return text.replace(/^(Bearer|Basic|Token) +/i, "");
}

/** The upstream servers and the server of our own client. */
function serversOf({ mcpServers, mcp }: JsonObject): JsonObject[] {
  return [...valuesOf(mcpServers), mcp].filter(isObject);
}

function valuesOf(value: unknown): unknown[] {
  return isObject(value) ? Object.values(value) : [];
}

/** The values of `${NAME}`: the project's secrets, then the user's, then the environment. */
interface Values {
  readonly values: NodeJS.ProcessEnv;
  /** Values from the secret store, to redact everywhere. */
  readonly secrets: readonly string[];
  /**
   * Why a stored secret cannot be read, by name. It does not fall back to the environment, which
   * may have another value.
   */
  readonly unreadable: ReadonlyMap<string, string>;
}

interface Sources {
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
  readonly store: SecretStore;
}

/** Reads only the secrets that the config names. Throws DENIED if the index of the secrets cannot be used. */
export async function readValues(
  tree: JsonObject,
  { folder, env, store }: Sources,
): Promise<Values> {
  const named = new Set(variablesIn(JSON.stringify(tree)));
  const kept =
    named.size === 0
      ? []
      : store.list().filter(({ name, person }) => person === undefined && named.has(name));
  const wanted = kept.length === 0 ? [] : chooseSecrets(kept, await ownersOf(realpathSync(folder)));
  const values: NodeJS.ProcessEnv = { ...env };
  const secrets: string[] = [];
  const unreadable = new Map<string, string>();
  for (const read of await store.read(wanted)) {
    if ("value" in read) {
      values[read.name] = read.value;
      secrets.push(read.value);
    } else {
      delete values[read.name];
      unreadable.set(read.name, read.problem);
    }
  }
  return { values, secrets, unreadable };
}

/** Owners of secrets, in order of precedence: the folder, its main worktree, the user. */
async function ownersOf(folder: string): Promise<readonly (string | undefined)[]> {
  return [folder, (await findMainWorktree(folder)) ?? folder, undefined];
}

/** One for each name. */
function chooseSecrets(
  kept: readonly KeptSecret[],
  owners: readonly (string | undefined)[],
): readonly KeptSecret[] {
  const found = new Map<string, KeptSecret>();
  for (const owner of owners)
    for (const secret of kept)
      if (secret.project === owner && !found.has(secret.name)) found.set(secret.name, secret);
  return [...found.values()];
}

/** Adds to the problems of variables which process has looked, or why a secret could not be read. */
export async function explainUnset(
  problems: readonly Problem[],
  { unreadable }: Values,
): Promise<readonly Problem[]> {
  if (problems.every(({ unset }) => unset === undefined)) return problems;
  const reader = await describeThisProcess();
  return problems.map((problem) => {
    if (problem.unset === undefined) return problem;
    const { name } = problem.unset;
    const failure = unreadable.get(name);
    const why =
      failure === undefined
        ? `is not set: no secret of that name, and not in the environment of ${reader}`
        : `is a secret that cannot be read: ${failure}`;
    const text = `the variable ${name} ${why}; run guildhall secret set ${name}`;
    return { ...problem, text, unset: { name, why } };
  });
}

/**
 * For a folder in a linked worktree of git, the same folder in the main worktree; else undefined. The main worktree
 * must name the linked one too: a clone could only claim to be a worktree of another repository.
 */
async function findMainWorktree(folder: string): Promise<string | undefined> {
  const root = repositoryRoot(folder);
  if (root === undefined) return undefined;

  const link = await readLine(join(root, ".git"));
  const [, main, name] =
    /^gitdir: (.+)[/\\]\.git[/\\]worktrees[/\\]([^/\\]+)$/.exec(link ?? "") ?? [];
  if (main === undefined || name === undefined) return undefined;

  const mainRoot = resolve(root, main);
  const linked = await readLine(join(mainRoot, ".git", "worktrees", name, "gitdir"));
  if (linked === undefined || realOf(resolve(mainRoot, linked)) !== realOf(join(root, ".git")))
    return undefined;
  return join(realpathSync(mainRoot), relative(root, folder));
}

/** Undefined where git has no such file. */
async function readLine(file: string): Promise<string | undefined> {
  const read = await readRegular(file, 4_096).catch(() => undefined);
  return read?.kind === "read" ? read.bytes.toString("utf8").trim() : undefined;
}

/** Secrets that have another value for each person: `perPerson` of a server names them. */

const fields = ["env", "headers", "auth"] as const;

/** A value with such a secret has no other variable, so that a person's secrets are enough to expand it. */
export function findPersonalProblems({ mcpServers }: JsonObject): Problem[] {
  return Object.entries(isObject(mcpServers) ? mcpServers : {}).flatMap(([server, entry]) => {
    if (!isObject(entry) || !Array.isArray(entry.perPerson)) return [];
    const personal = entry.perPerson;
    const values = fields.flatMap((field) => {
      const map = entry[field];
      return Object.entries(isObject(map) ? map : {}).map(([key, text]) => ({
        path: ["mcpServers", server, field, key],
        names: variablesIn(text),
      }));
    });
    const mixed = values.filter(
      ({ names }) =>
        names.some((name) => personal.includes(name)) &&
        !names.every((name) => personal.includes(name)),
    );
    const used = new Set(values.flatMap(({ names }) => names));
    return [
      ...mixed.map(({ path }) => ({
        path,
        text: "mixes a secret of each person with other variables; expected one kind; write the other value out",
      })),
      ...personal.flatMap((name, at) =>
        typeof name !== "string" || used.has(name)
          ? []
          : {
              path: ["mcpServers", server, "perPerson", at],
              text: `is not used; expected a variable of env, headers or auth; write \${${name}} there`,
            },
      ),
    ];
  });
}

/** The entry of a server with a person's values instead of the hall's. */
export function withPersonal(
  config: ServerConfig,
  values: Readonly<Record<string, string>>,
): ServerConfig {
  const texts = config[written] ?? {};
  const { perPerson = [] } = config;
  const own = fields.flatMap((field) => {
    const personal = Object.entries(texts[field] ?? {}).filter(([, text]) =>
      variablesIn(text).some((name) => perPerson.includes(name)),
    );
    return personal.length === 0 ? [] : [[field, Object.fromEntries(personal)] as const];
  });
  const { tree } = expandVariables({ mcpServers: Object.fromEntries(own) }, values);
  const expanded = Object.entries(tree.mcpServers as Readonly<Record<string, JsonObject>>);
  const current = config as unknown as Readonly<Record<string, JsonObject>>;
  const changed = expanded.map(([field, texts]) => [field, { ...current[field], ...texts }]);
  return { ...config, ...Object.fromEntries(changed) };
}

/** Reads the secrets of a person. The hall's own never take their place: throws DENIED if one is missing. */
export async function readPersonal(
  { names, person }: { readonly names: readonly string[]; readonly person: string },
  { folder, store }: { readonly folder: string; readonly store: SecretStore },
): Promise<Readonly<Record<string, string>>> {
  const kept = store
    .list()
    .filter((secret) => secret.person === person && names.includes(secret.name));
  const chosen = chooseSecrets(kept, await ownersOf(realpathSync(folder)));
  const read = await store.read(chosen);
  const values = new Map(
    read.flatMap((each) => ("value" in each ? [[each.name, each.value]] : [])),
  );
  const missing = names.find((name) => !values.has(name));
  if (missing === undefined) return Object.fromEntries(values);
  const found = read.find(({ name }) => name === missing);
  const why = found && "problem" in found ? `cannot be read: ${found.problem}` : "is not set";
  throw new HallError("DENIED", `the secret ${missing} of "${person}" ${why}`, {
    next: [{ do: "run-command", command: `secret set ${missing} --person "${person}"`, person }],
  });
}
