import { join } from "node:path";
import { messageOf } from "../base/errors.ts";
import { isObject } from "../base/json.ts";
import { listProjectFolder, readProjectFile, replaceProjectFile } from "../base/project-files.ts";
import { findNear } from "../base/text.ts";
import { isSpelling } from "../registry/names.ts";
import type { Target } from "../tool.ts";
import {
  type AgentFile,
  agentFields,
  agentName,
  type ParsedAgentFile,
  parseAgentFile,
} from "./agent-file.ts";

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
 * `.guildhall/agents.lock.json`: the last proposal of `build`. Differences in the files were
 * written by a person and are kept. Committed with the files, so that builds on other machines
 * agree.
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

/**
 * A project's notes about its servers, in CLAUDE.md, AGENTS.md and the config. A line that names a
 * server describes it, and a hint `name: server, server.tool` requests a group.
 */
export interface Notes {
  readonly domain: string | undefined;
  /** The lines about a toolkit. */
  about(toolkit: string): string;
  /** Requested groups, with servers and tools as written. */
  readonly wanted: readonly { readonly name: string; readonly members: readonly string[] }[];
}

export interface NotesOptions {
  readonly domain?: string | undefined;
  readonly hints?: readonly string[] | undefined;
}

const noteFiles = ["CLAUDE.md", "AGENTS.md"];
const charactersMax = 100_000;
const aboutMax = 1_000;

/** The files that say something about these servers. */
export async function readNoteFiles(
  folder: string,
  servers: readonly string[],
): Promise<readonly { readonly name: string; readonly text: string }[]> {
  // Often one is a link to the other, which is read anyway.
  const files = noteFiles.map(async (name) => {
    const text = await readProjectFile(folder, name).catch(() => undefined);
    return { name, text: (text ?? "").slice(0, charactersMax) };
  });
  return (await Promise.all(files)).filter(({ text }) =>
    readLines(text).some((line) => servers.some((server) => mentions(line, server))),
  );
}

export function parseNotes(text: string, { domain, hints = [] }: NotesOptions = {}): Notes {
  const wanted = hints.flatMap((hint) => parseHint(hint) ?? []);
  const said = [
    ...(domain === undefined ? [] : [domain]),
    ...hints.filter((hint) => !parseHint(hint)),
  ];
  const lines = [...readLines(text), ...said];
  return {
    domain,
    wanted,
    about: (toolkit) =>
      lines
        .filter((line) => mentions(line, toolkit))
        .join("\n")
        .slice(0, aboutMax),
  };
}

function readLines(text: string): string[] {
  return text.split("\n").filter((line) => line.trim() !== "" && !/^#{1,6}\s/.test(line));
}

/** As a whole word: not `time` in `sometimes`. */
function mentions(line: string, toolkit: string): boolean {
  const parts = line.toLowerCase().split(toolkit.toLowerCase());
  return parts.some(
    (part, at) =>
      at > 0 && !/^[\p{L}\p{N}_-]/u.test(part) && !/[\p{L}\p{N}_-]$/u.test(parts[at - 1] ?? ""),
  );
}

function parseHint(
  hint: string,
): { readonly name: string; readonly members: readonly string[] } | undefined {
  const match = /^\s*([A-Za-z][\w -]{0,49}?)\s*:\s*(\S.*)$/.exec(hint);
  if (!match) return undefined;
  const members = (match[2] ?? "").split(",").map((member) => member.trim());
  // A sentence with a colon is not a list of names.
  return members.every((member) => /^[\w.*-]+$/.test(member))
    ? { name: agentName(match[1] ?? ""), members }
    : undefined;
}

/** The tools of a hint: a server by name or prefix, `server.*`, or a full tool name. */
export function findMembers(member: string, targets: readonly Target[]): readonly Target[] {
  const name = member.replace(/(\.|__)\*$/, "");
  return targets.filter(
    ({ toolkit, fullName }) =>
      isSpelling(member, fullName) ||
      toolkit.id === name ||
      (toolkit.prefix ?? toolkit.id) === name,
  );
}
