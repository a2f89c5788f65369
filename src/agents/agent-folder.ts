import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { messageOf } from "../base/errors.ts";
import { findNear } from "../base/near.ts";
import { type ParsedAgentFile, parseAgentFile } from "./agent-file.ts";

/** What a project's `.guildhall` says about agents. A file that cannot be used is left out and named; the others count. */
export interface AgentFolder {
  readonly agents: readonly FoldedAgent[];
  /** `.guildhall/instructions.md`: what clients are told. */
  readonly guide: string | undefined;
  /** One message for each file that cannot be used, and for what was ignored. */
  readonly problems: readonly string[];
  /** Files that cannot be used, by name. */
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

function guidePath(folder: string): string {
  return join(folder, ".guildhall", "instructions.md");
}

const filesMax = 200;

export async function readAgentFolder(folder: string): Promise<AgentFolder> {
  const [names, guide] = await Promise.all([
    listFiles(agentsPath(folder)),
    readIfThere(guidePath(folder)),
  ]);
  const problems: string[] = [];
  const broken = new Set<string>();
  const agents: FoldedAgent[] = [];
  if (names.length > filesMax)
    problems.push(`.guildhall/agents has ${names.length} files; the first ${filesMax} are used`);
  const texts = await Promise.all(
    names.slice(0, filesMax).map((name) => readIfThere(join(agentsPath(folder), name))),
  );
  for (const [at, fileName] of names.slice(0, filesMax).entries()) {
    const text = texts[at];
    if (text === undefined) continue;
    try {
      const agent = parseAgentFile(text, fileName.replace(/\.md$/, ""));
      const twin = agents.find((other) => other.agent.name === agent.name);
      if (twin)
        throw new Error(`${twin.fileName} is ${agent.name} too; give one of them another name`);
      for (const key of agent.unknown)
        problems.push(`.guildhall/agents/${fileName}: "${key}" means nothing here${suggest(key)}`);
      agents.push({ fileName, text, agent });
    } catch (error) {
      broken.add(fileName);
      problems.push(`.guildhall/agents/${fileName} is left out: ${messageOf(error)}`);
    }
  }
  return { agents, guide, problems, broken };
}

function suggest(key: string): string {
  const [near] = findNear(key, ["name", "description", "tools", "limits", "planner", "model"]);
  return near === undefined ? "" : `; did you mean ${near}?`;
}

async function listFiles(path: string): Promise<string[]> {
  try {
    return (await readdir(path)).filter((name) => name.endsWith(".md")).sort();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}

export async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
