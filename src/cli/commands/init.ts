import { realpath } from "node:fs/promises";
import { HallError } from "../../base/errors.ts";
import { visible } from "../../base/text.ts";
import { type Machine, shorten, thisMachine } from "../../hall/import/document.ts";
import { type Findings, findServers, findUnset } from "../../hall/import/import.ts";
import type { ImportedServer } from "../../hall/import/merge.ts";
import {
  addToProjectFile,
  type ProjectFile,
  readProjectFile,
} from "../../hall/install/project-file.ts";
import { openRecords, writeThrough } from "../../hall/install/records.ts";
import { getClient } from "../clients.ts";
import { paint, print, table } from "../print.ts";
import { isAttended } from "../terminal.ts";
import { diffTexts } from "../text-diff.ts";

export interface InitOptions {
  readonly yes?: boolean;
  readonly json?: boolean;
  readonly dryRun?: boolean;
  readonly force?: boolean;
  readonly all?: boolean;
  readonly from?: readonly string[];
}

/** Finds the servers people already have, and writes those they want into the project's config. */
export async function runInit(options: InitOptions): Promise<void> {
  const from = options.from?.map(getClient);
  const machine = thisMachine(await realpath(process.cwd()));
  const project = await readProjectFile(machine);
  const findings = await findServers({
    machine,
    existing: options.force ? {} : project.servers,
    ...(from ? { from } : {}),
    ...(process.argv[1] === undefined ? {} : { ownScript: process.argv[1] }),
  });
  const isAsking = isAttended(options);
  const usual = findings.servers.filter(({ elsewhere }) => options.all || elsewhere === undefined);
  const chosen = isAsking && findings.servers.length > 0 ? await pick(findings, usual) : usual;
  const text = await addToProjectFile(project, chosen, options.force);
  const isChanged = text !== project.text;
  const backup =
    isChanged && !options.dryRun
      ? await write(project, text, options.force === true, machine)
      : undefined;
  const told = summarise({ findings, chosen, project, machine, isChanged, backup, options });
  print(told, {
    json: options.json,
    text: () =>
      describe(told, findings, options.dryRun ? diffTexts(project.text ?? "", text) : undefined),
  });
  if (isAsking && !options.dryRun && chosen.length > 0) await offerBuild(findings);
}

/** A new file, or the old one through its link. What is written over on demand is kept. */
async function write(
  project: ProjectFile,
  text: string,
  isForced: boolean,
  machine: Machine,
): Promise<string | undefined> {
  const backup =
    isForced && project.text !== undefined
      ? await openRecords(machine.env).backUp("guildhall", project.file, Buffer.from(project.text))
      : undefined;
  await writeThrough(project.file, text);
  return backup;
}

async function pick(
  { servers }: Findings,
  usual: readonly ImportedServer[],
): Promise<readonly ImportedServer[]> {
  const { isCancel, multiselect } = await import("@clack/prompts");
  const chosen = await multiselect({
    message: "Which servers should be behind the hall? (space to choose, enter to go on)",
    options: servers.map((imported) => ({
      value: imported,
      label: imported.name,
      hint: visible(hintOf(imported)),
    })),
    initialValues: [...usual],
    required: false,
    maxItems: 15,
  });
  if (isCancel(chosen))
    throw new HallError("CANCELLED", "nothing was written", {
      hint: "Run `guildhall init` again when you like.",
    });
  return chosen;
}

function hintOf({ server, sightings, notes, elsewhere }: ImportedServer): string {
  const [{ client }] = sightings;
  return [
    targetOf(server),
    `from ${client.name}`,
    ...notes,
    ...(elsewhere === undefined ? [] : [`for ${elsewhere}`]),
  ].join("; ");
}

function targetOf({ command, args, url }: ImportedServer["server"]): string {
  return String(url ?? [command, ...(Array.isArray(args) ? args : [])].join(" "));
}

/** The values stand in this process already: no export is needed to look at the servers once. */
async function offerBuild({ secrets }: Findings): Promise<void> {
  const { confirm, isCancel } = await import("@clack/prompts");
  const isWanted = await confirm({
    message: "Start each of them once now, and review what they offer? (guildhall build)",
  });
  if (isCancel(isWanted) || !isWanted) return;
  for (const { variable, value } of secrets) process.env[variable] ??= value;
  await (await import("./build.ts")).runBuild({});
}

interface Told {
  readonly file: string;
  readonly state: "written" | "would be written" | "unchanged";
  readonly backup?: string;
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
    readonly elsewhere?: string;
  }[];
  readonly variables: readonly { readonly name: string; readonly place?: string }[];
  readonly warnings: readonly string[];
  readonly clients: readonly string[];
}

interface Outcome {
  readonly findings: Findings;
  readonly chosen: readonly ImportedServer[];
  readonly project: ProjectFile;
  readonly machine: Machine;
  readonly isChanged: boolean;
  readonly backup: string | undefined;
  readonly options: InitOptions;
}

function summarise({
  findings,
  chosen,
  project,
  machine,
  isChanged,
  backup,
  options,
}: Outcome): Told {
  const names = [...new Set(chosen.flatMap(({ server }) => findUnset(server, machine.env)))];
  return {
    file: shorten(project.file, machine),
    state: !isChanged ? "unchanged" : options.dryRun ? "would be written" : "written",
    ...(backup === undefined ? {} : { backup }),
    added: chosen.map(({ name, server, sightings, notes }) => ({
      name,
      target: targetOf(server),
      from: sightings.map(({ place }) => place),
      notes,
    })),
    known: findings.known.map(({ name, sighting }) => ({ name, from: sighting.place })),
    notAdded: findings.servers
      .filter((imported) => !chosen.includes(imported))
      .map(({ name, sightings: [{ place }], elsewhere }) => ({
        name,
        from: place,
        ...(elsewhere === undefined ? {} : { elsewhere }),
      })),
    variables: names.map((name) => {
      const place = findings.secrets.find(({ variable }) => variable === name)?.place;
      return { name, ...(place === undefined ? {} : { place }) };
    }),
    warnings: findings.warnings,
    clients: [
      ...new Set(findings.files.filter(({ hasHall }) => !hasHall).map(({ client }) => client)),
    ],
  };
}

function describe(told: Told, { files }: Findings, diff: string | undefined): string {
  const rows = told.added.map(({ name, target, from, notes }) => [
    name,
    from.join(", "),
    notes.join("; "),
    target,
  ]);
  const elsewhere = told.notAdded.filter((each) => each.elsewhere !== undefined);
  const servers = told.added.length === 1 ? "1 server" : `${told.added.length} servers`;
  return [
    ...(rows.length > 0 ? [table(["server", "from", "note", "what it runs"], rows), ""] : []),
    files.length === 0
      ? "no other client's servers were found"
      : `${told.file} ${told.state}: ${servers} added${told.known.length > 0 ? `, ${told.known.length} known already` : ""}`,
    ...(files.length === 0 ? [`${told.file} ${told.state}`] : []),
    ...(told.backup === undefined ? [] : [`what it was before is in ${told.backup}`]),
    ...(elsewhere.length > 0
      ? [`${elsewhere.length} more belong to other projects; --all takes them too`]
      : []),
    ...told.warnings.map((warning) => `${paint("yellow", "!")} ${visible(warning)}`),
    ...(diff ? ["", diff] : []),
    ...(told.variables.length > 0
      ? ["", "Set these before the hall starts:", ...told.variables.map(exportLine)]
      : []),
    "",
    "Next:",
    "  guildhall build                 start each server once and review what it offers",
    ...(told.clients.length > 0 ? told.clients : ["claude-code"]).map(
      (client) => `  ${`guildhall install ${client}`.padEnd(32)}point it at the hall`,
    ),
  ].join("\n");
}

function exportLine({ name, place }: Told["variables"][number]): string {
  return `  export ${name}=…${place === undefined ? "" : `   # its value stands in ${visible(place)}`}`;
}
