// Symbols and the packages they live in. Those of the language are the same for every session of the process.
import type { Fn, Macro } from "./function.ts";
import type { Value } from "./values.ts";

/**
 * A symbol. `value` is the current dynamic value (shallow binding), `fn` the global function, `macro` the global macro. Symbols of
 * locked packages are shared by all sessions of the process: only their `value` changes, and the machine swaps it on entry.
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
  /** What `(setf (name …) …)` calls when there is a function `(setf name)`. */
  setter: Fn | null = null;
  constructor(name: string, pkg: Package | null) {
    this.name = name;
    this.pkg = pkg;
  }
}

export class Package {
  readonly name: string;
  nicknames: string[] = [];
  /** Symbols present here, by name. */
  readonly symbols = new Map<string, Sym>();
  /** Names that `pkg:name` may reach. */
  readonly external = new Set<string>();
  readonly shadowing = new Set<string>();
  uses: Package[] = [];
  /** Locked packages take no definitions and no new symbols, and belong to all sessions. */
  locked = false;
  /** For KEYWORD of a session: the keywords all sessions share. */
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
/** The keywords the standard library knows; a session keeps its own beside them. */
export const sharedKeywords = new Package("KEYWORD");
sharedKeywords.locked = true;

/** A symbol of COMMON-LISP, for host code. */
export function cl(name: string): Sym {
  return internShared(commonLisp, name);
}

/** A keyword the library knows, for host code. Kept for good. */
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
 * A keyword is the same symbol for host and sessions, whoever names it first; it lasts as long as someone holds it. Nothing can be
 * stored in it, so sessions do not meet through it.
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

/** A symbol of a package that all sessions share, made where it is missing. */
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

/** Answers of compiled code that are no values: the next call is in the registers; a local exit is under way. */
export const TAIL = new Sym("tail", null);
export const EXIT = new Sym("exit", null);
export const AGAIN = new Sym("again", null);

export const bool = (truth: boolean): Sym => (truth ? T : NIL);

export const isKeyword = (value: Value | undefined, name: string): boolean =>
  value instanceof Sym && value.pkg === sharedKeywords && value.name === name;

/** The value behind a keyword in a list of keywords and values. */
export function optionOf(options: readonly Value[], name: string): Value | undefined {
  const at = options.findIndex((item, index) => index % 2 === 0 && isKeyword(item, name));
  return at < 0 ? undefined : options[at + 1];
}
