import { realpath } from "node:fs/promises";
import { HallError } from "../base/errors.ts";
import { findNameProblems } from "../config/servers.ts";
import { describeTarget } from "../upstream/source.ts";
import { type EditOptions, requireSeen, withConfigLock } from "./config-edit.ts";
import { completeApi } from "./import/api-entry.ts";
import type { ServerEntry } from "./import/clients.ts";
import { shorten, thisMachine } from "./import/document.ts";
import { findUnset, readEntry } from "./import/import.ts";
import { createKeeper } from "./import/inline-secrets.ts";
import { validName } from "./import/merge.ts";
import { anyClient } from "./import/pasted.ts";
import { addToProjectFile, readProjectFile } from "./install/project-file.ts";
import { writeThrough } from "./install/records.ts";
import { openProjectSecrets } from "./secrets.ts";

type NewEntry = Pick<ServerEntry, "name" | "value">;

export interface AddReport {
  /** As shown to people. */
  readonly file: string;
  readonly added: readonly {
    readonly name: string;
    readonly target: string;
    readonly notes: readonly string[];
  }[];
  /** Names of the secrets that were taken out of the entries and stored. */
  readonly secrets: readonly string[];
  /** Variables that the entries name and that are set nowhere. */
  readonly variables: readonly string[];
  /** The file's text before and after. */
  readonly before: string;
  readonly after: string;
}

/**
 * Adds servers to the project's config, as other clients write them. Secrets are stored apart. Throws CONFLICT for a
 * name that is taken, and VALIDATION for an entry that cannot be used; then nothing is written.
 */
export function addServers(
  folder: string,
  entries: readonly NewEntry[],
  options: EditOptions = {},
): Promise<AddReport> {
  return withConfigLock(() => addAlone(folder, entries, options));
}

async function addAlone(
  folder: string,
  entries: readonly NewEntry[],
  { dryRun = false, seen }: EditOptions,
): Promise<AddReport> {
  const machine = thisMachine(await realpath(folder));
  const project = await readProjectFile(machine);
  const before = project.text ?? "";
  requireSeen(before, seen);
  const secrets = await openProjectSecrets(machine.folder);
  const stored = secrets.list().filter(({ scope }) => scope !== "other project");
  // The values of stored secrets are not known here, so their names are not used for others.
  const taken = Object.fromEntries(stored.map(({ name }) => [name, ""]));
  const keeper = createKeeper({ ...machine.env, ...taken });
  const ownScript = process.argv[1];
  const servers = [];
  for (const { name: given, value } of entries) {
    const name = validName(given);
    checkName(name, project.servers);
    const keep = keeper.keepAt(name, shorten(project.file, machine));
    const found = await readEntry(anyClient, { name, value }, { machine, keep, ownScript });
    if (found === "hall")
      throw new HallError("VALIDATION", `"${name}" is a hall, which cannot run behind a hall`, {
        hint: "Add the servers behind it instead.",
      });
    if (typeof found === "string")
      throw new HallError("VALIDATION", `"${name}" cannot be added: ${found}`, {
        hint: "Correct the entry and add it again.",
      });
    const { server, notes } = await completeApi(name, found.server);
    servers.push({ name, server, notes: [...found.notes, ...notes] });
  }
  const after = await addToProjectFile(project, servers);
  if (!dryRun) {
    // Before the entry: a running hall reads it at once.
    for (const { variable, value } of keeper.found()) await secrets.set(variable, value);
    await writeThrough(project.file, after, machine.folder);
  }
  const found = keeper.found().map(({ variable }) => variable);
  const isSet = (name: string): boolean => found.includes(name) || Object.hasOwn(taken, name);
  const unset = servers.flatMap(({ server }) => findUnset(server, machine.env));
  return {
    file: shorten(project.file, machine),
    added: servers.map(({ name, server, notes }) => ({
      name,
      target: describeTarget(server),
      notes,
    })),
    secrets: found,
    variables: [...new Set(unset)].filter((name) => !isSet(name)),
    before,
    after,
  };
}

function checkName(name: string, existing: object): void {
  const taken = Object.keys(existing).find((each) => each.toLowerCase() === name.toLowerCase());
  if (taken !== undefined)
    throw new HallError("CONFLICT", `a server "${taken}" is already configured`, {
      hint: "Choose another name, or remove it first.",
      next: [{ do: "run-command", command: `remove ${taken}` }],
    });
  const [problem] = findNameProblems({ mcpServers: { [name]: {} } });
  if (problem)
    throw new HallError("VALIDATION", `"${name}" ${problem.text}`, {
      hint: "Choose another name.",
    });
}
