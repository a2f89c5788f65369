import {
  type AgentFile,
  fileNameOf,
  type ParsedAgentFile,
  writeAgentFile,
  writeTools,
} from "./agent-file.ts";
import type { AgentFolder, FoldedAgent } from "./agent-folder.ts";
import type { AgentsLock, LockedAgent } from "./agents-lock.ts";
import { replaceFields, writeText } from "./front-matter.ts";

/** The changes of a build to the files of a project, from three versions of each: last proposal, file on disk, new proposal. */
export interface Plan {
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

export interface MergeOptions {
  readonly folder: AgentFolder;
  readonly lock: AgentsLock;
  readonly proposed: readonly AgentFile[];
  readonly guide: string;
  /** Full names of all tools. */
  readonly known: ReadonlySet<string>;
}

export function planMerge({ folder, lock, proposed, guide, known }: MergeOptions): Plan {
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
    const fileName = folded?.fileName ?? findFileName(agent.name, { folder, lock, used });
    used.add(fileName);
    const edited = findEdits(folded, lock.agents[fileName]);
    generated[fileName] = { ...agent, ...(edited.length > 0 ? { edited } : {}) };
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
  {
    folder,
    lock,
    used,
  }: {
    readonly folder: AgentFolder;
    readonly lock: AgentsLock;
    readonly used: ReadonlySet<string>;
  },
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
  const description =
    last && mine.description === last.description ? next.description : mine.description;
  const instructions =
    last && mine.instructions === last.instructions ? next.instructions : mine.instructions;
  const tools = mergeTools(mine, last, next, known);
  const changed = {
    ...(description === mine.description
      ? {}
      : { description: [`description: ${writeText(description)}`] }),
    ...(tools.join() === mine.tools.join() ? {} : { tools: writeTools(tools) }),
  };
  const isBodyOurs = instructions !== mine.instructions;
  const merged =
    Object.keys(changed).length === 0 && !isBodyOurs
      ? text
      : replaceFields(mine.matter, changed, isBodyOurs ? instructions : undefined);
  return { text: merged, agent: { ...mine, description, instructions, tools } };
}

/** The file's list in its order, without generated entries that are gone, followed by new ones. */
function mergeTools(
  mine: ParsedAgentFile,
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
