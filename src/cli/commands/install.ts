import { realpath } from "node:fs/promises";
import { stripVTControlCharacters } from "node:util";
import { HallError } from "../../base/errors.ts";
import { visibleLines } from "../../base/text.ts";
import { type Machine, shorten, thisMachine } from "../../hall/import/document.ts";
import { type Findings, findServers, findUnset } from "../../hall/import/import.ts";
import type { ImportedServer } from "../../hall/import/merge.ts";
import {
  applyInstall,
  applyUninstall,
  type InstallPlan,
  type InstallTarget,
  planInstall,
  planUninstall,
} from "../../hall/install/install.ts";
import {
  addToProjectFile,
  type ProjectFile,
  readProjectFile,
} from "../../hall/install/project-file.ts";
import { openRecords, writeThrough } from "../../hall/install/records.ts";
import { getClient } from "../clients.ts";
import { paint, print } from "../print.ts";
import { isAttended } from "../terminal.ts";
import { diffTexts } from "../text-diff.ts";
import { ownCommand } from "./connect.ts";

export interface InstallOptions {
  readonly user?: boolean;
  readonly project?: boolean;
  readonly move?: boolean;
  readonly yes?: boolean;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

/** Puts the hall into a client's file, after showing how; with `move`, that file's servers go behind the hall. */
export async function runInstall(id: string, options: InstallOptions): Promise<void> {
  const machine = thisMachine(await realpath(process.cwd()));
  const target = targetOf(id, machine, options);
  const project = await readProjectFile(machine);
  const first = await planInstall(target, commandFor(target, project));
  const found = await findServers({
    machine,
    from: [target.client],
    file: first.file,
    existing: project.servers,
    ...ownScript(),
  });
  const moving = options.move ? serversToMove(found) : { names: [], servers: [] };
  const plan = options.move
    ? await planInstall(target, commandFor(target, project), moving.names)
    : first;
  const config = await addToProjectFile(project, moving.servers);
  const diffs = [
    ...(config !== project.text && moving.servers.length > 0
      ? [diffOf(project.file, project.text ?? "", config, found, machine)]
      : []),
    ...(isNoop(plan)
      ? []
      : [diffOf(plan.file, textOf(plan.before), textOf(plan.after), found, machine)]),
  ];
  await confirmed(diffs, options, async () => {
    // Ours first: a server must be behind the hall before it leaves the client.
    if (moving.servers.length > 0 && !options.dryRun) await writeThrough(project.file, config);
    const backup =
      isNoop(plan) || options.dryRun ? null : await applyInstall(plan, openRecords(machine.env));
    const variables = options.move ? unsetVariables(moving, found, machine) : [];
    const staying = options.move ? await findStaying(target, first.file) : [];
    tell(
      { plan, backup, diffs, variables, warnings: [...found.warnings, ...staying] },
      machine,
      options,
      "install",
    );
  });
}

/** Takes the hall out of a client's file again. */
export async function runUninstall(id: string, options: InstallOptions): Promise<void> {
  const machine = thisMachine(await realpath(process.cwd()));
  const target = targetOf(id, machine, options);
  const records = openRecords(machine.env);
  const plan = await planUninstall(target, records);
  const found = await findServers({
    machine,
    from: [target.client],
    file: plan.file,
    ...ownScript(),
  });
  const masked = await secretsOf(plan, target, found);
  const diffs = isNoop(plan)
    ? []
    : [diffOf(plan.file, textOf(plan.before), textOf(plan.after), masked, machine)];
  await confirmed(diffs, options, async () => {
    const backup = isNoop(plan) || options.dryRun ? null : await applyUninstall(plan, records);
    tell({ plan, backup, diffs, variables: [], warnings: [] }, machine, options, "uninstall");
  });
}

function targetOf(id: string, machine: Machine, { user, project }: InstallOptions): InstallTarget {
  if (user && project)
    throw new HallError("INVALID_PARAMS", "--user and --project exclude each other", {
      hint: "Choose one.",
    });
  return {
    client: getClient(id),
    machine,
    scope: user ? "user" : project ? "project" : undefined,
    ...ownScript(),
  };
}

function ownScript(): { readonly ownScript?: string } {
  return process.argv[1] === undefined ? {} : { ownScript: process.argv[1] };
}

/** A client that starts the hall for all projects starts it anywhere: it has to be told whose config to use. */
function commandFor(
  { client, scope, machine }: InstallTarget,
  project: ProjectFile,
): readonly [string, ...string[]] {
  const isForProject =
    scope === "project" ||
    (scope === undefined &&
      client.files.some((place) => place.scope === "project" && !place.isReadOnly));
  return isForProject || project.text === undefined
    ? ownCommand()
    : [...ownCommand(), "--folder", machine.folder];
}

interface Moving {
  /** As the client calls them. */
  readonly names: readonly string[];
  readonly servers: readonly ImportedServer[];
}

/** Those that can be taken over, or have been. What was left out stays where it works. */
function serversToMove({ servers, known }: Findings): Moving {
  const here = servers.filter(({ elsewhere }) => elsewhere === undefined);
  const names = [
    ...here.flatMap(({ sightings }) => sightings.map(({ name }) => name)),
    ...known.map(({ sighting }) => sighting.name),
  ];
  return { names: [...new Set(names)], servers: here };
}

/** Only one file is changed: those of the client's other files are there for other projects, or in YAML, which is not edited. */
async function findStaying({ client, machine }: InstallTarget, file: string): Promise<string[]> {
  const { servers } = await findServers({ machine, from: [client], ...ownScript() });
  const places = servers.flatMap(({ sightings }) =>
    sightings.map(({ name, place }) => ({ name, place })),
  );
  return places
    .filter(({ place }) => !place.startsWith(`${shorten(file, machine)}:`))
    .map(({ name, place }) => `${place}: ${name}: stays there; \`guildhall init\` takes it over`);
}

function unsetVariables({ servers }: Moving, { secrets }: Findings, { env }: Machine): string[] {
  const kept = secrets.map(({ variable }) => variable).filter((name) => env[name] === undefined);
  return [...new Set([...servers.flatMap(({ server }) => findUnset(server, env)), ...kept])];
}

/** The change as people read it. Lines around it may hold secrets: those are masked. */
function diffOf(
  file: string,
  before: string,
  after: string,
  { secrets }: Pick<Findings, "secrets">,
  machine: Machine,
): string {
  // The longest first: one secret may be part of another.
  const spellings = secrets
    .flatMap(({ value }) => [value, JSON.stringify(value).slice(1, -1)])
    .sort((a, b) => b.length - a.length);
  const mask = (text: string): string =>
    spellings.reduce((masked, secret) => masked.replaceAll(secret, "…"), text);
  return `${shorten(file, machine)}\n${diffTexts(mask(before), mask(after))}`;
}

/** What comes back may hold secrets that are not in the file now. */
async function secretsOf(
  { after, file }: InstallPlan,
  { client, machine }: InstallTarget,
  found: Findings,
): Promise<Pick<Findings, "secrets">> {
  if (after === undefined) return found;
  const { findSecretsIn } = await import("../../hall/import/import.ts");
  return {
    secrets: [...found.secrets, ...(await findSecretsIn(client, file, after.toString(), machine))],
  };
}

/** Shows what is about to be done; on a terminal, asks. */
async function confirmed(
  diffs: readonly string[],
  options: InstallOptions,
  go: () => Promise<void>,
): Promise<void> {
  if (diffs.length > 0 && !options.json) process.stdout.write(`${diffs.join("\n\n")}\n\n`);
  if (diffs.length > 0 && !options.dryRun && isAttended(options)) {
    const { confirm, isCancel } = await import("@clack/prompts");
    const isWanted = await confirm({ message: "Write this?" });
    if (isCancel(isWanted) || !isWanted)
      throw new HallError("CANCELLED", "nothing was written", {
        hint: "Run it again when you like.",
      });
  }
  await go();
}

interface Told {
  readonly plan: InstallPlan;
  readonly backup: string | null;
  readonly diffs: readonly string[];
  readonly variables: readonly string[];
  readonly warnings: readonly string[];
}

function tell(
  { plan, backup, diffs, variables, warnings }: Told,
  machine: Machine,
  options: InstallOptions,
  what: "install" | "uninstall",
): void {
  const { client, scope, name, moved, isRestored } = plan;
  const file = shorten(plan.file, machine);
  const state = isNoop(plan)
    ? "unchanged"
    : options.dryRun
      ? "would be changed"
      : isRestored
        ? "restored"
        : "changed";
  const lines = [
    isNoop(plan)
      ? `${file}: ${what === "install" ? "the hall is there already" : "there is no hall"}`
      : `${client.name}: ${file} ${state}`,
    ...(moved.length > 0
      ? [`${what === "install" ? "behind the hall now" : "back in it"}: ${moved.join(", ")}`]
      : []),
    ...(backup === null ? [] : [`what it was before is in ${backup}`]),
    ...warnings.map((warning) => `${paint("yellow", "!")} ${visibleLines(warning)}`),
    ...(variables.length > 0
      ? [
          "Set these before the hall starts:",
          ...variables.map(
            (each) =>
              `  export ${each}=…${backup === null ? "" : "   # its value stands in the backup"}`,
          ),
        ]
      : []),
    ...(isNoop(plan) || options.dryRun
      ? []
      : [
          what === "install"
            ? `Restart ${client.name}; undo with: guildhall uninstall ${client.id}${scope === "user" ? " --user" : ""}`
            : `Restart ${client.name}.`,
        ]),
  ];
  const value = {
    client: client.id,
    scope,
    file: plan.file,
    state,
    name,
    moved,
    backup,
    diff: stripVTControlCharacters(diffs.join("\n\n")),
    variables,
    warnings,
  };
  print(value, { json: options.json, text: () => lines.join("\n") });
}

function isNoop({ before, after }: InstallPlan): boolean {
  return before === undefined ? after === undefined : after?.equals(before) === true;
}

function textOf(bytes: Buffer | undefined): string {
  return bytes?.toString() ?? "";
}
