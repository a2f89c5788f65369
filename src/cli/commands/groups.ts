import { agentName, fileNameOf, replaceFields, writeTools } from "../../agents/agent-file.ts";
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
import { findNear } from "../../base/text.ts";
import { notifyHall } from "../../hall/admin-client.ts";
import type { HallClient } from "../../hall/hall-client.ts";
import { listKnownTools } from "../../hall/known-tools.ts";
import { openProjectLedger } from "../../hall/project-store.ts";
import { approveRewritten } from "../../hall/project-texts.ts";
import type { Settings } from "../../hall/settings.ts";
import type { Target } from "../../tool.ts";
import type { ToldTool } from "../../toolkits/find/answer.ts";
import { readLock } from "../../upstream/lock.ts";
import type { JsonOption } from "../declaration.ts";
import { loadProject, matchTools, unknownName, withHall } from "../hall.ts";
import { createWaiting } from "../live.ts";
import { print, table } from "../print.ts";

/** Lists the groups and their tools. */
export async function runGroupsList(options: JsonOption): Promise<void> {
  const { agents, groups, strays, unknown, problems } = await openGroups();
  const listed = groups.map(({ file, tools }) => ({
    name: file.name,
    tools: [...tools].map(({ fullName }) => fullName),
    servers: [...new Set([...tools].map(({ toolkit }) => toolkit.id))],
    file: agents.find(({ agent }) => agent.name === file.name)?.fileName,
    unknown: unknown.get(file.name) ?? [],
    description: file.description,
  }));
  const notes = [...problems];
  if (strays.length > 0)
    notes.push(`${strays.length} tools are in no file; run \`guildhall build\``);
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

/** Moves a tool to one group. Builds keep it there. */
export async function runGroupsMove(
  tool: string,
  group: string,
  options: JsonOption,
): Promise<void> {
  const { settings, agents, targets } = await openGroups();
  const { folder } = settings;
  const home = getAgent(group, agents);
  const { fullName, toolkit } = getTarget(tool, targets);
  const pattern = `${toolkit.prefix ?? toolkit.id}.*`;
  const hasTool = ({ agent }: FoldedAgent): boolean =>
    agent.tools.includes(fullName) || agent.tools.includes(pattern);

  const from = agents.filter((other) => other !== home && hasTool(other));
  const siblings = targets
    .filter((target) => target.toolkit === toolkit && target.fullName !== fullName)
    .map((target) => target.fullName);
  for (const other of from) {
    // `server.*` minus one tool becomes a list.
    const left = other.agent.tools
      .filter((name) => name !== fullName)
      .flatMap((name) => (name === pattern ? siblings : [name]));
    await writeToolsOf(settings, other, left);
  }
  if (!hasTool(home)) await writeToolsOf(settings, home, [...home.agent.tools, fullName]);
  await notifyHall(folder, { groupsChanged: {} });

  const names = from.map(({ agent }) => agent.name);
  const origin = names.length > 0 ? ` from ${names.join(", ")}` : "";
  const text = `moved ${fullName} to ${home.agent.name}${origin}`;
  print({ tool: fullName, to: home.agent.name, from: names }, text, options);
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
  const settings = await loadProject();
  const { folder, log } = settings;
  const { agents, problems } = await readAgentFolder(folder);
  if (agents.length === 0) {
    const why = problems.length > 0 ? `: ${problems.join("; ")}` : "";
    throw new HallError("NOT_FOUND", `this project has no groups yet${why}`, {
      next: [{ do: "run-command", command: "build" }],
    });
  }
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
