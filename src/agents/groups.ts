import type { Log } from "../base/log.ts";
import { findNear } from "../base/text.ts";
import type { Registry } from "../registry/registry.ts";
import type { Target } from "../tool.ts";
import type { AgentFile } from "./agent-file.ts";

/** The groups of a hall. Every tool belongs to at least one agent, whatever the files say. */
export interface Groups {
  /** SortedTools by name; the same array until something changes. */
  all(): readonly Group[];
  /** Instructions for clients, if the project has any. */
  guide(): string | undefined;
  replace(source: GroupSource): void;
  close(): void;
}

export interface Group {
  readonly file: AgentFile;
  readonly tools: ReadonlySet<Target>;
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
    const grouped = tools.filter(({ toolkit }) => !toolkit.besideAgents);
    sorted = sortTools(source.files, grouped);
    return sorted;
  }

  /** Logs each warning once. */
  function check(): void {
    const { strays, unknown } = current();
    const messages = [
      describeStrays(strays),
      ...(registry.looking() ? [] : describeUnknown(unknown, registry)),
    ];
    for (const message of messages) {
      if (message === undefined || logged.has(message)) continue;
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
function describeStrays(strays: readonly Target[]): string | undefined {
  const names = strays
    .filter(
      ({ toolkit: { source = "built-in" } }) => source === "upstream" || source === "built-in",
    )
    .map(({ fullName }) => fullName);
  if (names.length === 0) return undefined;
  const rest = names.length > 5 ? ` and ${names.length - 5} more` : "";
  return `no agent file lists ${names.slice(0, 5).join(", ")}${rest}; until \`guildhall build\` they belong to the nearest agent`;
}

function describeUnknown(
  unknown: ReadonlyMap<string, readonly string[]>,
  registry: Registry,
): string[] {
  return [...unknown].map(([agent, names]) => {
    const [near] = findNear(
      names[0] ?? "",
      registry.tools().map(({ fullName }) => fullName),
    );
    const rest = names.length > 5 ? ` and ${names.length - 5} more` : "";
    return `${agent} lists ${names.slice(0, 5).join(", ")}${rest}, which no server provides${near === undefined ? "" : `; did you mean ${near}?`}`;
  });
}

export interface SortedTools {
  readonly groups: readonly Group[];
  /** Tools that no file lists. */
  readonly strays: readonly Target[];
  readonly unknown: ReadonlyMap<string, readonly string[]>;
}

const nothing: SortedTools = { groups: [], strays: [], unknown: new Map() };

export function sortTools(files: readonly AgentFile[], tools: readonly Target[]): SortedTools {
  const byName = new Map(tools.map((target) => [target.fullName, target]));
  const byPrefix = new Map<string, Target[]>();
  for (const target of tools) {
    const prefix = target.toolkit.prefix ?? target.toolkit.id;
    const siblings = byPrefix.get(prefix);
    if (siblings) siblings.push(target);
    else byPrefix.set(prefix, [target]);
  }
  const unknown = new Map<string, readonly string[]>();
  const groups = files.map((file) => {
    const found = file.tools.map((name) =>
      name.endsWith(".*") ? byPrefix.get(name.slice(0, -2)) : byName.get(name),
    );
    const missing = file.tools.filter((_name, at) => found[at] === undefined);
    if (missing.length > 0) unknown.set(file.name, missing);
    return { file, tools: new Set(found.flatMap((item) => item ?? [])) };
  });
  const named = new Set(groups.flatMap((group) => [...group.tools]));
  const strays = tools.filter((target) => !named.has(target));
  placeStrays(strays, groups);
  return { groups: groups.sort((a, b) => (a.file.name < b.file.name ? -1 : 1)), strays, unknown };
}

/** Each goes to the group with most tools of its toolkit; tools of new toolkits form a group of their own. */
function placeStrays(
  strays: readonly Target[],
  groups: { file: AgentFile; tools: Set<Target> }[],
): void {
  const nearest = new Map<Target["toolkit"], Set<Target> | undefined>();
  for (const { toolkit } of strays)
    if (!nearest.has(toolkit)) nearest.set(toolkit, findNearest(toolkit, groups));
  const remaining = strays.filter((target) => {
    const group = nearest.get(target.toolkit);
    group?.add(target);
    return group === undefined;
  });
  if (remaining.length === 0) return;
  const other = groups.find(({ file }) => file.name === otherName);
  if (other) for (const target of remaining) other.tools.add(target);
  else groups.push({ file: describeOther(remaining), tools: new Set(remaining) });
}

function findNearest(
  toolkit: Target["toolkit"],
  groups: readonly { readonly tools: Set<Target> }[],
): Set<Target> | undefined {
  let best: { readonly tools: Set<Target>; readonly count: number } | undefined;
  for (const { tools } of groups) {
    let count = 0;
    for (const target of tools) if (target.toolkit === toolkit) count++;
    if (count > (best?.count ?? 0)) best = { tools, count };
  }
  return best?.tools;
}

const otherName = "other_agent";

function describeOther(targets: readonly Target[]): AgentFile {
  const toolkits = [...new Set(targets.map(({ toolkit }) => toolkit.id))];
  const named =
    toolkits.length > 12
      ? `${toolkits.slice(0, 12).join(", ")} and ${toolkits.length - 12} more`
      : toolkits.join(", ");
  return {
    name: otherName,
    description: `Specialized agent for new tools; works with ${named}.`,
    tools: targets.map(({ fullName }) => fullName),
    instructions: "",
  };
}
