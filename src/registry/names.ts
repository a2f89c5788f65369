import { createHash } from "node:crypto";
import { HallError } from "../base/errors.ts";
import { findNear } from "../base/text.ts";
import type { Target } from "../tool.ts";

/** Clients and model APIs refuse longer names. */
export const nameCharactersMax = 60;

/** `toolkit.tool`; a name that is too long is cut and gets a hash, so that it stays unique. */
export function joinName(prefix: string, name: string): string {
  const full = prefix === "" ? name : `${prefix}.${name}`;
  if (full.length <= nameCharactersMax) return full;
  const hash = createHash("sha256").update(full).digest("hex").slice(0, 8);
  return `${full.slice(0, nameCharactersMax - hash.length - 1)}_${hash}`;
}

/** Resolves `toolkit.tool`, `toolkit__tool`, and the bare name if it is unique. */
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
  /** Tools that the name may mean besides an exact match. */
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
          `ambiguous tool "${name}" (${choices.length} tools: ${choices.join(", ")})`,
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

/** Full names that become this one with `__` for the first dot. Computed on demand: an index would slow the start down. */
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

const noTargets: readonly Target[] = [];

/** The tools of each name. */
class Shared {
  readonly #byName = new Map<string, Target[]>();

  get(name: string): readonly Target[] {
    return this.#byName.get(name) ?? noTargets;
  }

  names(): Iterable<string> {
    return this.#byName.keys();
  }

  add(name: string, target: Target): void {
    // Appended in place, because a thousand toolkits may each have a tool named "search".
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
