import { relative, resolve } from "node:path";
import { Command } from "commander";
import { findNear } from "../base/text.ts";
import { version } from "../base/version.ts";
import type { Declaration } from "./declaration.ts";
import { hallCommands } from "./hall-commands.ts";
import { enterProject } from "./place.ts";
import { trustCommands } from "./trust-commands.ts";
import { workCommands } from "./work-commands.ts";

/** All commands. Their tables are light: each command loads what it needs when it runs. */
export function createProgram(): Command {
  const program = new Command("guildhall")
    .description(
      "One hall for all your MCP servers: gathers their tools, guards every call, shows a model only what it needs.",
    )
    .version(version, "-V, --version", "print the version")
    .helpOption("-h, --help", "show help")
    .option(
      "--folder <folder>",
      "the project's folder (default: the nearest with a config, up to the root of the repository)",
    )
    .exitOverride()
    // Errors are printed where the command ends, like all others.
    .configureOutput({ outputError: () => {} })
    .addHelpText("after", examples(["init", "serve", "mcp --help"]));

  for (const [heading, commands] of Object.entries({
    ...hallCommands,
    ...trustCommands,
    ...workCommands,
  })) {
    program.commandsGroup(heading);
    for (const [name, declaration] of Object.entries(commands)) add(program, name, declaration);
  }
  return program;
}

function add(parent: Command, name: string, declaration: Declaration): void {
  const { does, usage, options = {}, hasJson = true, isDefault = false, load } = declaration;
  const command = parent
    .command(name, { isDefault })
    .description(does)
    .addHelpText("after", examples(declaration.examples));
  if (usage !== undefined) command.usage(usage);
  for (const [flags, help] of Object.entries(options)) {
    if (typeof help === "string") command.option(flags, help);
    else command.option(flags, ...help);
  }
  if (load) {
    if (hasJson && !options["--json"]) command.option("--json", "print JSON instead of text");
    command.action(async (...given: readonly unknown[]) => {
      // A parent with the same option has read it.
      const { folder, ...values } = command.optsWithGlobals<CommandValues>();
      const { start, folder: project } = enterProject(folder);
      if (project !== start && folder === undefined && !values.json && command.name() !== "mcp")
        process.stderr.write(`project: ${relative(start, project)}\n`);
      const run = await load();
      // Commander appends the options and the command.
      const operands = command.registeredArguments.map((argument, at) =>
        argument.name() === "file" ? fileFrom(start, given[at]) : given[at],
      );
      const files = command.options.filter(({ flags }) => flags.endsWith(" <file>"));
      const paths = files.map((option) => {
        const name = option.attributeName();
        return [name, fileFrom(start, values[name])];
      });
      const options = { ...values, ...Object.fromEntries(paths), start };
      await run(...(operands as never[]), options as never);
    });
  }

  const subcommands = Object.entries(declaration.subcommands ?? {});
  for (const [inner, innerDeclaration] of subcommands) add(command, inner, innerDeclaration);
  const hasOperands = name.includes(" ");
  const runsAlone = load !== undefined || subcommands.some(([, inner]) => inner.isDefault);
  // Not before the subcommands are added, because they would inherit the hooks.
  if (subcommands.length > 0 && runsAlone && !hasOperands) refuseUnknown(command);
}

type CommandValues = Readonly<Record<string, unknown>> & { readonly folder?: string };

/** Files are named from where the command was typed, which may be below the project's folder. */
function fileFrom(start: string, file: unknown): unknown {
  return typeof file === "string" && start !== process.cwd() ? resolve(start, file) : file;
}

function examples(lines: readonly string[]): string {
  const commands = lines.map((line) => (line.includes("guildhall ") ? line : `guildhall ${line}`));
  return `\nExamples:\n${commands.map((line) => `  $ ${line}`).join("\n")}\n`;
}

/** Refuses unknown words for a command that has subcommands and also runs by itself. */
function refuseUnknown(command: Command): void {
  command.hook("preSubcommand", (parent, chosen) => {
    const [word] = parent.args;
    if (word !== undefined && !word.startsWith("-") && word !== chosen.name())
      failUnknown(word, parent);
  });
  command.allowExcessArguments().hook("preAction", (_hooked, acting) => {
    const [word] = acting.args;
    if (acting === command && word !== undefined) failUnknown(word, command);
  });
}

function failUnknown(word: string, command: Command): never {
  const names = command.commands.map((known) => known.name());
  const [near] = findNear(word, names, 1);
  const help = near === undefined ? `expected: ${names.join(", ")}` : `Did you mean ${near}?`;
  return command.error(`error: unknown command '${word}'\n(${help})`);
}
