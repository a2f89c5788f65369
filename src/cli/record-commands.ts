import type { Command } from "commander";
import { asJson, examples, refuseUnknown } from "./declaration.ts";

/** What the store keeps. */
export function addRecordCommands(program: Command): void {
  program
    .command("stats")
    .description("show calls, error rates and durations of each tool and toolkit")
    .option("--since <time>", "30m, 24h, 7d or a date (default: everything that is kept)")
    .option(...asJson)
    .addHelpText("after", examples(["guildhall stats", "guildhall stats --since 24h --json"]))
    .action(async (options) => (await import("./stats.ts")).runStats(options));

  const audit = program
    .command("audit")
    .description("show what was called and what was decided")
    .option("--since <time>", "30m, 24h, 7d or a date")
    .option("--tool <name>", "a tool or a toolkit")
    .option(
      "--outcome <word>",
      "ok, error, failed, running, an error code such as TIMEOUT, or what was decided, such as blocked",
    )
    .option("--limit <number>", "how many, the newest (default: 50)")
    .option("--export <format>", "print everything that matches: jsonl")
    .option(...asJson)
    .addHelpText(
      "after",
      examples([
        "guildhall audit --since 1h",
        "guildhall audit --outcome blocked",
        "guildhall audit --export jsonl > audit.jsonl",
        "guildhall audit verify",
      ]),
    )
    .action(async (options) => (await import("./audit.ts")).runAudit(options));
  audit
    .command("verify")
    .description("check that no row of the audit was changed, moved or removed")
    .option(...asJson)
    .addHelpText("after", examples(["guildhall audit verify"]))
    .action(async (_options, command) =>
      (await import("./audit.ts")).runAuditVerify(command.optsWithGlobals()),
    );
  refuseUnknown(audit);
}
