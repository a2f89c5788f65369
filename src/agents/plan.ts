import { rm } from "node:fs/promises";
import { join } from "node:path";
import { HallError } from "../base/errors.ts";
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
  /** The project's. */
  readonly folder: string;
  readonly targets: readonly Target[];
  /** Groups everything anew but what a person put where it is. Default: what is grouped stays where it is. */
  readonly regroup?: boolean | undefined;
  /** Looks at what is proposed and may propose something else. Default: it stands. */
  readonly refine?: Refine | undefined;
}

export type Refine = (proposal: Proposal, facts: RefineFacts) => Promise<Proposal>;

export interface RefineFacts {
  readonly targets: readonly Target[];
  readonly notes: Notes;
  /** Agents whose name and tools are not to change. */
  readonly fixed: ReadonlySet<string>;
}

/** What a build would make of the agents' files. Nothing is written. */
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

/** Who keeps their tools. A file that cannot be read keeps those it had when it could; the first build leaves alone what it finds. */
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

/** Whether a person has said what it is called or what it has. */
function isChosen({ name, tools }: AgentFile, last: LockedAgent | undefined): boolean {
  return (
    last === undefined ||
    (last.edited ?? []).length > 0 ||
    name !== last.name ||
    [...tools].sort().join() !== last.tools.join()
  );
}

/** What was proposed for each agent, by the name it has now. */
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

/** The promise of a build: whatever can be called is behind some agent. */
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
    throw new HallError("INTERNAL", `no group was found for ${names.slice(0, 500)}`);
  return [`until ${[...broken].join(", ")} can be read, the nearest agents stand in for its tools`];
}

function checkTools({ agents }: Plan, targets: readonly Target[]): readonly string[] {
  const { unknown } = sortTools(
    agents.map(({ agent }) => agent),
    targets,
  );
  return [...unknown].map(
    ([name, tools]) =>
      `${name} names ${tools.slice(0, 5).join(", ")}${tools.length > 5 ? ", …" : ""}, which no server offers`,
  );
}

const groupsUsual = { least: 3, most: 10 };
const toolsUsual = { least: 5, most: 20 };

/** Targets, not rules: fewer tools need fewer groups, and beyond two hundred every agent searches among its own. */
function checkSizes({ agents }: Plan, targets: readonly Target[]): readonly string[] {
  const { groups } = sortTools(
    agents.map(({ agent }) => agent),
    targets,
  );
  const warnings: string[] = [];
  const isMany = targets.length > groupsUsual.most * toolsUsual.most;
  if (targets.length >= groupsUsual.least * toolsUsual.least && groups.length < groupsUsual.least)
    warnings.push(
      `${groups.length} groups for ${targets.length} tools; 3 to 10 are best: try --regroup`,
    );
  if (groups.length > groupsUsual.most)
    warnings.push(`${groups.length} groups; 3 to 10 are best: a model has to choose among them`);
  for (const { file, tools } of groups) {
    if (tools.size > toolsUsual.most && !isMany)
      warnings.push(`${file.name} has ${tools.size} tools; 5 to 20 are best`);
    if (tools.size < toolsUsual.least && targets.length >= toolsUsual.least)
      warnings.push(
        `${file.name} has ${tools.size} ${tools.size === 1 ? "tool" : "tools"}; 5 to 20 are best`,
      );
  }
  return warnings;
}

/** What clients read when they connect. Without counts and names: it changes only when there is something new to say. */
function writeGuide(domain: string | undefined): string {
  return [
    "The tools here stand behind specialist agents.",
    ...(domain === undefined ? [] : [`This is about ${domain}.`]),
    "Ask the agent whose description fits, with a `task` in plain words: it does it and says how, or answers with the tools for it and how they are called.",
    "If none fits, or you know what you want, say it to `find_tools`.",
    "Run what you found with `call_tool`.",
    "When a call fails, the error says what to do next.",
    "",
  ].join("\n");
}

/** Writes what the plan says, and what the next plan is compared with. */
export async function applyPlan(folder: string, { changes, lock }: Plan): Promise<void> {
  for (const { path, after } of changes) {
    const file = join(folder, ".guildhall", path);
    if (after === undefined) await rm(file, { force: true });
    else await replaceFile(file, after);
  }
  await writeAgentsLock(folder, lock);
}
