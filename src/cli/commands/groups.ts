import {
  agentName,
  fileNameOf,
  replaceFields,
  writeAgentFile,
  writeTools,
} from "../../agents/agent-file.ts";
import {
  agentPath,
  type FoldedAgent,
  readAgentFolder,
  readAgentsLock,
  writeAgentsLock,
} from "../../agents/agent-folder.ts";
import { sortTools } from "../../agents/groups.ts";
import { countVotes, type Votes } from "../../agents/local/votes.ts";
import { HallError } from "../../base/errors.ts";
import { removeProjectFile, replaceProjectFile } from "../../base/project-files.ts";
import { visible, visibleLines } from "../../base/sanitize.ts";
import { findNear, plural } from "../../base/text.ts";
import { notifyHall } from "../../hall/admin-client.ts";
import type { HallClient } from "../../hall/hall-client.ts";
import { listKnownTools } from "../../hall/known-tools.ts";
import { openProjectLedger } from "../../hall/project-store.ts";
import { approveRewritten } from "../../hall/project-texts.ts";
import { findWaitingTexts } from "../../hall/review.ts";
import type { Settings } from "../../hall/settings.ts";
import type { Target } from "../../tool.ts";
import type { ToldTool } from "../../toolkits/find/answer.ts";
import { readLock } from "../../upstream/lock.ts";
import type { JsonOption } from "../declaration.ts";
import { loadProject, matchTools, unknownName, withHall } from "../hall.ts";
import { createWaiting } from "../live.ts";
import { print, table, wrapProse } from "../print.ts";

/** Lists the groups and their tools. */
export async function runGroupsList(options: JsonOption): Promise<void> {
  const { settings, agents, groups, strays, unknown, problems } = await openGroups();
  const texts = await findWaitingTexts({ settings, ledger: await openProjectLedger(settings) });
  const fileOf = (name: string): string | undefined =>
    agents.find(({ agent }) => agent.name === name)?.fileName;
  const listed = groups.map(({ file, tools }) => ({
    name: file.name,
    waiting: texts.includes(`agents/${fileOf(file.name)}`),
    tools: [...tools].map(({ fullName }) => fullName),
    servers: [...new Set([...tools].map(({ toolkit }) => toolkit.id))],
    file: fileOf(file.name),
    unknown: unknown.get(file.name) ?? [],
    description: file.description,
  }));
  const notes = [...problems];
  if (strays.length > 0)
    notes.push(`${strays.length} tools are in no file; run \`guildhall build\``);
  const waiting = listed.filter((group) => group.waiting).map(({ name }) => name);
  if (waiting.length > 0)
    notes.push(`${waiting.join(", ")}: not used before a review; run \`guildhall verify\``);
  for (const [name, tools] of unknown)
    notes.push(`${name} lists ${tools.join(", ")}, which no server provides`);

  const rows = listed.map(({ name, tools, servers, description }) => [
    name,
    String(tools.length),
    servers.join(", "),
    description,
  ]);
  const text = [
    table(["agent", "tools", "servers", "description"], rows, { extra: ["servers"] }),
    ...notes.map((note) => `note: ${visible(note)}`),
  ];
  print({ groups: listed, notes }, text.join("\n"), options);
}

export async function runGroupsShow(name: string, options: JsonOption): Promise<void> {
  const { agents, groups, unknown } = await openGroups();
  const { fileName, agent } = getAgent(name, agents);
  const { tools: targets = [] } = groups.find(({ file }) => file.name === agent.name) ?? {};
  const tools = [...targets].map(({ fullName }) => fullName);
  const missing = unknown.get(agent.name) ?? [];
  const { description, instructions, limits } = agent;

  const lines = [...tools, ...missing.map((tool) => `${tool}  (not provided by any server)`)];
  const text = [
    `${agent.name}  (.guildhall/agents/${fileName})`,
    visible(description),
    lines.map((line) => `  ${visible(line)}`).join("\n"),
    visibleLines(instructions),
  ];
  print(
    {
      name: agent.name,
      file: fileName,
      description,
      tools,
      unknown: missing,
      limits,
      instructions,
    },
    text.join("\n\n"),
    options,
  );
}

/** Makes a group of tools, which leave the groups they were in. */
export async function runGroupsCreate(
  wish: string,
  tools: readonly string[],
  options: JsonOption,
): Promise<void> {
  const { settings, agents, targets } = await readGroups();
  const { folder } = settings;
  const name = agentName(wish);
  const fileName = fileNameOf(name);
  if (agents.some((other) => other.agent.name === name || other.fileName === fileName))
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
  await replaceProjectFile(folder, agentPath(fileName), after);
  await approveRewritten(await openProjectLedger(settings), [
    { path: `agents/${fileName}`, before: undefined, after },
  ]);
  const from = await takeOut(moved, { settings, agents, targets });
  await notifyHall(folder, { groupsChanged: {} });
  const text = `created ${name} with ${plural(names.length, "tool")}${formatOrigin(from)} (.guildhall/agents/${fileName}); edit its description there`;
  print({ name, file: fileName, tools: names, from }, wrapProse(text), options);
}

/** Moves a tool to one group. Builds keep it there. */
export async function runGroupsMove(
  tool: string,
  group: string,
  options: JsonOption,
): Promise<void> {
  const { settings, agents, targets } = await openGroups();
  const home = getAgent(group, agents);
  const target = getTarget(tool, targets);
  const { fullName } = target;
  const others = agents.filter((other) => other !== home);
  const from = await takeOut([target], { settings, agents: others, targets });
  if (!hasTool(home, target)) await writeToolsOf(settings, home, [...home.agent.tools, fullName]);
  await notifyHall(settings.folder, { groupsChanged: {} });

  const text = `moved ${fullName} to ${home.agent.name}${formatOrigin(from)}`;
  print({ tool: fullName, to: home.agent.name, from }, text, options);
}

function formatOrigin(names: readonly string[]): string {
  return names.length > 0 ? ` from ${names.join(", ")}` : "";
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
  {
    settings,
    agents,
    targets,
  }: Pick<Awaited<ReturnType<typeof readGroups>>, "settings" | "agents" | "targets">,
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

export async function runGroupsRename(
  name: string,
  wish: string,
  options: JsonOption,
): Promise<void> {
  const { settings, agents } = await openGroups();
  const { folder } = settings;
  const folded = getAgent(name, agents);
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
  await notifyHall(folder, { groupsChanged: {} });
  const text = `renamed ${agent.name} to ${renamed} (.guildhall/agents/${file})`;
  print({ name: renamed, was: agent.name, file }, text, options);
}

/** Keeps the last proposal under the new file name. */
async function renameInLock(folder: string, before: string, now: string): Promise<void> {
  const lock = await readAgentsLock(folder, () => {});
  const { [before]: moved, ...others } = lock.agents;
  if (moved) await writeAgentsLock(folder, { ...lock, agents: { ...others, [now]: moved } });
}

/** Shows which group a task goes to, by its best tools. */
export async function runGroupsExplain(
  words: readonly string[],
  options: JsonOption,
): Promise<void> {
  const task = words.join(" ");
  await withHall(async (client) => {
    const found = await voteForGroups(client, task);
    print({ task, fits: found.fits, groups: found.votes }, describeVotes(found), options);
  });
}

function describeVotes({ fits, votes }: Votes): string {
  if (votes.length === 0) return "no group fits this task";
  const lines = fits ? [] : ["nothing fits well; nearest:"];
  for (const { name, score, tools } of votes) {
    lines.push(`${name}  ${score}`);
    for (const tool of tools) {
      const matched =
        tool.matched.length > 0 ? `  matched ${visible(tool.matched.join(", "))}` : "";
      lines.push(`  ${tool.name}  ${tool.score}${matched}`);
    }
  }
  return lines.join("\n");
}

/** Groups by their best tool for a task. Throws NOT_FOUND without groups. */
export async function voteForGroups(client: HallClient, task: string): Promise<Votes> {
  const { groups } = await openGroups();
  const { structuredContent } = await client.request("tools/call", {
    name: "find_tools",
    arguments: { task, limit: 10 },
  });
  const { fits, tools } = structuredContent as Pick<Votes, "fits"> & {
    readonly tools: readonly ToldTool[];
  };
  return countVotes(task, groups, { fits, tools });
}

/** Throws NOT_FOUND without groups. */
async function openGroups() {
  const opened = await readGroups();
  const { agents, problems } = opened;
  if (agents.length > 0) return opened;
  const why = problems.length > 0 ? `: ${problems.join("; ")}` : "";
  throw new HallError("NOT_FOUND", `this project has no groups yet${why}`, {
    next: [{ do: "run-command", command: "build" }],
  });
}

async function readGroups() {
  const settings = await loadProject();
  const { folder, log } = settings;
  const { agents, problems } = await readAgentFolder(folder);
  const lock = await readLock(folder, (message) => log.warn(message));
  const targets = await createWaiting().during(
    "reading the tools",
    listKnownTools(folder, settings, lock),
  );
  const files = agents.map(({ agent }) => agent);
  return { settings, agents, problems, targets, ...sortTools(files, targets) };
}

/** By name, with or without `_agent`. Throws NOT_FOUND with similar names. */
function getAgent(name: string, agents: readonly FoldedAgent[]): FoldedAgent {
  const full = agentName(name);
  const found = agents.find(({ agent }) => agent.name === name || agent.name === full);
  if (found) return found;
  const names = agents.map(({ agent }) => agent.name);
  throw unknownName("group", name, { near: findNear(full, names), command: "groups list" });
}

/** By full name or an unambiguous bare name. Throws NOT_FOUND with similar names. */
function getTarget(name: string, targets: readonly Target[]): Target {
  const names = targets.map(({ fullName }) => fullName);
  const matches = matchTools(name, names);
  const found = targets.find(({ fullName }) => fullName === matches[0]);
  if (found && matches.length === 1) return found;
  const near = found ? matches : findNear(name, names);
  throw unknownName("tool", name, { near, command: "tools" });
}
