import type { JsonObject } from "../base/json.ts";
import { createOneAtATime, type OneAtATime } from "../base/one-at-a-time.ts";
import type { ListKind, Prompt, Resource, Target, Toolkit } from "../tool.ts";
import type { OfferKind } from "../trust/pin.ts";
import { type Held, refuseHeld } from "../trust/trust.ts";
import { fullNameOf } from "./names.ts";

export interface PromptTarget {
  readonly toolkit: Toolkit;
  readonly prompt: Prompt;
  readonly fullName: string;
}

/** One toolkit and the lists it returned last. */
export class ToolkitEntry {
  readonly toolkit: Toolkit;
  tools: readonly Target[] = [];
  resources: readonly Resource[] = [];
  templates: readonly JsonObject[] = [];
  prompts: readonly PromptTarget[] = [];
  readonly listing: OneAtATime<ListKind>;
  readonly stopListening: (() => void) | undefined;

  constructor(
    toolkit: Toolkit,
    hooks: {
      relist(entry: ToolkitEntry, kind: ListKind): Promise<void>;
      isCurrent(entry: ToolkitEntry): boolean;
    },
  ) {
    this.toolkit = toolkit;
    this.listing = createOneAtATime<ListKind>((kind) => hooks.relist(this, kind));
    this.stopListening = toolkit.onChange?.((kind) => {
      if (hooks.isCurrent(this)) void this.listing.run(kind);
    });
  }

  async read(kind: ListKind): Promise<void> {
    const { toolkit } = this;
    switch (kind) {
      case "tools": {
        const tools = await toolkit.list();
        this.tools = tools.map((tool) => ({
          toolkit,
          tool,
          fullName: fullNameOf(toolkit, tool.name),
        }));
        return;
      }
      case "resources": {
        const source = toolkit.resources;
        if (source)
          [this.resources, this.templates] = await Promise.all([source.list(), source.templates()]);
        return;
      }
      case "prompts": {
        const prompts = (await toolkit.prompts?.list()) ?? [];
        this.prompts = prompts.map((prompt) => ({
          toolkit,
          prompt,
          fullName: fullNameOf(toolkit, prompt.name),
        }));
      }
    }
  }
}

export interface HeldBackOptions {
  /** Why a prompt, resource or template is held back: such are not listed and not found. Default: none is. */
  holds?(toolkit: Toolkit, kind: OfferKind, definition: JsonObject): Held | undefined;
  /** Called before one of them is used: a person may have taken its review back. */
  refreshHeld?(): void;
}

/** Leaves out of a toolkit's lists what is held back until a person has reviewed it. */
export class HeldBack {
  readonly #options: HeldBackOptions;

  constructor(options: HeldBackOptions) {
    this.#options = options;
  }

  refresh(): void {
    this.#options.refreshHeld?.();
  }

  holds(toolkit: Toolkit, kind: OfferKind, definition: JsonObject): Held | undefined {
    return this.#options.holds?.(toolkit, kind, definition);
  }

  /** One list of an entry, without what is held back. */
  read<K extends "resources" | "templates" | "prompts">(
    entry: ToolkitEntry,
    kind: K,
  ): ToolkitEntry[K][number][] {
    const items: readonly ToolkitEntry[K][number][] = entry[kind];
    return items.filter((item) => {
      const definition = kind === "prompts" ? (item as PromptTarget).prompt : (item as JsonObject);
      return !this.holds(entry.toolkit, kind, definition);
    });
  }

  /** Throws DENIED if the definition is held back. */
  refuse(toolkit: Toolkit, kind: OfferKind, definition: JsonObject | undefined): void {
    this.refresh();
    const held = definition && this.holds(toolkit, kind, definition);
    if (held) throw refuseHeld(held, toolkit.id);
  }
}
