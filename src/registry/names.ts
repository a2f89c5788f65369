import { createHash } from "node:crypto";
import { HallError } from "../base/errors.ts";
import { findNear } from "../base/near.ts";
import type { Target } from "../tool.ts";

/** Clients and model APIs refuse longer ones. */
const nameCharactersMax = 60;

/** `toolkit.tool`, cut with a hash where it would be too long, so that two long names stay two. */
export function joinName(prefix: string, name: string): string {
  const full = prefix === "" ? name : `${prefix}.${name}`;
  if (full.length <= nameCharactersMax) return full;
  const hash = createHash("sha256").update(full).digest("hex").slice(0, 8);
  return `${full.slice(0, nameCharactersMax - hash.length - 1)}_${hash}`;
}

/** How names resolve: `toolkit.tool`, `toolkit__tool`, and the bare name where only one tool has it. */
export interface NameIndex {
  find(name: string): Target | undefined;
  /** Throws NOT_FOUND with near names, or with the choices when the name is ambiguous. */
  get(name: string): Target;
}

export function createNameIndex(targets: readonly Target[]): NameIndex {
  const exact = new Map(targets.map((target) => [target.fullName, target]));
  const aliases = new Map<string, Target[]>();
  for (const target of targets) {
    const names = new Set([target.fullName.replace(".", "__"), target.tool.name]);
    for (const alias of names) {
      const sharing = aliases.get(alias);
      if (sharing) sharing.push(target);
      else aliases.set(alias, [target]);
    }
  }
  const find = (name: string): Target | undefined => {
    const target = exact.get(name);
    if (target) return target;
    const sharing = aliases.get(name);
    return sharing?.length === 1 ? sharing[0] : undefined;
  };
  return {
    find,
    get(name) {
      const target = find(name);
      if (target) return target;
      const choices = (aliases.get(name) ?? []).map(({ fullName }) => fullName).sort();
      if (choices.length > 0) {
        throw new HallError("NOT_FOUND", `"${name}" is the name of ${choices.length} tools: ${choices.join(", ")}`, {
          hint: "Use one of the full names.",
          details: { choices },
        });
      }
      const near = findNear(name, exact.keys());
      const suggestion = near.length > 0 ? `; did you mean ${near.join(", ")}?` : "";
      throw new HallError("NOT_FOUND", `Unknown tool: ${name.slice(0, 100)}${suggestion}`, { details: { near } });
    },
  };
}
