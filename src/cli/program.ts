import { Command } from "commander";
import { version } from "../base/version.ts";
import { addAgentCommands } from "./commands/agent-commands.ts";
import { addHallCommands } from "./commands/hall-commands.ts";
import { addRecordCommands } from "./commands/record-commands.ts";
import { addServerCommands } from "./commands/server-commands.ts";
import { addSetupCommands } from "./commands/setup-commands.ts";
import { addSpecCommands } from "./commands/spec-commands.ts";
import { addToolCommands } from "./commands/tool-commands.ts";
import { addTrustCommands } from "./commands/trust-commands.ts";
import { examples } from "./declaration.ts";

/** All commands. Each one's work is loaded when it is run, so that `mcp` starts as fast as it can. */
export function createProgram(): Command {
  const program = new Command("guildhall")
    .description(
      "One hall for all your MCP servers: gathers their tools, guards every call, shows a model only what it needs.",
    )
    .version(version, "-V, --version", "print the version")
    .helpOption("-h, --help", "show help")
    .showHelpAfterError("(run with --help for usage and examples)")
    .exitOverride()
    .addHelpText("after", examples(["guildhall init", "guildhall serve", "guildhall mcp --help"]));

  for (const [heading, add] of groups) {
    program.commandsGroup(heading);
    add(program);
  }
  return program;
}

/** In the order a newcomer needs them. */
const groups: readonly (readonly [heading: string, add: (program: Command) => void])[] = [
  ["Halls:", addHallCommands],
  ["Setting up:", addSetupCommands],
  ["Servers:", addServerCommands],
  ["Trust:", addTrustCommands],
  ["Tools:", addToolCommands],
  ["Agents:", addAgentCommands],
  ["Workflow:", addSpecCommands],
  ["Records:", addRecordCommands],
];
