import { pinOf } from "../trust/pin.ts";
import { keyOf } from "../trust/trust.ts";
import type { ToolTrust } from "./admin-contract.ts";
import type { Hall } from "./hall.ts";

/** How each tool of a hall stands. Empty for a hall that asks nobody. */
export function describeTrust({ registry, trust }: Hall): readonly ToolTrust[] {
  if (!trust) return [];
  const { grants } = trust.entries();
  return registry.tools().map((target) => {
    const { toolkit, tool, fullName } = target;
    const { level, marks, held, ask } = trust.judge(target);
    const { facts: _ours, ...definition } = tool;
    const until = level === "trusted" ? grants[keyOf(target)]?.until : undefined;
    return {
      name: fullName,
      key: keyOf(target),
      toolkit: toolkit.id,
      source: toolkit.source ?? "built-in",
      level,
      marks,
      held,
      ask,
      until,
      pin: pinOf(tool),
      definition,
    };
  });
}
