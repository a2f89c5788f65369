import { isObject, type JsonObject } from "../base/json.ts";
import { findProject, projectFilesOf, readConfigFiles, userFileOf } from "../config/files.ts";
import { parseDocument } from "../hall/import/document.ts";
import { lockedTools, readLock } from "../upstream/lock.ts";
import type { Commands, Declaration } from "./declaration.ts";
import { clientIds, hallCommands } from "./hall-commands.ts";
import { trustCommands } from "./trust-commands.ts";
import { workCommands } from "./work-commands.ts";

const commands: Commands = Object.assign(
  {},
  ...Object.values(hallCommands),
  ...Object.values(trustCommands),
  ...Object.values(workCommands),
);

/** A clone's lock may name anything, and shells treat some characters as commands. */
const plain = /^[\w.@/-]+$/;

/** The words that may follow a command line, one a line; the last word may be incomplete. */
export async function complete(words: readonly string[]): Promise<string> {
  const before = words.slice(0, -1).filter((word) => !word.startsWith("-"));
  const start = words.at(-1) ?? "";
  const found = await candidates(before, start.startsWith("-"));
  const fitting = found.filter((word) => word.startsWith(start) && plain.test(word));
  return [...new Set(fitting)].map((word) => `${word}\n`).join("");
}

async function candidates(
  words: readonly string[],
  wantsFlag: boolean,
): Promise<readonly string[]> {
  const [name = "", ...rest] = words;
  if (words.length === 0) return wantsFlag ? ["--help", "--version"] : namesOf(commands);
  const command = findCommand(commands, name);
  if (!command) return [];
  const { subcommands = {} } = command.declaration;
  const inner = findCommand(subcommands, rest[0] ?? "");
  const { operands, declaration } = inner ?? command;
  if (wantsFlag) return flagsOf(declaration);
  const given = inner ? rest.slice(1) : rest;
  // The last operand may take any number of words.
  const isMany = operands.at(-1)?.endsWith("...") ?? false;
  const operand = operands[given.length] ?? (isMany ? operands.at(-1) : undefined);
  const values = operand === undefined ? [] : await valuesOf(operand.replace("...", ""), name);
  return inner || rest.length > 0 ? values : [...namesOf(subcommands), ...values];
}

interface FoundCommand {
  readonly declaration: Declaration;
  /** Without brackets: `server`, `tools...`. */
  readonly operands: readonly string[];
}

function findCommand(among: Commands, name: string): FoundCommand | undefined {
  for (const [key, declaration] of Object.entries(among)) {
    const [word, ...operands] = key.split(" ");
    if (word === name)
      return { declaration, operands: operands.map((operand) => operand.slice(1, -1)) };
  }
  return undefined;
}

function namesOf(among: Commands): readonly string[] {
  return Object.keys(among).map((key) => key.split(" ")[0] ?? "");
}

function flagsOf({ options = {} }: Declaration): readonly string[] {
  const own = Object.keys(options).flatMap((flags) => flags.match(/--[\w-]+/g) ?? []);
  return [...own, "--json", "--folder", "--help"];
}

const fixed: Readonly<Record<string, readonly string[]>> = {
  client: clientIds.split(", "),
  shell: ["bash", "zsh", "fish"],
  faces: ["tools", "search", "agents", "code", "default"],
};

async function valuesOf(operand: string, command: string): Promise<readonly string[]> {
  const known = async (): Promise<KnownNames> => readKnownNames(findProject(process.cwd()).folder);
  if (operand === "server" || operand === "servers") return (await known()).servers;
  if (["tool", "tools", "pattern"].includes(operand)) return (await known()).tools;
  if (operand === "name" && ["trust", "revoke"].includes(command)) {
    const { servers, tools } = await known();
    return [...servers, ...tools];
  }
  return fixed[operand] ?? [];
}

interface KnownNames {
  readonly servers: readonly string[];
  /** Full names. */
  readonly tools: readonly string[];
}

/** The names that shells complete: only the files are read, unchecked, so that it is fast. Throws ConfigError. */
async function readKnownNames(folder: string): Promise<KnownNames> {
  const [files, lock] = await Promise.all([
    readConfigFiles(userFileOf(process.env), projectFilesOf(folder)),
    readLock(folder, () => {}),
  ]);
  const trees = await Promise.all(files.map(({ file, text }) => parseDocument(file, text)));
  const entries = trees.flatMap(({ tree }) => {
    const { mcpServers } = isObject(tree) ? tree : {};
    return Object.entries(isObject(mcpServers) ? mcpServers : {});
  });
  return {
    servers: [...new Set(entries.map(([name]) => name))],
    tools: entries.flatMap(([name, entry]) => {
      const { prefix = name } = (isObject(entry) ? entry : {}) as JsonObject;
      const start = prefix === "" ? "" : `${prefix}.`;
      return (lockedTools(lock, name) ?? []).map((tool) => `${start}${tool}`);
    }),
  };
}
