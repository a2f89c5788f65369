import type { SecretStore } from "../../base/secret-store.ts";
import { variablesIn } from "../../config/variables.ts";
import type { FoundSecret } from "./inline-secrets.ts";

/** The secrets that the hall has already, by name: this project's, then the user's. */
export type StoredValues = Readonly<Record<string, string>>;

export async function readStored(store: SecretStore, project: string): Promise<StoredValues> {
  const here = store.list().filter((each) => (each.project ?? project) === project);
  const read = await store.read(here);
  const valuesOf = (owner: string | undefined): [string, string][] =>
    read.flatMap((each) =>
      each.project === owner && "value" in each ? [[each.name, each.value]] : [],
    );
  return Object.fromEntries([...valuesOf(undefined), ...valuesOf(project)]);
}

/** The secrets in other clients' files that this config names and the hall does not have yet. */
export function findMovable(
  config: string,
  found: readonly FoundSecret[],
  stored: StoredValues,
): readonly FoundSecret[] {
  const named = new Set(variablesIn(config));
  return found.filter(({ variable }) => named.has(variable) && !Object.hasOwn(stored, variable));
}

/** Copies them to the secrets of the project. */
export async function moveSecrets(
  store: SecretStore,
  project: string,
  secrets: readonly FoundSecret[],
): Promise<void> {
  for (const { variable: name, value } of secrets) await store.set({ name, project }, value);
}
