import { rm } from "node:fs/promises";
import { join } from "node:path";
import { HallError } from "../base/errors.ts";
import { plural } from "../base/text.ts";
import type { Target } from "../tool.ts";
import type { AgentFile } from "./agent-file.ts";
import { type AgentFolder, readAgentFolder } from "./agent-folder.ts";
import {
  type AgentsLock,
  type LockedAgent,
  readAgentsLock,
  replaceFile,
  writeAgentsLock,
} from "./agents-lock.ts";
import { sortTools } from "./groups.ts";
import { type Plan, planMerge } from "./merge.ts";
import { type Notes, type NotesOptions, readNotes } from "./notes.ts";
import { type Proposal, type ProposeOptions, proposeAgents } from "./propose.ts";

export interface PlanOptions extends NotesOptions {
  /** Of the project. */
  readonly folder: string;
  readonly targets: readonly Target[];
  /** Regroups everything except what people placed. Default: grouped tools keep their groups. */
  readonly regroup?: boolean | undefined;
  /** Changes the proposal, for example with a model. */
  readonly refine?: Refine | undefined;
}

export type Refine = (proposal: Proposal, facts: RefineFacts) => Promise<Proposal>;

export interface RefineFacts {
  readonly targets: readonly Target[];
  readonly notes: Notes;
  /** Agents whose name and tools must not change. */
  readonly fixed: ReadonlySet<string>;
}

/** Plans the agent files of a build. Writes nothing. */
export async function planAgents({
  folder,
  targets,
  regroup = false,
  refine,
  ...notesOptions
}: PlanOptions): Promise<Plan> {
  const problems: string[] = [];
  const [found, lock, notes] = await Promise.all([
    readAgentFolder(folder),
    readAgentsLock(folder, (message) => problems.push(message)),
    readNotes(folder, notesOptions),
  ]);
  const before = findPrevious(found, lock, regroup);
  const proposal = await proposeAgents({
    targets,
    notes,
    ...before,
    proposed: findProposed(found, lock),
  });
  const fixed = new Set([...before.previous, ...before.chosen].map(({ name }) => name));
  const { agents, warnings } = refine
    ? await refine(proposal, { targets, notes, fixed })
    : proposal;
  const known = new Set(targets.map(({ fullName }) => fullName));
  const plan = planMerge({
    folder: found,
    lock,
    proposed: agents,
    guide: writeGuide(notes.domain),
    known,
  });
  const lost = checkReach(plan, targets, found, lock);
  return {
    ...plan,
    warnings: [
      ...problems,
      ...found.problems,
      ...warnings,
      ...plan.warnings,
      ...lost,
      ...checkTools(plan, targets),
      ...checkSizes(plan, targets),
    ],
  };
}

/** Agents that keep their tools. An unreadable file keeps its last known tools; a first build keeps existing files. */
function findPrevious(
  { agents, broken }: AgentFolder,
  lock: AgentsLock,
  regroup: boolean,
): Pick<ProposeOptions, "previous" | "chosen"> {
  const unreadable = [...broken].flatMap((fileName) => lock.agents[fileName] ?? []);
  const isFirst = Object.keys(lock.agents).length === 0;
  if (!regroup && !isFirst)
    return { previous: [...agents.map(({ agent }) => agent), ...unreadable], chosen: [] };
  const chosen = agents
    .filter(({ fileName, agent }) => isChosen(agent, lock.agents[fileName]))
    .map(({ agent }) => agent);
  return { previous: [], chosen: [...chosen, ...unreadable] };
}

/** Whether a person edited its name or its tools. */
function isChosen({ name, tools }: AgentFile, last: LockedAgent | undefined): boolean {
  return (
    last === undefined ||
    (last.edited ?? []).length > 0 ||
    name !== last.name ||
    [...tools].sort().join() !== last.tools.join()
  );
}

/** The last proposal for each agent, by its current name. */
function findProposed({ agents, broken }: AgentFolder, lock: AgentsLock): Map<string, AgentFile> {
  const present = agents.flatMap(({ fileName, agent: { name } }) => {
    const last = lock.agents[fileName];
    return last ? [{ ...withoutEdits(last), name }] : [];
  });
  const unreadable = [...broken]
    .flatMap((fileName) => lock.agents[fileName] ?? [])
    .map(withoutEdits);
  return new Map([...unreadable, ...present].map((agent) => [agent.name, agent]));
}

function withoutEdits({ edited: _edited, ...agent }: LockedAgent): AgentFile {
  return agent;
}

/** After a build every tool must belong to an agent. */
function checkReach(
  { agents }: Plan,
  targets: readonly Target[],
  { broken }: AgentFolder,
  lock: AgentsLock,
): readonly string[] {
  const { strays } = sortTools(
    agents.map(({ agent }) => agent),
    targets,
  );
  if (strays.length === 0 || agents.length === 0) return [];
  const names = strays.map(({ fullName }) => fullName).join(", ");
  if (broken.size === 0 || Object.keys(lock.agents).length === 0)
    throw new HallError("INTERNAL", `no group for ${names.slice(0, 500)}`);
  return [
    `${[...broken].join(", ")} cannot be read; until then its tools belong to the nearest agents`,
  ];
}

function checkTools({ agents }: Plan, targets: readonly Target[]): readonly string[] {
  const { unknown } = sortTools(
    agents.map(({ agent }) => agent),
    targets,
  );
  return [...unknown].map(
    ([name, tools]) =>
      `${name} lists ${tools.slice(0, 5).join(", ")}${tools.length > 5 ? ", …" : ""}, which no server provides`,
  );
}

const groupsUsual = { least: 3, most: 10 };
const toolsUsual = { least: 5, most: 20 };

/** Recommended sizes, not limits: above 200 tools agents search among their own tools. */
function checkSizes({ agents }: Plan, targets: readonly Target[]): readonly string[] {
  const { groups } = sortTools(
    agents.map(({ agent }) => agent),
    targets,
  );
  const warnings: string[] = [];
  const isMany = targets.length > groupsUsual.most * toolsUsual.most;
  if (targets.length >= groupsUsual.least * toolsUsual.least && groups.length < groupsUsual.least)
    warnings.push(
      `${groups.length} groups for ${targets.length} tools (recommended: 3 to 10); try --regroup`,
    );
  if (groups.length > groupsUsual.most)
    warnings.push(`${groups.length} groups (recommended: 3 to 10)`);
  for (const { file, tools } of groups) {
    if (tools.size > toolsUsual.most && !isMany)
      warnings.push(`${file.name} has ${tools.size} tools (recommended: 5 to 20)`);
    if (tools.size < toolsUsual.least && targets.length >= toolsUsual.least)
      warnings.push(`${file.name} has ${plural(tools.size, "tool")} (recommended: 5 to 20)`);
  }
  return warnings;
}

/** Instructions for clients. Without counts and names, so that they rarely change. */
function writeGuide(domain: string | undefined): string {
  return [
    "Specialist agents provide the tools here.",
    ...(domain === undefined ? [] : [`The project is about ${domain}.`]),
    "Call the agent whose description fits with a `task` in plain words: it carries the task out and lists its steps, or returns the right tools and how to call them.",
    "If none fits, or if you know what you need, use `find_tools`.",
    "Call the tools you found with `call_tool`.",
    "When a call fails, the error says what to do next.",
    "",
  ].join("\n");
}

/** Writes the planned files and the lock. */
export async function applyPlan(folder: string, { changes, lock }: Plan): Promise<void> {
  for (const { path, after } of changes) {
    const file = join(folder, ".guildhall", path);
    if (after === undefined) await rm(file, { force: true });
    else await replaceFile(file, after);
  }
  await writeAgentsLock(folder, lock);
}
