import type { Command } from "commander";
import { asJson, examples } from "../declaration.ts";

/** What there is to call, and calling it. */
export function addToolCommands(program: Command): void {
  const tools = program
    .command("tools [words...]")
    .description("list the tools, or those that fit a task, best first")
    .option(...asJson)
    .addHelpText(
      "after",
      examples([
        "guildhall tools",
        "guildhall tools create issue",
        "guildhall tools show github.create_issue",
      ]),
    )
    .action(async (words, options) => (await import("./tools.ts")).runTools(words, options));
  tools
    .command("show <name>")
    .description("show one tool with its schema")
    .option(...asJson)
    .addHelpText("after", examples(["guildhall tools show time_tool.current_time"]))
    .action(async (name, _options, command) =>
      (await import("./tools.ts")).runToolShow(name, command.optsWithGlobals()),
    );

  program
    .command("lisp [file]")
    .description(
      "run a Lisp program that calls tools, from a file or a pipe; at a terminal, a conversation",
    )
    .option("--act", "bind tools that may destroy or send, too; they still ask")
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

  program
    .command("call <name> [arguments...]")
    .description("call a tool with key=value pairs or one JSON object")
    .option(...asJson)
    .addHelpText(
      "after",
      examples([
        "guildhall call time_tool.current_time timezone=Europe/Berlin",
        'guildhall call github.create_issue \'{"title":"It works"}\'',
      ]),
    )
    .action(async (name, words, options) =>
      (await import("./call.ts")).runCall(name, words, options),
    );

  program
    .command("register <file>")
    .description(
      "register a toolkit with a running hall: a JSON file with its endpoint, or a module that is served from here",
    )
    .option("--url <address>", "the hall's address (default: the hall that runs in this folder)")
    .option(
      "--token-file <file>",
      "a file with the hall's token (default: GUILDHALL_TOKEN, else your own)",
    )
    .option("--replace", "take the place of a different toolkit with the same name")
    .option(...asJson)
    .addHelpText(
      "after",
      examples([
        "guildhall register weather.json",
        "guildhall register examples/tools/greeter.mjs --url http://127.0.0.1:8080",
      ]),
    )
    .action(async (file, options) => (await import("./register.ts")).runRegister(file, options));

  program
    .command("unregister <name>")
    .description("take a registered toolkit out of a running hall")
    .option("--url <address>", "the hall's address (default: the hall that runs in this folder)")
    .option(
      "--token-file <file>",
      "a file with the hall's token (default: GUILDHALL_TOKEN, else your own)",
    )
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
