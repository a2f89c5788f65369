import { Command } from "commander";
import { version } from "../base/version.ts";

/** All commands. Each one's work is loaded when it is run, so that `mcp` starts as fast as it can. */
export function createProgram(): Command {
  const program = new Command("guildhall")
    .description("One hall for all your MCP servers: gathers their tools, guards every call, shows a model only what it needs.")
    .version(version, "-V, --version", "print the version")
    .helpOption("-h, --help", "show help")
    .showHelpAfterError("(run with --help for usage and examples)")
    .exitOverride()
    .addHelpText("after", examples(["guildhall serve", "guildhall mcp", "guildhall mcp --help"]));

  program
    .command("mcp")
    .description("serve MCP over stdin and stdout; this is what an MCP client starts")
    .option("--expose <faces>", "what clients are shown, comma-separated (default: the config's, else tools)")
    .option("--static", "freeze the lists and say so")
    .option("--alone", "run a hall of its own, even when one of this project is running")
    .option("--log-level <level>", "what is written to stderr: trace, debug, info, warn, error, silent (default: the config's, else warn)")
    .addHelpText("after", examples(["guildhall mcp", "guildhall mcp --expose tools --static", "claude mcp add guildhall -- guildhall mcp"]))
    .action(async (options) => (await import("./mcp.ts")).runMcp(options));

  program
    .command("serve")
    .description("serve MCP over HTTP, WebSocket and SSE, and print how to connect to it")
    .option("--host <address>", "the address to listen on; any but loopback needs --token-file (default: the config's, else 127.0.0.1)")
    .option("--port <number>", "the port to listen on; 0 for any free one (default: the config's, else 8080)")
    .option("--token-file <file>", "a file with the token every caller must send (default: the config's)")
    .option("--expose <faces>", "what clients are shown, comma-separated (default: the config's, else tools)")
    .option("--static", "freeze the lists and say so")
    .option("--log-level <level>", "what is written to stderr: trace, debug, info, warn, error, silent (default: the config's, else info)")
    .option("--json", "print the address as JSON instead of text")
    .addHelpText(
      "after",
      examples(["guildhall serve", "guildhall serve --port 9000 --json", "guildhall serve --host 0.0.0.0 --token-file /etc/guildhall/token"]),
    )
    .action(async (options) => (await import("./serve.ts")).runServe(options));

  addServerCommands(program);
  addToolCommands(program);
  return program;
}

const asJson = ["--json", "print JSON instead of text"] as const;

function addServerCommands(program: Command): void {
  program
    .command("build")
    .description("start every configured server once, and write what they offer to .guildhall/tools.lock.json")
    .option("-y, --yes", "ask nothing")
    .option(...asJson)
    .addHelpText("after", examples(["guildhall build", "guildhall build --yes --json"]))
    .action(async (options) => (await import("./build.ts")).runBuild(options));

  program
    .command("status")
    .description("show the running hall and the state of each server")
    .option(...asJson)
    .addHelpText("after", examples(["guildhall status", "guildhall status --json"]))
    .action(async (options) => (await import("./status.ts")).runStatus(options));

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

function addToolCommands(program: Command): void {
  const tools = program
    .command("tools [words...]")
    .description("list the tools, or those that match every word")
    .option(...asJson)
    .addHelpText("after", examples(["guildhall tools", "guildhall tools create issue", "guildhall tools show github.create_issue"]))
    .action(async (words, options) => (await import("./tools.ts")).runTools(words, options));
  tools
    .command("show <name>")
    .description("show one tool with its schema")
    .option(...asJson)
    .addHelpText("after", examples(["guildhall tools show time_tool.current_time"]))
    .action(async (name, _options, command) => (await import("./tools.ts")).runToolShow(name, command.optsWithGlobals()));

  program
    .command("call <name> [arguments...]")
    .description("call a tool with key=value pairs or one JSON object")
    .option(...asJson)
    .addHelpText(
      "after",
      examples(["guildhall call time_tool.current_time timezone=Europe/Berlin", 'guildhall call github.create_issue \'{"title":"It works"}\'']),
    )
    .action(async (name, words, options) => (await import("./call.ts")).runCall(name, words, options));

  program
    .command("register <file>")
    .description("register a toolkit with a running hall: a JSON file with its endpoint, or a module that is served from here")
    .option("--url <address>", "the hall's address (default: the hall that runs in this folder)")
    .option("--token-file <file>", "a file with the hall's token (default: GUILDHALL_TOKEN, else your own)")
    .option("--replace", "take the place of a different toolkit with the same name")
    .option(...asJson)
    .addHelpText("after", examples(["guildhall register weather.json", "guildhall register examples/tools/greeter.mjs --url http://127.0.0.1:8080"]))
    .action(async (file, options) => (await import("./register.ts")).runRegister(file, options));

  program
    .command("unregister <name>")
    .description("take a registered toolkit out of a running hall")
    .option("--url <address>", "the hall's address (default: the hall that runs in this folder)")
    .option("--token-file <file>", "a file with the hall's token (default: GUILDHALL_TOKEN, else your own)")
    .option(...asJson)
    .addHelpText("after", examples(["guildhall unregister weather"]))
    .action(async (name, options) => (await import("./register.ts")).runUnregister(name, options));

  program
    .command("resources")
    .description("list the resources")
    .option(...asJson)
    .addHelpText("after", examples(["guildhall resources --json"]))
    .action(async (options) => (await import("./tools.ts")).runResources(options));

  program
    .command("prompts")
    .description("list the prompts")
    .option(...asJson)
    .addHelpText("after", examples(["guildhall prompts --json"]))
    .action(async (options) => (await import("./tools.ts")).runPrompts(options));
}

function examples(lines: readonly string[]): string {
  return `\nExamples:\n${lines.map((line) => `  $ ${line}`).join("\n")}\n`;
}
