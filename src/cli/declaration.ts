import type { Command } from "commander";
import { findNear } from "../base/near.ts";

/** What the declarations of commands share. */
export const asJson = ["--json", "print JSON instead of text"] as const;

export function examples(lines: readonly string[]): string {
  return `\nExamples:\n${lines.map((line) => `  $ ${line}`).join("\n")}\n`;
}

/** For a command that has others and does something by itself too: a word that is none of them is a slip. Called when it has them all: they would inherit it. */
export function refuseUnknown(command: Command): void {
  command.hook("preSubcommand", (parent, chosen) => {
    const [word] = parent.args;
    if (word !== undefined && !word.startsWith("-") && word !== chosen.name())
      tellUnknown(word, parent);
  });
  command.allowExcessArguments().hook("preAction", (_hooked, acting) => {
    const [word] = acting.args;
    if (acting === command && word !== undefined) tellUnknown(word, command);
  });
}

function tellUnknown(word: string, command: Command): never {
  const names = command.commands.map((known) => known.name());
  const [near] = findNear(word, names, 1);
  command.error(
    `error: unknown command '${word}'\n(${near === undefined ? `there is: ${names.join(", ")}` : `Did you mean ${near}?`})`,
  );
}
