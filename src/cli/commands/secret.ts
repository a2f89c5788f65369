import { text as readAll } from "node:stream/consumers";
import { HallError } from "../../base/errors.ts";
import { secretLengthMin } from "../../base/log.ts";
import { formatTime } from "../../base/text.ts";
import { checkSecretName, openProjectSecrets, type SecretOptions } from "../../hall/secrets.ts";
import type { JsonOption } from "../declaration.ts";
import { print, table } from "../print.ts";

type Options = JsonOption & SecretOptions;

const places = { keyring: "the system keyring", file: "an encrypted file" } as const;

export async function runSecretSet(name: string, options: Options): Promise<void> {
  checkSecretName(name);
  const secrets = await openProjectSecrets(process.cwd());
  const value = await readValue(name);
  const kept = await secrets.set(name, value, options);
  const scope = options.user ? "user" : "project";
  const lines = [
    `${name} is set for ${options.user ? "all your projects" : "this project"}, kept in ${places[kept]}`,
    ...(value.length < secretLengthMin
      ? [`note: it is too short to be recognised, so logs may show it`]
      : []),
  ];
  print({ name, scope, kept }, lines.join("\n"), options);
}

/** From a hidden prompt, or from stdin. Never from an argument: shells keep those, and other users see them. */
async function readValue(name: string): Promise<string> {
  if (!process.stdin.isTTY) return (await readAll(process.stdin)).replace(/\r?\n$/, "");
  const { isCancel, password } = await import("@clack/prompts");
  const value = await password({ message: `Value of ${name}`, output: process.stderr });
  if (isCancel(value)) throw new HallError("CANCELLED", "nothing was stored");
  return value ?? "";
}

export async function runSecretList(options: JsonOption): Promise<void> {
  const secrets = (await openProjectSecrets(process.cwd())).list();
  const rows = secrets.map(({ name, scope, project = "", kept, changedAt }) => [
    name,
    scope === "other project" ? project : scope,
    places[kept],
    formatTime(changedAt),
  ]);
  const empty = "no secrets; add one with: guildhall secret set NAME";
  print(
    secrets,
    table(["name", "for", "kept in", "changed"], rows, { empty, extra: ["changed"] }),
    options,
  );
}

export async function runSecretRemove(name: string, options: Options): Promise<void> {
  const secrets = await openProjectSecrets(process.cwd());
  await secrets.remove(name, options);
  print({ name, removed: true }, `${name} is removed`, options);
}
