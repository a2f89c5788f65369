import { HallError } from "../base/errors.ts";
import { findNear } from "../base/text.ts";
import type { Target, Tool, Toolkit } from "../tool.ts";

/**
 * Tools of the hall itself. They have no prefix, are not in the list of toolkits, are shown by the
 * faces that need them and can be called under every face.
 */
export interface OwnToolkit extends Toolkit {
  targets(): readonly Target[];
  find(name: string): Target | undefined;
}

/** The hall's own tools, by purpose. */
export interface OwnToolkits {
  readonly find: OwnToolkit;
  readonly agents: OwnToolkit;
  readonly programs: OwnToolkit;
}

/** `tools` may return another list each time. */
export interface OwnTools extends Pick<Toolkit, "call"> {
  tools(): readonly Tool[];
}

/** Names of agents: they come and go with their groups, while the hall's other tools are fixed. */
export const agentSuffix = "_agent";

export function createOwnToolkit(id: string, { tools, call }: OwnTools): OwnToolkit {
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
    find: (name) => current().get(name),
  };
  return toolkit;
}

/** The refusal of a name that only an agent could have. */
export function unknownAgent(name: string, offered: readonly Target[]): HallError {
  const agents = offered.map(({ fullName }) => fullName);
  const unknown = `unknown agent "${name.slice(0, 100)}"`;
  if (agents.length === 0)
    return new HallError("NOT_FOUND", `${unknown}: no groups have been built`, {
      next: [{ do: "run-command", command: "build" }],
    });
  return new HallError("NOT_FOUND", `${unknown} (expected: ${agents.join(", ")})`, {
    details: { near: findNear(name, agents) },
  });
}
