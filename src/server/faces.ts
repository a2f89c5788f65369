import { HallError } from "../base/errors.ts";
import type { JsonObject } from "../base/json.ts";
import type { HealthBook } from "../registry/health.ts";
import type { Registry } from "../registry/registry.ts";
import type { Target } from "../tool.ts";
import type { Trust } from "../trust/trust.ts";

/** What a client is shown. Each face turns the registry into the tools of `tools/list`. */
export const faces = {
  tools: {
    summary: "every tool as it is",
    show: ({ registry, health, trust }) => registry.tools().map((target) => describeHeld(target, trust) ?? markTool(describeTool(target), target, health)),
  },
} as const satisfies Record<string, { summary: string; show(parts: FaceParts): readonly ShownTool[] }>;

export interface FaceParts {
  readonly registry: Registry;
  readonly health: HealthBook;
  readonly trust?: Pick<Trust, "judge"> | undefined;
  readonly names: NameStyle;
}

export type Face = keyof typeof faces;
export type ShownTool = JsonObject & { readonly name: string };

/** Reads a comma-separated choice. Throws INVALID_PARAMS naming the faces there are. */
export function parseFaces(text: string): readonly Face[] {
  const names = text.split(",").map((name) => name.trim());
  const unknown = names.find((name) => !Object.hasOwn(faces, name));
  if (unknown !== undefined) throw new HallError("INVALID_PARAMS", `there is no face "${unknown}"; there is: ${Object.keys(faces).join(", ")}`);
  return [...new Set(names)] as Face[];
}

/** How full names are written: some model APIs refuse dots. Calls are understood either way. */
export type NameStyle = "dot" | "underscore";

export function showTools(chosen: readonly Face[], parts: FaceParts): readonly ShownTool[] {
  const shown = chosen.flatMap((face) => faces[face].show(parts));
  const unique = [...new Map(shown.map((tool) => [tool.name, tool])).values()];
  return parts.names === "dot" ? unique : unique.map((tool) => ({ ...tool, name: tool.name.replace(".", "__") }));
}

const described = new WeakMap<Target, ShownTool>();

function describeTool(target: Target): ShownTool {
  let shown = described.get(target);
  if (!shown) {
    const { facts: _ours, ...definition } = target.tool;
    shown = { ...definition, name: target.fullName };
    described.set(target, shown);
  }
  return shown;
}

/** A tool that is not what was reviewed: its name stays, its new words are not for a model to read. */
function describeHeld(target: Target, trust: FaceParts["trust"]): ShownTool | undefined {
  if (trust?.judge(target).held === undefined) return undefined;
  const description = "Held back: it has changed since it was reviewed. A person looks at it with `guildhall diff`.";
  return { name: target.fullName, description, inputSchema: { type: "object" }, _meta: { "guildhall/status": "changed" } };
}

/** One that cannot be called right now says so, to programs and to models. */
function markTool(shown: ShownTool, { toolkit }: Target, health: HealthBook): ShownTool {
  const { health: found } = health.record(toolkit);
  if (found.state !== "unavailable" && found.state !== "maintenance") return shown;
  const description = `${shown.description ?? ""} Not available right now: ${found.reason}.`.trim();
  const meta = typeof shown._meta === "object" ? shown._meta : {};
  return { ...shown, description, _meta: { ...meta, "guildhall/status": found.state } };
}
