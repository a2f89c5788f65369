import type { Command } from "commander";

/** What the declarations of commands share. */
export const asJson = ["--json", "print JSON instead of text"] as const;

export interface JsonOption {
  readonly json?: boolean;
}

export function examples(lines: readonly string[]): string {
  return `\nExamples:\n${lines.map((line) => `  $ ${line}`).join("\n")}\n`;
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
