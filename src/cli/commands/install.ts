import { stripVTControlCharacters } from "node:util";
import type { Command } from "commander";
import { HallError } from "../../base/errors.ts";
import { visibleLines } from "../../base/sanitize.ts";
import type { InstallRequest, PreparedInstall } from "../../hall/setup.ts";
import { asJson, examples, type JsonOption } from "../declaration.ts";
import { diffTexts, paint, print } from "../print.ts";
import { isAttended } from "../terminal.ts";
import { clientIds } from "./init.ts";

interface InstallOptions extends JsonOption {
  readonly user?: boolean;
  readonly project?: boolean;
  readonly move?: boolean;
  readonly yes?: boolean;
  readonly dryRun?: boolean;
}

export function addInstallCommands(program: Command): void {
  program
    .command("install <client>")
    .description(`connect a client to the hall: ${clientIds}`)
    .option("--project", "edit the client's file in this project (default, if it has one)")
    .option("--user", "edit the user's file, for all projects")
    .option("--move", "also move the servers of that file to the hall")
    .option("-y, --yes", "do not ask")
    .option("--dry-run", "show the changes without writing anything")
    .option(...asJson)
    .addHelpText(
      "after",
      examples([
        "guildhall install claude-code",
        "guildhall install cursor --user --dry-run",
        "guildhall install codex --move",
      ]),
    )
    .action(async (client, options) => {
      const { prepareInstall } = await import("../../hall/setup.ts");
      await run("install", prepareInstall, requestOf(client, options), options);
    });

  program
    .command("uninstall <client>")
    .description(
      "remove the hall from a client's file; if nothing else changed it, restore it byte for byte",
    )
    .option("--project", "edit the client's file in this project (default, if it has one)")
    .option("--user", "edit the user's file")
    .option("-y, --yes", "do not ask")
    .option("--dry-run", "show the changes without writing anything")
    .option(...asJson)
    .addHelpText(
      "after",
      examples(["guildhall uninstall claude-code", "guildhall uninstall cursor --user"]),
    )
    .action(async (client, options) => {
      const { prepareUninstall } = await import("../../hall/setup.ts");
      await run("uninstall", prepareUninstall, requestOf(client, options), options);
    });
}

function requestOf(client: string, { user, project, move }: InstallOptions): InstallRequest {
  if (user && project)
    throw new HallError("INVALID_PARAMS", "--user and --project exclude each other");
  const scope = user ? "user" : undefined;
  return { folder: process.cwd(), client, scope: project ? "project" : scope, move };
}

type Action = "install" | "uninstall";

async function run(
  action: Action,
  prepare: (request: InstallRequest) => Promise<PreparedInstall>,
  request: InstallRequest,
  options: InstallOptions,
): Promise<void> {
  const prepared = await prepare(request);
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
  const { plan, backup, diffs, variables, warnings } = installed;
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
    variables,
    warnings,
  };
  print(value, {
    json: options.json,
    text: () => formatResult(action, installed, state, options).join("\n"),
  });
}

function stateOf({ isNoop, plan }: Installed, { dryRun }: InstallOptions): string {
  if (isNoop) return "unchanged";
  if (dryRun) return "would be changed";
  return plan.isRestored ? "restored" : "changed";
}

function formatResult(
  action: Action,
  { plan, isNoop, file, backup, variables, warnings }: Installed,
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
  if (variables.length > 0) {
    const where = backup === null ? "" : "   # the value is in the backup";
    lines.push("Set these variables before the hall starts:");
    lines.push(...variables.map((each) => `  export ${each}=…${where}`));
  }
  if (isNoop || dryRun) return lines;
  const undo = `; undo with: guildhall uninstall ${client.id}${scope === "user" ? " --user" : ""}`;
  return [...lines, `Restart ${client.name}${isInstall ? undo : "."}`];
}
