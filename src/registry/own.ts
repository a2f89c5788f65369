import { HallError } from "../base/errors.ts";
import { findNear } from "../base/near.ts";
import type { CallContext, Outcome, Target, Tool, Toolkit } from "../tool.ts";
import type { Registry } from "./registry.ts";

/** Tools of the hall itself: without a prefix, in no list of toolkits, shown by the faces that need them, callable under every face. */
export interface OwnToolkit extends Toolkit {
  targets(): readonly Target[];
  find(name: string): Target | undefined;
}

/** What may be called, and how it is done; `tools` may give another list each time. */
export interface OwnTools {
  tools(): readonly Tool[];
  call(tool: Tool, args: Target["tool"]["inputSchema"], context: CallContext): Promise<Outcome>;
  /** Whether a name can be one of theirs at all: every call's name is asked about. Default: it can. */
  mayBe?(name: string): boolean;
}

export function createOwnToolkit(
  id: string,
  { tools, call, mayBe = () => true }: OwnTools,
): OwnToolkit {
  let seen: readonly Tool[] | undefined;
  let byName = new Map<string, Target>();
  function current(): Map<string, Target> {
    const now = tools();
    if (now !== seen) {
      byName = new Map(now.map((tool) => [tool.name, { toolkit, tool, fullName: tool.name }]));
      seen = now;
    }
    return byName;
  }
  const toolkit: OwnToolkit = {
    id,
    prefix: "",
    source: "hall",
    list: async () => tools(),
    call,
    health: async () => ({ state: "available" }),
    close: async () => {},
    targets: () => [...current().values()],
    find: (name) => (mayBe(name) ? current().get(name) : undefined),
  };
  return toolkit;
}

/** The same registry, where the hall's own names come before all others. Its lists stay as they are. */
export function withOwn(registry: Registry, own: readonly OwnToolkit[]): Registry {
  const findOwn = (name: string): Target | undefined => {
    for (const toolkit of own) {
      const found = toolkit.find(name);
      if (found) return found;
    }
    return undefined;
  };
  return {
    ...registry,
    findTool: (name) => findOwn(name) ?? registry.findTool(name),
    getTool(name) {
      const found = findOwn(name) ?? registry.findTool(name);
      if (found || !name.endsWith("_agent")) return found ?? registry.getTool(name);
      const agents = own
        .flatMap((toolkit) => toolkit.targets().map(({ fullName }) => fullName))
        .filter((known) => known.endsWith("_agent"));
      if (agents.length === 0)
        throw new HallError(
          "NOT_FOUND",
          `there is no agent "${name.slice(0, 100)}": no groups have been made`,
          { hint: "Run `guildhall build`." },
        );
      const near = findNear(name, agents);
      throw new HallError(
        "NOT_FOUND",
        `Unknown agent: ${name.slice(0, 100)}; there is: ${agents.join(", ")}`,
        { details: { near } },
      );
    },
  };
}
