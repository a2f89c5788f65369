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
  const full = new Shared();
  const bare = new Shared();
  /** Tools of other names that are meant by this one. */
  const others = (name: string): readonly Target[] => {
    const underscored = dottedOf(name).flatMap((dotted) => full.get(dotted));
    return underscored.length === 0
      ? bare.get(name)
      : [...new Set([...underscored, ...bare.get(name)])];
  };
  const find = (name: string): Target | undefined => only(full.get(name)) ?? only(others(name));
  return {
    add(targets) {
      for (const target of targets) {
        full.add(target.fullName, target);
        bare.add(target.tool.name, target);
      }
    },
    remove(targets) {
      for (const target of targets) {
        full.remove(target.fullName, target);
        bare.remove(target.tool.name, target);
      }
    },
    find,
    get(name) {
      const target = find(name);
      if (target) return target;
      const choices = [...full.get(name), ...others(name)].map(({ fullName }) => fullName).sort();
      if (choices.length > 0) {
        throw new HallError(
          "NOT_FOUND",
          `"${name}" is the name of ${choices.length} tools: ${choices.join(", ")}`,
          {
            hint: "Use one of the full names.",
            details: { choices },
          },
        );
      }
      const near = findNear(name, full.names());
      const suggestion = near.length > 0 ? `; did you mean ${near.join(", ")}?` : "";
      throw new HallError("NOT_FOUND", `Unknown tool: ${name.slice(0, 100)}${suggestion}`, {
        details: { near },
      });
    },
  };
}

/** The full names that are written like this with `__` for their first dot: worked out when asked, as an index of them would double what a start has to do. */
function dottedOf(name: string): readonly string[] {
  const dot = name.indexOf(".");
  const found: string[] = [];
  for (
    let at = name.indexOf("__");
    at !== -1 && (dot === -1 || at < dot);
    at = name.indexOf("__", at + 1)
  ) {
    found.push(`${name.slice(0, at)}.${name.slice(at + 2)}`);
  }
  return found;
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
