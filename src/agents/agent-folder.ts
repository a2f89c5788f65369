import { mkdir, readdir, readFile, rename, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { messageOf } from "../base/errors.ts";
import { isObject } from "../base/json.ts";
import { findNear } from "../base/text.ts";
import { type AgentFile, agentFields, type ParsedAgentFile, parseAgentFile } from "./agent-file.ts";

/** The agents in a project's `.guildhall`. Invalid files are skipped and reported. */
export interface AgentFolder {
  readonly agents: readonly FoldedAgent[];
  /** `.guildhall/instructions.md`: instructions for clients. */
  readonly guide: string | undefined;
  /** One message per invalid file and ignored field. */
  readonly problems: readonly string[];
  /** Names of invalid files. */
  readonly broken: ReadonlySet<string>;
}

export interface FoldedAgent {
  readonly fileName: string;
  readonly text: string;
  readonly agent: ParsedAgentFile;
}

export function agentsPath(folder: string): string {
  return join(folder, ".guildhall", "agents");
}

const filesMax = 200;

export async function readAgentFolder(folder: string): Promise<AgentFolder> {
  const [names, guide] = await Promise.all([
    listFiles(agentsPath(folder)),
    readIfThere(join(folder, ".guildhall", "instructions.md")),
  ]);
  const problems: string[] = [];
  const broken = new Set<string>();
  const agents: FoldedAgent[] = [];
  if (names.length > filesMax)
    problems.push(
      `.guildhall/agents has ${names.length} files; only the first ${filesMax} are used`,
    );
  const used = names.slice(0, filesMax);
  const texts = await Promise.all(used.map((name) => readIfThere(join(agentsPath(folder), name))));
  for (const [at, fileName] of used.entries()) {
    const text = texts[at];
    if (text === undefined) continue;
    try {
      const agent = parseAgentFile(text, fileName.replace(/\.md$/, ""));
      const twin = agents.find((other) => other.agent.name === agent.name);
      if (twin) throw new Error(`${twin.fileName} has the same name, ${agent.name}`);
      for (const key of agent.unknown)
        problems.push(`.guildhall/agents/${fileName}: unknown field "${key}"${suggest(key)}`);
      agents.push({ fileName, text, agent });
    } catch (error) {
      broken.add(fileName);
      problems.push(`.guildhall/agents/${fileName} is skipped: ${messageOf(error)}`);
    }
  }
  return { agents, guide, problems, broken };
}

function suggest(key: string): string {
  const [near] = findNear(key, agentFields);
  return near === undefined ? "" : `; did you mean ${near}?`;
}

async function listFiles(path: string): Promise<string[]> {
  const names = await ifThere(readdir(path));
  return (names ?? []).filter((name) => name.endsWith(".md")).sort();
}

export function readIfThere(path: string): Promise<string | undefined> {
  return ifThere(readFile(path, "utf8"));
}

function ifThere<T>(reading: Promise<T>): Promise<T | undefined> {
  return reading.catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
}

/**
 * `.guildhall/agents.lock.json`: the last proposal of `build`. Differences in the files were written by a person and are kept.
 * Committed with the files, so that builds on other machines agree.
 */
export interface AgentsLock {
  readonly lockVersion: 1;
  /** By file name. */
  readonly agents: Readonly<Record<string, LockedAgent>>;
  readonly guide?: string | undefined;
}

export interface LockedAgent extends AgentFile {
  /** Fields a person has edited at any time; `--regroup` keeps them. */
  readonly edited?: readonly ("name" | "tools")[];
}

const emptyAgentsLock: AgentsLock = { lockVersion: 1, agents: {} };

function agentsLockPath(folder: string): string {
  return join(folder, ".guildhall", "agents.lock.json");
}

/** Empty if there is none. With an unreadable lock every file counts as written by hand. */
export async function readAgentsLock(
  folder: string,
  warn: (message: string) => void,
): Promise<AgentsLock> {
  let problem = "has an unknown format";
  try {
    const text = await readIfThere(agentsLockPath(folder));
    if (text === undefined) return emptyAgentsLock;
    const value: unknown = JSON.parse(text);
    if (
      isObject(value) &&
      value.lockVersion === 1 &&
      isObject(value.agents) &&
      Object.values(value.agents).every(isAgentFile)
    )
      return value as unknown as AgentsLock;
  } catch (error) {
    problem = `is unreadable (${messageOf(error)})`;
  }
  warn(`.guildhall/agents.lock.json ${problem}: treating every agent as written by hand`);
  return emptyAgentsLock;
}

function isAgentFile(value: unknown): boolean {
  return (
    isObject(value) &&
    typeof value.name === "string" &&
    typeof value.description === "string" &&
    typeof value.instructions === "string" &&
    Array.isArray(value.tools) &&
    value.tools.every((tool) => typeof tool === "string")
  );
}

export function writeAgentsLock(folder: string, lock: AgentsLock): Promise<void> {
  return replaceFile(agentsLockPath(folder), `${JSON.stringify(lock, null, 2)}\n`);
}

/** Atomic: a reader sees the old file or the new one. */
export async function replaceFile(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const draft = `${path}.${process.pid}.new`;
  await writeFile(draft, text);
  await rename(draft, path);
}
