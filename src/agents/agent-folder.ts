import { join } from "node:path";
import { messageOf } from "../base/errors.ts";
import { isObject } from "../base/json.ts";
import { listProjectFolder, readProjectFile, replaceProjectFile } from "../base/project-files.ts";
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

/** The path of an agent's file inside its project. */
export function agentPath(fileName: string): string {
  return join(agentsName, fileName);
}

const agentsName = join(".guildhall", "agents");
const guideName = join(".guildhall", "instructions.md");

const filesMax = 200;

export async function readAgentFolder(folder: string): Promise<AgentFolder> {
  const problems: string[] = [];
  const broken = new Set<string>();
  const report = (name: string) => (error: unknown) => {
    problems.push(`${name} is skipped: ${messageOf(error)}`);
    return undefined;
  };
  const [listed = [], guide] = await Promise.all([
    listProjectFolder(folder, agentsName).catch(report(".guildhall/agents")),
    readProjectFile(folder, guideName).catch(report(".guildhall/instructions.md")),
  ]);
  const names = listed.filter((name) => name.endsWith(".md")).sort();
  const agents: FoldedAgent[] = [];
  if (names.length > filesMax)
    problems.push(
      `.guildhall/agents has ${names.length} files; only the first ${filesMax} are used`,
    );
  const used = names.slice(0, filesMax);
  const texts = await Promise.all(
    used.map((name) =>
      readProjectFile(folder, agentPath(name)).catch((error: unknown) => {
        broken.add(name);
        return report(`.guildhall/agents/${name}`)(error);
      }),
    ),
  );
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

const agentsLockName = join(".guildhall", "agents.lock.json");

/** Empty if there is none. With an unreadable lock every file counts as written by hand. */
export async function readAgentsLock(
  folder: string,
  warn: (message: string) => void,
): Promise<AgentsLock> {
  let problem = "has an unknown format";
  try {
    const text = await readProjectFile(folder, agentsLockName);
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
  return replaceProjectFile(folder, agentsLockName, `${JSON.stringify(lock, null, 2)}\n`);
}
