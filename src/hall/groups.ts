import {
  agentName,
  fileNameOf,
  replaceFields,
  writeAgentFile,
  writeTools,
} from "../agents/agent-file.ts";
import {
  agentPath,
  type FoldedAgent,
  readAgentFolder,
  readAgentsLock,
  writeAgentsLock,
} from "../agents/agent-folder.ts";
import { sortTools } from "../agents/groups.ts";
import { HallError } from "../base/errors.ts";
import { removeProjectFile, replaceProjectFile } from "../base/project-files.ts";
import { findNear } from "../base/text.ts";
import type { Target } from "../tool.ts";
import { readLock } from "../upstream/lock.ts";
import { askHall } from "./admin-client.ts";
import { listKnownTools } from "./known-tools.ts";
import { openProjectLedger } from "./project-store.ts";
import { approveRewritten } from "./project-texts.ts";
import { matchTools, type Settings, unknownName } from "./settings.ts";

/** The groups of a project as its files have them, and the tools they sort. */
export type ProjectGroups = Awaited<ReturnType<typeof readGroups>>;

export interface CreatedGroup {
  readonly name: string;
  readonly file: string;
  readonly tools: readonly string[];
  /** The groups that had the tools before. */
  readonly from: readonly string[];
}

/** Makes a group of tools, which leave the groups they were in. Throws CONFLICT, NOT_FOUND. */
export async function createGroup(
  settings: Settings,
  wish: string,
  tools: readonly string[],
): Promise<CreatedGroup> {
  const { agents, targets } = await readGroups(settings);
  const { folder } = settings;
  const name = agentName(wish);
  const file = fileNameOf(name);
  if (agents.some((other) => other.agent.name === name || other.fileName === file))
    throw new HallError("CONFLICT", `the group ${name} already exists`, {
      hint: "Add tools to it with `guildhall groups move`, or choose another name.",
    });
  const moved = [...new Set(tools.map((tool) => getTarget(tool, targets)))];
  const names = moved.map(({ fullName }) => fullName);
  const after = writeAgentFile({
    name,
    // No words of the caller: models read this, and nobody reviews it.
    description: `For ${name.replace(/_agent$/, "").replaceAll("_", " ")}, with ${names.join(", ")}.`,
    tools: names,
    instructions: "",
  });
  await replaceProjectFile(folder, agentPath(file), after);
  await approveRewritten(await openProjectLedger(settings), [
    { path: `agents/${file}`, before: undefined, after },
  ]);
  const from = await takeOut(moved, { settings, agents, targets });
  await askHall(folder, "groupsChanged", {});
  return { name, file, tools: names, from };
}

export interface MovedTool {
  readonly tool: string;
  readonly to: string;
  readonly from: readonly string[];
}

/** Moves a tool to one group. Throws NOT_FOUND. */
export async function moveTool(
  settings: Settings,
  tool: string,
  group: string,
): Promise<MovedTool> {
  const { agents, targets } = await openGroups(settings);
  const home = getGroup(group, agents);
  const target = getTarget(tool, targets);
  const { fullName } = target;
  const others = agents.filter((other) => other !== home);
  const from = await takeOut([target], { settings, agents: others, targets });
  if (!hasTool(home, target)) await writeToolsOf(settings, home, [...home.agent.tools, fullName]);
  await askHall(settings.folder, "groupsChanged", {});
  return { tool: fullName, to: home.agent.name, from };
}

export interface RenamedGroup {
  readonly name: string;
  readonly was: string;
  readonly file: string;
}

/** Throws CONFLICT, NOT_FOUND. */
export async function renameGroup(
  settings: Settings,
  name: string,
  wish: string,
): Promise<RenamedGroup> {
  const { agents } = await openGroups(settings);
  const { folder } = settings;
  const folded = getGroup(name, agents);
  const { fileName, agent } = folded;
  const renamed = agentName(wish);
  if (agents.some((other) => other.agent.name === renamed))
    throw new HallError("CONFLICT", `the group ${renamed} already exists`, {
      hint: "Choose another name.",
    });

  const isTaken = agents.some((other) => other.fileName === fileNameOf(renamed));
  const file = isTaken ? fileName : fileNameOf(renamed);
  await rewriteAgent(settings, folded, { name: [`name: ${renamed}`] }, file);
  if (file !== fileName) {
    await removeProjectFile(folder, agentPath(fileName));
    await renameInLock(folder, fileName, file);
  }
  await askHall(folder, "groupsChanged", {});
  return { name: renamed, was: agent.name, file };
}

function patternOf({ toolkit }: Target): string {
  return `${toolkit.prefix ?? toolkit.id}.*`;
}

function hasTool({ agent }: FoldedAgent, target: Target): boolean {
  return agent.tools.includes(target.fullName) || agent.tools.includes(patternOf(target));
}

/** Takes tools out of groups and returns the names of those that had one. */
async function takeOut(
  moved: readonly Target[],
  { settings, agents, targets }: Pick<ProjectGroups, "settings" | "agents" | "targets">,
): Promise<readonly string[]> {
  const from = agents.filter((agent) => moved.some((target) => hasTool(agent, target)));
  for (const other of from) {
    const left = other.agent.tools
      .filter((name) => !moved.some(({ fullName }) => fullName === name))
      // `server.*` minus one tool becomes a list.
      .flatMap((name) => {
        if (!moved.some((target) => patternOf(target) === name)) return [name];
        const siblings = targets.filter(
          (each) => patternOf(each) === name && !moved.includes(each),
        );
        return siblings.map(({ fullName }) => fullName);
      });
    await writeToolsOf(settings, other, left);
  }
  return from.map(({ agent }) => agent.name);
}

function writeToolsOf(
  settings: Settings,
  folded: FoldedAgent,
  tools: readonly string[],
): Promise<void> {
  const changed = { tools: writeTools([...new Set(tools)]) };
  return rewriteAgent(settings, folded, changed);
}

/** Writes fields of an agent's file, which stays approved if it was. */
async function rewriteAgent(
  settings: Settings,
  { fileName, text, agent }: FoldedAgent,
  changed: Parameters<typeof replaceFields>[1],
  newName = fileName,
): Promise<void> {
  const after = replaceFields(agent.matter, changed);
  await replaceProjectFile(settings.folder, agentPath(newName), after);
  const [path, was] = [`agents/${newName}`, `agents/${fileName}`];
  await approveRewritten(await openProjectLedger(settings), [{ path, was, before: text, after }]);
}

/** Keeps the last proposal under the new file name. */
async function renameInLock(folder: string, before: string, now: string): Promise<void> {
  const lock = await readAgentsLock(folder, () => {});
  const { [before]: moved, ...others } = lock.agents;
  if (moved) await writeAgentsLock(folder, { ...lock, agents: { ...others, [now]: moved } });
}

/** Throws NOT_FOUND without groups. */
export async function openGroups(settings: Settings): Promise<ProjectGroups> {
  const opened = await readGroups(settings);
  const { agents, problems } = opened;
  if (agents.length > 0) return opened;
  const why = problems.length > 0 ? `: ${problems.join("; ")}` : "";
  throw new HallError("NOT_FOUND", `this project has no groups yet${why}`, {
    next: [{ do: "run-command", command: "build" }],
  });
}

async function readGroups(settings: Settings) {
  const { folder, log } = settings;
  const { agents, problems } = await readAgentFolder(folder);
  const lock = await readLock(folder, (message) => log.warn(message));
  const targets = await listKnownTools(folder, settings, lock);
  const files = agents.map(({ agent }) => agent);
  return { settings, agents, problems, targets, ...sortTools(files, targets) };
}

/** By name, with or without `_agent`. Throws NOT_FOUND with similar names. */
export function getGroup(name: string, agents: readonly FoldedAgent[]): FoldedAgent {
  const full = agentName(name);
  const found = agents.find(({ agent }) => agent.name === name || agent.name === full);
  if (found) return found;
  const names = agents.map(({ agent }) => agent.name);
  throw unknownName("group", full, names, "See them with `guildhall groups list`.");
}

/** By full name or an unambiguous bare name. Throws NOT_FOUND with similar names. */
function getTarget(name: string, targets: readonly Target[]): Target {
  const names = targets.map(({ fullName }) => fullName);
  const matches = matchTools(name, names);
  const found = targets.find(({ fullName }) => fullName === matches[0]);
  if (found && matches.length === 1) return found;
  const near = found ? matches : findNear(name, names);
  throw unknownName("tool", name, near, "See them with `guildhall tools`.");
}
