import { rm } from "node:fs/promises";
import { join } from "node:path";
import { agentName, fileNameOf, replaceFields, writeTools } from "../../agents/agent-file.ts";
import {
  agentsPath,
  type FoldedAgent,
  readAgentFolder,
  readAgentsLock,
  replaceFile,
  writeAgentsLock,
} from "../../agents/agent-folder.ts";
import { sortTools } from "../../agents/groups.ts";
import { chooseTools, isStatedOutright } from "../../agents/local/choose.ts";
import { HallError } from "../../base/errors.ts";
import { visible, visibleLines } from "../../base/sanitize.ts";
import { findNear } from "../../base/text.ts";
import { notifyHall } from "../../hall/admin-client.ts";
import type { HallClient } from "../../hall/hall-client.ts";
import { listKnownTools } from "../../hall/known-tools.ts";
import { loadSettings } from "../../hall/settings.ts";
import type { Target } from "../../tool.ts";
import type { ToldTool } from "../../toolkits/find/answer.ts";
import { readLock } from "../../upstream/lock.ts";
import { withHall } from "../hall.ts";
import { print, table } from "../print.ts";

export interface GroupsOptions {
  readonly json?: boolean;
}

/** Lists the groups and their tools. */
export async function runGroupsList({ json }: GroupsOptions): Promise<void> {
  const { agents, targets, problems } = await openGroups();
  const { groups, strays, unknown } = sortTools(
    agents.map(({ agent }) => agent),
    targets,
  );
  const rows = groups.map(({ file, tools }) => ({
    name: file.name,
    tools: [...tools].map(({ fullName }) => fullName),
    servers: [...new Set([...tools].map(({ toolkit }) => toolkit.id))],
    file: agents.find(({ agent }) => agent.name === file.name)?.fileName,
    unknown: unknown.get(file.name) ?? [],
    description: file.description,
  }));
  const notes = [
    ...problems,
    ...(strays.length > 0
      ? [`${strays.length} tools are in no file; run \`guildhall build\``]
      : []),
    ...[...unknown].map(
      ([name, tools]) => `${name} lists ${tools.join(", ")}, which no server provides`,
    ),
  ];
  print(
    { groups: rows, notes },
    {
      json,
      text: () => [groupTable(rows), ...notes.map((note) => `note: ${visible(note)}`)].join("\n"),
    },
  );
}

function groupTable(
  rows: readonly {
    readonly name: string;
    readonly tools: readonly string[];
    readonly servers: readonly string[];
    readonly description: string;
  }[],
): string {
  return table(
    ["agent", "tools", "servers", "description"],
    rows.map(({ name, tools, servers, description }) => [
      name,
      String(tools.length),
      servers.join(", "),
      description,
    ]),
  );
}

export async function runGroupsShow(name: string, { json }: GroupsOptions): Promise<void> {
  const { agents, targets } = await openGroups();
  const { fileName, agent } = getAgent(name, agents);
  const { groups, unknown } = sortTools([agent], targets);
  const tools = [...(groups.find(({ file }) => file.name === agent.name)?.tools ?? [])].map(
    ({ fullName }) => fullName,
  );
  const missing = unknown.get(agent.name) ?? [];
  const { description, instructions, limits } = agent;
  print(
    {
      name: agent.name,
      file: fileName,
      description,
      tools,
      unknown: missing,
      ...(limits ? { limits } : {}),
      instructions,
    },
    {
      json,
      text: () =>
        [
          `${agent.name}  (.guildhall/agents/${fileName})`,
          visible(description),
          [...tools, ...missing.map((tool) => `${tool}  (not provided by any server)`)]
            .map((tool) => `  ${visible(tool)}`)
            .join("\n"),
          visibleLines(instructions),
        ].join("\n\n"),
    },
  );
}

/** Moves a tool to one group. Builds keep it there. */
export async function runGroupsMove(
  tool: string,
  group: string,
  { json }: GroupsOptions,
): Promise<void> {
  const { folder, agents, targets } = await openGroups();
  const home = getAgent(group, agents);
  const { fullName, toolkit } = getTarget(tool, targets);
  const pattern = `${toolkit.prefix ?? toolkit.id}.*`;
  const from = agents.filter(
    (other) =>
      other !== home && other.agent.tools.some((name) => name === fullName || name === pattern),
  );
  const siblings = targets
    .filter((target) => target.toolkit === toolkit && target.fullName !== fullName)
    .map((target) => target.fullName);
  for (const other of from) {
    // `server.*` minus one tool becomes a list.
    const left = other.agent.tools.flatMap((name) =>
      name === fullName ? [] : name === pattern ? siblings : [name],
    );
    await writeToolsOf(folder, other, left);
  }
  if (!home.agent.tools.some((name) => name === fullName || name === pattern))
    await writeToolsOf(folder, home, [...home.agent.tools, fullName]);
  await notifyHall(folder, { groupsChanged: {} });
  const names = from.map(({ agent }) => agent.name);
  print(
    { tool: fullName, to: home.agent.name, from: names },
    {
      json,
      text: () =>
        `moved ${fullName} to ${home.agent.name}${names.length > 0 ? ` from ${names.join(", ")}` : ""}`,
    },
  );
}

function writeToolsOf(
  folder: string,
  { fileName, agent }: FoldedAgent,
  tools: readonly string[],
): Promise<void> {
  return replaceFile(
    join(agentsPath(folder), fileName),
    replaceFields(agent.matter, { tools: writeTools([...new Set(tools)]) }),
  );
}

export async function runGroupsRename(
  name: string,
  wish: string,
  { json }: GroupsOptions,
): Promise<void> {
  const { folder, agents } = await openGroups();
  const { fileName, agent } = getAgent(name, agents);
  const renamed = agentName(wish);
  if (agents.some((other) => other.agent.name === renamed))
    throw new HallError("CONFLICT", `the group ${renamed} already exists`, {
      hint: "Choose another name.",
    });
  const file = agents.some((other) => other.fileName === fileNameOf(renamed))
    ? fileName
    : fileNameOf(renamed);
  await replaceFile(
    join(agentsPath(folder), file),
    replaceFields(agent.matter, { name: [`name: ${renamed}`] }),
  );
  if (file !== fileName) {
    await rm(join(agentsPath(folder), fileName), { force: true });
    await renameInLock(folder, fileName, file);
  }
  await notifyHall(folder, { groupsChanged: {} });
  print(
    { name: renamed, was: agent.name, file },
    { json, text: () => `renamed ${agent.name} to ${renamed} (.guildhall/agents/${file})` },
  );
}

/** Keeps the last proposal under the new file name. */
async function renameInLock(folder: string, before: string, now: string): Promise<void> {
  const lock = await readAgentsLock(folder, () => {});
  const { [before]: moved, ...others } = lock.agents;
  if (moved) await writeAgentsLock(folder, { ...lock, agents: { ...others, [now]: moved } });
}

interface FoundTools {
  readonly fits: boolean;
  readonly tools: readonly ToldTool[];
}

/** Shows which group a task goes to, by its best tools. */
export async function runGroupsExplain(
  words: readonly string[],
  { json }: GroupsOptions,
): Promise<void> {
  const task = words.join(" ");
  await withHall(async (client) => {
    const found = await voteForGroups(client, task);
    print(
      { task, fits: found.fits, groups: found.votes },
      { json, text: () => describeVotes(found) },
    );
  });
}

function describeVotes({ fits, votes }: Votes): string {
  const lines = votes.flatMap(({ name, score, tools }) => [
    `${name}  ${score}`,
    ...tools.map(
      ({ name: tool, score: own, matched }) =>
        `  ${tool}  ${own}${matched.length > 0 ? `  matched ${visible(matched.join(", "))}` : ""}`,
    ),
  ]);
  const head =
    votes.length === 0 ? "no group fits this task" : fits ? "" : "nothing fits well; nearest:";
  return [head, ...lines].filter(Boolean).join("\n");
}

export interface Votes {
  readonly fits: boolean;
  /** Best first. */
  readonly votes: readonly {
    readonly name: string;
    readonly score: number;
    readonly tools: readonly ToldTool[];
  }[];
}

/** Groups by their best tool for a task. Throws NOT_FOUND without groups. */
export async function voteForGroups(client: HallClient, task: string): Promise<Votes> {
  const { agents, targets } = await openGroups();
  const result = await client.request("tools/call", {
    name: "find_tools",
    arguments: { task, limit: 10 },
  });
  const { fits, tools } = result.structuredContent as unknown as FoundTools;
  const { groups } = sortTools(
    agents.map(({ agent }) => agent),
    targets,
  );
  const votes = groups
    .map(({ file, tools: members }) => {
      const names = new Set([...members].map(({ fullName }) => fullName));
      const found = tools.filter(({ name }) => names.has(name));
      // One tool does the work, so a group is as good as its best tool.
      return {
        name: file.name,
        score: Math.max(0, ...found.map(({ score }) => score)),
        tools: found,
      };
    })
    .filter(({ tools: found }) => found.length > 0)
    .sort((a, b) => b.score - a.score || (a.name < b.name ? -1 : 1));
  return { fits: fits || isPlain(task, tools, targets), votes };
}

/** A task such as "2+2" shares no words with its tool, but can mean nothing else. */
function isPlain(task: string, found: readonly ToldTool[], targets: readonly Target[]): boolean {
  const offered = found.flatMap(({ name, score }) => {
    const { tool } = targets.find(({ fullName }) => fullName === name) ?? {};
    return tool
      ? [{ name, score, description: tool.description ?? "", inputSchema: tool.inputSchema }]
      : [];
  });
  const [best] = chooseTools(task, offered);
  return best !== undefined && isStatedOutright(best);
}

interface OpenGroups {
  readonly folder: string;
  readonly agents: readonly FoldedAgent[];
  readonly targets: readonly Target[];
  readonly problems: readonly string[];
}

/** Throws NOT_FOUND without groups. */
async function openGroups(): Promise<OpenGroups> {
  const folder = process.cwd();
  const settings = await loadSettings({}, "error");
  const { agents, problems } = await readAgentFolder(folder);
  if (agents.length === 0) {
    const why = problems.length > 0 ? `: ${problems.join("; ")}` : "";
    throw new HallError("NOT_FOUND", `this project has no groups yet${why}`, {
      next: [{ do: "run-command", command: "build" }],
    });
  }
  const lock = await readLock(folder, (message) => settings.log.warn(message));
  return { folder, agents, problems, targets: await listKnownTools(folder, settings, lock) };
}

/** By name, with or without `_agent`. Throws NOT_FOUND with similar names. */
function getAgent(name: string, agents: readonly FoldedAgent[]): FoldedAgent {
  const found = agents.find(({ agent }) => agent.name === name || agent.name === agentName(name));
  if (found) return found;
  const near = findNear(
    agentName(name),
    agents.map(({ agent }) => agent.name),
  );
  throw new HallError(
    "NOT_FOUND",
    `unknown group "${name}"${near.length > 0 ? `; did you mean ${near.join(", ")}?` : ""}`,
    {
      next: [{ do: "run-command", command: "groups list" }],
    },
  );
}

/** By full name or an unambiguous bare name. Throws NOT_FOUND with similar names. */
function getTarget(name: string, targets: readonly Target[]): Target {
  const bare = targets.filter(({ tool }) => tool.name === name);
  const found =
    targets.find(({ fullName }) => fullName === name || fullName === name.replace("__", ".")) ??
    (bare.length === 1 ? bare[0] : undefined);
  if (found) return found;
  const choices =
    bare.length > 1
      ? bare.map(({ fullName }) => fullName)
      : findNear(
          name,
          targets.map(({ fullName }) => fullName),
        );
  throw new HallError(
    "NOT_FOUND",
    `unknown tool "${name}"${choices.length > 0 ? `; did you mean ${choices.join(", ")}?` : ""}`,
    {
      next: [{ do: "run-command", command: "tools" }],
    },
  );
}
