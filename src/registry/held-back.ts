import type { JsonObject } from "../base/json.ts";
import type { Toolkit } from "../tool.ts";
import type { OfferKind } from "../trust/pin.ts";
import { type Held, refuseHeld } from "../trust/trust.ts";
import type { PromptTarget, ToolkitEntry } from "./toolkit-entry.ts";

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
