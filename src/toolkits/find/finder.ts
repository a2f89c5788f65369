import { setImmediate } from "node:timers/promises";
import type { Log } from "../../base/log.ts";
import { Scope } from "../../base/scope.ts";
import { runInSlices } from "../../base/timing.ts";
import type { ToolkitText, ToolText } from "../../ranking/document.ts";
import type { Ranker, RankReasons } from "../../ranking/ranker.ts";
import { safeNameOf } from "../../registry/names.ts";
import type { Registry } from "../../registry/registry.ts";
import type { Target, Toolkit } from "../../tool.ts";
import { keyOf, type Trust } from "../../trust/trust.ts";
import type { Experience } from "./experience.ts";

/**
 * Which tools fit a task. The index is made at the first question, and after a change only what
 * changed is read again.
 */
export interface Finder {
  find(task: string, options?: FindOptions): Promise<Finding>;
}

export interface FindOptions {
  /** 1 to 20. Default 5. */
  readonly limit?: number | undefined;
  /** Only tools for which this holds. Default: all. */
  readonly among?: ((target: Target) => boolean) | undefined;
  /** Says of each tool why it was found. */
  readonly explains?: boolean | undefined;
}

export interface Finding {
  /** Best first. */
  readonly found: readonly Found[];
  /** False when nothing seems made for the task; what was found is then the nearest there is. */
  readonly fits: boolean;
  /** How many tools were looked through. */
  readonly total: number;
}

export interface Found {
  readonly target: Target;
  /** From 0 to about 1, to compare within one finding. */
  readonly score: number;
  /** The words of the task that the tool has too. */
  readonly words: readonly string[];
  /** Tools that say the same, left out for it. */
  readonly alike: readonly Target[];
  /** If it was asked for. */
  readonly reasons?: RankReasons | undefined;
}

export interface FinderOptions {
  readonly registry: Registry;
  /** Tools that are held back are not found. */
  readonly trust?: Pick<Trust, "heldBecause"> | undefined;
  /** Other words for tools, by full name, and questions they answer. */
  readonly aliases?: Readonly<Record<string, readonly string[]>> | undefined;
  /** Tips the scales between tools that fit alike. */
  readonly experience?: Experience | undefined;
  readonly log: Log;
}

export function createFinder({
  registry,
  trust,
  aliases = {},
  experience,
  log,
}: FinderOptions): Finder {
  let loading: Promise<Ranker> | undefined;
  /** The indexed tools by toolkit; the registry creates a new Target for a tool that is listed again. */
  const indexed = new Map<string, readonly Target[]>();
  /** Targets by the name the index knows them by: toolkit and tool, whatever the prefix. */
  let byKey = new Map<string, Target>();
  let seen: readonly Target[] | undefined;
  let updating: Promise<void> | undefined;

  /** Thousands of tools take a second: other calls run in between. */
  async function bringUpToDate(ranker: Ranker): Promise<void> {
    while (registry.tools() !== seen) {
      updating ??= runInSlices(update(ranker), new Scope()).finally(() => {
        updating = undefined;
      });
      await updating;
      // The first ranking takes as long as several slices.
      await setImmediate();
    }
  }

  function* update(ranker: Ranker): Generator<void, void> {
    const tools = registry.tools();
    const byToolkit = groupByToolkit(tools);
    const ids = new Set([...byToolkit.keys()].map(({ id }) => id));
    const removed = [...indexed.keys()].filter((id) => !ids.has(id));
    const changed = [...byToolkit].filter(([{ id }, targets]) => !isSame(indexed.get(id), targets));
    yield* ranker.update(removed, changed.map(textOf));
    for (const id of removed) indexed.delete(id);
    for (const [{ id }, targets] of changed) indexed.set(id, targets);
    // A definition is hashed once, to compare it with the reviewed one.
    for (const target of tools) {
      trust?.heldBecause(target);
      yield;
    }
    byKey = new Map(tools.map((target) => [keyOf(target), target]));
    seen = tools;
  }

  function textOf([{ id, description }, targets]: [Toolkit, Target[]]): ToolkitText {
    return { id, description, tools: targets.map(describe) };
  }

  function describe({ tool, fullName }: Target): ToolText {
    const { name, title, description, inputSchema } = tool;
    return {
      name,
      description: title === undefined ? description : `${title}. ${description ?? ""}`,
      inputSchema,
      aliases: own(aliases, fullName) ?? own(aliases, safeNameOf(fullName)),
    };
  }

  return {
    async find(task, { limit = 5, among, explains } = {}) {
      loading ??= loadRanker(log);
      const ranker = await loading;
      await bringUpToDate(ranker);
      const mayBeSeen = (target: Target | undefined): target is Target =>
        target !== undefined &&
        (target.toolkit.isListed?.() ?? true) &&
        trust?.heldBecause(target) === undefined &&
        (among?.(target) ?? true);
      const known = experience?.read();
      const { items, fits } = ranker.rank(task, {
        limit,
        explains,
        experience: known?.size
          ? (key) => known.get(byKey.get(key)?.fullName ?? "") ?? 0
          : undefined,
        among: (key) => mayBeSeen(byKey.get(key)),
      });
      const targetsOf = (key: string): Target[] => [byKey.get(key)].filter(mayBeSeen);
      const found = items.flatMap(({ fullName, score, words, alike, reasons }) =>
        targetsOf(fullName).map((target) => ({
          target,
          score,
          words,
          alike: alike.flatMap(targetsOf),
          reasons,
        })),
      );
      let total = 0;
      for (const target of byKey.values()) if (mayBeSeen(target)) total++;
      return { found, fits: fits && found.length > 0, total };
    },
  };
}

/** Loaded at the first question: a hall that is only listed and called never needs it. */
async function loadRanker(log: Log): Promise<Ranker> {
  const [{ createRanker }, { loadVectors }] = await Promise.all([
    import("../../ranking/ranker.ts"),
    import("../../ranking/vectors.ts"),
  ]);
  try {
    // Other calls run between the steps of the first question.
    await setImmediate();
    const vectors = loadVectors();
    await setImmediate();
    return createRanker({ vectors });
  } catch (error) {
    log.warn({ err: error }, "tools are found by their words alone");
    return createRanker();
  }
}

function groupByToolkit(tools: readonly Target[]): Map<Toolkit, Target[]> {
  const byToolkit = new Map<Toolkit, Target[]>();
  for (const target of tools) {
    const targets = byToolkit.get(target.toolkit);
    if (targets) targets.push(target);
    else byToolkit.set(target.toolkit, [target]);
  }
  return byToolkit;
}

function isSame(before: readonly Target[] | undefined, now: readonly Target[]): boolean {
  return before?.length === now.length && before.every((target, at) => target === now[at]);
}

function own<T>(record: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}
