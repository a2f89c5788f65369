import { realpathSync } from "node:fs";
import { describeReader } from "../base/ancestors.ts";
import type { JsonObject } from "../base/json.ts";
import type { KeptSecret, SecretStore } from "../base/secret-store.ts";
import type { Problem } from "./error.ts";
import { variablesIn } from "./variables.ts";
import { findMainWorktree } from "./worktree.ts";

/** The values of `${NAME}`: the project's secrets, then the user's, then the environment. */
export interface Values {
  readonly values: NodeJS.ProcessEnv;
  /** Values from the secret store, to redact everywhere. */
  readonly secrets: readonly string[];
  /** Why a stored secret cannot be read, by name. It does not fall back to the environment, which may have another value. */
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
  const kept = named.size === 0 ? [] : store.list().filter(({ name }) => named.has(name));
  const wanted = kept.length === 0 ? [] : chosen(kept, await ownersOf(realpathSync(folder)));
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

/** Whose secrets count, the first ones first: the folder's, those of its main worktree, the user's. */
async function ownersOf(folder: string): Promise<readonly (string | undefined)[]> {
  return [folder, (await findMainWorktree(folder)) ?? folder, undefined];
}

/** One for each name. */
function chosen(
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
  const reader = await describeReader();
  return problems.map((problem) => {
    if (problem.unset === undefined) return problem;
    const { name } = problem.unset;
    const failure = unreadable.get(name);
    const why =
      failure === undefined
        ? `is not set: no secret of that name, and not in the environment of ${reader}`
        : `is a secret that cannot be read: ${failure}`;
    const text = `the variable ${name} ${why}; expected a value; run guildhall secret set ${name}`;
    return { ...problem, text, unset: { name, why } };
  });
}
