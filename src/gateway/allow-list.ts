import { HallError } from "../base/errors.ts";
import type { ResolvedStage } from "./stage.ts";

/** Refuses tools that the caller's token or preset does not name, also in nested calls. */
export const keepToAllowed: ResolvedStage = (next) => (call, context) => {
  const { tools } = call.caller;
  if (tools === undefined || isListed(tools, call.target.fullName)) return next(call, context);
  throw new HallError("DENIED", `the caller's token or preset does not allow ${call.name}`, {
    hint: "Use another token or preset, or ask for one that names the tool.",
  });
};

/** True if a list of `server.tool` and `server.*` names the tool. */
export function isListed(tools: readonly string[], fullName: string): boolean {
  const dot = fullName.indexOf(".");
  return tools.includes(fullName) || (dot > 0 && tools.includes(`${fullName.slice(0, dot)}.*`));
}
