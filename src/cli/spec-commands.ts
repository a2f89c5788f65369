import type { Command } from "commander";
import { asJson, examples, refuseUnknown } from "./declaration.ts";

/** The workflow, and its screens. */
export function addSpecCommands(program: Command): void {
  program
    .command("tui [args...]")
    .description(
      "the terminal client: features, runs, tools, agents, servers, approvals; of this project's hall, or of another server",
    )
    .option("--config <file>", "a config file with an [mcp] section, read instead of the project's")
    .option(
      "--command <program>",
      "speak to this program over its stdin and stdout; its arguments come after --",
    )
    .option("--endpoint <url>", "speak to the server at this address: http, https, ws or wss")
    .option(
      "--timeout <seconds>",
      "how long a call may be silent, 1 to 600 (default: the config's mcp.timeout, else 60)",
    )
    .option(
      "--log-level <level>",
      "what is written to .guildhall/logs/tui.log: trace, debug, info, warn, error, silent (default: the config's, else warn)",
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
    .description(
      "spec-driven work: from a description to a specification, a plan and tasks, in files you own",
    )
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
    .description("list the features and how far each is")
    .option(...asJson)
    .addHelpText("after", examples(["guildhall spec list --json"]))
    .action(async (options) => (await import("./spec.ts")).runSpecList(options));
  spec
    .command("new <description...>")
    .description("write the specification of a new feature")
    .option("--name <words>", "words for the folder's name (default: from the description)")
    .option("--number <number>", "the folder's number (default: the next one)")
    .option(...asJson)
    .addHelpText(
      "after",
      examples(['guildhall spec new "Users can upload photos and organize them into albums"']),
    )
    .action(async (words, options) => (await import("./spec.ts")).runSpecNew(words, options));
  spec
    .command("run [steps...]")
    .description(
      "run the next steps up to the tasks, or those you name: constitution, clarify, plan, tasks, checklist, analyze, implement",
    )
    .option("--feature <name>", "the feature, by name, number or folder (default: the active one)")
    .option("--answer <text...>", "answers to the questions of clarify, in their order")
    .option("--recommended", "take the recommended answer to each question")
    .option("--technology <text>", "what to plan with, such as: TypeScript with Fastify")
    .option("--tests", "with test tasks")
    .option("--filter <tasks>", "which tasks: T003,T007-T010, US1, phase:2, next, unchecked")
    .option("--completed <id...>", "tasks you have done")
    .option("--agent <name>", "the agent that does the tasks")
    .option("--force", "replace files that were edited by hand; go on although checklists are open")
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
    .description("show one feature: its state, its files, what comes next")
    .option(...asJson)
    .addHelpText("after", examples(["guildhall spec status", "guildhall spec status 3 --json"]))
    .action(async (feature, options) =>
      (await import("./spec.ts")).runSpecStatus(feature, options),
    );
  spec
    .command("resume [feature]")
    .description("go on with a step that was interrupted, or with the tasks that are left")
    .option("--force", "replace files that were edited by hand; go on although checklists are open")
    .option(...asJson)
    .addHelpText("after", examples(["guildhall spec resume", "guildhall spec resume 3 --json"]))
    .action(async (feature, options) =>
      (await import("./spec.ts")).runSpecResume(feature, options),
    );
  refuseUnknown(spec);
}
