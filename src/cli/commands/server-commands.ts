import type { Command } from "commander";
import { asJson, examples } from "../declaration.ts";

/** The servers behind the hall. */
export function addServerCommands(program: Command): void {
  program
    .command("build")
    .description(
      "start every configured server once, write what they offer to .guildhall/tools.lock.json, review it, and group the tools into agents",
    )
    .option("-y, --yes", "ask nothing: approve everything as it is marked")
    .option("--regroup", "group all tools anew, but for what was moved by hand")
    .option(
      "--planner <kind>",
      "let a model name, describe and regroup: model, or sampling for that of a connected client (default: local, without one)",
    )
    .option("--strict", "fail when the groups are too few, too many, too small or too large")
    .option("--dry-run", "show what would become of the groups, and write nothing")
    .option(...asJson)
    .addHelpText(
      "after",
      examples(["guildhall build", "guildhall build --dry-run", "guildhall build --yes --json"]),
    )
    .action(async (options) => (await import("./build.ts")).runBuild(options));

  program
    .command("status")
    .description("show the running hall and the state of each server")
    .option(...asJson)
    .addHelpText("after", examples(["guildhall status", "guildhall status --json"]))
    .action(async (options) => (await import("./status.ts")).runStatus(options));

  program
    .command("health [name]")
    .description(
      "ask each server and toolkit how it is, or one; without a running hall, start each server once to see",
    )
    .option(...asJson)
    .addHelpText("after", examples(["guildhall health", "guildhall health github --json"]))
    .action(async (name, options) => (await import("./health.ts")).runHealth(name, options));

  program
    .command("logs <server>")
    .description("show the last lines a server wrote to stderr")
    .option(...asJson)
    .addHelpText("after", examples(["guildhall logs github"]))
    .action(async (server, options) => (await import("./status.ts")).runLogs(server, options));

  program
    .command("restart <server>")
    .description("stop a server; it starts again at its next call")
    .option(...asJson)
    .addHelpText("after", examples(["guildhall restart github"]))
    .action(async (server, options) => (await import("./status.ts")).runRestart(server, options));

  program
    .command("login <server>")
    .description("log in to a server elsewhere: prints the page to open, and waits for the answer")
    .option(...asJson)
    .addHelpText("after", examples(["guildhall login github", "guildhall login github --json"]))
    .action(async (server, options) => (await import("./login.ts")).runLogin(server, options));

  program
    .command("logout <server>")
    .description("forget the tokens of a server")
    .option(...asJson)
    .addHelpText("after", examples(["guildhall logout github"]))
    .action(async (server, options) => (await import("./login.ts")).runLogout(server, options));

  program
    .command("doctor")
    .description("check each configured server, and say what to do")
    .option(...asJson)
    .addHelpText("after", examples(["guildhall doctor", "guildhall doctor --json"]))
    .action(async (options) => (await import("./doctor.ts")).runDoctor(options));
}
