import { HallError } from "../base/errors.ts";
import type { JsonObject } from "../base/json.ts";
import type { Log } from "../base/log.ts";
import { findNear } from "../base/near.ts";
import { createOneAtATime, type OneAtATime } from "../base/one-at-a-time.ts";
import type { ListKind, Prompt, Resource, Target, Toolkit } from "../tool.ts";
import { createNameIndex, joinName, type NameIndex } from "./names.ts";

/** All toolkits, what they offer right now, and how names resolve. Lists are kept, sorted and answered at once. */
export interface Registry {
  /** Lists the toolkit and adds it. A list that fails is logged and kept as its problem; the toolkit stays. */
  add(toolkit: Toolkit): Promise<void>;
  /** Puts a toolkit in the place of the one with the same id, in one step for whoever lists or calls. Gives back the old one, not closed. */
  replace(toolkit: Toolkit): Promise<Toolkit>;
  findToolkit(id: string): Toolkit | undefined;
  /** Hides the toolkit and closes it. */
  remove(id: string): Promise<void>;
  tools(): readonly Target[];
  findTool(name: string): Target | undefined;
  /** Throws NOT_FOUND. */
  getTool(name: string): Target;
  resources(): readonly Resource[];
  resourceTemplates(): readonly JsonObject[];
  /** The toolkit that serves a uri. Throws NOT_FOUND. */
  getResourceOwner(uri: string): Toolkit;
  findTemplateOwner(uriTemplate: string): Toolkit | undefined;
  prompts(): readonly PromptTarget[];
  /** Throws NOT_FOUND. */
  getPrompt(name: string): PromptTarget;
  toolkits(): readonly Toolkit[];
  /** Resolves when no toolkit that may have a tool of this name (any, without one) is still being looked at; undefined when none is. */
  looking(name?: string): Promise<void> | undefined;
  onChange(listener: (kind: ListKind) => void): () => void;
  close(): Promise<void>;
}

export interface PromptTarget {
  readonly toolkit: Toolkit;
  readonly prompt: Prompt;
  readonly fullName: string;
}

/** One toolkit and the last lists it gave. */
interface Shelf {
  readonly toolkit: Toolkit;
  readonly leave: (() => void) | undefined;
  tools: readonly Target[];
  resources: readonly Resource[];
  templates: readonly JsonObject[];
  prompts: readonly PromptTarget[];
  readonly listing: OneAtATime<ListKind>;
}

export function createRegistry({ log }: { readonly log: Log }): Registry {
  const shelves = new Map<string, Shelf>();
  const listeners = new Set<(kind: ListKind) => void>();
  const names: NameIndex = createNameIndex();
  /** Sorted when somebody asks: a burst of registrations is sorted once. */
  let sortedTools: readonly Target[] | undefined;
  let closing: Promise<void> | undefined;

  async function relist(shelf: Shelf, kind: ListKind): Promise<void> {
    const before = shelf.tools;
    try {
      await readers[kind](shelf);
      // It was removed or replaced while it was listed.
      if (shelves.get(shelf.toolkit.id) !== shelf) return;
      if (kind === "tools") {
        names.remove(before);
        names.add(shelf.tools);
      }
    } catch (error) {
      log.warn(
        { toolkit: shelf.toolkit.id, kind, err: error },
        "listing failed; what was known stays",
      );
    }
    publish(kind);
  }

  function publish(kind: ListKind): void {
    if (kind === "tools") sortedTools = undefined;
    for (const listener of listeners) listener(kind);
  }

  function all<K extends "resources" | "templates" | "prompts">(kind: K): Shelf[K][number][] {
    return [...shelves.values()].flatMap((shelf) => [...shelf[kind]] as Shelf[K][number][]);
  }

  /** A tool of a toolkit that could not say yet what it offers is not unknown: its toolkit is down. */
  function requireListed(name: string): void {
    for (const { toolkit, tools } of shelves.values()) {
      if (tools.length > 0 || !isOf(toolkit, name)) continue;
      const problem = toolkit.problem?.();
      if (problem !== undefined)
        throw new HallError(
          "UNAVAILABLE",
          `${toolkit.id} has told of no tools yet, so ${name.slice(0, 100)} cannot be called: ${problem}`,
        );
    }
  }

  async function closeAll(): Promise<void> {
    listeners.clear();
    for (const { toolkit, leave } of [...shelves.values()].reverse()) {
      leave?.();
      await closeToolkit(toolkit);
    }
  }

  /** One that fails at it, such as a module's, must not keep the others open. */
  async function closeToolkit(toolkit: Toolkit): Promise<void> {
    try {
      await toolkit.close();
    } catch (error) {
      log.warn({ toolkit: toolkit.id, err: error }, "it could not be closed");
    }
  }

  function createShelf(toolkit: Toolkit): Shelf {
    const leave = toolkit.onChange?.((kind) => {
      // It may have been removed while its news was on the way.
      if (shelves.get(toolkit.id) === shelf) void shelf.listing.run(kind);
    });
    const listing = createOneAtATime<ListKind>((kind) => relist(shelf, kind));
    const shelf: Shelf = {
      toolkit,
      leave,
      tools: [],
      resources: [],
      templates: [],
      prompts: [],
      listing,
    };
    return shelf;
  }

  /** Reads the lists of a shelf that shall take another's place, which is returned. */
  async function fill(shelf: Shelf): Promise<Shelf> {
    await Promise.all(Object.values(readers).map((read) => read(shelf)));
    const old = shelves.get(shelf.toolkit.id);
    if (!old)
      throw new HallError("NOT_FOUND", `there is no toolkit "${shelf.toolkit.id}" to replace`);
    return old;
  }

  return {
    async add(toolkit) {
      if (shelves.has(toolkit.id))
        throw new HallError("CONFLICT", `there is already a toolkit "${toolkit.id}"`);
      const shelf = createShelf(toolkit);
      shelves.set(toolkit.id, shelf);
      await Promise.all([
        shelf.listing.run("tools"),
        ...(toolkit.resources ? [shelf.listing.run("resources")] : []),
        ...(toolkit.prompts ? [shelf.listing.run("prompts")] : []),
      ]);
    },
    async replace(toolkit) {
      const shelf = createShelf(toolkit);
      const old = await fill(shelf).catch((error: unknown) => {
        shelf.leave?.();
        throw error;
      });
      shelves.set(toolkit.id, shelf);
      old.leave?.();
      names.remove(old.tools);
      names.add(shelf.tools);
      publish("tools");
      for (const kind of ["resources", "prompts"] as const)
        if (old[kind].length + shelf[kind].length > 0) publish(kind);
      return old.toolkit;
    },
    findToolkit: (id) => shelves.get(id)?.toolkit,
    async remove(id) {
      const shelf = shelves.get(id);
      if (!shelf) return;
      shelves.delete(id);
      names.remove(shelf.tools);
      shelf.leave?.();
      if (shelf.tools.length > 0) publish("tools");
      if (shelf.resources.length + shelf.templates.length > 0) publish("resources");
      if (shelf.prompts.length > 0) publish("prompts");
      await closeToolkit(shelf.toolkit);
    },
    tools() {
      sortedTools ??= [...shelves.values()].flatMap((shelf) => shelf.tools).sort(byName);
      return sortedTools;
    },
    findTool: (name) => names.find(name),
    getTool(name) {
      const target = names.find(name);
      if (target) return target;
      requireListed(name);
      return names.get(name);
    },
    resources: () => all("resources").sort((a, b) => compare(a.uri, b.uri)),
    resourceTemplates: () =>
      all("templates").sort((a, b) => compare(String(a.uriTemplate), String(b.uriTemplate))),
    getResourceOwner(uri) {
      const shelved = [...shelves.values()];
      // Whoever lists it before whoever has a template for it: one server's `{anything}` must not stand before what another offers.
      const owner =
        shelved.find(({ resources }) => resources.some((resource) => resource.uri === uri)) ??
        shelved.find(({ toolkit }) => toolkit.resources?.covers?.(uri));
      if (owner) return owner.toolkit;
      const near = findNear(
        uri,
        all("resources").map((resource) => resource.uri),
      );
      throw new HallError("NOT_FOUND", `Resource not found: ${uri.slice(0, 200)}`, {
        details: { uri: uri.slice(0, 2_000), near },
      });
    },
    findTemplateOwner: (uriTemplate) =>
      [...shelves.values()].find((shelf) =>
        shelf.templates.some((template) => template.uriTemplate === uriTemplate),
      )?.toolkit,
    prompts: () => all("prompts").sort(byName),
    getPrompt(name) {
      const known = all("prompts");
      const found =
        known.find((target) => target.fullName === name) ??
        onlyOne(known.filter(({ prompt }) => prompt.name === name));
      if (found) return found;
      const near = findNear(
        name,
        known.map(({ fullName }) => fullName),
      );
      throw new HallError("NOT_FOUND", `Unknown prompt: ${name.slice(0, 100)}`, {
        details: { near },
      });
    },
    toolkits: () => Array.from(shelves.values(), ({ toolkit }) => toolkit),
    looking(name) {
      const waits = [...shelves.values()].flatMap((shelf) => {
        const looked = mayHave(shelf.toolkit, name) ? shelf.toolkit.looking?.() : undefined;
        return looked ? [looked.then(shelf.listing.settled)] : [];
      });
      return waits.length > 0 ? Promise.all(waits).then(() => {}) : undefined;
    },
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close() {
      closing ??= closeAll();
      return closing;
    },
  };
}

const readers: Record<ListKind, (shelf: Shelf) => Promise<void>> = {
  async tools(shelf) {
    const { toolkit } = shelf;
    const prefix = toolkit.prefix ?? toolkit.id;
    shelf.tools = (await toolkit.list()).map((tool) => ({
      toolkit,
      tool,
      fullName: joinName(prefix, tool.name),
    }));
  },
  async resources(shelf) {
    const source = shelf.toolkit.resources;
    if (source)
      [shelf.resources, shelf.templates] = await Promise.all([source.list(), source.templates()]);
  },
  async prompts(shelf) {
    const { toolkit } = shelf;
    const prefix = toolkit.prefix ?? toolkit.id;
    shelf.prompts = ((await toolkit.prompts?.list()) ?? []).map((prompt) => ({
      toolkit,
      prompt,
      fullName: joinName(prefix, prompt.name),
    }));
  },
};

function mayHave({ id, prefix = id }: Toolkit, name: string | undefined): boolean {
  if (name === undefined || prefix === "" || !/\.|__/.test(name)) return true;
  return isOf({ id, prefix }, name);
}

function isOf({ id, prefix = id }: Pick<Toolkit, "id" | "prefix">, name: string): boolean {
  return prefix !== "" && (name.startsWith(`${prefix}.`) || name.startsWith(`${prefix}__`));
}

// By code unit, not by locale: the same order on every machine.
function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function byName(a: { readonly fullName: string }, b: { readonly fullName: string }): number {
  return compare(a.fullName, b.fullName);
}

function onlyOne<T>(found: readonly T[]): T | undefined {
  return found.length === 1 ? found[0] : undefined;
}
