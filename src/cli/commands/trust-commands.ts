import type { Command } from "commander";
import { asJson, examples } from "../declaration.ts";

/** What a person allows: reviews, trust, approvals, tokens. */
export function addTrustCommands(program: Command): void {
  program
    .command("verify [server]")
    .description(
      "review what a server offers, or all: how it is reached, what its tools say, which of them ask first",
    )
    .option("-y, --yes", "ask nothing: approve everything as it is marked")
    .option(...asJson)
    .addHelpText(
      "after",
      examples(["guildhall verify", "guildhall verify github", "guildhall verify --yes --json"]),
    )
    .action(async (server, options) => (await import("./verify.ts")).runVerify(server, options));

  program
    .command("diff [server]")
    .description("show what has changed since it was reviewed")
    .option(...asJson)
    .addHelpText("after", examples(["guildhall diff", "guildhall diff github --json"]))
    .action(async (server, options) => (await import("./diff.ts")).runDiff(server, options));

  const trust = program
    .command("trust <name>")
    .description(
      "let a tool, or all tools of a server, be called without asking, as long as they stay what they are",
    )
    .option("--until <time>", "for this long only: 90s, 30m, 2h, 7d")
    .option(...asJson)
    .addHelpText(
      "after",
      examples([
        "guildhall trust github.create_issue",
        "guildhall trust github --until 2h",
        "guildhall trust all",
        "guildhall trust list",
        "guildhall trust reset",
      ]),
    )
    .action(async (name, options) => (await import("./trust.ts")).runTrust(name, options));
  trust
    .command("all")
    .description(
      "let every tool that was reviewed be called without asking; shows them and asks first",
    )
    .option("--until <time>", "for this long only: 90s, 30m, 2h, 7d")
    .option("-y, --yes", "ask nothing")
    .option(...asJson)
    .addHelpText("after", examples(["guildhall trust all", "guildhall trust all --until 2h --yes"]))
    .action(async (_options, command) =>
      (await import("./trust.ts")).runTrustAll(command.optsWithGlobals()),
    );
  trust
    .command("list")
    .description("show how each tool stands, and why it asks")
    .option(...asJson)
    .addHelpText("after", examples(["guildhall trust list --json"]))
    .action(async (_options, command) =>
      (await import("./trust.ts")).runTrustList(command.optsWithGlobals()),
    );
  trust
    .command("reset [server]")
    .description("forget every review and all trust of this project, or of one server")
    .option("-y, --yes", "ask nothing")
    .option(...asJson)
    .addHelpText("after", examples(["guildhall trust reset", "guildhall trust reset github --yes"]))
    .action(async (server, _options, command) =>
      (await import("./trust.ts")).runTrustReset(server, command.optsWithGlobals()),
    );

  program
    .command("revoke <name>")
    .description("take back the trust in a tool, or in all tools of a server")
    .option(...asJson)
    .addHelpText(
      "after",
      examples(["guildhall revoke github.create_issue", "guildhall revoke github"]),
    )
    .action(async (name, options) => (await import("./trust.ts")).runRevoke(name, options));

  program
    .command("approvals")
    .description("show the calls that wait for a yes; on a terminal, answer them")
    .option(...asJson)
    .addHelpText("after", examples(["guildhall approvals", "guildhall approvals --json"]))
    .action(async (options) => (await import("./approvals.ts")).runApprovals(options));

  program
    .command("approve <token>")
    .description("let a call that waits run, this once unless told otherwise")
    .option("--always", "and every later call of this tool")
    .option("--hall", "and later calls of this tool while this hall runs")
    .option("--no", "refuse it")
    .option(...asJson)
    .addHelpText(
      "after",
      examples([
        "guildhall approve 3f9c0b7ad1e24c55a8b6d012",
        "guildhall approve 3f9c0b7ad1e24c55a8b6d012 --always",
      ]),
    )
    .action(async (token, options) => (await import("./approvals.ts")).runApprove(token, options));

  const token = program
    .command("token")
    .description("tokens for others who call this user's halls over HTTP")
    .addHelpText("after", examples(["guildhall token create ci", "guildhall token list"]));
  token
    .command("create <name>")
    .description("make a token and show it once")
    .option(...asJson)
    .addHelpText("after", examples(["guildhall token create ci"]))
    .action(async (name, options) => (await import("./token.ts")).runTokenCreate(name, options));
  token
    .command("list")
    .description("show the names")
    .option(...asJson)
    .addHelpText("after", examples(["guildhall token list --json"]))
    .action(async (options) => (await import("./token.ts")).runTokenList(options));
  token
    .command("revoke <name>")
    .description("take a token back; from the next request on it opens nothing")
    .option(...asJson)
    .addHelpText("after", examples(["guildhall token revoke ci"]))
    .action(async (name, options) => (await import("./token.ts")).runTokenRevoke(name, options));
}
