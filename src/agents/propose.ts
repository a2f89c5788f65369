import type { ToolkitText } from "../ranking/document.ts";
import type { Vectors } from "../ranking/vectors.ts";
import { safeNameOf } from "../registry/names.ts";
import type { Target } from "../tool.ts";
import { keyOf } from "../trust/trust.ts";
import { type AgentFile, agentName } from "./agent-file.ts";
import { findMembers, type Notes } from "./agent-folder.ts";
import { groupBy } from "./groups.ts";

export interface ProposeOptions {
  readonly targets: readonly Target[];
  /** Agents that keep their tools and can get new ones. */
  readonly previous: readonly AgentFile[];
  /** Those of them that a person has edited: they keep their names. */
  readonly edited: ReadonlySet<string>;
  /** Agents that a person composed: no tool is added. */
  readonly chosen: readonly AgentFile[];
  /** The last proposal by name: an agent with the same tools keeps its text. */
  readonly proposed: ReadonlyMap<string, AgentFile>;
  readonly notes: Notes;
}

export interface Proposal {
  readonly agents: readonly AgentFile[];
  /** Tools in the hints that no server provides. */
  readonly warnings: readonly string[];
}

/** Groups every tool and describes the groups. Deterministic for the same tools, agents and notes. */
export async function proposeAgents({
  targets,
  previous,
  edited,
  chosen,
  proposed,
  notes,
}: ProposeOptions): Promise<Proposal> {
  const [{ chooseCount, groupTools }, vectors] = await Promise.all([
    import("./grouping/grouping.ts"),
    readVectors(),
  ]);
  const byKey = new Map(targets.map((target) => [keyOf(target), target]));
  const { wanted, warnings } = findWanted(notes, targets, { previous, chosen });
  const isWanted = new Set(wanted.flatMap(({ tools }) => tools));
  const texts = (keys: (key: string) => boolean) => describeToolkits(targets, notes, keys);
  const before = previous
    .filter(({ name }) => !wanted.some((group) => group.name === name))
    .map(({ name, tools }) => ({
      name: stemOf(name),
      mayBeRenamed: !edited.has(name),
      tools: keysOf(tools, targets).filter((key) => !isWanted.has(key)),
    }))
    .filter(({ tools }) => tools.length > 0);
  // Many new tools get groups of their own.
  const count = Math.max(before.length, chooseCount(targets.length - isWanted.size));
  const grouped = [
    ...groupTools(
      texts((key) => !isWanted.has(key)),
      { vectors, count, previous: before },
    ),
    ...wanted.flatMap((group) =>
      groupTools(
        texts((key) => group.tools.includes(key)),
        { vectors, count: 1, previous: [{ name: stemOf(group.name), tools: group.tools }] },
      ),
    ),
  ];
  const old = new Set([...before, ...wanted].map(({ name }) => agentName(name)));
  const taken = new Set(old);
  const agents = grouped.map(({ name: stem, description, tools: keys }): AgentFile => {
    const members = keys.flatMap((key) => byKey.get(key) ?? []);
    const given = agentName(stem);
    const name = old.has(given) ? given : findName(given, taken);
    taken.add(name);
    const tools = members.map(({ fullName }) => fullName).sort();
    const last = proposed.get(name);
    // Descriptions depend on the other groups; keep the text so that unrelated changes do not rewrite it.
    if (last && last.tools.join() === tools.join()) return last;
    return { name, description, tools, instructions: writeInstructions(members, notes) };
  });
  return { agents: agents.sort((a, b) => (a.name < b.name ? -1 : 1)), warnings };
}

async function readVectors(): Promise<Vectors | undefined> {
  const { loadVectors } = await import("../ranking/vectors.ts");
  try {
    return loadVectors();
  } catch {
    // Grouping by words alone is worse but works.
    return undefined;
  }
}

function stemOf(name: string): string {
  return name.replace(/_agent$/, "");
}

/** Full names and `server.*` as the keys that grouping uses. */
function keysOf(names: readonly string[], targets: readonly Target[]): string[] {
  const wanted = new Set(names);
  return targets
    .filter(
      ({ toolkit, fullName }) =>
        [fullName, safeNameOf(fullName)].some((name) => wanted.has(name)) ||
        [".*", "__*"].some((all) => wanted.has(`${toolkit.prefix ?? toolkit.id}${all}`)),
    )
    .map(keyOf);
}

/**
 * The groups people asked for. A tool goes to the first that lists it; files come before hints, and
 * a hint adds to its group.
 */
function findWanted(
  notes: Notes,
  targets: readonly Target[],
  { previous, chosen }: Pick<ProposeOptions, "previous" | "chosen">,
): { wanted: readonly Pick<AgentFile, "name" | "tools">[]; warnings: readonly string[] } {
  const warnings: string[] = [];
  const taken = new Set<string>();
  const claims = [
    ...chosen.map(({ name }) => ({ name, members: [] as readonly string[] })),
    ...notes.wanted,
  ];
  const groups = new Map<string, string[]>();
  for (const { name, members } of claims) {
    const found = members.flatMap((member) => {
      const tools = findMembers(member, targets);
      if (tools.length === 0)
        warnings.push(`hints: ${name} lists "${member}", which no server provides`);
      return tools.map(keyOf);
    });
    const had = keysOf(
      [...chosen, ...previous].find((agent) => agent.name === name)?.tools ?? [],
      targets,
    );
    const tools = [...new Set([...found, ...had])].filter((key) => !taken.has(key));
    for (const key of tools) taken.add(key);
    groups.set(name, [...(groups.get(name) ?? []), ...tools]);
  }
  const wanted = [...groups]
    .filter(([, tools]) => tools.length > 0)
    .map(([name, tools]) => ({ name, tools }));
  return { wanted, warnings };
}

function describeToolkits(
  targets: readonly Target[],
  notes: Notes,
  isIn: (key: string) => boolean,
): ToolkitText[] {
  const members = targets.filter((target) => isIn(keyOf(target)));
  return [...groupBy(members, ({ toolkit }) => toolkit.id)].map(([id, siblings]) => ({
    id,
    description: [siblings[0]?.toolkit.description ?? "", notes.about(id)].join("\n").trim(),
    tools: siblings.map(({ tool }) => tool),
  }));
}

/** The proposed name of a new group, with a number if it is taken. */
function findName(given: string, taken: ReadonlySet<string>): string {
  let free = given;
  for (let number = 2; taken.has(free); number++)
    free = given.replace(/_agent$/, `_${number}_agent`);
  return free;
}

const searchedAbove = 20;

/** Default instructions of an agent. */
export function writeInstructions(members: readonly Target[], { domain }: Notes): string {
  const sources = [...groupBy(members, ({ toolkit }) => toolkit.id)]
    .sort(([a, left], [b, right]) => right.length - left.length || (a < b ? -1 : 1))
    .map(([id, tools]) => `${id} (${tools.length})`)
    .join(", ");
  return [
    `You work with the tools of ${sources}.`,
    ...(domain === undefined ? [] : [`The project: ${domain}.`]),
    members.length > searchedAbove
      ? "You have many tools: first find those that fit the task, then choose among them."
      : "Choose the tool that does what the task asks; most tasks need one or two.",
    "Read before you change anything. Take arguments from the task and its data; never invent them. Report what you did, what you found and what you could not do.",
  ].join("\n\n");
}
