import type { Log } from "../base/log.ts";
import { findNear } from "../base/near.ts";
import type { Registry } from "../registry/registry.ts";
import type { Target } from "../tool.ts";
import type { AgentFile } from "./agent-file.ts";

/** The groups of a hall: which tool is behind which agent. Every tool is behind at least one, whatever the files say. */
export interface Groups {
  /** In the order of names; the same array until something changes. */
  all(): readonly Group[];
  /** What clients are told of them, where somebody wrote it. */
  guide(): string | undefined;
  /** Takes other ones from now on. */
  replace(source: GroupSource): void;
  close(): void;
}

export interface Group {
  readonly file: AgentFile;
  readonly tools: ReadonlySet<Target>;
}

/** What a project says about its groups. */
export interface GroupSource {
  readonly files: readonly AgentFile[];
  readonly guide?: string | undefined;
}

export interface GroupsOptions {
  readonly registry: Registry;
  readonly source?: GroupSource | undefined;
  readonly log: Log;
}

/** A storm of changes is looked at once. */
const checkMs = 250;

export function createGroups({
  registry,
  source: initial = { files: [] },
  log,
}: GroupsOptions): Groups {
  let source = initial;
  let seen: readonly Target[] | undefined;
  let sorted = nothing;
  const told = new Set<string>();
  let timer: NodeJS.Timeout | undefined;

  function current(): Sorted {
    if (source.files.length === 0) return nothing;
    const tools = registry.tools();
    if (tools === seen) return sorted;
    seen = tools;
    const grouped = tools.filter(({ toolkit }) => !toolkit.besideAgents);
    sorted = sortTools(source.files, grouped);
    return sorted;
  }

  /** Each thing is told once. */
  function check(): void {
    const { strays, unknown } = current();
    const messages = [
      tellStrays(strays),
      ...(registry.looking() ? [] : tellUnknown(unknown, registry)),
    ];
    for (const message of messages) {
      if (message === undefined || told.has(message)) continue;
      told.add(message);
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

  const leave = registry.onChange((kind) => {
    if (kind === "tools") schedule();
  });
  schedule();

  return {
    all: () => current().groups,
    guide: () => source.guide,
    replace(next) {
      source = next;
      seen = undefined;
      schedule();
    },
    close() {
      clearTimeout(timer);
      leave();
    },
  };
}

/** What a service registers comes and goes; what the config brings should be in a file. */
function tellStrays(strays: readonly Target[]): string | undefined {
  const names = strays
    .filter(
      ({ toolkit: { source = "built-in" } }) => source === "upstream" || source === "built-in",
    )
    .map(({ fullName }) => fullName);
  if (names.length === 0) return undefined;
  const rest = names.length > 5 ? ` and ${names.length - 5} more` : "";
  return `no group names ${names.slice(0, 5).join(", ")}${rest}; for the time being they are in the nearest one: run \`guildhall build\``;
}

function tellUnknown(
  unknown: ReadonlyMap<string, readonly string[]>,
  registry: Registry,
): string[] {
  return [...unknown].map(([agent, names]) => {
    const [near] = findNear(
      names[0] ?? "",
      registry.tools().map(({ fullName }) => fullName),
    );
    const rest = names.length > 5 ? ` and ${names.length - 5} more` : "";
    return `${agent} names ${names.slice(0, 5).join(", ")}${rest}, which no server offers${near === undefined ? "" : `; did you mean ${near}?`}`;
  });
}

interface Sorted {
  readonly groups: readonly Group[];
  /** Tools that no file names. */
  readonly strays: readonly Target[];
  readonly unknown: ReadonlyMap<string, readonly string[]>;
}

const nothing: Sorted = { groups: [], strays: [], unknown: new Map() };

export function sortTools(files: readonly AgentFile[], tools: readonly Target[]): Sorted {
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

/** Each to the group that has most of its toolkit; those of toolkits nobody has to a group of their own. */
function placeStrays(
  strays: readonly Target[],
  groups: { file: AgentFile; tools: Set<Target> }[],
): void {
  const nearest = new Map<Target["toolkit"], Set<Target> | undefined>();
  for (const { toolkit } of strays)
    if (!nearest.has(toolkit)) nearest.set(toolkit, findNearest(toolkit, groups));
  const homeless = strays.filter((target) => {
    const group = nearest.get(target.toolkit);
    group?.add(target);
    return group === undefined;
  });
  if (homeless.length === 0) return;
  const other = groups.find(({ file }) => file.name === otherName);
  if (other) for (const target of homeless) other.tools.add(target);
  else groups.push({ file: describeOther(homeless), tools: new Set(homeless) });
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
    description: `Specialized agent for what is new here; has the tools of ${named}.`,
    tools: targets.map(({ fullName }) => fullName),
    instructions: "",
  };
}
