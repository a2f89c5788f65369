import type { JsonObject } from "../base/json.ts";
import { createOneAtATime, type OneAtATime } from "../base/one-at-a-time.ts";
import type { ListKind, Prompt, Resource, Target, Toolkit } from "../tool.ts";
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
