import { realpath } from "node:fs/promises";
import { openSecretStore } from "../../base/secret-store.ts";
import { projectFiles } from "../../upstream/program.ts";
import { describeTarget } from "../../upstream/source.ts";
import { addToProjectFile, type ProjectFile, readProjectFile } from "../install/edit.ts";
import { openRecords, writeThrough } from "../install/records.ts";
import { findMovable, moveSecrets, readStored, valuesOf } from "../secrets.ts";
import { getClient } from "./clients.ts";
import { type ImportPlaces, shorten, thisMachine } from "./document.ts";
import { type Findings, findServers, findUnset, type ImportedServer } from "./import.ts";
import type { FoundSecret } from "./inline-secrets.ts";

export interface ImportRequest {
  readonly folder: string;
  /** Ids of the clients to read. Default: all. */
  readonly from?: readonly string[] | undefined;
  /** Also take servers that belong to other projects. */
  readonly all?: boolean | undefined;
  /** Write the file from scratch; the old one is backed up. */
  readonly force?: boolean | undefined;
  readonly dryRun?: boolean | undefined;
  /** Decides whether the keys with these names are copied to the project's secrets. Default: they are. */
  moveKeys?: ((names: readonly string[]) => Promise<boolean>) | undefined;
  /** Chooses among the servers found. Default: all that belong to this project. */
  choose?:
    | ((
        found: readonly ImportedServer[],
        usual: readonly ImportedServer[],
      ) => Promise<readonly ImportedServer[]>)
    | undefined;
}

export interface ImportReport {
  readonly file: string;
  readonly state: "written" | "would be written" | "unchanged";
  readonly backup?: string | undefined;
  readonly added: readonly {
    readonly name: string;
    readonly target: string;
    readonly from: readonly string[];
    readonly notes: readonly string[];
  }[];
  readonly known: readonly { readonly name: string; readonly from: string }[];
  readonly notAdded: readonly {
    readonly name: string;
    readonly from: string;
    readonly elsewhere?: string | undefined;
  }[];
  /** Keys in other clients' files that are now secrets of the project. */
  readonly secrets: readonly string[];
  /** Variables to set, and the file that holds the value now. */
  readonly variables: readonly { readonly name: string; readonly place?: string | undefined }[];
  readonly warnings: readonly string[];
  /** Clients that do not use the hall yet. */
  readonly clients: readonly string[];
}

export interface ImportOutcome {
  readonly report: ImportReport;
  readonly findings: Findings;
  /** The project's file before and after. */
  readonly before: string;
  readonly after: string;
}

/** Finds the servers of other clients and adds the chosen ones to the project's config. */
export async function importServers(request: ImportRequest): Promise<ImportOutcome> {
  const { folder, from, all = false, force = false, dryRun = false, choose } = request;
  // An unknown client is reported before an invalid config.
  const chosenClients = from?.map(getClient);
  const machine = thisMachine(await realpath(folder));
  const project = await readProjectFile(machine);
  const store = openSecretStore();
  const stored = await readStored(store, machine.folder);
  const findings = await findServers({
    machine,
    existing: force ? {} : project.servers,
    from: chosenClients,
    ownScript: process.argv[1],
    stored,
  });

  const usual = findings.servers.filter(({ elsewhere }) => all || elsewhere === undefined);
  const chosen =
    choose && findings.servers.length > 0 ? await choose(findings.servers, usual) : usual;
  const after = await addToProjectFile(project, chosen, force);
  const keys = await chooseKeys(findMovable(after, findings.secrets, stored), request);
  if (!dryRun) await moveSecrets(store, machine.folder, keys);
  const isChanged = after !== project.text;
  const isWritten = isChanged && !dryRun;
  const backup = isWritten && force ? await backUp(project, machine) : undefined;
  if (isWritten) await writeThrough(project.file, after, machine.folder);

  const written = dryRun ? "would be written" : "written";
  const report: ImportReport = {
    file: shorten(project.file, machine),
    state: isChanged ? written : "unchanged",
    backup,
    ...summariseImport(findings, chosen, { ...machine.env, ...stored, ...valuesOf(keys) }),
    secrets: keys.map(({ variable }) => variable),
  };
  return { report, findings, before: project.text ?? "", after };
}

async function chooseKeys(
  keys: readonly FoundSecret[],
  { moveKeys = async () => true }: ImportRequest,
): Promise<readonly FoundSecret[]> {
  if (keys.length === 0) return keys;
  return (await moveKeys(keys.map(({ variable }) => variable))) ? keys : [];
}

async function backUp(project: ProjectFile, machine: ImportPlaces): Promise<string | undefined> {
  if (project.text === undefined) return undefined;
  const records = openRecords(machine.env);
  return records.backUp("guildhall", project.file, Buffer.from(project.text));
}

function summariseImport(
  { servers, known, secrets, warnings, files }: Findings,
  chosen: readonly ImportedServer[],
  values: NodeJS.ProcessEnv,
): Omit<ImportReport, "file" | "state" | "backup" | "secrets"> {
  const unset = new Set(chosen.flatMap(({ server }) => findUnset(server, values)));
  return {
    added: chosen.map(({ name, server, sightings, notes }) => ({
      name,
      target: describeTarget(server),
      from: sightings.map(({ place }) => place),
      notes,
    })),
    known: known.map(({ name, sighting }) => ({ name, from: sighting.place })),
    notAdded: servers
      .filter((imported) => !chosen.includes(imported))
      .map(({ name, sightings: [{ place }], elsewhere }) => ({ name, from: place, elsewhere })),
    variables: [...unset].map((name) => ({
      name,
      place: secrets.find(({ variable }) => variable === name)?.place,
    })),
    warnings,
    clients: clientsWithoutHall(files),
  };
}

function clientsWithoutHall(files: Findings["files"]): readonly string[] {
  return [...new Set(files.filter(({ hasHall }) => !hasHall).map(({ client }) => client))];
}

/**
 * Clients of this machine to connect next: those with servers and without the hall; the first one
 * if there are no files.
 */
export async function findClientsToInstall(folder: string): Promise<readonly string[]> {
  const machine = thisMachine(await realpath(folder));
  const { files } = await findServers({ machine, ownScript: process.argv[1] });
  return files.length > 0 ? clientsWithoutHall(files) : ["claude-code"];
}

/** True if it would run a program or script of the project. */
export function runsProjectFile({ command, args, cwd }: ImportedServer["server"]): boolean {
  if (typeof command !== "string") return false;
  const folder = typeof cwd === "string" ? { cwd } : {};
  const spec = { command, args: Array.isArray(args) ? args.map(String) : [], env: {}, ...folder };
  return Object.keys(projectFiles(spec)).length > 0;
}
