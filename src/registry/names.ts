import { createHash } from "node:crypto";
import { HallError } from "../base/errors.ts";
import { findNear } from "../base/text.ts";
import type { Toolkit } from "../tool.ts";

/** The bound of model APIs is 64; the dot of a full name is shown as two characters. */
export const nameCharactersMax = 63;

type Named = Pick<Toolkit, "id" | "prefix" | "source">;

/**
 * The full name of a tool or prompt: `toolkit.tool`, cut with a hash if it is too long. A name of others
 * without a prefix has no dot and no `__`, so that it is never another toolkit's.
 */
export function fullNameOf({ id, prefix = id, source = "built-in" }: Named, name: string): string {
  if (prefix !== "") return cutName(`${prefix}.${name}`);
  return cutName(source === "built-in" ? name : name.replace(/\.+|_{2,}/g, "_"));
}

/** The name as model APIs accept it, `^[a-zA-Z0-9_-]{1,64}$`: `toolkit__tool`, anything else as `_`. */
export function safeNameOf(fullName: string): string {
  return fullName.replace(".", "__").replace(unsafe, "_");
}

/** True if it is the full name or its safe form. Config, agent files and commands accept both. */
export function isSpelling(written: string, fullName: string): boolean {
  return written === fullName || written === safeNameOf(fullName);
}

const unsafe = /[^A-Za-z0-9_-]/gu;

function cutName(name: string): string {
  return name.length <= nameCharactersMax ? name : withHash(name, name);
}

/** Cuts the name where needed, so that it fits with a short hash of what it stands for. */
function withHash(name: string, meaning: string): string {
  const hash = createHash("sha256").update(meaning).digest("hex").slice(0, 6);
  return `${name.slice(0, nameCharactersMax - hash.length - 1)}_${hash}`;
}

/** False if the name, by its prefix, is of another toolkit. */
export function mayHave({ id, prefix = id }: Named, name: string | undefined): boolean {
  if (name === undefined || prefix === "" || !/\.|__/.test(name)) return true;
  return isOf({ id, prefix }, name);
}

export function isOf({ id, prefix = id }: Named, name: string): boolean {
  return prefix !== "" && (name.startsWith(`${prefix}.`) || name.startsWith(`${prefix}__`));
}

/** The tool's own name in a full name of this toolkit, as `isOf` finds it. */
export function bareName({ id, prefix = id }: Named, name: string): string {
  return name.slice(prefix.length).replace(/^(\.|__)/, "");
}

/** A tool or a prompt of a toolkit. */
export interface Listed {
  readonly toolkit: Named;
  readonly fullName: string;
}

/**
 * Resolves names. A full name is unique, because prefixes are; its other spellings (`toolkit__tool`, the
 * name as it is shown) come next, and the bare name last. Where a name has several meanings it has none.
 */
export interface NameIndex<T extends Listed> {
  add(items: readonly T[]): void;
  remove(items: readonly T[]): void;
  find(name: string): T | undefined;
  /** Throws NOT_FOUND with names that are near, or with the choices when the name is ambiguous. */
  get(name: string, options?: GetOptions<T>): T;
  /** The name to show to clients: safe for every model API, and resolved to this item only. */
  shownName(item: T): string;
}

export interface GetOptions<T> {
  /** How the caller sees names. Default: the full name. */
  spell?(item: T): string;
  /** False for items that are not suggested, and that make no name ambiguous. Default: true for all. */
  isOffered?(item: T): boolean;
}

export interface NameIndexOptions<T> {
  readonly kind: "tool" | "prompt";
  bareOf(item: T): string;
  /** True if a toolkit has this prefix, whether or not it is listed yet. */
  hasPrefix(prefix: string): boolean;
}

export function createNameIndex<T extends Listed>({
  kind,
  bareOf,
  hasPrefix,
}: NameIndexOptions<T>): NameIndex<T> {
  const full = new Shared<T>();
  const bare = new Shared<T>();
  /** By safe name, where that is more than `__` for the first dot. */
  const odd = new Shared<T>();

  function meaningsOf(name: string): readonly T[] {
    const exact = full.get(cutName(name));
    if (exact.length > 0) return exact;
    const spelled = dottedOf(name).flatMap((dotted) => full.get(cutName(dotted)));
    if (spelled.length > 0) return spelled;
    const others = [odd.get(name), bare.get(name)].find(({ length }) => length > 0);
    return others ?? withHashOf(name);
  }
  /** Items that share their safe name with others are shown with a hash. */
  function withHashOf(name: string): readonly T[] {
    if (!/_[0-9a-f]{6}$/.test(name)) return [];
    const start = name.slice(0, -7);
    return full.all().filter((item) => {
      const safe = safeNameOf(item.fullName);
      return safe.startsWith(start) && hashedName(safe, item) === name;
    });
  }
  const hashedName = (safe: string, item: T): string =>
    withHash(safe, `${item.toolkit.id}.${bareOf(item)}`);
  const find = (name: string): T | undefined => only(meaningsOf(name));
  /** Does not depend on which servers are already listed: a name that another could have is not used. */
  function shownName(item: T): string {
    const safe = safeNameOf(item.fullName);
    const { id, prefix = id } = item.toolkit;
    const isForeign = dottedOf(safe).some((dotted) => {
      const other = dotted.slice(0, dotted.indexOf("."));
      return other !== prefix && hasPrefix(other);
    });
    return !isForeign && find(safe) === item ? safe : hashedName(safe, item);
  }

  return {
    add(items) {
      for (const item of items) {
        full.add(item.fullName, item);
        if (!plain.test(item.fullName)) odd.add(safeNameOf(item.fullName), item);
        // A bare name that reads like a full one could pass for another toolkit's.
        if (!/\.|__/.test(bareOf(item))) bare.add(bareOf(item), item);
      }
    },
    remove(items) {
      for (const item of items) {
        full.remove(item.fullName, item);
        odd.remove(safeNameOf(item.fullName), item);
        bare.remove(bareOf(item), item);
      }
    },
    find,
    get(name, { spell = (item: T) => item.fullName, isOffered = () => true } = {}) {
      const meanings = meaningsOf(name);
      const offered = meanings.filter(isOffered);
      const found = only(meanings) ?? only(offered);
      if (found) return found;
      const choices = offered
        .map((item) => (find(spell(item)) === item ? spell(item) : shownName(item)))
        .sort();
      if (choices.length > 0) {
        throw new HallError(
          "NOT_FOUND",
          `ambiguous ${kind} "${name.slice(0, 100)}" (${choices.length} ${kind}s: ${choices.join(", ")})`,
          { hint: "Use one of the full names.", details: { choices } },
        );
      }
      const near = findNear(name, full.all().filter(isOffered).map(spell));
      const suggestion = near.length > 0 ? `; did you mean ${near.join(", ")}?` : "";
      throw new HallError("NOT_FOUND", `Unknown ${kind}: ${name.slice(0, 100)}${suggestion}`, {
        details: { near },
      });
    },
    shownName,
  };
}

/** Full names that are safe once `__` stands for their first dot. */
const plain = /^[\w-]*(\.[\w-]*)?$/;

/**
 * Full names that become this one with `__` for the first dot. Computed on demand: an index would
 * slow the start down. A client may call anything, so there are none for a very long name.
 */
function dottedOf(name: string): readonly string[] {
  if (name.length > spelledMax) return [];
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

const spelledMax = 1_000;

function only<T>(sharing: readonly T[]): T | undefined {
  return sharing.length === 1 ? sharing[0] : undefined;
}

/** The items of each name. */
class Shared<T> {
  readonly #byName = new Map<string, T[]>();

  get(name: string): readonly T[] {
    return this.#byName.get(name) ?? [];
  }

  all(): readonly T[] {
    return [...this.#byName.values()].flat();
  }

  add(name: string, item: T): void {
    // Appended in place, because a thousand toolkits may each have a tool named "search".
    const sharing = this.#byName.get(name);
    if (sharing) sharing.push(item);
    else this.#byName.set(name, [item]);
  }

  remove(name: string, item: T): void {
    const left = this.get(name).filter((other) => other !== item);
    if (left.length > 0) this.#byName.set(name, left);
    else this.#byName.delete(name);
  }
}
