// Definition of the standard library. Files of `core/`, `library/` and `forms/` export functions that call these;
// `standard.ts` calls them all, once per process. All sessions share the result, which never changes:
// everything that a program can change is in the machine or in symbols of its own packages.

import { Code, Fn } from "./function.ts";
import type { Machine } from "./machine.ts";
import { cl, commonLisp, internShared, keyword, NIL, Package, Sym, T } from "./symbol.ts";
import { allowOtherKeys, Cons, Float, type Opaque, type Value } from "./values.ts";

/** Helpers that macros expand into. No session uses this package, so names do not clash. */
export const systemPackage = lockedPackage("LISP-SYSTEM");
/** Extensions such as `pmap` and `jref`. CL-USER uses it. */
export const extrasPackage = lockedPackage("GUILDHALL");
export const sharedPackages: readonly Package[] = [commonLisp, systemPackage, extrasPackage];

function lockedPackage(name: string): Package {
  const made = new Package(name);
  made.locked = true;
  return made;
}

/** A shared symbol by its written name: `:KEY`, `%HELPER` (system), `GUILDHALL:PMAP`, or a name of COMMON-LISP. */
export function named(text: string): Sym {
  if (text.startsWith(":")) return keyword(text.slice(1));
  if (text.startsWith("%")) return internShared(systemPackage, text);
  if (text.startsWith("GUILDHALL:"))
    return internShared(extrasPackage, text.slice("GUILDHALL:".length));
  return cl(text);
}

/** The arguments of a native: `item list &key key` gives an item, a list, and a key or undefined. */
type Arguments<LambdaList extends string, Given = Value> = LambdaList extends ""
  ? []
  : LambdaList extends `${infer Word} ${infer Rest}`
    ? AfterWord<Word, Rest, Given>
    : AfterWord<LambdaList, "", Given>;

type AfterWord<Word extends string, Rest extends string, Given> = Word extends "&rest"
  ? Rest extends `${string} ${infer More}`
    ? [Value[], ...Arguments<More, Given>]
    : [Value[]]
  : Word extends "&optional" | "&key"
    ? Arguments<Rest, Value | undefined>
    : Word extends "&allow-other-keys"
      ? Arguments<Rest, Given>
      : [Given, ...Arguments<Rest, Given>];

type LambdaListOf<Signature extends string> = Signature extends `${string} ${infer LambdaList}`
  ? LambdaList
  : "";

/** A method, so that a parameter may be declared with a narrower type, which the native then relies on. */
export interface NativeOf<Signature extends string> {
  call(m: Machine, ...args: Arguments<LambdaListOf<Signature>>): Value;
}

/** Gets required and optional arguments, then the rest as an array, then keyword arguments. */
export type Native = (m: Machine, ...args: never[]) => Value;

/** `defineFunction("MEMBER item list &key key test", (m, item, list, key, test) => …)`: returns one value. */
export function defineFunction<const Signature extends string>(
  signature: Signature,
  native: NativeOf<Signature>["call"],
  documentation?: string,
): void {
  const { sym, lambdaList } = parseSignature(signature);
  sym.fn = nativeFunction(sym, lambdaList, native as Native, { documentation });
}

/** A function that sets `m.mv`, by `m.values(…)` or by a final call that does. */
export function defineValues<const Signature extends string>(
  signature: Signature,
  native: NativeOf<Signature>["call"],
  documentation?: string,
): void {
  const { sym, lambdaList } = parseSignature(signature);
  sym.fn = nativeFunction(sym, lambdaList, native as Native, { values: true, documentation });
}

/** `(setf (name …) value)`: the new value comes first, like in `(defun (setf name) …)`. */
export function defineSetter<const Signature extends string>(
  signature: Signature,
  native: NativeOf<Signature>["call"],
): void {
  const { sym, lambdaList } = parseSignature(signature);
  const name = new Cons(cl("SETF"), new Cons(sym, NIL));
  sym.setter = nativeFunction(name, lambdaList, native as Native);
}

export function parseSignature(signature: string): { sym: Sym; lambdaList: string } {
  const [name = "", ...words] = signature.split(" ");
  return { sym: named(name), lambdaList: words.join(" ") };
}

export interface NativeOptions {
  /** Default: it returns one value. */
  readonly values?: boolean;
  readonly documentation?: string | undefined;
}

/** A macro gets the whole form and its environment, and returns the expansion. */
export function defineMacro(
  name: string,
  expand: (form: Cons, env: Opaque, m: Machine) => Value,
  documentation: string | null = null,
): void {
  named(name).macro = { expand, documentation };
}

const initialValues: { sym: Sym; initial: Value | ((m: Machine) => Value) }[] = [];

/** A special variable; `initial` is the value, or makes it for each session. */
export function defineVariable(name: string, initial: Value | ((m: Machine) => Value)): void {
  const sym = named(name);
  sym.kind = "special";
  initialValues.push({ sym, initial });
}

export function defineConstant(name: string, value: Value): void {
  const sym = named(name);
  sym.kind = "constant";
  sym.value = value;
}

/** The shared special variables, in the order of `Machine` values. */
export function sharedVariables(): readonly {
  sym: Sym;
  initial: Value | ((m: Machine) => Value);
}[] {
  return initialValues;
}

/** What a lambda list takes. `keys` is null without `&key`. */
export interface Shape {
  readonly required: number;
  readonly optional: number;
  readonly rest: boolean;
  readonly keys: readonly Sym[] | null;
  readonly allowOthers: boolean;
}

export function shapeOf(lambdaList: string): Shape {
  let mode = "";
  let [required, optional, rest, allowOthers] = [0, 0, false, false];
  let keys: Sym[] | null = null;
  for (const word of lambdaList === "" ? [] : lambdaList.split(" ")) {
    if (word.startsWith("&")) {
      mode = word;
      rest ||= word === "&rest";
      allowOthers ||= word === "&allow-other-keys";
      if (word === "&key") keys = [];
    } else if (mode === "") required++;
    else if (mode === "&optional") optional++;
    else if (mode === "&key") keys?.push(keyword(word.toUpperCase()));
  }
  return { required, optional, rest, keys, allowOthers };
}

type Plain = (m: Machine, ...args: unknown[]) => Value;

/** A function written in TypeScript; `lambdaList` determines the accepted arguments and how they are passed. */
export function nativeFunction(
  name: Value,
  lambdaList: string,
  native: Native,
  options: NativeOptions = {},
): Fn {
  const shape = shapeOf(lambdaList);
  const code = new Code(name, true, options.values !== true);
  code.lambdaList = lambdaList;
  code.documentation = options.documentation ?? null;
  // Natives declare their parameter types; `shape` guarantees them.
  const plain = native as unknown as Plain;
  if (shape.rest || shape.keys !== null) setOpenEntries(code, shape, plain);
  else setFixedEntries(code, shape, plain);
  return new Fn(code, []);
}

/** The fast path: few arguments and no keywords. */
function setOpenEntries(code: Code, shape: Shape, plain: Plain): void {
  const { required, optional, rest, keys } = shape;
  code.cn = (m, fn, args) => plain(m, ...arrange(m, fn, shape, args));
  const fits = (count: number) => !rest && count >= required && count <= required + optional;
  if (fits(1)) code.c1 = (m, _, a) => plain(m, a);
  if (fits(2)) code.c2 = (m, _, a, b) => plain(m, a, b);
  if (fits(3)) code.c3 = (m, _, a, b, c) => plain(m, a, b, c);
  if (!rest || keys !== null || optional > 0) return;
  if (required === 0) {
    code.c1 = (m, _, a) => plain(m, [a]);
    code.c2 = (m, _, a, b) => plain(m, [a, b]);
    code.c3 = (m, _, a, b, c) => plain(m, [a, b, c]);
  } else if (required === 1) {
    code.c1 = (m, _, a) => plain(m, a, []);
    code.c2 = (m, _, a, b) => plain(m, a, [b]);
    code.c3 = (m, _, a, b, c) => plain(m, a, [b, c]);
  } else if (required === 2) {
    code.c2 = (m, _, a, b) => plain(m, a, b, []);
    code.c3 = (m, _, a, b, c) => plain(m, a, b, [c]);
  }
}

function setFixedEntries(code: Code, { required, optional }: Shape, plain: Plain): void {
  const max = required + optional;
  code.direct = plain as Code["direct"];
  code.min = required;
  code.max = max;
  const fits = (count: number) => count >= required && count <= max;
  code.c0 = fits(0) ? (m) => plain(m) : (m, fn) => m.wrongCount(fn, 0);
  code.c1 = fits(1) ? (m, _, a) => plain(m, a) : (m, fn) => m.wrongCount(fn, 1);
  code.c2 = fits(2) ? (m, _, a, b) => plain(m, a, b) : (m, fn) => m.wrongCount(fn, 2);
  code.c3 = fits(3) ? (m, _, a, b, c) => plain(m, a, b, c) : (m, fn) => m.wrongCount(fn, 3);
  code.cn = (m, fn, args) =>
    fits(args.length) ? plain(m, ...args) : m.wrongCount(fn, args.length);
}

function arrange(m: Machine, fn: Fn, shape: Shape, args: Value[]): unknown[] {
  const { required, optional, rest, keys } = shape;
  const fixed = required + optional;
  if (args.length < required || (!rest && keys === null && args.length > fixed))
    m.wrongCount(fn, args.length);
  const arranged: unknown[] = args.length > fixed ? args.slice(0, fixed) : args.slice();
  while (arranged.length < fixed) arranged.push(undefined);
  if (rest) arranged.push(args.length > fixed ? args.slice(fixed) : []);
  if (keys !== null) spreadKeys(m, fn, { ...shape, keys }, args, arranged);
  return arranged;
}

function spreadKeys(
  m: Machine,
  fn: Fn,
  { required, optional, keys, allowOthers }: Shape & { readonly keys: readonly Sym[] },
  args: Value[],
  into: unknown[],
): void {
  const from = required + optional;
  const base = into.length;
  for (let at = 0; at < keys.length; at++) into.push(undefined);
  if ((args.length - from) % 2 === 1 && args.length > from)
    m.programError(`odd number of keyword arguments in a call of ${m.show(fn.code.name)}`);
  let unknown: Value | null = null;
  let allowed: boolean | null = allowOthers ? true : null;
  for (let at = from; at + 1 < args.length; at += 2) {
    const key = args[at] as Value;
    const index = keys.indexOf(key as Sym);
    if (index >= 0) {
      if (into[base + index] === undefined) into[base + index] = args[at + 1];
    } else if (key === allowOtherKeys) allowed ??= args[at + 1] !== NIL;
    else unknown ??= key;
  }
  if (unknown !== null && !allowed)
    m.programError(
      `${m.show(fn.code.name)} does not accept the keyword argument ${m.show(unknown)}`,
    );
}

/**
 * Nested arrays to nested lists, JS strings to shared symbols by `named`: `form(["IF", test,
 * ["PROGN", ...body], "NIL"])`.
 */
export type Template = Value | string | readonly Template[];

export function form(template: Template): Value {
  if (typeof template === "string") return template === "T" ? T : named(template);
  // A macro call with too few arguments leaves undefined parts.
  if (!Array.isArray(template)) return (template as Value | undefined) ?? NIL;
  let made: Value = NIL;
  for (let at = template.length - 1; at >= 0; at--)
    made = new Cons(form(template[at] as Template), made);
  return made;
}

/** A symbol that programs cannot name. */
export const fresh = (name: string): Sym => new Sym(name, null);

type Skeleton = Value | Hole | readonly Skeleton[];

class Hole {
  readonly index: number;
  readonly isSpliced: boolean;
  constructor(index: number, isSpliced: boolean) {
    this.index = index;
    this.isSpliced = isSpliced;
  }
}

const skeletons = new WeakMap<TemplateStringsArray, Skeleton>();

/** A form as Lisp text with holes; `@` splices the items of a hole: lisp`(if ${test} (progn @${body}))`. */
export function lisp(strings: TemplateStringsArray, ...holes: (Template | undefined)[]): Value {
  let skeleton = skeletons.get(strings);
  if (skeleton === undefined) {
    skeleton = parseText(strings.join("\0"));
    skeletons.set(strings, skeleton);
  }
  return fill(skeleton, holes);
}

/** Parses a type: `list`, `(or (integer 1) null)`. */
export const typeNamed = (text: string): Value => fill(parseText(text), []);

function parseText(text: string): Skeleton {
  const words = text.match(/[()']|#'|@?\0|[^\s()'@\0]+/g) ?? [];
  let holes = 0;
  const read = (): Skeleton => {
    const word = words.shift() as string;
    if (word.endsWith("\0")) return new Hole(holes++, word.length === 2);
    if (word === "'" || word === "#'") return [named(word === "'" ? "QUOTE" : "FUNCTION"), read()];
    if (word !== "(") return parseWord(word);
    const items: Skeleton[] = [];
    while (words[0] !== ")") items.push(read());
    words.shift();
    return items;
  };
  return read();
}

function parseWord(word: string): Value {
  if (/^-?\d+$/.test(word)) return Number(word);
  return /^-?\d+\.\d+$/.test(word) ? new Float(Number(word)) : form(word.toUpperCase());
}

function fill(skeleton: Skeleton, holes: readonly (Template | undefined)[]): Value {
  if (skeleton instanceof Hole) return form(holes[skeleton.index] ?? NIL);
  if (!Array.isArray(skeleton)) return skeleton as Value;
  let made: Value = NIL;
  for (const item of skeleton.toReversed()) {
    const spliced = item instanceof Hole && item.isSpliced ? holes[item.index] : undefined;
    if (spliced === undefined) made = new Cons(fill(item, holes), made);
    else for (const one of (spliced as Template[]).toReversed()) made = new Cons(form(one), made);
  }
  return made;
}
