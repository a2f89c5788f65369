import { realpath } from "node:fs/promises";
import { HallError } from "../base/errors.ts";
import {
  type KeptSecret,
  openSecretStore,
  type SecretKey,
  type SecretStore,
  secretCharactersMax,
  secretNamePattern,
} from "../base/secret-store.ts";
import { variablesIn } from "../config/variables.ts";
import type { FoundSecret } from "./import/inline-secrets.ts";
import { unknownName } from "./settings.ts";

/** The secrets of one project and of the user, as the commands see them. */
export interface ProjectSecrets {
  /** This project's, the user's, then those of other projects. */
  list(): readonly ListedSecret[];
  /** Throws INVALID_PARAMS. */
  set(name: string, value: string, options?: SecretOptions): Promise<KeptSecret["kept"]>;
  /** Throws NOT_FOUND. */
  remove(name: string, options?: SecretOptions): Promise<void>;
}

export interface SecretOptions {
  /** The user's secret, for all projects, instead of this project's. */
  readonly user?: boolean | undefined;
  /** For the calls of this person only. */
  readonly person?: string | undefined;
}

export interface ListedSecret extends KeptSecret {
  readonly scope: "project" | "user" | "other project";
}

export async function openProjectSecrets(
  folder: string,
  store: SecretStore = openSecretStore(),
): Promise<ProjectSecrets> {
  const project = await realpath(folder);
  const keyOf = (name: string, { user, person }: SecretOptions): SecretKey => ({
    name,
    ...(user ? {} : { project }),
    ...(person === undefined ? {} : { person }),
  });
  const scopeOf = (secret: KeptSecret): ListedSecret["scope"] => {
    if (secret.project === undefined) return "user";
    return secret.project === project ? "project" : "other project";
  };

  return {
    list: () => {
      const secrets = store.list().map((secret) => ({ ...secret, scope: scopeOf(secret) }));
      const ordered = ["project", "user", "other project"];
      return secrets.sort(
        (a, b) =>
          ordered.indexOf(a.scope) - ordered.indexOf(b.scope) || a.name.localeCompare(b.name),
      );
    },
    async set(name, value, options = {}) {
      checkSecretName(name);
      checkValue(value);
      return store.set(keyOf(name, options), value);
    },
    async remove(name, options = {}) {
      const key = keyOf(name, options);
      if (await store.remove(key)) return;
      const known = store
        .list()
        .filter(({ project, person }) => project === key.project && person === key.person);
      const ofPerson = key.person === undefined ? "" : ` for "${key.person}"`;
      throw unknownName(
        `secret of ${options.user ? "the user" : "this project"}${ofPerson}`,
        name,
        known.map((secret) => secret.name),
      );
    },
  };
}

/** Throws INVALID_PARAMS. */
export function checkSecretName(name: string): void {
  if (!secretNamePattern.test(name))
    throw new HallError("INVALID_PARAMS", `invalid secret name "${name.slice(0, 100)}"`, {
      hint: "Use up to 100 letters, digits and _, not starting with a digit.",
    });
}

function checkValue(value: string): void {
  if (value === "" || value.includes("\0") || value.length > secretCharactersMax)
    throw new HallError(
      "INVALID_PARAMS",
      `a secret must have 1 to ${secretCharactersMax} characters and no null character`,
    );
}

/** The secrets that the hall has already, by name: this project's, then the user's. */
export type StoredValues = Readonly<Record<string, string>>;

export async function readStored(store: SecretStore, project: string): Promise<StoredValues> {
  const here = store
    .list()
    .filter((each) => each.person === undefined && (each.project ?? project) === project);
  const read = await store.read(here);
  const ownedBy = (owner: string | undefined): [string, string][] =>
    read.flatMap((each) =>
      each.project === owner && "value" in each ? [[each.name, each.value]] : [],
    );
  return Object.fromEntries([...ownedBy(undefined), ...ownedBy(project)]);
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

export function valuesOf(keys: readonly FoundSecret[]): Readonly<Record<string, string>> {
  return Object.fromEntries(keys.map(({ variable, value }) => [variable, value]));
}
