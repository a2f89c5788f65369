import type { Command } from "commander";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { createProgram } from "../../src/cli/program.ts";

/** Messages of commander on stderr are in the error, too. */
beforeAll(() => void vi.spyOn(process.stderr, "write").mockReturnValue(true));

const run = (line: string): Promise<unknown> =>
  createProgram().parseAsync(["node", "guildhall", ...line.split(" ")]);

describe("a slip", () => {
  test.each([
    ["stauts", "Did you mean", "status"],
    ["status --jsn", "Did you mean --json?", ""],
    ["groups lst", "unknown command 'lst'", "Did you mean list?"],
    ["groups shwo x", "unknown command 'shwo'", "Did you mean show?"],
    ["runs lst", "unknown command 'lst'", "Did you mean list?"],
    ["spec stats 3", "unknown command 'stats'", "Did you mean status?"],
    ["audit verfy", "unknown command 'verfy'", "Did you mean verify?"],
    ["audit xyzzy --json", "unknown command 'xyzzy'", "expected: verify"],
    ["token lst", "unknown command 'lst'", "Did you mean list?"],
    ["models tst", "unknown command 'tst'", "Did you mean test?"],
    ["runs list extra", "too many arguments for 'list'", ""],
    ["groups --json extra", "too many arguments for 'list'", ""],
  ])("%s is named, with what was meant", async (line, said, meant) => {
    const error = await run(line).catch((cause: unknown) => cause);
    expect(error).toMatchObject({ name: "CommanderError", message: expect.stringContaining(said) });
    expect((error as Error).message).toContain(meant);
  });
});

test("every command has a description and an example", () => {
  const every = (command: Command): readonly Command[] =>
    command.commands.flatMap((inner) => [inner, ...every(inner)]);
  for (const command of every(createProgram())) {
    const help: string[] = [];
    command.configureOutput({ writeOut: (text) => void help.push(text) }).outputHelp();
    expect(command.description(), command.name()).not.toBe("");
    expect(help.join(""), command.name()).toContain("Examples:\n  $ ");
  }
});
