import type { Command } from "commander";
import { HallError } from "../../base/errors.ts";
import { addCommand, parseDuration, refuseUnknown, wholeNumber } from "../declaration.ts";

/** Declares `stats` and `audit`, which read the store. */
export function addRecordCommands(program: Command): void {
  addCommand(program, "stats", {
    does: "show calls, error rates and durations per tool and toolkit",
    options: { "--since <time>": ["30m, 24h, 7d or a date (default: all)", parseSince] },
    examples: ["guildhall stats", "guildhall stats --since 24h --json"],
    load: async () => (await import("./stats.ts")).runStats,
  });

  const audit = addCommand(program, "audit", {
    does: "show calls and decisions",
    options: {
      "--since <time>": ["30m, 24h, 7d or a date", parseSince],
      "--tool <name>": "only this tool or toolkit",
      "--outcome <word>":
        "ok, error, failed, running, an error code such as TIMEOUT, or a decision such as blocked",
      "--limit <number>": [
        "show at most this many, newest first (default: 50)",
        wholeNumber("limit", 1, 100_000),
      ],
      "--export <format>": ["print everything that matches: jsonl", parseFormat],
    },
    examples: [
      "guildhall audit --since 1h",
      "guildhall audit --outcome blocked",
      "guildhall audit --export jsonl > audit.jsonl",
      "guildhall audit verify",
    ],
    load: async () => (await import("./audit.ts")).runAudit,
  });
  addCommand(audit, "verify", {
    does: "check that no row of the audit was changed, moved or removed",
    examples: ["guildhall audit verify"],
    load: async () => (await import("./audit.ts")).runAuditVerify,
  });
  refuseUnknown(audit);
}

/** Lisp programs that call tools. */
export function addLisp(program: Command): void {
  addCommand(program, "lisp [file]", {
    does: "run a Lisp program that calls tools, from a file or a pipe; in a terminal, a session",
    options: {
      "--act": "also bind tools that destroy or send; their calls still require approval",
    },
    examples: [
      "guildhall lisp",
      "guildhall lisp report.lisp",
      "echo '(+ 1 2)' | guildhall lisp --json",
    ],
    load: async () => (await import("./lisp.ts")).runLisp,
  });
}

/** Milliseconds since 1970. */
function parseSince(text: string): number {
  const durationMs = parseDuration(text);
  const at = Number.isNaN(durationMs) ? Date.parse(text) : Date.now() - durationMs;
  if (!Number.isNaN(at)) return at;
  throw new HallError(
    "INVALID_PARAMS",
    `invalid time "${text}" (expected: 30m, 24h, 7d, or a date such as 2026-01-31)`,
  );
}

function parseFormat(text: string): string {
  if (text === "jsonl") return text;
  throw new HallError("INVALID_PARAMS", `unknown export format "${text}" (expected: jsonl)`);
}
