import { HallError } from "../base/errors.ts";
import type { JsonObject } from "../base/json.ts";
import type { HealthBook } from "../registry/health.ts";
import { type Spelling, spellName } from "../registry/shown-names.ts";
import type { Target } from "../tool.ts";
import type { Trust } from "../trust/trust.ts";
import { readableTool } from "../trust/trust.ts";
import type { ServerOptions } from "./server.ts";

/** The ways to present tools to clients. Each face selects what `tools/list` returns. */
export const faces = {
  tools: {
    summary: "every tool as it is",
    show: (parts) => {
      const { registry, own, health, trust, isComplete } = parts;
      return (
        registry
          .tools()
          .filter(({ toolkit }) => isComplete || (toolkit.isListed?.() ?? true))
          // Calls by these names reach the hall's own tools.
          .filter(
            ({ fullName }) =>
              !own.find.find(fullName) &&
              !own.agents.find(fullName) &&
              !own.programs.find(fullName),
          )
          .map((target) =>
            trust?.heldBecause(target)
              ? { ...readableTool(target, trust), name: spell(target, parts) }
              : markTool(describeTool(target, parts), target, health),
          )
      );
    },
  },
  search: {
    summary: "find_tools and call_tool",
    show: (parts) => {
      const beside = parts.registry.tools().filter(({ toolkit }) => toolkit.isInUse?.());
      return describeAll([...parts.own.find.targets(), ...beside], parts);
    },
  },
  agents: {
    summary: "one agent for each group of tools, and nothing else",
    show: (parts) => describeAll(parts.own.agents.targets(), parts),
  },
  code: {
    summary: "find_tools, and programs that call tools, with their companions",
    show: (parts) => {
      // A server with one tool: programs find tools themselves, and the companions can still be called.
      if (parts.isStatic) return describeAll(evaluators(parts).slice(0, 1), parts);
      const find = parts.own.find.targets().filter(({ fullName }) => fullName === "find_tools");
      const companions = parts.own.programs.targets().filter((target) => !isEvaluator(target));
      return describeAll([...find, ...evaluators(parts), ...companions], parts);
    },
  },
} as const satisfies Record<
  string,
  { summary: string; show(parts: FaceParts): readonly ShownTool[] }
>;

export interface FaceParts
  extends Pick<
    ServerOptions,
    "registry" | "own" | "health" | "isStatic" | "listsPrograms" | "languages"
  > {
  readonly trust?: Pick<Trust, "heldBecause"> | undefined;
  readonly spelling: Spelling;
  /** True if the face was requested explicitly: the list is then complete. */
  readonly isComplete: boolean;
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

/** All tools if they are few, else search, and agents if groups exist. */
export function chooseFaces(
  choice: FaceChoice,
  { registry, own }: Pick<FaceParts, "registry" | "own">,
): readonly Face[] {
  if (choice !== "auto") return choice;
  // The workflow's tools belong to no group, and do not hide those of servers.
  const counted = registry.tools().filter(({ toolkit }) => !toolkit.isInUse);
  if (counted.length <= toolsShownMax) return ["tools"];
  return own.agents.targets().length > 0 ? ["agents", "search"] : ["search"];
}

/** Sorted by name, because pages depend on the order. */
export function showTools(chosen: readonly Face[], parts: FaceParts): readonly ShownTool[] {
  // Programs replace many calls under every face; their companions are for the code face.
  const hasPrograms = parts.listsPrograms && chosen.some((face) => face !== "agents");
  const programs = hasPrograms ? describeAll(evaluators(parts), parts) : [];
  const shown = [...chosen.flatMap((face) => faces[face].show(parts)), ...programs];
  const unique = [...new Map(shown.map((tool) => [tool.name, tool])).values()];
  return unique.sort((a, b) => (a.name < b.name ? -1 : 1));
}

const evaluatorPrefix = "evaluate-";

function isEvaluator({ fullName }: Target): boolean {
  return fullName.startsWith(evaluatorPrefix);
}

function evaluators({ own, languages }: FaceParts): readonly Target[] {
  return languages.flatMap((name) => own.programs.find(`${evaluatorPrefix}${name}`) ?? []);
}

function spell(target: Target, { spelling, registry }: FaceParts): string {
  return spellName(target, spelling, registry);
}

function describeAll(targets: readonly Target[], parts: FaceParts): readonly ShownTool[] {
  return targets.map((target) => describeTool(target, parts));
}

const described = new WeakMap<Target, ShownTool>();

function describeTool(target: Target, parts: FaceParts): ShownTool {
  const name = spell(target, parts);
  let shown = described.get(target);
  if (shown?.name !== name) {
    const { facts: _ours, ...definition } = target.tool;
    shown = Object.assign(definition, { name });
    described.set(target, shown);
  }
  return shown;
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
