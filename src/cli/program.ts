import { Command } from "commander";
import { version } from "../base/version.ts";
import { addAgentCommands } from "./commands/agent-commands.ts";
import { addApprovalCommands } from "./commands/approvals.ts";
import { addBuild } from "./commands/build.ts";
import { addCall } from "./commands/call.ts";
import { addDoctor } from "./commands/doctor.ts";
import { addHealth } from "./commands/health.ts";
import { addInit } from "./commands/init.ts";
import { addInstallCommands } from "./commands/install.ts";
import { addLoginCommands } from "./commands/login.ts";
import { addLisp, addRecordCommands } from "./commands/record-commands.ts";
import { addRegisterCommands } from "./commands/register.ts";
import { addServe } from "./commands/serve.ts";
import { addSpecCommands } from "./commands/spec-commands.ts";
import { addStatusCommands } from "./commands/status.ts";
import { addTokenCommands } from "./commands/token.ts";
import { addToolCommands } from "./commands/tools.ts";
import { addTrustCommands } from "./commands/trust.ts";
import { addReviewCommands } from "./commands/verify.ts";
import { formatExamples } from "./declaration.ts";
import { addMcp } from "./mcp-flags.ts";

/** All commands. Their files are light: each loads the service it needs when it runs. */
export function createProgram(): Command {
  const program = new Command("guildhall")
    .description(
      "One hall for all your MCP servers: gathers their tools, guards every call, shows a model only what it needs.",
    )
    .version(version, "-V, --version", "print the version")
    .helpOption("-h, --help", "show help")
    .showHelpAfterError("(run with --help for usage and examples)")
    .exitOverride()
    .addHelpText(
      "after",
      formatExamples(["guildhall init", "guildhall serve", "guildhall mcp --help"]),
    );

  for (const [heading, ...commands] of groups) {
    program.commandsGroup(heading);
    for (const add of commands) add(program);
  }
  return program;
}

type AddCommand = (program: Command) => void;

/** In the order a newcomer needs them. */
const groups: readonly (readonly [heading: string, ...commands: AddCommand[]])[] = [
  ["Halls:", addMcp, addServe],
  ["Setup:", addInit, addInstallCommands],
  ["Servers:", addBuild, addStatusCommands, addHealth, addLoginCommands, addDoctor],
  ["Trust:", addReviewCommands, addTrustCommands, addApprovalCommands, addTokenCommands],
  ["Tools:", addToolCommands, addLisp, addCall, addRegisterCommands],
  ["Agents:", addAgentCommands],
  ["Workflow:", addSpecCommands],
  ["Records:", addRecordCommands],
];
