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
  add(targets: readonly Target[]): void;
  remove(targets: readonly Target[]): void;
  find(name: string): Target | undefined;
  /** Throws NOT_FOUND with near names, or with the choices when the name is ambiguous. */
  get(name: string): Target;
}

export function createNameIndex(): NameIndex {
  const exact = new Shared();
  const aliases = new Shared();
  const find = (name: string): Target | undefined => only(exact.get(name)) ?? only(aliases.get(name));
  return {
    add(targets) {
      for (const target of targets) {
        exact.add(target.fullName, target);
        for (const alias of aliasesOf(target)) aliases.add(alias, target);
      }
    },
    remove(targets) {
      for (const target of targets) {
        exact.remove(target.fullName, target);
        for (const alias of aliasesOf(target)) aliases.remove(alias, target);
      }
    },
    find,
    get(name) {
      const target = find(name);
      if (target) return target;
      const choices = [...exact.get(name), ...aliases.get(name)].map(({ fullName }) => fullName).sort();
      if (choices.length > 0) {
        throw new HallError("NOT_FOUND", `"${name}" is the name of ${choices.length} tools: ${choices.join(", ")}`, {
          hint: "Use one of the full names.",
          details: { choices },
        });
      }
      const near = findNear(name, exact.names());
      const suggestion = near.length > 0 ? `; did you mean ${near.join(", ")}?` : "";
      throw new HallError("NOT_FOUND", `Unknown tool: ${name.slice(0, 100)}${suggestion}`, { details: { near } });
    },
  };
}

function aliasesOf({ fullName, tool }: Target): readonly string[] {
  const underscored = fullName.replace(".", "__");
  return underscored === tool.name ? [underscored] : [underscored, tool.name];
}

function only(sharing: readonly Target[]): Target | undefined {
  return sharing.length === 1 ? sharing[0] : undefined;
}

const nobody: readonly Target[] = [];

/** Names and the tools that share each. */
class Shared {
  readonly #byName = new Map<string, Target[]>();

  get(name: string): readonly Target[] {
    return this.#byName.get(name) ?? nobody;
  }

  names(): Iterable<string> {
    return this.#byName.keys();
  }

  add(name: string, target: Target): void {
    // In place: a thousand toolkits may each have a tool named "search".
    const sharing = this.#byName.get(name);
    if (sharing) sharing.push(target);
    else this.#byName.set(name, [target]);
  }

  remove(name: string, target: Target): void {
    const left = this.get(name).filter((other) => other !== target);
    if (left.length > 0) this.#byName.set(name, left);
    else this.#byName.delete(name);
  }
}
