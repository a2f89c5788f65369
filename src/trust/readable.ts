import type { Target, Tool } from "../tool.ts";
import type { Trust } from "./trust.ts";

/** A tool as a model may read it. What is not what a person has reviewed keeps its name, and says why that is all: its words may be meant for the model. */
export function readableTool(target: Target, trust: Pick<Trust, "heldBecause"> | undefined): Tool {
  const held = trust?.heldBecause(target);
  if (held === undefined) return target.tool;
  const description = `Held back: ${held.reason}. A person looks at it with \`guildhall ${held.kind === "changed" ? "diff" : "verify"}\`.`;
  return {
    name: target.tool.name,
    description,
    inputSchema: { type: "object" },
    _meta: { "guildhall/status": held.kind },
  };
}
