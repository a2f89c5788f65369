// Symbols and their packages. All sessions of the process share those of the language.
import type { Fn, Macro } from "./function.ts";
import type { Value } from "./values.ts";

/**
 * A symbol. `value` is the current dynamic value (shallow binding), `fn` the global function,
 * `macro` the global macro. Sessions share the symbols of locked packages; only their `value`
 * differs, and the machine swaps it on entry.
 */
export class Sym {
  readonly name: string;
  pkg: Package | null;
  /** Undefined while unbound. */
  value: Value | undefined = undefined;
  fn: Fn | null = null;
  /** Expands a form; the second argument is the lexical environment. */
  macro: Macro | null = null;
  /** `lexical` until declaimed otherwise. */
  kind: "lexical" | "special" | "constant" = "lexical";
  /** The function `(setf name)`, called by `(setf (name …) …)`. */
  setter: Fn | null = null;
  constructor(name: string, pkg: Package | null) {
    this.name = name;
    this.pkg = pkg;
  }
}

export class Package {
  name: string;
  nicknames: string[] = [];
  /** Symbols present here, by name. */
  readonly symbols = new Map<string, Sym>();
  /** Names that `pkg:name` may reach. */
  readonly external = new Set<string>();
  readonly shadowing = new Set<string>();
  uses: Package[] = [];
  /** Locked packages are shared by all sessions and accept neither definitions nor new symbols. */
  locked = false;
  /** For a session's KEYWORD package: the shared keywords. */
  shared: Package | null = null;
  documentation: string | null = null;
  constructor(name: string) {
    this.name = name;
  }
}

/** `COMMON-LISP`, shared by every session of the process. */
export const commonLisp = new Package("COMMON-LISP");
commonLisp.nicknames = ["CL"];
commonLisp.locked = true;
/** The keywords of the standard library; a session has its own in addition. */
export const sharedKeywords = new Package("KEYWORD");
sharedKeywords.locked = true;

/** A symbol of COMMON-LISP, for host code. */
export function cl(name: string): Sym {
  return internShared(commonLisp, name);
}

/** A keyword for host code. Never collected. */
export function keyword(name: string): Sym {
  const found = sharedKeywords.symbols.get(name) ?? sessionKeyword(name);
  sharedKeywords.symbols.set(name, found);
  sharedKeywords.external.add(name);
  return found;
}

const keywordsInUse = new Map<string, WeakRef<Sym>>();
const forgotten = new FinalizationRegistry<string>((name) => {
  if (keywordsInUse.get(name)?.deref() === undefined) keywordsInUse.delete(name);
});

/**
 * A keyword is the same symbol in the host and all sessions, held weakly. Programs cannot store anything
 * in it, so it does not connect sessions.
 */
export function sessionKeyword(name: string): Sym {
  const found = sharedKeywords.symbols.get(name) ?? keywordsInUse.get(name)?.deref();
  if (found !== undefined) return found;
  const made = new Sym(name, sharedKeywords);
  made.value = made;
  made.kind = "constant";
  keywordsInUse.set(name, new WeakRef(made));
  forgotten.register(made, name);
  return made;
}

/** Finds or makes a symbol in a shared package. */
export function internShared(pkg: Package, name: string): Sym {
  let found = pkg.symbols.get(name);
  if (found === undefined) {
    found = new Sym(name, pkg);
    pkg.symbols.set(name, found);
    pkg.external.add(name);
  }
  return found;
}

export const NIL = cl("NIL");
NIL.value = NIL;
NIL.kind = "constant";
export const T = cl("T");
T.value = T;
T.kind = "constant";

/**
 * Results of compiled code that are not values: a tail call is in the registers, or a local exit is under way, or the
 * running function starts again. Compiled code compares with the literals themselves: the host knows that these are
 * no numbers, while it compares two unknown values by a call.
 */
export const TAIL = null as unknown as Value;
export const EXIT = undefined as unknown as Value;
export const AGAIN = true as unknown as Value;

/** An argument that is given and not NIL. */
export const isTrue = (value: Value | undefined): boolean => value !== undefined && value !== NIL;

export const bool = (truth: boolean): Sym => (truth ? T : NIL);

export const isKeyword = (value: Value | undefined, name: string): boolean =>
  value instanceof Sym && value.pkg === sharedKeywords && value.name === name;

/** A list of names, written as one text. */
export const words = (text: string): string[] => text.trim().split(/\s+/);
