import { join } from "node:path";
import { HallError } from "../base/errors.ts";
import { removeProjectFile, replaceProjectFile } from "../base/project-files.ts";
import { plural } from "../base/text.ts";
import type { Target } from "../tool.ts";
import {
  type AgentFile,
  fileNameOf,
  replaceFields,
  writeAgentFile,
  writeText,
  writeTools,
} from "./agent-file.ts";
import {
  type AgentFolder,
  type AgentsLock,
  type FoldedAgent,
  type LockedAgent,
  type Notes,
  type NotesOptions,
  parseNotes,
  readAgentFolder,
  readAgentsLock,
  writeAgentsLock,
} from "./agent-folder.ts";
import { groupCount, groupSize } from "./grouping/grouping.ts";
import { describeUnknown, type SortedTools, sortTools } from "./groups.ts";
import { type Proposal, type ProposeOptions, proposeAgents } from "./propose.ts";

export interface PlanOptions extends NotesOptions {
  /** Of the project. */
  readonly folder: string;
  readonly targets: readonly Target[];
  /** The project's notes about its servers. Default: none. */
  readonly noteText?: string | undefined;
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
  noteText = "",
  ...notesOptions
}: PlanOptions): Promise<AgentPlan> {
  const problems: string[] = [];
  const [found, lock] = await Promise.all([
    readAgentFolder(folder),
    readAgentsLock(folder, (message) => problems.push(message)),
  ]);
  const notes = parseNotes(noteText, notesOptions);
  const before = findPrevious(found, lock, regroup || isOutgrown(found, targets));
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
  const sorted = sortTools(
    plan.agents.map(({ agent }) => agent),
    targets,
  );
  return {
    ...plan,
    warnings: [
      ...problems,
      ...found.problems,
      ...warnings,
      ...plan.warnings,
      ...(plan.agents.length > 0 ? checkReach(sorted, found, lock) : []),
      ...describeUnknown(sorted, targets),
      // The groups of a first build are as good as we can make them: there is nothing to advise.
      ...(fixed.size > 0 ? checkSizes(sorted, targets.length) : []),
    ],
  };
}

/** True if there are more new tools than grouped ones: the groups of three servers do not fit forty. */
function isOutgrown({ agents }: AgentFolder, targets: readonly Target[]): boolean {
  const files = agents.map(({ agent }) => agent);
  return sortTools(files, targets).strays.length > targets.length / 2;
}

/** Agents that keep their tools. An unreadable file keeps its last known tools; a first build keeps existing files. */
function findPrevious(
  { agents, broken }: AgentFolder,
  lock: AgentsLock,
  regroup: boolean,
): Pick<ProposeOptions, "previous" | "chosen" | "edited"> {
  const unreadable = [...broken].flatMap((fileName) => lock.agents[fileName] ?? []);
  const isFirst = Object.keys(lock.agents).length === 0;
  const composed = agents
    .filter((folded) => findEdits(folded, lock.agents[folded.fileName]).length > 0)
    .map(({ agent }) => agent);
  if (regroup || isFirst)
    return { previous: [], chosen: [...composed, ...unreadable], edited: new Set() };
  const rewritten = agents.filter(({ fileName, text }) => {
    const last = lock.agents[fileName];
    return last === undefined || writeAgentFile(last) !== text;
  });
  const edited = [...composed, ...rewritten.map(({ agent }) => agent), ...unreadable];
  return {
    previous: [...agents.map(({ agent }) => agent), ...unreadable],
    chosen: [],
    edited: new Set(edited.map(({ name }) => name)),
  };
}

/** The last proposal for each agent, by its current name. */
function findProposed({ agents, broken }: AgentFolder, lock: AgentsLock): Map<string, AgentFile> {
  const files = [
    ...[...broken].map((fileName) => ({ fileName, name: undefined })),
    ...agents.map(({ fileName, agent: { name } }) => ({ fileName, name })),
  ];
  const proposed = files.flatMap(({ fileName, name }) => {
    const last = lock.agents[fileName];
    if (!last) return [];
    const { edited: _edited, ...agent } = last;
    return [{ ...agent, name: name ?? agent.name }];
  });
  return new Map(proposed.map((agent) => [agent.name, agent]));
}

/** After a build every tool must belong to an agent. */
function checkReach(
  { strays }: SortedTools,
  { broken }: AgentFolder,
  lock: AgentsLock,
): readonly string[] {
  if (strays.length === 0) return [];
  const names = strays.map(({ fullName }) => fullName).join(", ");
  if (broken.size === 0 || Object.keys(lock.agents).length === 0)
    throw new HallError("INTERNAL", `no group for ${names.slice(0, 500)}`);
  return [
    `${[...broken].join(", ")} cannot be read; until then its tools belong to the most similar agents`,
  ];
}

/** Recommended sizes, not limits: above 500 tools agents search among their own tools. */
function checkSizes({ groups }: SortedTools, toolCount: number): readonly string[] {
  const warnings: string[] = [];
  const isMany = toolCount > groupCount.most * groupSize.most;
  if (toolCount >= groupCount.least * groupSize.least && groups.length < groupCount.least)
    warnings.push(
      `${plural(groups.length, "group")} for ${toolCount} tools (recommended: 3 to 25); try --regroup`,
    );
  if (groups.length > groupCount.most)
    warnings.push(`${groups.length} groups (recommended: 3 to 25)`);
  for (const { file, tools } of groups) {
    if (tools.size > groupSize.most && !isMany)
      warnings.push(`${file.name} has ${tools.size} tools (recommended: 5 to 20)`);
    if (tools.size < groupSize.least && toolCount >= groupSize.least)
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
    "When a call fails, the error says what to do next.",
    "",
  ].join("\n");
}

/** Writes the planned files and the lock. */
export async function applyPlan(folder: string, { changes, lock }: AgentPlan): Promise<void> {
  for (const { path, after } of changes) {
    const file = join(".guildhall", path);
    if (after === undefined) await removeProjectFile(folder, file);
    else await replaceProjectFile(folder, file, after);
  }
  await writeAgentsLock(folder, lock);
}

/**
 * The changes of a build to the files of a project, from three versions of each: last proposal,
 * file on disk, new proposal.
 */
export interface AgentPlan {
  /** Sorted by file name, `agents/…` and `instructions.md` alike. */
  readonly changes: readonly FileChange[];
  /** The resulting agents. */
  readonly agents: readonly { readonly fileName: string; readonly agent: AgentFile }[];
  readonly warnings: readonly string[];
  readonly lock: AgentsLock;
}

export interface FileChange {
  /** Relative to `.guildhall`. */
  readonly path: string;
  readonly before: string | undefined;
  /** Undefined if the file is deleted. */
  readonly after: string | undefined;
}

interface MergeOptions {
  readonly folder: AgentFolder;
  readonly lock: AgentsLock;
  readonly proposed: readonly AgentFile[];
  readonly guide: string;
  /** Full names of all tools. */
  readonly known: ReadonlySet<string>;
}

function planMerge({ folder, lock, proposed, guide, known }: MergeOptions): AgentPlan {
  const onDisk = new Map(folder.agents.map((folded) => [folded.agent.name, folded]));
  const warnings: string[] = [];
  const changes: FileChange[] = [];
  const agents: { fileName: string; agent: AgentFile }[] = [];
  const generated: Record<string, LockedAgent> = {};
  const used = new Set<string>([
    ...folder.agents.map(({ fileName }) => fileName),
    ...folder.broken,
  ]);

  for (const agent of proposed) {
    const folded = onDisk.get(agent.name);
    const fileName = folded?.fileName ?? findFileName(agent.name, folder, lock, used);
    used.add(fileName);
    const edited = findEdits(folded, lock.agents[fileName]);
    generated[fileName] = edited.length > 0 ? { ...agent, edited } : agent;
    if (folder.broken.has(fileName)) continue;
    const after = folded
      ? mergeFile(folded, lock.agents[fileName], agent, known)
      : { text: writeAgentFile(agent), agent };
    agents.push({ fileName, agent: after.agent });
    if (after.text !== folded?.text)
      changes.push({ path: `agents/${fileName}`, before: folded?.text, after: after.text });
  }
  const names = new Set(proposed.map(({ name }) => name));
  for (const folded of folder.agents.filter(({ agent }) => !names.has(agent.name))) {
    const last = lock.agents[folded.fileName];
    if (last && writeAgentFile(last) === folded.text)
      changes.push({ path: `agents/${folded.fileName}`, before: folded.text, after: undefined });
    else {
      warnings.push(`${folded.fileName} has no tools left; it was edited by hand and is kept`);
      agents.push({ fileName: folded.fileName, agent: folded.agent });
      if (last) generated[folded.fileName] = last;
    }
  }
  const isGuideOurs = folder.guide === undefined || folder.guide === lock.guide;
  if (isGuideOurs && folder.guide !== guide)
    changes.push({ path: "instructions.md", before: folder.guide, after: guide });
  return {
    changes: changes.sort((a, b) => (a.path < b.path ? -1 : 1)),
    agents: agents.sort((a, b) => (a.fileName < b.fileName ? -1 : 1)),
    warnings,
    lock: {
      lockVersion: 1,
      agents: Object.fromEntries(Object.entries(generated).sort(([a], [b]) => (a < b ? -1 : 1))),
      guide,
    },
  };
}

/** Fields that a person has edited at any time. */
function findEdits(
  folded: FoldedAgent | undefined,
  last: LockedAgent | undefined,
): NonNullable<LockedAgent["edited"]> {
  const edits = new Set(last?.edited ?? []);
  if (folded && folded.agent.name !== last?.name) edits.add("name");
  if (folded && [...folded.agent.tools].sort().join() !== last?.tools.join()) edits.add("tools");
  return [...edits].sort();
}

/** An unreadable file may belong to this agent. */
function findFileName(
  name: string,
  folder: AgentFolder,
  lock: AgentsLock,
  used: ReadonlySet<string>,
): string {
  const broken = [...folder.broken].find((fileName) => lock.agents[fileName]?.name === name);
  if (broken !== undefined) return broken;
  const wish = fileNameOf(name);
  let free = wish;
  for (let number = 2; used.has(free); number++) free = wish.replace(/\.md$/, `-${number}.md`);
  return free;
}

/** Keeps edits by people and updates the rest. */
function mergeFile(
  folded: FoldedAgent,
  last: AgentFile | undefined,
  next: AgentFile,
  known: ReadonlySet<string>,
): { text: string; agent: AgentFile } {
  const { text, agent: mine } = folded;
  if (last && writeAgentFile(last) === text) return { text: writeAgentFile(next), agent: next };
  const choose = (field: "description" | "instructions"): string =>
    mine[field] === last?.[field] ? next[field] : mine[field];
  const [description, instructions] = [choose("description"), choose("instructions")];
  const tools = mergeTools(mine, last, next, known);

  const changed: Record<string, readonly string[]> = {};
  if (description !== mine.description)
    changed.description = [`description: ${writeText(description)}`];
  if (tools.join() !== mine.tools.join()) changed.tools = writeTools(tools);
  const body = instructions === mine.instructions ? undefined : instructions;
  const isSame = Object.keys(changed).length === 0 && body === undefined;
  return {
    text: isSame ? text : replaceFields(mine.matter, changed, body),
    agent: { ...mine, description, instructions, tools },
  };
}

/** The file's list in its order, without generated entries that are gone, followed by new ones. */
function mergeTools(
  mine: AgentFile,
  last: AgentFile | undefined,
  next: AgentFile,
  known: ReadonlySet<string>,
): readonly string[] {
  const kept = mine.tools.filter(
    (tool) => tool.endsWith(".*") || known.has(tool) || !last?.tools.includes(tool),
  );
  const prefixes = kept.filter((tool) => tool.endsWith(".*")).map((tool) => tool.slice(0, -1));
  const added = next.tools.filter(
    (tool) => !kept.includes(tool) && !prefixes.some((prefix) => tool.startsWith(prefix)),
  );
  return [...kept, ...added];
}
