import { expect, test } from "vitest";
import { mcpFlags, readMcpArguments } from "../../src/cli/mcp-flags.ts";

test("every flag that the help of mcp names is read without commander", () => {
  for (const flag of Object.keys(mcpFlags)) {
    const [name = "", value] = flag.split(" ");
    const key = name.slice(2).replace(/-(\w)/g, (_match, letter: string) => letter.toUpperCase());
    expect(readMcpArguments(["mcp", name, ...(value ? ["given"] : [])]), flag).toEqual({
      [key]: value ? "given" : true,
    });
  }
  expect(readMcpArguments(["mcp"])).toEqual({});
  expect(readMcpArguments(["mcp", "--static", "--folder=here", "--log-level", "debug"])).toEqual({
    static: true,
    folder: "here",
    logLevel: "debug",
  });
});

test.each([
  [[]],
  [["serve"]],
  [["mcp", "--help"]],
  [["mcp", "--nope"]],
  [["mcp", "--expose"]],
  [["mcp", "extra"]],
  [["--version"]],
])("%j is left to the parser that can answer it", (args) => {
  expect(readMcpArguments(args)).toBeUndefined();
});
