import { HallError } from "../base/errors.ts";
import type { JsonObject } from "../base/json.ts";
import type { HealthBook } from "../registry/health.ts";
import type { OwnToolkits } from "../registry/own.ts";
import type { Registry } from "../registry/registry.ts";
import type { Target } from "../tool.ts";
import type { Trust } from "../trust/trust.ts";
import { readableTool } from "../trust/trust.ts";

/** The ways to present tools to clients. Each face selects what `tools/list` returns. */
export const faces = {
  tools: {
    summary: "every tool as it is",
    show: ({ registry, own, health, trust }) =>
      registry
        .tools()
        // Calls by these names reach the hall's own tools.
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
    // Only evaluate-lisp itself; its companions are for the code face.
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

export type Face = keyof typeof faces;
/** `auto` chooses the face with the fewest tools, see `chooseFaces`. */
export type FaceChoice = readonly Face[] | "auto";
export type ShownTool = JsonObject & { readonly name: string };

/** Reads a comma-separated choice. Throws INVALID_PARAMS with the known faces. */
export function parseFaces(text: string): readonly Face[] {
  const names = text.split(",").map((name) => name.trim());
  const unknown = names.find((name) => !Object.hasOwn(faces, name));
  if (unknown !== undefined)
    throw new HallError(
      "INVALID_PARAMS",
      `unknown face "${unknown}" (expected: ${Object.keys(faces).join(", ")})`,
    );
  return [...new Set(names)] as Face[];
}

/** Models choose reliably among this many. */
const toolsShownMax = 40;

/** Agents if groups exist, else all tools if they are few, else search. */
export function chooseFaces(
  choice: FaceChoice,
  { registry, own }: Pick<FaceParts, "registry" | "own">,
): readonly Face[] {
  if (choice !== "auto") return choice;
  if (own.agents.targets().length > 0) return ["agents"];
  // Tools that are shown beside agents belong to no group.
  const grouped = registry.tools().filter(({ toolkit }) => !toolkit.besideAgents);
  return grouped.length <= toolsShownMax ? ["tools"] : ["search"];
}

/** How full names are written, because some model APIs refuse dots. Calls may use either. */
export type NameStyle = "dot" | "underscore";

/** Sorted by name, because pages depend on the order. */
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

/** Marks a tool that is currently unavailable, for programs and for models. */
function markTool(shown: ShownTool, { toolkit }: Target, health: HealthBook): ShownTool {
  const { health: found } = health.record(toolkit);
  if (found.state !== "unavailable" && found.state !== "maintenance") return shown;
  // Without the reason, which may quote the server.
  const description = `${shown.description ?? ""} Currently unavailable.`.trim();
  const meta = typeof shown._meta === "object" ? shown._meta : {};
  return { ...shown, description, _meta: { ...meta, "guildhall/status": found.state } };
}
