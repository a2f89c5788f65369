import { HallError } from "../base/errors.ts";
import { findNear } from "../base/text.ts";
import type { CallContext, Outcome, Target, Tool, Toolkit } from "../tool.ts";
import type { Registry } from "./registry.ts";

/**
 * Tools of the hall itself. They have no prefix, are not in the list of toolkits, are shown by the
 * faces that need them and can be called under every face.
 */
export interface OwnToolkit extends Toolkit {
  targets(): readonly Target[];
  find(name: string): Target | undefined;
}

/** `tools` may return another list each time. */
export interface OwnTools {
  tools(): readonly Tool[];
  call(tool: Tool, args: Target["tool"]["inputSchema"], context: CallContext): Promise<Outcome>;
  /** A cheap test for names that cannot be theirs; it runs for every call. Default: true. */
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

/** The same registry, in which the hall's own names resolve first. Its lists do not change. */
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
          `unknown agent "${name.slice(0, 100)}": no groups have been built`,
          { next: [{ do: "run-command", command: "build" }] },
        );
      const near = findNear(name, agents);
      throw new HallError(
        "NOT_FOUND",
        `unknown agent "${name.slice(0, 100)}" (expected: ${agents.join(", ")})`,
        { details: { near } },
      );
    },
  };
}
