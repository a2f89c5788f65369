import { accessSync, constants, statSync } from "node:fs";
import { delimiter, join } from "node:path";

export type CommandLine = readonly [string, ...string[]];

/** The command that starts this program as an MCP server, on any machine that has it. */
const sharedCommand: CommandLine = ["guildhall", "mcp"];

/**
 * The same for this machine only: this Node and this file, because programs of the desktop do not have the PATH
 * of a shell. A file in the npx cache does not last.
 */
export function localCommand(): CommandLine {
  const script = process.argv[1];
  if (script === undefined || /[\\/]_npx[\\/]/.test(script)) return sharedCommand;
  return [process.execPath, script, "mcp"];
}

interface CommandOptions {
  readonly scope: "project" | "user";
  readonly env: NodeJS.ProcessEnv;
  /** Write paths of this machine into a project's file. */
  readonly localPath?: boolean | undefined;
}

/** A project's file is committed, so it gets no paths of this machine. */
export function chooseCommand({ scope, env, localPath = false }: CommandOptions): {
  readonly command: CommandLine;
  readonly warnings: readonly string[];
} {
  const command = scope === "user" || localPath ? localCommand() : sharedCommand;
  const isMissing = command === sharedCommand && !isOnPath("guildhall", env);
  const offer = scope === "project" && !localPath ? ", or add --local-path" : "";
  const warning = `the command "guildhall" is not on the PATH: run \`npm i -g\` in the folder of Guildhall${offer}`;
  return { command, warnings: isMissing ? [warning] : [] };
}

function isOnPath(program: string, { PATH = "", PATHEXT = "" }: NodeJS.ProcessEnv): boolean {
  const names = ["", ...PATHEXT.split(";")].map((ending) => `${program}${ending}`);
  return PATH.split(delimiter)
    .filter((folder) => folder !== "")
    .some((folder) => names.some((name) => isProgram(join(folder, name))));
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    // Not there, or not ours to run.
    return false;
  }
}
