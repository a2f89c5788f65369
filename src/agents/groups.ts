import type { Log } from "../base/log.ts";
import { findNear } from "../base/text.ts";
import { wordsOf } from "../ranking/words.ts";
import { safeNameOf } from "../registry/names.ts";
import type { Registry } from "../registry/registry.ts";
import type { Target } from "../tool.ts";
import type { AgentFile } from "./agent-file.ts";

/** The groups of a hall. Every tool belongs to at least one agent, whatever the files say. */
export interface Groups {
  /** Sorted by name; the same array until something changes. */
  all(): readonly Group[];
  /** The full names of a group's tools, by its name with or without `_agent`. */
  readonly toolNames: (name: string) => readonly string[] | undefined;
  /** Instructions for clients, if the project has any. */
  guide(): string | undefined;
  replace(source: GroupSource): void;
  close(): void;
}

export interface Group {
  readonly file: AgentFile;
  readonly tools: ReadonlySet<Target>;
  /** Those of a toolkit that the file does not name, and that joined the group because it fits best. */
  readonly guests: ReadonlySet<Target>;
}

/** The agent files of a project. */
export interface GroupSource {
  readonly files: readonly AgentFile[];
  readonly guide?: string | undefined;
}

export interface AgentGroupsOptions {
  readonly registry: Registry;
  readonly source?: GroupSource | undefined;
  readonly log: Log;
}

/** Several changes in a row are checked once. */
const checkMs = 250;

export function createGroups({
  registry,
  source: initial = { files: [] },
  log,
}: AgentGroupsOptions): Groups {
  let source = initial;
  let sortedTools: readonly Target[] | undefined;
  let sorted = nothing;
  const logged = new Set<string>();
  let timer: NodeJS.Timeout | undefined;

  function current(): SortedTools {
    if (source.files.length === 0) return nothing;
    const tools = registry.tools();
    if (tools === sortedTools) return sorted;
    sortedTools = tools;
    const grouped = tools.filter(({ toolkit }) => !toolkit.isInUse);
    sorted = sortTools(source.files, grouped);
    return sorted;
  }

  /** Logs each warning once. */
  function check(): void {
    const found = current();
    const unknown = registry.pendingDiscovery() ? [] : describeUnknown(found, registry.tools());
    for (const message of [...describeStrays(found.strays), ...unknown]) {
      if (logged.has(message)) continue;
      logged.add(message);
      log.warn(message);
    }
  }

  function schedule(): void {
    if (source.files.length === 0) return;
    timer ??= setTimeout(() => {
      timer = undefined;
      check();
    }, checkMs).unref();
  }

  const unsubscribe = registry.onChange((kind) => {
    if (kind === "tools") schedule();
  });
  schedule();

  return {
    all: () => current().groups,
    toolNames(name) {
      const names = [name, `${name}_agent`];
      const group = current().groups.find(({ file }) => names.includes(file.name));
      return group && Array.from(group.tools, ({ fullName }) => fullName);
    },
    guide: () => source.guide,
    replace(next) {
      source = next;
      sortedTools = undefined;
      schedule();
    },
    close() {
      clearTimeout(timer);
      unsubscribe();
    },
  };
}

/** Registered services come and go; tools of configured servers should be in a file. */
function describeStrays(strays: readonly Target[]): string[] {
  const names = strays
    .filter(
      ({ toolkit: { source = "built-in" } }) => source === "upstream" || source === "built-in",
    )
    .map(({ fullName }) => fullName);
  return names.length === 0
    ? []
    : [
        `no agent file lists ${listSome(names, 5)}; they belong to the most similar agent until you run \`guildhall build\``,
      ];
}

/** Tools in agent files that do not exist, with the name that was probably meant. */
export function describeUnknown(
  { unknown }: SortedTools,
  tools: readonly Target[],
): readonly string[] {
  return [...unknown].map(([agent, names]) => {
    const [near] = findNear(
      names[0] ?? "",
      tools.map(({ fullName }) => fullName),
    );
    const question = near === undefined ? "" : `; did you mean ${near}?`;
    return `${agent} lists ${listSome(names, 5)}, which no server provides${question}`;
  });
}

function listSome(names: readonly string[], most: number): string {
  const rest = names.length > most ? ` and ${names.length - most} more` : "";
  return `${names.slice(0, most).join(", ")}${rest}`;
}

export interface SortedTools {
  readonly groups: readonly Group[];
  /** Tools that no file lists. */
  readonly strays: readonly Target[];
  readonly unknown: ReadonlyMap<string, readonly string[]>;
}

const nothing: SortedTools = { groups: [], strays: [], unknown: new Map() };

export function sortTools(files: readonly AgentFile[], tools: readonly Target[]): SortedTools {
  const byName = new Map(
    tools.flatMap((target) => [
      [safeNameOf(target.fullName), target],
      [target.fullName, target],
    ]),
  );
  const byPrefix = groupBy(tools, ({ toolkit }) => toolkit.prefix ?? toolkit.id);
  const unknown = new Map<string, readonly string[]>();
  const groups = files.map((file) => {
    const found = file.tools.map((name) =>
      name.endsWith("*") ? byPrefix.get(name.replace(/(\.|__)\*$/, "")) : byName.get(name),
    );
    const missing = file.tools.filter((_name, at) => found[at] === undefined);
    if (missing.length > 0) unknown.set(file.name, missing);
    return {
      file,
      tools: new Set(found.flatMap((item) => item ?? [])),
      guests: new Set<Target>(),
    };
  });
  const named = new Set(groups.flatMap((group) => [...group.tools]));
  const strays = tools.filter((target) => !named.has(target));
  placeStrays(strays, groups);
  return { groups: groups.sort((a, b) => (a.file.name < b.file.name ? -1 : 1)), strays, unknown };
}

/**
 * Each goes to the group with most tools of its toolkit; a new toolkit goes to the group that
 * shares its words, else to a group of its own.
 */
function placeStrays(
  strays: readonly Target[],
  groups: { file: AgentFile; tools: Set<Target>; guests: Set<Target> }[],
): void {
  if (strays.length === 0) return;
  const countIn = (tools: ReadonlySet<Target>, toolkit: Target["toolkit"]): number =>
    [...tools].filter((target) => target.toolkit === toolkit).length;
  const others: Target[] = [];
  const stemsOf = groups.map(({ file: { name, description }, tools }) =>
    stemsOfTools([...tools], `${name} ${description}`),
  );
  for (const [toolkit, members] of groupBy(strays, (target) => target.toolkit)) {
    const [nearest] = groups
      .map(({ tools }) => ({ tools, count: countIn(tools, toolkit) }))
      .filter(({ count }) => count > 0)
      .sort((a, b) => b.count - a.count);
    const host = nearest ? undefined : groups[findAkin(toolkit, members, stemsOf) ?? -1];
    const home = nearest ?? host;
    for (const target of members) {
      home?.tools.add(target);
      host?.guests.add(target);
    }
    if (!home) others.push(...members);
  }
  if (others.length === 0) return;
  const other = groups.find(({ file }) => file.name === otherName);
  if (other) for (const target of others) other.tools.add(target);
  else groups.push({ file: describeOther(others), tools: new Set(others), guests: new Set() });
}

const akinStemsMin = 2;

/** The index of the group that shares most words with a new toolkit, rare ones first. */
function findAkin(
  toolkit: Target["toolkit"],
  members: readonly Target[],
  groups: readonly ReadonlySet<string>[],
): number | undefined {
  const stems = stemsOfTools(members, `${toolkit.category ?? ""} ${toolkit.description ?? ""}`);
  const scores = groups.map((group) => {
    const shared = [...stems].filter((stem) => group.has(stem));
    const rarity = (stem: string): number =>
      Math.log((groups.length + 1) / groups.filter((other) => other.has(stem)).length);
    return { count: shared.length, score: shared.reduce((sum, stem) => sum + rarity(stem), 0) };
  });
  const best = Math.max(...scores.map(({ score }) => score));
  const at = scores.findIndex(({ score }) => score === best);
  return (scores[at]?.count ?? 0) >= akinStemsMin ? at : undefined;
}

function stemsOfTools(tools: readonly Target[], more: string): Set<string> {
  const texts = tools.map(({ tool: { name, description = "" } }) => `${name} ${description}`);
  return new Set(wordsOf([more, ...texts].join(" ")).filter((stem) => !plainStems.has(stem)));
}

/** Words of the descriptions that say nothing of a subject. */
const plainStems = new Set(
  wordsOf(
    "specialized agent work works with can get list create update delete read write search find show set add remove tool tools new all name data value id return returns given by of use",
  ),
);

/** The items by key, in the order in which the keys first occur. */
export function groupBy<Key, Item>(
  items: readonly Item[],
  keyOf: (item: Item) => Key,
): Map<Key, Item[]> {
  const groups = new Map<Key, Item[]>();
  for (const item of items) {
    const key = keyOf(item);
    const siblings = groups.get(key);
    if (siblings) siblings.push(item);
    else groups.set(key, [item]);
  }
  return groups;
}

const otherName = "other_agent";

function describeOther(targets: readonly Target[]): AgentFile {
  const toolkits = [...new Set(targets.map(({ toolkit }) => toolkit.id))];
  return {
    name: otherName,
    description: `Specialized agent for new tools; works with ${listSome(toolkits, 12)}.`,
    tools: targets.map(({ fullName }) => fullName),
    instructions: "",
  };
}
