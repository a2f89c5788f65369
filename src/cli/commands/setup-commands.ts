import type { Command } from "commander";
import { asJson, examples } from "../declaration.ts";

/** From the servers other clients have, and back to those clients. */
export function addSetupCommands(program: Command): void {
  program
    .command("init")
    .description(
      "find the servers other clients have, and write those you want into guildhall.json",
    )
    .option("-y, --yes", "ask nothing: take all that are for this project")
    .option("--from <client...>", `read only these clients (${clientIds})`)
    .option("--all", "take servers of other projects too")
    .option(
      "--force",
      "write the file anew instead of adding to it; the old one is kept as a backup",
    )
    .option("--dry-run", "show what would be written, and write nothing")
    .option(...asJson)
    .addHelpText(
      "after",
      examples([
        "guildhall init",
        "guildhall init --yes",
        "guildhall init --from cursor vscode --dry-run",
        "guildhall init --yes --json",
      ]),
    )
    .action(async (options) => (await import("./init.ts")).runInit(options));

  program
    .command("install <client>")
    .description(`point a client at the hall: ${clientIds}`)
    .option("--project", "in the client's file of this project (default, where it has one)")
    .option("--user", "in the user's file, for all projects")
    .option("--move", "also put the servers of that file behind the hall")
    .option("-y, --yes", "ask nothing")
    .option("--dry-run", "show what would be changed, and change nothing")
    .option(...asJson)
    .addHelpText(
      "after",
      examples([
        "guildhall install claude-code",
        "guildhall install cursor --user --dry-run",
        "guildhall install codex --move",
      ]),
    )
    .action(async (client, options) => (await import("./install.ts")).runInstall(client, options));

  program
    .command("uninstall <client>")
    .description(
      "take the hall out of a client's file again: byte for byte as it was, if nobody else has changed it since",
    )
    .option("--project", "out of the client's file of this project (default, where it has one)")
    .option("--user", "out of the user's file")
    .option("-y, --yes", "ask nothing")
    .option("--dry-run", "show what would be changed, and change nothing")
    .option(...asJson)
    .addHelpText(
      "after",
      examples(["guildhall uninstall claude-code", "guildhall uninstall cursor --user"]),
    )
    .action(async (client, options) =>
      (await import("./install.ts")).runUninstall(client, options),
    );
}

const clientIds =
  "claude-code, claude-desktop, cursor, vscode, codex, gemini-cli, windsurf, zed, continue, opencode";
