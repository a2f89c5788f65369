import { realpath } from "node:fs/promises";
import type { JsonObject } from "../../base/json.ts";
import { openSecretStore } from "../../base/secret-store.ts";
import { readLock } from "../../upstream/lock.ts";
import type { FileEdit } from "../config-edit.ts";
import { chooseCommand } from "../daemon.ts";
import { getClient } from "../import/clients.ts";
import { type ImportPlaces, shorten, thisMachine } from "../import/document.ts";
import {
  type Findings,
  findSecretsIn,
  findServers,
  findUnset,
  type ImportedServer,
} from "../import/import.ts";
import { findMovable, moveSecrets, readStored, valuesOf } from "../secrets.ts";
import { addToProjectFile, type ProjectFile, readProjectFile } from "./edit.ts";
import {
  applyInstall,
  applyUninstall,
  type InstallPlan,
  type InstallTarget,
  planInstall,
  planUninstall,
  scopeOf,
} from "./install.ts";
import { openRecords, type Records, writeThrough } from "./records.ts";

export interface InstallRequest {
  readonly folder: string;
  readonly client: string;
  /** Default: the project's file, if the client has one. */
  readonly scope?: "user" | "project" | undefined;
  /** Also move the servers of that file to the hall. */
  readonly move?: boolean | undefined;
  /** Start the hall by its path on this machine, also in a project's file. */
  readonly localPath?: boolean | undefined;
}

/** An install or uninstall that is planned but not written. */
export interface PreparedInstall {
  readonly plan: InstallPlan;
  /** Where the client's file already is as it should be. */
  readonly isNoop: boolean;
  /** Each file before and after, with secrets masked. */
  readonly changes: readonly FileEdit[];
  /** Keys of moved servers that become secrets of the project. */
  readonly secrets: readonly string[];
  /** Variables to set before the hall starts. */
  readonly variables: readonly string[];
  readonly warnings: readonly string[];
  /** The client's file as shown to people. */
  readonly file: string;
  /** Writes the files and returns the backup of the client's file. */
  apply(): Promise<string | null>;
}

export async function prepareInstall(request: InstallRequest): Promise<PreparedInstall> {
  const { machine, target } = await openTarget(request);
  const project = await readProjectFile(machine);
  const { command, warnings } = commandFor(target, project, request.localPath);
  const first = await planInstall(target, command);
  const store = openSecretStore();
  const stored = await readStored(store, machine.folder);
  const found = await findServers({
    machine,
    from: [target.client],
    file: first.file,
    existing: project.servers,
    ownScript: process.argv[1],
    stored,
  });
  const moving = request.move ? selectMoving(found) : { names: [], servers: [] };
  const plan = request.move ? await planInstall(target, command, moving.names) : first;
  const config = await addToProjectFile(project, moving.servers);
  const staying = await findStaying(target, plan, {
    existing: project.servers,
    isMoving: request.move === true,
  });

  const keys = request.move ? findMovable(config, found.secrets, stored) : [];
  const values = { ...machine.env, ...stored, ...valuesOf(keys) };
  const mask = createMask(found.secrets);
  const projectChange: FileEdit = {
    file: shorten(project.file, machine),
    before: mask(project.text ?? ""),
    after: mask(config),
  };
  const isMoving = moving.servers.length > 0;
  const isProjectChanged = isMoving && config !== project.text;
  return {
    plan,
    isNoop: isNoop(plan),
    changes: [...(isProjectChanged ? [projectChange] : []), ...changesOf(plan, machine, mask)],
    secrets: keys.map(({ variable }) => variable),
    variables: request.move ? unsetVariables(moving, found, values) : [],
    warnings: [
      ...warnings,
      ...found.warnings,
      ...staying,
      ...(request.move ? await findUntried(moving, found, machine) : []),
    ],
    file: shorten(plan.file, machine),
    async apply() {
      // Write ours first: a server and its keys must be in the hall before they leave the client.
      await moveSecrets(store, machine.folder, keys);
      if (isMoving) await writeThrough(project.file, config, machine.folder);
      return isNoop(plan) ? null : applyInstall(plan, openRecords(machine.env));
    },
  };
}

export async function prepareUninstall(request: InstallRequest): Promise<PreparedInstall> {
  const { machine, target } = await openTarget(request);
  const records = openRecords(machine.env);
  const plan = await planUninstall(target, records);
  const found = await findServers({
    machine,
    from: [target.client],
    file: plan.file,
    ownScript: process.argv[1],
  });
  // The restored text may hold secrets that are not in the file now.
  const restored =
    plan.after === undefined
      ? []
      : await findSecretsIn(target.client, plan.file, plan.after.toString(), machine);
  return {
    plan,
    isNoop: isNoop(plan),
    changes: changesOf(plan, machine, createMask([...found.secrets, ...restored])),
    secrets: [],
    variables: [],
    warnings: isNoop(plan) ? await findOtherInstall(plan, records, machine) : [],
    file: shorten(plan.file, machine),
    apply: async () => (isNoop(plan) ? null : applyUninstall(plan, records)),
  };
}

/** Where else `install` put the hall for this client. */
async function findOtherInstall(
  { client, file }: InstallPlan,
  records: Records,
  machine: ImportPlaces,
): Promise<readonly string[]> {
  const others = (await records.all()).filter(
    (record) => record.client === client.id && record.file !== file,
  );
  const here = others.filter(
    ({ scope, file: other }) => scope === "user" || other.startsWith(`${machine.folder}/`),
  );
  return here.map(
    ({ scope, file: other }) =>
      `the hall is in ${shorten(other, machine)}: run \`guildhall uninstall ${client.id} --${scope}\``,
  );
}

async function openTarget({
  folder,
  client,
  scope,
}: InstallRequest): Promise<{ readonly machine: ImportPlaces; readonly target: InstallTarget }> {
  const machine = thisMachine(await realpath(folder));
  const target = { client: getClient(client), machine, scope, ownScript: process.argv[1] };
  return { machine, target };
}

/** A user-wide entry is started in any folder, so it must name the project's. */
function commandFor(
  target: InstallTarget,
  project: ProjectFile,
  localPath: boolean | undefined,
): ReturnType<typeof chooseCommand> {
  const { folder, env } = target.machine;
  const scope = scopeOf(target);
  const { command, warnings } = chooseCommand({ scope, env, localPath });
  if (scope !== "user" || project.text === undefined) return { command, warnings };
  const { name } = target.client;
  const other =
    scopeOf({ ...target, scope: undefined }) === "project" ? "; with --project, only this one" : "";
  const everywhere = `in every project, ${name} will use the hall and the servers of ${folder}${other}`;
  return { command: [...command, "--folder", folder], warnings: [...warnings, everywhere] };
}

interface Moving {
  /** The client's names. */
  readonly names: readonly string[];
  readonly servers: readonly ImportedServer[];
}

/** The servers that are, or can be, in the hall. Others stay where they work. */
function selectMoving({ servers, known }: Findings): Moving {
  const here = servers.filter(({ elsewhere }) => elsewhere === undefined);
  const names = [
    ...here.flatMap(({ sightings }) => sightings.map(({ name }) => name)),
    ...known.map(({ sighting }) => sighting.name),
  ];
  return { names: [...new Set(names)], servers: here };
}

/** Only one file is edited. Servers that stay in the client's files beside the hall show their tools twice. */
async function findStaying(
  { client, machine }: InstallTarget,
  { file, moved }: InstallPlan,
  { existing, isMoving }: { readonly existing: JsonObject; readonly isMoving: boolean },
): Promise<string[]> {
  const ownScript = process.argv[1];
  const found = await findServers({ machine, from: [client], existing, ownScript });
  const edited = `${shorten(file, machine)}:`;
  const known = found.known.map(({ sighting }) => sighting);
  const others = isMoving ? found.servers.flatMap(({ sightings }) => sightings) : [];
  return [...known, ...others]
    .filter(({ name, place, elsewhere }) => {
      const isEdited = place.startsWith(edited) && (isMoving || moved.includes(name));
      return elsewhere === undefined && !isEdited;
    })
    .map((sighting) => {
      const { name, place, scope } = sighting;
      const flag = scope === scopeOf({ client, machine }) ? "" : ` --${scope}`;
      const state = known.includes(sighting) ? "is in the hall, too" : "stays there";
      return `${place}: ${name} ${state}; move it with: guildhall install ${client.id}${flag} --move`;
    });
}

/** Servers that leave the client before they have answered in the hall. */
async function findUntried(
  { servers }: Moving,
  { known }: Findings,
  { folder }: ImportPlaces,
): Promise<string[]> {
  const lock = await readLock(folder, () => {});
  const names = [...servers, ...known].map(({ name }) => name);
  const untried = names.filter((name) => !Object.hasOwn(lock.servers, name)).join(", ");
  return untried === ""
    ? []
    : [
        `not tried in the hall yet: ${untried}; run \`guildhall build\` before you restart the client`,
      ];
}

function unsetVariables(
  { servers }: Moving,
  { secrets }: Findings,
  env: NodeJS.ProcessEnv,
): string[] {
  const kept = secrets.map(({ variable }) => variable).filter((name) => env[name] === undefined);
  return [...new Set([...servers.flatMap(({ server }) => findUnset(server, env)), ...kept])];
}

/** Hides secrets in the lines around a change. */
function createMask(secrets: Findings["secrets"]): (text: string) => string {
  // Longest first: one secret may be part of another.
  const spellings = secrets
    .flatMap(({ value }) => [value, JSON.stringify(value).slice(1, -1)])
    .sort((a, b) => b.length - a.length);
  return (text) => spellings.reduce((masked, secret) => masked.replaceAll(secret, "…"), text);
}

function changesOf(
  plan: InstallPlan,
  machine: ImportPlaces,
  mask: (text: string) => string,
): readonly FileEdit[] {
  if (isNoop(plan)) return [];
  const { file, before, after } = plan;
  const textOf = (bytes: Buffer | undefined): string => mask(bytes?.toString() ?? "");
  return [{ file: shorten(file, machine), before: textOf(before), after: textOf(after) }];
}

function isNoop({ before, after }: InstallPlan): boolean {
  return before === undefined ? after === undefined : after?.equals(before) === true;
}
