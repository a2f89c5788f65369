import { countVotes, type Votes } from "../../agents/local/votes.ts";
import { visible, visibleLines } from "../../base/sanitize.ts";
import { plural } from "../../base/text.ts";
import {
  createGroup,
  getGroup,
  moveTool,
  openGroups,
  type ProjectGroups,
  renameGroup,
} from "../../hall/groups.ts";
import type { HallClient } from "../../hall/hall-client.ts";
import { openProjectLedger } from "../../hall/project-store.ts";
import { findWaitingTexts } from "../../hall/review.ts";
import type { ToldTool } from "../../toolkits/find/answer.ts";
import type { JsonOption } from "../declaration.ts";
import { loadProject, withHall } from "../hall.ts";
import { createWaiting } from "../live.ts";
import { print, table, wrapProse } from "../print.ts";

/** Lists the groups and their tools. */
export async function runGroupsList(options: JsonOption): Promise<void> {
  const { settings, agents, groups, strays, unknown, problems } = await openProjectGroups();
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
  const { agents, groups, unknown } = await openProjectGroups();
  const { fileName, agent } = getGroup(name, agents);
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
  const made = await createGroup(await loadProject(), wish, tools);
  const text = `created ${made.name} with ${plural(made.tools.length, "tool")}${formatOrigin(made.from)} (.guildhall/agents/${made.file}); edit its description there`;
  print(made, wrapProse(text), options);
}

/** Moves a tool to one group. Builds keep it there. */
export async function runGroupsMove(
  tool: string,
  group: string,
  options: JsonOption,
): Promise<void> {
  const moved = await moveTool(await loadProject(), tool, group);
  print(moved, `moved ${moved.tool} to ${moved.to}${formatOrigin(moved.from)}`, options);
}

export async function runGroupsRename(
  name: string,
  wish: string,
  options: JsonOption,
): Promise<void> {
  const renamed = await renameGroup(await loadProject(), name, wish);
  const text = `renamed ${renamed.was} to ${renamed.name} (.guildhall/agents/${renamed.file})`;
  print(renamed, text, options);
}

function formatOrigin(names: readonly string[]): string {
  return names.length > 0 ? ` from ${names.join(", ")}` : "";
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
  const { groups } = await openProjectGroups();
  const { structuredContent } = await client.request("tools/call", {
    name: "find_tools",
    arguments: { task, limit: 10 },
  });
  const { fits, tools } = structuredContent as Pick<Votes, "fits"> & {
    readonly tools: readonly ToldTool[];
  };
  return countVotes(task, groups, { fits, tools });
}

function openProjectGroups(): Promise<ProjectGroups> {
  return loadProject().then((settings) =>
    createWaiting().during("reading the tools", openGroups(settings)),
  );
}
