import { HallError } from "../base/errors.ts";
import type { JsonObject } from "../base/json.ts";
import type { HealthBook } from "../registry/health.ts";
import type { OwnToolkit } from "../registry/own.ts";
import type { Registry } from "../registry/registry.ts";
import type { Target } from "../tool.ts";
import type { Trust } from "../trust/trust.ts";
import { readableTool } from "../trust/trust.ts";

/** What a client is shown. Each face turns what there is into the tools of `tools/list`. */
export const faces = {
  tools: {
    summary: "every tool as it is",
    show: ({ registry, own, health, trust }) =>
      registry
        .tools()
        // A call of such a name reaches the hall's own tool.
        .filter(
          ({ fullName }) =>
            !own.find.find(fullName) && !own.agents.find(fullName) && !own.lisp.find(fullName),
        )
        .map((target) =>
          trust?.heldBecause(target)
            ? describeHeld(target, trust)
            : markTool(describeTool(target), target, health),
        ),
  },
  search: {
    summary: "find_tools and call_tool",
    show: ({ own }) => own.find.targets().map(describeTool),
  },
  agents: {
    summary: "one agent for each group of tools, find_tools, call_tool and evaluate-lisp",
    // Without the companions: they are for those who work in a session.
    show: ({ registry, own }) =>
      [
        ...own.agents.targets(),
        ...own.find.targets(),
        ...own.lisp.targets().slice(0, 1),
        ...registry.tools().filter(({ toolkit }) => toolkit.besideAgents?.()),
      ].map(describeTool),
  },
  code: {
    summary: "find_tools, and evaluate-lisp with its companions: programs that call tools",
    show: ({ own }) =>
      [
        ...own.find.targets().filter(({ fullName }) => fullName === "find_tools"),
        ...own.lisp.targets(),
      ].map(describeTool),
  },
} as const satisfies Record<
  string,
  { summary: string; show(parts: FaceParts): readonly ShownTool[] }
>;

export interface FaceParts {
  readonly registry: Registry;
  readonly own: OwnToolkits;
  readonly health: HealthBook;
  readonly trust?: Pick<Trust, "heldBecause"> | undefined;
  readonly names: NameStyle;
}

/** The hall's own tools, by what they are for. */
export interface OwnToolkits {
  readonly find: OwnToolkit;
  readonly agents: OwnToolkit;
  readonly lisp: OwnToolkit;
}

export type Face = keyof typeof faces;
/** `auto`: whatever costs a model least, see `chooseFaces`. */
export type FaceChoice = readonly Face[] | "auto";
export type ShownTool = JsonObject & { readonly name: string };

/** Reads a comma-separated choice. Throws INVALID_PARAMS naming the faces there are. */
export function parseFaces(text: string): readonly Face[] {
  const names = text.split(",").map((name) => name.trim());
  const unknown = names.find((name) => !Object.hasOwn(faces, name));
  if (unknown !== undefined)
    throw new HallError(
      "INVALID_PARAMS",
      `there is no face "${unknown}"; there is: ${Object.keys(faces).join(", ")}`,
    );
  return [...new Set(names)] as Face[];
}

/** A model chooses well among so many. */
const toolsShownMax = 40;

/** Agents where groups have been made; without them the tools while they are few, and a search when they are many. */
export function chooseFaces(
  choice: FaceChoice,
  { registry, own }: Pick<FaceParts, "registry" | "own">,
): readonly Face[] {
  if (choice !== "auto") return choice;
  if (own.agents.targets().length > 0) return ["agents"];
  // What stands beside the agents has no group, and counts for none.
  const grouped = registry.tools().filter(({ toolkit }) => !toolkit.besideAgents);
  return grouped.length <= toolsShownMax ? ["tools"] : ["search"];
}

/** How full names are written: some model APIs refuse dots. Calls are understood either way. */
export type NameStyle = "dot" | "underscore";

/** In the order of names: pages are cut by it. */
export function showTools(chosen: readonly Face[], parts: FaceParts): readonly ShownTool[] {
  const shown = chosen.flatMap((face) => faces[face].show(parts));
  const unique = [...new Map(shown.map((tool) => [tool.name, tool])).values()];
  const written =
    parts.names === "dot"
      ? unique
      : unique.map((tool) => ({ ...tool, name: tool.name.replace(".", "__") }));
  return written.sort((a, b) => (a.name < b.name ? -1 : 1));
}

const described = new WeakMap<Target, ShownTool>();

function describeTool(target: Target): ShownTool {
  let shown = described.get(target);
  if (!shown) {
    const { facts: _ours, ...definition } = target.tool;
    shown = Object.assign(definition, { name: target.fullName });
    described.set(target, shown);
  }
  return shown;
}

function describeHeld(target: Target, trust: FaceParts["trust"]): ShownTool {
  return { ...readableTool(target, trust), name: target.fullName };
}

/** One that cannot be called right now says so, to programs and to models. */
function markTool(shown: ShownTool, { toolkit }: Target, health: HealthBook): ShownTool {
  const { health: found } = health.record(toolkit);
  if (found.state !== "unavailable" && found.state !== "maintenance") return shown;
  const description = `${shown.description ?? ""} Not available right now: ${found.reason}.`.trim();
  const meta = typeof shown._meta === "object" ? shown._meta : {};
  return { ...shown, description, _meta: { ...meta, "guildhall/status": found.state } };
}
