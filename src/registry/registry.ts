import { HallError } from "../base/errors.ts";
import type { JsonObject } from "../base/json.ts";
import type { Log } from "../base/log.ts";
import type { ListKind, Resource, Target, Toolkit } from "../tool.ts";
import { bareName, createNameIndex, isOf, mayHave } from "./names.ts";
import { agentSuffix, type OwnToolkit, type OwnToolkits, unknownAgent } from "./own.ts";
import { compare, type Owned, Resources } from "./resource-owners.ts";
import {
  HeldBack,
  type HeldBackOptions,
  type PromptTarget,
  ToolkitEntry,
} from "./toolkit-entry.ts";

/** All toolkits, their current lists, and how names resolve. Lists are cached and sorted. */
export interface Registry {
  /** Adds the toolkit and lists it. If listing fails, the failure is logged and the toolkit stays. */
  add(toolkit: Toolkit): Promise<void>;
  /** Atomically replaces the toolkit with the same id. Returns the old one, not closed. */
  replace(toolkit: Toolkit): Promise<Toolkit>;
  /** Tools of the hall itself: their names resolve before all others, and no list has them. */
  setOwn(own: OwnToolkits): void;
  findToolkit(id: string): Toolkit | undefined;
  /** Hides the toolkit and closes it. */
  remove(id: string): Promise<void>;
  tools(): readonly Target[];
  findTool(name: string): Target | undefined;
  /** Throws NOT_FOUND, with near names among those offered, as `spell` writes them. Default: all full names. */
  getTool(
    name: string,
    spell?: (item: Target) => string,
    isOffered?: (item: Target) => boolean,
  ): Target;
  /** The name to list: safe for every model API, and found again. */
  shownName(item: Target | PromptTarget): string;
  /** All of them, or those of some toolkits or URIs. */
  resources(isFor?: (toolkit: Toolkit, uri: string) => boolean): readonly Resource[];
  resourceTemplates(isFor?: (toolkit: Toolkit, uri: string) => boolean): readonly JsonObject[];
  /** The toolkit that serves a URI, and its own URI for it. Throws NOT_FOUND, also if there are several. */
  getResourceOwner(uri: string): Owned;
  findTemplateOwner(uriTemplate: string): Owned | undefined;
  prompts(): readonly PromptTarget[];
  /** Throws NOT_FOUND, as `getTool` does. */
  getPrompt(
    name: string,
    spell?: (item: PromptTarget) => string,
    isOffered?: (item: PromptTarget) => boolean,
  ): PromptTarget;
  /** Without those that are off. */
  toolkits(): readonly Toolkit[];
  /** Resolves once every toolkit that may have this tool (any tool, without a name) is listed; undefined if all are. */
  pendingDiscovery(name?: string): Promise<void> | undefined;
  onChange(listener: (kind: ListKind) => void): () => void;
  close(): Promise<void>;
}

const listKinds: readonly ListKind[] = ["tools", "resources", "prompts"];

export interface RegistryOptions extends HeldBackOptions {
  readonly log: Log;
}

export function createRegistry(options: RegistryOptions): Registry {
  return new ToolkitRegistry(options);
}

/** Public members are functions in fields, because views of a registry copy it: `{ ...registry, tools }`. */
class ToolkitRegistry implements Registry {
  readonly #log: Log;
  readonly #entries = new Map<string, ToolkitEntry>();
  readonly #heldBack: HeldBack;
  readonly #resources: Resources;
  readonly #listeners = new Set<(kind: ListKind) => void>();
  readonly #names = createNameIndex<Target>({
    kind: "tool",
    bareOf: ({ tool }) => tool.name,
    hasPrefix: (prefix) => this.#hasPrefix(prefix),
  });
  readonly #promptNames = createNameIndex<PromptTarget>({
    kind: "prompt",
    bareOf: ({ prompt }) => prompt.name,
    hasPrefix: (prefix) => this.#hasPrefix(prefix),
  });
  /** The hall's own tools. Agents come and go with their groups; the others are fixed. */
  #ownNames: ReadonlyMap<string, Target> = new Map();
  #agents: OwnToolkit | undefined;
  /** Sorted on demand, so that a burst of registrations is sorted once. */
  #sortedTools: readonly Target[] | undefined;
  /** By the name that a call used, until the tools change. */
  readonly #calledTools = new Map<string, Target>();
  #closing: Promise<void> | undefined;

  constructor({ log, ...heldBack }: RegistryOptions) {
    this.#log = log;
    this.#heldBack = new HeldBack(heldBack);
    this.#resources = new Resources(this.#entries, this.#heldBack);
  }

  readonly add = async (toolkit: Toolkit): Promise<void> => {
    if (this.#entries.has(toolkit.id))
      throw new HallError("CONFLICT", `toolkit "${toolkit.id}" already exists`);
    this.#requireOwnPrefix(toolkit);
    const entry = this.#createEntry(toolkit);
    this.#entries.set(toolkit.id, entry);
    await Promise.all([
      entry.listing.run("tools"),
      ...(toolkit.resources ? [entry.listing.run("resources")] : []),
      ...(toolkit.prompts ? [entry.listing.run("prompts")] : []),
    ]);
  };

  readonly replace = async (toolkit: Toolkit): Promise<Toolkit> => {
    this.#requireOwnPrefix(toolkit);
    const entry = this.#createEntry(toolkit);
    const old = await this.#readReplacement(entry).catch((error: unknown) => {
      entry.stopListening?.();
      throw error;
    });
    this.#entries.set(toolkit.id, entry);
    old.stopListening?.();
    this.#unname(old);
    this.#names.add(entry.tools);
    this.#promptNames.add(entry.prompts);
    this.#publish("tools");
    for (const kind of ["resources", "prompts"] as const)
      if (old[kind].length + entry[kind].length > 0) this.#publish(kind);
    return old.toolkit;
  };

  readonly remove = async (id: string): Promise<void> => {
    const entry = this.#entries.get(id);
    if (!entry) return;
    this.#entries.delete(id);
    this.#unname(entry);
    entry.stopListening?.();
    if (entry.tools.length > 0) this.#publish("tools");
    if (entry.resources.length + entry.templates.length > 0) this.#publish("resources");
    if (entry.prompts.length > 0) this.#publish("prompts");
    await this.#closeToolkit(entry.toolkit);
  };

  readonly setOwn = ({ find, programs, agents }: OwnToolkits): void => {
    const fixed = [...find.targets(), ...programs.targets()];
    this.#ownNames = new Map(fixed.map((target) => [target.fullName, target]));
    this.#agents = agents;
  };

  readonly findToolkit = (id: string): Toolkit | undefined => this.#entries.get(id)?.toolkit;

  readonly toolkits = (): readonly Toolkit[] =>
    Array.from(this.#entries.values(), ({ toolkit }) => toolkit).filter(({ off }) => !off);

  readonly tools = (): readonly Target[] => {
    this.#sortedTools ??= [...this.#entries.values()].flatMap(({ tools }) => tools).sort(byName);
    return this.#sortedTools;
  };

  readonly findTool = (name: string): Target | undefined => {
    const own = name.endsWith(agentSuffix) ? this.#agents?.find(name) : this.#ownNames.get(name);
    return own ?? this.#calledTools.get(name) ?? this.#resolveCalled(name);
  };

  readonly getTool: Registry["getTool"] = (name, spell, isOffered) => {
    const target = this.findTool(name);
    if (target) return target;
    if (name.endsWith(agentSuffix) && this.#agents)
      throw unknownAgent(name, this.#agents.targets().filter(isOffered ?? (() => true)));
    this.#requireListed(name);
    return this.#names.get(name, { ...(spell && { spell }), ...(isOffered && { isOffered }) });
  };

  readonly shownName = (item: Target | PromptTarget): string =>
    "tool" in item ? this.#names.shownName(item) : this.#promptNames.shownName(item);

  readonly resources: Registry["resources"] = (isFor) => this.#resources.list(isFor);

  readonly resourceTemplates: Registry["resourceTemplates"] = (isFor) =>
    this.#resources.templates(isFor);

  readonly getResourceOwner = (uri: string): Owned => this.#resources.getOwner(uri);

  readonly findTemplateOwner = (uriTemplate: string): Owned | undefined =>
    this.#resources.findTemplateOwner(uriTemplate);

  readonly prompts = (): readonly PromptTarget[] =>
    [...this.#entries.values()]
      .flatMap((entry) => this.#heldBack.read(entry, "prompts"))
      .sort(byName);

  readonly getPrompt: Registry["getPrompt"] = (name, spell, isShown = () => true) => {
    const isOffered = (item: PromptTarget): boolean =>
      !this.#heldBack.holds(item.toolkit, "prompts", item.prompt) && isShown(item);
    const found = this.#promptNames.get(name, { ...(spell && { spell }), isOffered });
    this.#heldBack.refuse(found.toolkit, "prompts", found.prompt);
    return found;
  };

  readonly pendingDiscovery = (name?: string): Promise<void> | undefined => {
    const waits = [...this.#entries.values()].flatMap(({ toolkit, listing }) => {
      const pending = mayHave(toolkit, name) ? toolkit.pendingDiscovery?.() : undefined;
      return pending ? [pending.then(listing.settled)] : [];
    });
    return waits.length > 0 ? Promise.all(waits).then(() => {}) : undefined;
  };

  readonly onChange = (listener: (kind: ListKind) => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly close = (): Promise<void> => {
    this.#closing ??= this.#closeAll();
    return this.#closing;
  };

  #resolveCalled(name: string): Target | undefined {
    const target = this.#names.find(name);
    if (target) this.#calledTools.set(name, target);
    return target;
  }

  #createEntry(toolkit: Toolkit): ToolkitEntry {
    return new ToolkitEntry(toolkit, {
      relist: (entry, kind) => this.#relist(entry, kind),
      isCurrent: (entry) => this.#isCurrent(entry),
    });
  }

  /** False once the entry was removed or replaced, which may happen while it is being listed. */
  #isCurrent(entry: ToolkitEntry): boolean {
    return this.#entries.get(entry.toolkit.id) === entry;
  }

  /** Two toolkits with one prefix could pass for each other. */
  #requireOwnPrefix({ id, prefix = id }: Toolkit): void {
    if (prefix === "") return;
    const wanted = prefix.toLowerCase();
    for (const { toolkit } of this.#entries.values())
      if (toolkit.id !== id && (toolkit.prefix ?? toolkit.id).toLowerCase() === wanted)
        throw new HallError("CONFLICT", `the prefix "${prefix}" is already used by ${toolkit.id}`);
  }

  #hasPrefix(wanted: string): boolean {
    for (const { toolkit } of this.#entries.values())
      if ((toolkit.prefix ?? toolkit.id) === wanted) return true;
    return false;
  }

  #unname({ tools, prompts }: ToolkitEntry): void {
    this.#names.remove(tools);
    this.#promptNames.remove(prompts);
  }

  async #relist(entry: ToolkitEntry, kind: ListKind): Promise<void> {
    const { tools, prompts } = entry;
    try {
      await entry.read(kind);
      if (!this.#isCurrent(entry)) return;
      if (kind === "tools") {
        this.#names.remove(tools);
        this.#names.add(entry.tools);
      } else if (kind === "prompts") {
        this.#promptNames.remove(prompts);
        this.#promptNames.add(entry.prompts);
      }
    } catch (error) {
      const toolkit = entry.toolkit.id;
      this.#log.warn({ toolkit, kind, err: error }, "listing failed; keeping the previous list");
    }
    this.#publish(kind);
  }

  /** Reads all lists of an entry and returns the one it replaces. */
  async #readReplacement(entry: ToolkitEntry): Promise<ToolkitEntry> {
    await Promise.all(listKinds.map((kind) => entry.read(kind)));
    const old = this.#entries.get(entry.toolkit.id);
    if (!old) throw new HallError("NOT_FOUND", `no toolkit "${entry.toolkit.id}" to replace`);
    return old;
  }

  #publish(kind: ListKind): void {
    if (kind === "tools") {
      this.#sortedTools = undefined;
      this.#calledTools.clear();
    }
    for (const listener of this.#listeners) listener(kind);
  }

  /** A tool that is disabled, or of a toolkit that could not be listed yet, is unavailable, not unknown. */
  #requireListed(name: string): void {
    for (const { toolkit, tools } of this.#entries.values()) {
      if (!isOf(toolkit, name)) continue;
      const refusal = toolkit.refusalOf?.(bareName(toolkit, name));
      if (refusal) throw refusal;
      if (tools.length > 0) continue;
      if (toolkit.off) throw toolkit.off();
      const problem = toolkit.problem?.();
      if (problem !== undefined)
        throw new HallError(
          "UNAVAILABLE",
          `cannot call ${name.slice(0, 100)}: ${toolkit.id} has not listed its tools yet (${problem})`,
          { next: [{ do: "run-command", command: "status" }] },
        );
    }
  }

  async #closeAll(): Promise<void> {
    this.#listeners.clear();
    for (const { toolkit, stopListening } of [...this.#entries.values()].reverse()) {
      stopListening?.();
      await this.#closeToolkit(toolkit);
    }
  }

  /** A toolkit that fails to close, such as a module's, must not keep the others open. */
  async #closeToolkit(toolkit: Toolkit): Promise<void> {
    try {
      await toolkit.close();
    } catch (error) {
      this.#log.warn({ toolkit: toolkit.id, err: error }, "closing the toolkit failed");
    }
  }
}

function byName(a: { readonly fullName: string }, b: { readonly fullName: string }): number {
  return compare(a.fullName, b.fullName);
}
