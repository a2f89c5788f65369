import type { Command } from "commander";
import { HallError } from "../base/errors.ts";

/** The options of a command that takes no others. */
export interface JsonOption {
  readonly json?: boolean | undefined;
}

/** Gets the operands and then the options, including those of the parent command. */
type Run = (...args: never[]) => Promise<void>;

/** One command: its help, and the function that runs it. */
export interface Declaration {
  readonly does: string;
  readonly usage?: string;
  /** Help by flags, or help and a parser. Every command that runs also has --json. */
  readonly options?: Readonly<
    Record<string, string | readonly [string, (text: string) => unknown]>
  >;
  readonly hasJson?: boolean;
  readonly examples: readonly string[];
  /** Runs if its parent is called without a subcommand. */
  readonly isDefault?: boolean;
  readonly run?: Run;
  /** Instead of `run`, for a file that is slow to load. */
  readonly load?: () => Promise<Run>;
}

export function addCommand(
  parent: Command,
  name: string,
  { does, usage, options = {}, hasJson = true, examples, isDefault, run, load }: Declaration,
): Command {
  const command = parent
    .command(name, { isDefault: isDefault ?? false })
    .description(does)
    .addHelpText("after", formatExamples(examples));
  if (usage !== undefined) command.usage(usage);
  for (const [flags, help] of Object.entries(options)) {
    if (typeof help === "string") command.option(flags, help);
    else command.option(flags, ...help);
  }
  if (!run && !load) return command;

  if (hasJson && !options["--json"]) command.option("--json", "print JSON instead of text");
  return command.action(async (...given: readonly unknown[]) => {
    // Commander appends the options and the command.
    const operands = given.slice(0, -2) as never[];
    const action = load ? await load() : run;
    // A parent with the same option has read it.
    await action?.(...operands, command.optsWithGlobals() as never);
  });
}

export function formatExamples(lines: readonly string[]): string {
  return `\nExamples:\n${lines.map((line) => `  $ ${line}`).join("\n")}\n`;
}

/** A parser of an option. Throws INVALID_PARAMS. */
export function wholeNumber(what: string, min: number, max: number): (text: string) => number {
  return (text) => {
    const number = Number(text);
    if (/^\d+$/.test(text) && number >= min && number <= max) return number;
    throw new HallError(
      "INVALID_PARAMS",
      `invalid ${what} "${text}" (expected: a whole number from ${min} to ${max})`,
    );
  };
}

const unitMs: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 7 * 86_400_000,
};

/** "90s", "30m", "2h", "7d" or "1w" in milliseconds; else NaN. */
export function parseDuration(text: string): number {
  const [, count, unit = ""] = /^(\d{1,6})([smhdw])$/.exec(text) ?? [];
  return Number(count) * (unitMs[unit] ?? Number.NaN);
}

/**
 * Refuses unknown words for a command that has subcommands and also runs by itself. Call it after
 * the subcommands are added, because later ones would inherit the hook.
 */
export function refuseUnknown(command: Command): void {
  command.hook("preSubcommand", async (parent, chosen) => {
    const [word] = parent.args;
    if (word !== undefined && !word.startsWith("-") && word !== chosen.name())
      await failUnknown(word, parent);
  });
  command.allowExcessArguments().hook("preAction", async (_hooked, acting) => {
    const [word] = acting.args;
    if (acting === command && word !== undefined) await failUnknown(word, command);
  });
}

async function failUnknown(word: string, command: Command): Promise<never> {
  const { findNear } = await import("../base/text.ts");
  const names = command.commands.map((known) => known.name());
  const [near] = findNear(word, names, 1);
  const help = near === undefined ? `expected: ${names.join(", ")}` : `Did you mean ${near}?`;
  return command.error(`error: unknown command '${word}'\n(${help})`);
}
