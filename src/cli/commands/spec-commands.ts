import type { Command } from "commander";
import { addCommand, refuseUnknown } from "../declaration.ts";

/** Declares `guildhall spec` and `guildhall tui`. */
export function addSpecCommands(program: Command): void {
  addCommand(program, "tui [args...]", {
    does: "open the terminal client of this project's hall, or of another server",
    options: {
      "--config <file>": "a config file with an [mcp] section (default: the project's)",
      "--command <program>": "connect to this program over stdio; its arguments follow --",
      "--endpoint <url>": "connect to this server: http, https, ws or wss",
      "--timeout <seconds>":
        "how long a call may be silent, 1 to 600 (default: mcp.timeout of the config, else 60)",
      "--log-level <level>":
        "level of .guildhall/logs/tui.log: trace, debug, info, warn, error, silent (default: the config's, else warn)",
    },
    hasJson: false,
    examples: [
      "guildhall tui",
      "guildhall tui --command claude -- --mcp",
      "guildhall tui --endpoint http://127.0.0.1:8080/mcp",
    ],
    load: async () => (await import("./tui.ts")).runTui,
  });

  const spec = addCommand(program, "spec", {
    does: "spec-driven development: a specification, a plan and tasks from a description",
    examples: [
      'guildhall spec new "Users can upload photos"',
      "guildhall spec run",
      "guildhall spec run implement --filter US1",
    ],
  });
  addCommand(spec, "list", {
    does: "list the features and their phases",
    examples: ["guildhall spec list --json"],
    isDefault: true,
    load: async () => (await import("./spec.ts")).runSpecList,
  });
  addCommand(spec, "new <description...>", {
    does: "write the specification of a new feature",
    options: {
      "--name <words>": "words for the folder name (default: from the description)",
      "--number <number>": "number of the feature (default: the next one)",
    },
    examples: ['guildhall spec new "Users can upload photos and organize them into albums"'],
    load: async () => (await import("./spec.ts")).runSpecNew,
  });
  const force = "replace files with hand edits; continue although checklists are open";
  addCommand(spec, "run [steps...]", {
    does: "run the next steps up to the tasks, or the named ones: constitution, clarify, plan, tasks, checklist, analyze, implement",
    options: {
      "--feature <name>": "the feature, by name, number or folder (default: the active one)",
      "--answer <text...>": "answers to the open questions, in order",
      "--recommended": "take the recommended answer to each question",
      "--technology <text>": "technology for the plan, such as: TypeScript with Fastify",
      "--tests": "add test tasks",
      "--filter <tasks>": "only these tasks: T003,T007-T010, US1, phase:2, next, unchecked",
      "--completed <id...>": "tasks you have done",
      "--agent <name>": "the agent that does the tasks",
      "--force": force,
    },
    examples: [
      "guildhall spec run",
      "guildhall spec run --recommended --json",
      "guildhall spec run implement --filter US1",
    ],
    load: async () => (await import("./spec.ts")).runSpecRun,
  });
  addCommand(spec, "status [feature]", {
    does: "show one feature: phase, files, next step",
    examples: ["guildhall spec status", "guildhall spec status 3 --json"],
    load: async () => (await import("./spec.ts")).runSpecStatus,
  });
  addCommand(spec, "resume [feature]", {
    does: "continue an interrupted step, or the tasks that are left",
    options: { "--force": force },
    examples: ["guildhall spec resume", "guildhall spec resume 3 --json"],
    load: async () => (await import("./spec.ts")).runSpecResume,
  });
  refuseUnknown(spec);
}
