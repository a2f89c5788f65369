// `defgeneric` and `defmethod`. A method that may call the next one gets it as a hidden first argument.
import { designatedClass } from "../classes.ts";
import { declarationsOf } from "../core/macros.ts";
import {
  defineFunction,
  defineMacro,
  defineValues,
  lisp,
  named,
  type Shape,
  type Template,
} from "../define.ts";
import { Fn } from "../function.ts";
import type { Machine } from "../machine.ts";
import { refuseLocked } from "../packages.ts";
import { parseLambdaList } from "../places.ts";
import { Str } from "../string.ts";
import { bool, isKeyword, NIL, Sym, T, words } from "../symbol.ts";
import { Cons, itemsOf, list, listOf, Opaque, type Value } from "../values.ts";
import { missingClass, refuseRepeated } from "./class-table.ts";
import {
  allGenerics,
  applicableMethods,
  areAlike,
  findGeneric,
  Generic,
  type Method,
  registerGeneric,
  type Specializer,
} from "./generics.ts";
import {
  callWithNext,
  type NextMethod,
  sessionCombinations,
  standardCombination,
} from "./method-combination.ts";
import { defineStandardGeneric, openStandard } from "./standard-generics.ts";

export function defineMethods(): void {
  defineMacro("DEFMETHOD", (whole, _, m) => expandMethod(m, itemsOf(whole.cdr)));
  defineMacro("DEFGENERIC", (whole, _, m) => expandGeneric(m, itemsOf(whole.cdr)));
  defineFunction(
    "%DEFINE-GENERIC name lambda-list combination precedence documentation",
    (m, name, lambdaList, combination, precedence, documentation) => {
      const shape = shapeOf(m, lambdaList);
      const names = itemsOf(lambdaList).slice(0, shape.required);
      const order = precedence === NIL ? names : itemsOf(precedence);
      if (order.length !== names.length || names.some((one) => !order.includes(one)))
        m.programError(
          `the argument precedence order of ${m.show(name)} must name each argument once`,
        );
      const text = documentation instanceof Str ? documentation.toString() : null;
      const generic = openGeneric(m, name, shape, text);
      generic.shape = shape;
      generic.fn.code.documentation = text;
      generic.fn.code.lambdaList = lambdaList === NIL ? "" : m.show(lambdaList).slice(1, -1);
      generic.order = order.map((one) => names.indexOf(one));
      generic.combination = combinationOf(m, combination);
      // A new definition replaces the methods of the old one, but not those of DEFMETHOD.
      for (const method of generic.own) generic.remove(method);
      generic.forget();
      return generic.fn;
    },
  );
  defineFunction(
    "%DEFINE-METHOD name qualifiers specializers lambda-list uses-next function",
    (m, name, qualifiers, specializers, lambdaList, usesNext, fn: Fn) => {
      const shape = shapeOf(m, lambdaList);
      const generic = openGeneric(m, name, shape);
      refuseIncongruent(m, generic, shape);
      fn.code.name = name;
      return addMethod(generic, {
        qualifiers: itemsOf(qualifiers),
        specializers: itemsOf(specializers).map((specializer) => specializerOf(m, specializer)),
        shape,
        fn,
        usesNext: usesNext !== NIL,
      });
    },
  );
  defineFunction("%OWN-METHODS generic methods", (m, generic, methods) => {
    genericOf(m, generic).own = itemsOf(methods).map((method) => methodOf(m, method));
    return generic;
  });
  defineValues("%CALL-NEXT-METHOD next arguments", (m, next: Opaque, args) => {
    const { run, args: original, generic } = next.content as NextMethod;
    if (run === null) return m.apply(m.fn(named("NO-NEXT-METHOD")), [generic.fn, ...original]);
    return run(m, args === NIL ? original : itemsOf(args));
  });
  defineFunction("%NEXT-METHOD-P next", (_, next: Opaque) =>
    bool((next.content as NextMethod).run !== null),
  );
  defineMissing();
  defineStandardGeneric(
    "FIND-METHOD generic qualifiers specializers &optional errorp",
    (m, generic, qualifiers, specializers, errorp = T) => {
      const { name, shape, methods } = genericOf(m, generic);
      const wanted = itemsOf(specializers).map((specializer) => specializerOf(m, specializer));
      if (wanted.length !== shape.required)
        m.fail(`${m.show(name)} has ${shape.required} required parameters`);
      const signature = { qualifiers: itemsOf(qualifiers), specializers: wanted };
      const found = methods.find((method) => areAlike(method, signature));
      if (found === undefined && errorp !== NIL)
        return m.fail(`${m.show(name)} has no method ${m.show(list(qualifiers, specializers))}`);
      return found?.handle ?? NIL;
    },
  );
  defineStandardGeneric("REMOVE-METHOD generic method", (m, generic, method) => {
    genericOf(m, generic).remove(methodOf(m, method));
    return generic;
  });
  defineStandardGeneric("ADD-METHOD generic method", (m, generic, added) => {
    const [to, method] = [genericOf(m, generic), methodOf(m, added)];
    if (findOwner(m, method) !== undefined && findOwner(m, method) !== to)
      return m.fail("the method belongs to another generic function");
    refuseIncongruent(m, to, method.shape);
    to.add(method);
    return generic;
  });
  defineStandardGeneric("COMPUTE-APPLICABLE-METHODS generic arguments", (m, generic, args) =>
    m.list(applicableMethods(genericOf(m, generic), itemsOf(args)).map(({ handle }) => handle)),
  );
  defineStandardGeneric("METHOD-QUALIFIERS method", (m, method) =>
    m.list(methodOf(m, method).qualifiers),
  );
  defineFunction("%ADD-COMBINATION name expander", (m, name: Sym, expander: Fn) => {
    refuseLocked(m, name, "define");
    sessionCombinations(m).set(name, expander);
    return name;
  });
  defineValues("%CALL-METHOD method next arguments", (m, method, next, args) =>
    callMethod(m, method, itemsOf(next), itemsOf(args)),
  );
}

/** A method, or a function made by `make-method`, which takes the list of arguments. */
function callMethod(m: Machine, method: Value, next: readonly Value[], args: Value[]): Value {
  if (method instanceof Fn) return m.call1(method, m.list(args));
  const { fn, usesNext } = methodOf(m, method);
  if (!usesNext) return m.apply(fn, args);
  const [first, ...others] = next;
  const run =
    first === undefined
      ? null
      : (inner: Machine, given: Value[]) => callMethod(inner, first, others, given);
  const generic = findOwner(m, methodOf(m, method)) as Generic;
  return callWithNext(m, fn, { run, args, generic });
}

function findOwner(m: Machine, method: Method): Generic | undefined {
  return allGenerics(m).find(({ methods }) => methods.includes(method));
}

// ---- expansion

function expandMethod(m: Machine, [name = NIL, ...rest]: readonly Value[]): Value {
  const at = rest.findIndex((item) => item instanceof Cons || item === NIL);
  if (at < 0) return m.programError(`the method of ${m.show(name)} has no lambda list`);
  const [qualifiers, lambdaList, body] = [rest.slice(0, at), rest[at] as Value, rest.slice(at + 1)];
  const { specializers, plain } = splitLambdaList(m, lambdaList);
  const usesNext = mentionsNext(body);
  const isDocumented = body[0] instanceof Str && body.length > 1;
  const { declarations, rest: forms } = declarationsOf(isDocumented ? body.slice(1) : body);
  const block = name instanceof Cons && name.cdr instanceof Cons ? name.cdr.car : name;
  const inBlock = lisp`(block ${block} @${forms})`;
  const parameters = itemsOf(withOpenKeys(plain));
  const lambda = usesNext
    ? lisp`(lambda (%next @${parameters})
        @${declarations}
        (flet ((call-next-method (&rest %arguments) (%call-next-method %next %arguments))
               (next-method-p () (%next-method-p %next)))
          ${inBlock}))`
    : lisp`(lambda ${parameters} @${declarations} ${inBlock})`;
  return lisp`(%define-method '${name} '${qualifiers} (list @${specializers}) '${plain}
    ${bool(usesNext)} #'${lambda})`;
}

/** Splits specialised parameters into plain ones and forms for the specializers. */
function splitLambdaList(
  m: Machine,
  lambdaList: Value,
): { specializers: Template[]; plain: Value } {
  const items = itemsOf(lambdaList);
  const end = items.findIndex((item) => item instanceof Sym && item.name.startsWith("&"));
  const required = items.slice(0, end < 0 ? items.length : end);
  const specializers = required.map((item): Template => {
    if (!(item instanceof Cons)) return ["QUOTE", named("T")];
    const specializer = item.cdr instanceof Cons ? item.cdr.car : NIL;
    if (!(specializer instanceof Cons)) return ["QUOTE", specializer];
    if (specializer.car !== named("EQL") || !(specializer.cdr instanceof Cons))
      return m.programError(`${m.show(specializer)} is neither a class nor (EQL form)`);
    return ["LIST", ["QUOTE", named("EQL")], specializer.cdr.car];
  });
  return {
    specializers,
    plain: listOf([
      ...required.map((item) => (item instanceof Cons ? item.car : item)),
      ...items.slice(required.length),
    ]),
  };
}

/** Methods accept all keywords; the generic function checks them. */
function withOpenKeys(lambdaList: Value): Value {
  const items = itemsOf(lambdaList);
  const keysAt = items.indexOf(named("&KEY"));
  if (keysAt < 0 || items.includes(named("&ALLOW-OTHER-KEYS"))) return lambdaList;
  const auxAt = items.indexOf(named("&AUX"));
  const end = auxAt < 0 ? items.length : auxAt;
  return listOf([...items.slice(0, end), named("&ALLOW-OTHER-KEYS"), ...items.slice(end)]);
}

/** Also true if a macro of the program could expand to it. */
function mentionsNext(body: readonly Value[]): boolean {
  return body.some((item) => {
    for (let at: Value = item; ; at = at.cdr) {
      if (at === named("CALL-NEXT-METHOD") || at === named("NEXT-METHOD-P")) return true;
      if (!(at instanceof Cons)) return false;
      if (at.car instanceof Sym && at.car.macro !== null && !at.car.pkg?.locked) return true;
      if (mentionsNext([at.car])) return true;
    }
  });
}

function expandGeneric(
  m: Machine,
  [name = NIL, lambdaList = NIL, ...options]: readonly Value[],
): Value {
  const given = options.map((option) => itemsOf(option) as [Value, ...Value[]]);
  const known = given.filter(([key]) => key !== named("DECLARE"));
  const all = (wanted: string): Value[][] =>
    known.flatMap(([key, ...args]) => (isKeyword(key, wanted) ? [args] : []));
  const once = known.map(([key]) => key).filter((key) => !isKeyword(key, "METHOD"));
  refuseRepeated(m, "DEFGENERIC", once);
  const stray = known.find(([key]) => !genericOptions.some((name) => isKeyword(key, name)));
  if (stray !== undefined)
    m.programError(`DEFGENERIC does not support the option ${m.show(listOf(stray))}`);
  const [combination] = all("METHOD-COMBINATION");
  const [precedence] = all("ARGUMENT-PRECEDENCE-ORDER");
  const [documentation] = all("DOCUMENTATION").flat();
  const methods = all("METHOD").map((args): Template => ["DEFMETHOD", name, ...args]);
  return lisp`(progn
    (%define-generic '${name} '${lambdaList} '${combination} '${precedence} '${documentation})
    (%own-methods #'${name} (list @${methods})))`;
}

const genericOptions = words(`METHOD METHOD-COMBINATION ARGUMENT-PRECEDENCE-ORDER DOCUMENTATION
  GENERIC-FUNCTION-CLASS METHOD-CLASS`);

// ---- definition

const shortCombinations = words("+ AND APPEND LIST MAX MIN NCONC OR PROGN").map(named);

function combinationOf(m: Machine, description: Value): Generic["combination"] {
  const [name = NIL, ...options] = itemsOf(description) as [Sym?, ...Value[]];
  if (name === NIL || name === named("STANDARD")) return standardCombination;
  const known = sessionCombinations(m).get(name);
  if (known !== undefined) return { expander: known, options };
  if (!shortCombinations.includes(name))
    return m.fail(`unknown method combination ${m.show(name)}`);
  const make = m.fn(named("%SHORT-COMBINATION"));
  const expander = m.call3(make, name, name, bool(name !== named("LIST")));
  return { expander: expander as Fn, options };
}

/** Finds or makes the generic function; does not replace an ordinary function. */
export function openGeneric(
  m: Machine,
  name: Value,
  shape: Shape,
  documentation: string | null = null,
): Generic {
  const known = findGeneric(m, name) ?? openStandard(m, name);
  if (known !== undefined) return known;
  if (name instanceof Sym && (name.fn !== null || name.macro !== null))
    return m.programError(`${m.show(name)} is already an ordinary function or a macro`);
  const generic = new Generic(name, shape, documentation);
  generic.fn.code.lambdaList = lambdaListText(shape);
  registerGeneric(m, generic);
  return generic;
}

const lambdaListText = ({ required, optional, rest, keys }: Shape): string =>
  [
    ...Array.from({ length: required }, (_, index) => `arg${index + 1}`),
    optional > 0 && "&optional …",
    rest && "&rest …",
    keys !== null && "&key …",
  ]
    .filter(Boolean)
    .join(" ");

export function addMethod(generic: Generic, parts: Omit<Method, "handle">): Opaque {
  const content: { method: Method | null } = { method: null };
  const method: Method = { ...parts, handle: new Opaque("METHOD", content) };
  content.method = method;
  generic.add(method);
  return method.handle;
}

function specializerOf(m: Machine, specializer: Value): Specializer {
  if (specializer instanceof Cons && specializer.cdr instanceof Cons)
    return { kind: "eql", value: specializer.cdr.car };
  const cls = designatedClass(m, specializer);
  if (cls === undefined) return missingClass(m, specializer);
  return { kind: "class", name: cls.name };
}

function shapeOf(m: Machine, lambdaList: Value): Shape {
  const list = parseLambdaList(m, lambdaList, false);
  return {
    required: list.required.length,
    optional: list.optional.length,
    rest: list.rest !== null,
    keys: list.hasKeys ? list.keys.map(({ key }) => key) : null,
    allowOthers: list.allowOtherKeys,
  };
}

function refuseIncongruent(m: Machine, { name, shape }: Generic, other: Shape): void {
  const isOpen = ({ rest, keys }: Shape): boolean => rest || keys !== null;
  const isCongruent =
    shape.required === other.required &&
    shape.optional === other.optional &&
    isOpen(shape) === isOpen(other);
  if (isCongruent) return;
  m.fail(
    `a method of ${m.show(name)} takes other arguments than the generic function: ${lambdaListText(shape)}`,
  );
}

// ---- failures

function defineMissing(): void {
  const fail =
    (what: string) =>
    (m: Machine, generic: Value, args: Value[]): never =>
      m.error("%NO-METHOD", {
        TEXT: `${m.show(genericOf(m, generic).name)} has no ${what} method for ${args.map((arg) => m.show(arg)).join(" ")}`,
      });
  defineStandardGeneric("NO-APPLICABLE-METHOD generic &rest arguments", fail("applicable"));
  defineStandardGeneric("NO-NEXT-METHOD generic &rest arguments", fail("next"));
  defineFunction("%NO-PRIMARY-METHOD generic &rest arguments", fail("primary"));
}

// ---- introspection

function genericOf(m: Machine, value: Value): Generic {
  const found = value instanceof Fn ? value.code.generic : null;
  if (found instanceof Generic) return found;
  return openStandard(m, found as Value) ?? m.typeError(value, "GENERIC-FUNCTION");
}

function methodOf(m: Machine, value: Value): Method {
  const content =
    value instanceof Opaque && value.label === "METHOD"
      ? (value.content as { method: Method } | null)
      : null;
  return content?.method ?? m.typeError(value, "METHOD");
}
