import { pinOf } from "../trust/pin.ts";
import { keyOf } from "../trust/trust.ts";
import type { ToolTrust } from "./admin-contract.ts";
import type { Hall } from "./hall.ts";

/** The trust level of each tool. Empty for a hall without trust. */
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
