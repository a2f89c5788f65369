import type { Command } from "commander";
import { asJson, examples, refuseUnknown } from "../declaration.ts";

/** Declares `guildhall spec` and `guildhall tui`. */
export function addSpecCommands(program: Command): void {
  program
    .command("tui [args...]")
    .description("open the terminal client of this project's hall, or of another server")
    .option("--config <file>", "a config file with an [mcp] section (default: the project's)")
    .option("--command <program>", "connect to this program over stdio; its arguments follow --")
    .option("--endpoint <url>", "connect to this server: http, https, ws or wss")
    .option(
      "--timeout <seconds>",
      "how long a call may be silent, 1 to 600 (default: mcp.timeout of the config, else 60)",
    )
    .option(
      "--log-level <level>",
      "level of .guildhall/logs/tui.log: trace, debug, info, warn, error, silent (default: the config's, else warn)",
    )
    .addHelpText(
      "after",
      examples([
        "guildhall tui",
        "guildhall tui --command claude -- --mcp",
        "guildhall tui --endpoint http://127.0.0.1:8080/mcp",
      ]),
    )
    .action(async (args, options) => (await import("./tui.ts")).runTui(args, options));

  const spec = program
    .command("spec")
    .description("spec-driven development: a specification, a plan and tasks from a description")
    .addHelpText(
      "after",
      examples([
        'guildhall spec new "Users can upload photos"',
        "guildhall spec run",
        "guildhall spec run implement --filter US1",
      ]),
    );
  spec
    .command("list", { isDefault: true })
    .description("list the features and their phases")
    .option(...asJson)
    .addHelpText("after", examples(["guildhall spec list --json"]))
    .action(async (options) => (await import("./spec.ts")).runSpecList(options));
  spec
    .command("new <description...>")
    .description("write the specification of a new feature")
    .option("--name <words>", "words for the folder name (default: from the description)")
    .option("--number <number>", "number of the feature (default: the next one)")
    .option(...asJson)
    .addHelpText(
      "after",
      examples(['guildhall spec new "Users can upload photos and organize them into albums"']),
    )
    .action(async (words, options) => (await import("./spec.ts")).runSpecNew(words, options));
  spec
    .command("run [steps...]")
    .description(
      "run the next steps up to the tasks, or the named ones: constitution, clarify, plan, tasks, checklist, analyze, implement",
    )
    .option("--feature <name>", "the feature, by name, number or folder (default: the active one)")
    .option("--answer <text...>", "answers to the open questions, in order")
    .option("--recommended", "take the recommended answer to each question")
    .option("--technology <text>", "technology for the plan, such as: TypeScript with Fastify")
    .option("--tests", "add test tasks")
    .option("--filter <tasks>", "only these tasks: T003,T007-T010, US1, phase:2, next, unchecked")
    .option("--completed <id...>", "tasks you have done")
    .option("--agent <name>", "the agent that does the tasks")
    .option("--force", "replace files with hand edits; continue although checklists are open")
    .option(...asJson)
    .addHelpText(
      "after",
      examples([
        "guildhall spec run",
        "guildhall spec run --recommended --json",
        "guildhall spec run implement --filter US1",
      ]),
    )
    .action(async (steps, options) => (await import("./spec.ts")).runSpecRun(steps, options));
  spec
    .command("status [feature]")
    .description("show one feature: phase, files, next step")
    .option(...asJson)
    .addHelpText("after", examples(["guildhall spec status", "guildhall spec status 3 --json"]))
    .action(async (feature, options) =>
      (await import("./spec.ts")).runSpecStatus(feature, options),
    );
  spec
    .command("resume [feature]")
    .description("continue an interrupted step, or the tasks that are left")
    .option("--force", "replace files with hand edits; continue although checklists are open")
    .option(...asJson)
    .addHelpText("after", examples(["guildhall spec resume", "guildhall spec resume 3 --json"]))
    .action(async (feature, options) =>
      (await import("./spec.ts")).runSpecResume(feature, options),
    );
  refuseUnknown(spec);
}
