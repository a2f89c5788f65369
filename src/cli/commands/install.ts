import { stripVTControlCharacters } from "node:util";
import { HallError } from "../../base/errors.ts";
import { visibleLines } from "../../base/sanitize.ts";
import {
  type InstallRequest,
  type PreparedInstall,
  prepareInstall,
  prepareUninstall,
} from "../../hall/install/prepare.ts";
import type { JsonOption } from "../declaration.ts";
import { diffTexts, paint, print } from "../print.ts";
import { isAttended } from "../terminal.ts";

interface InstallOptions extends JsonOption {
  readonly user?: boolean;
  readonly project?: boolean;
  readonly move?: boolean;
  readonly localPath?: boolean;
  readonly yes?: boolean;
  readonly dryRun?: boolean;
}

function requestOf(
  client: string,
  { user, project, move, localPath }: InstallOptions,
): InstallRequest {
  if (user && project)
    throw new HallError("INVALID_PARAMS", "--user and --project cannot be combined");
  const scope = user ? "user" : undefined;
  return { folder: process.cwd(), client, scope: project ? "project" : scope, move, localPath };
}

type Action = "install" | "uninstall";

export async function runInstall(client: string, options: InstallOptions): Promise<void> {
  await run("install", await prepareInstall(requestOf(client, options)), options);
}

export async function runUninstall(client: string, options: InstallOptions): Promise<void> {
  await run("uninstall", await prepareUninstall(requestOf(client, options)), options);
}

async function run(
  action: Action,
  prepared: PreparedInstall,
  options: InstallOptions,
): Promise<void> {
  const diffs = prepared.changes.map(
    ({ file, before, after }) => `${file}\n${diffTexts(before, after)}`,
  );
  if (diffs.length > 0 && !options.json) process.stdout.write(`${diffs.join("\n\n")}\n\n`);
  if (diffs.length > 0 && !options.dryRun && isAttended(options)) await confirmWrite();
  const backup = options.dryRun ? null : await prepared.apply();
  printResult(action, { ...prepared, backup, diffs }, options);
}

async function confirmWrite(): Promise<void> {
  const { confirm, isCancel } = await import("@clack/prompts");
  const isWanted = await confirm({ message: "Write these changes?" });
  if (isCancel(isWanted) || !isWanted) throw new HallError("CANCELLED", "nothing was written");
}

interface Installed extends PreparedInstall {
  readonly backup: string | null;
  readonly diffs: readonly string[];
}

function printResult(action: Action, installed: Installed, options: InstallOptions): void {
  const { plan, backup, diffs, secrets, variables, warnings } = installed;
  const { client, scope, name, moved } = plan;
  const state = stateOf(installed, options);
  const value = {
    client: client.id,
    scope,
    file: plan.file,
    state,
    name,
    moved,
    backup,
    diff: stripVTControlCharacters(diffs.join("\n\n")),
    secrets,
    variables,
    warnings,
  };
  print(value, formatResult(action, installed, state, options).join("\n"), options);
}

function stateOf({ isNoop, plan }: Installed, { dryRun }: InstallOptions): string {
  if (isNoop) return "unchanged";
  if (dryRun) return "would be changed";
  return plan.isRestored ? "restored" : "changed";
}

function formatResult(
  action: Action,
  { plan, isNoop, file, backup, secrets, variables, warnings }: Installed,
  state: string,
  { dryRun }: InstallOptions,
): readonly string[] {
  const { client, scope, moved } = plan;
  const isInstall = action === "install";
  const unchanged = isInstall ? "the hall is already installed" : "the hall is not installed";
  const lines = [isNoop ? `${file}: ${unchanged}` : `${client.name}: ${file} ${state}`];
  if (moved.length > 0)
    lines.push(`${isInstall ? "moved to the hall" : "moved back"}: ${moved.join(", ")}`);
  if (backup !== null) lines.push(`the previous file is saved as ${backup}`);
  lines.push(...warnings.map((warning) => `${paint("yellow", "!")} ${visibleLines(warning)}`));
  if (secrets.length > 0) {
    const does = dryRun ? "would be stored" : "stored";
    lines.push(`${does} as secrets of this project: ${secrets.join(", ")}`);
  }
  if (variables.length > 0)
    lines.push(
      "Values that are still missing:",
      ...variables.map((each) => `  guildhall secret set ${each}`),
    );
  if (isNoop || dryRun) return lines;
  const undo = `; undo with: guildhall uninstall ${client.id}${scope === "user" ? " --user" : ""}`;
  return [...lines, `Restart ${client.name}${isInstall ? undo : "."}`];
}

/** The commands that connect these clients, one per line. */
export function formatInstalls(clients: readonly string[]): readonly string[] {
  return clients.map((client) => formatStep(`install ${client}`, "connect it to the hall"));
}

/** One line under "Next:". */
export function formatStep(command: string, purpose: string): string {
  return `  ${`guildhall ${command}`.padEnd(34)}${purpose}`;
}
