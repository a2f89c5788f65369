import type { Command } from "commander";
import { HallError } from "../../base/errors.ts";
import { asJson, examples, refuseUnknown } from "../declaration.ts";

/** Declares `stats` and `audit`, which read the store. */
export function addRecordCommands(program: Command): void {
  program
    .command("stats")
    .description("show calls, error rates and durations per tool and toolkit")
    .option("--since <time>", "30m, 24h, 7d or a date (default: all)", parseSince)
    .option(...asJson)
    .addHelpText("after", examples(["guildhall stats", "guildhall stats --since 24h --json"]))
    .action(async (options) => (await import("./stats.ts")).runStats(options));

  const audit = program
    .command("audit")
    .description("show calls and decisions")
    .option("--since <time>", "30m, 24h, 7d or a date", parseSince)
    .option("--tool <name>", "only this tool or toolkit")
    .option(
      "--outcome <word>",
      "ok, error, failed, running, an error code such as TIMEOUT, or a decision such as blocked",
    )
    .option("--limit <number>", "show at most this many, newest first (default: 50)", parseLimit)
    .option("--export <format>", "print everything that matches: jsonl", parseFormat)
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

/** Lisp programs that call tools. */
export function addLisp(program: Command): void {
  program
    .command("lisp [file]")
    .description(
      "run a Lisp program that calls tools, from a file or a pipe; in a terminal, a session",
    )
    .option("--act", "also bind tools that destroy or send; their calls still require approval")
    .option(...asJson)
    .addHelpText(
      "after",
      examples([
        "guildhall lisp",
        "guildhall lisp report.lisp",
        "echo '(+ 1 2)' | guildhall lisp --json",
      ]),
    )
    .action(async (file, options) => (await import("./lisp.ts")).runLisp(file, options));
}

const unitMs: Readonly<Record<string, number>> = {
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 7 * 86_400_000,
};

/** Milliseconds since 1970. */
function parseSince(text: string): number {
  const [, count, unit] = /^(\d{1,6})([mhdw])$/.exec(text) ?? [];
  const at =
    count !== undefined && unit !== undefined
      ? Date.now() - Number(count) * (unitMs[unit] ?? 0)
      : Date.parse(text);
  if (Number.isNaN(at))
    throw invalid(`invalid time "${text}" (expected: 30m, 24h, 7d, or a date such as 2026-01-31)`);
  return at;
}

function parseLimit(text: string): number {
  const limit = Number(text);
  if (!Number.isInteger(limit) || limit < 1 || limit > 100_000)
    throw invalid(`invalid limit "${text}" (expected: a number from 1 to 100000)`);
  return limit;
}

function parseFormat(text: string): string {
  if (text !== "jsonl") throw invalid(`unknown export format "${text}" (expected: jsonl)`);
  return text;
}

function invalid(message: string): HallError {
  return new HallError("INVALID_PARAMS", message, { hint: "See the options with --help." });
}
