/** Arrays of any rank: making, reading, writing, adjusting. */
import { defineConstant, defineFunction, defineSetter, defineValues } from "../define.ts";
import type { Machine } from "../machine.ts";
import { badIndex, elements, fitting, listItems } from "../sequences.ts";
import { char, Str } from "../string.ts";
import { bool, cl, isTrue, NIL, Sym, T } from "../symbol.ts";
import { expandType, upgradedType } from "../types.ts";
import { Cons, Float, listOf, type Value, Vec, viewOf } from "../values.ts";
import { codeOf } from "./strings.ts";

export type LispArray = Vec | Str;

export function defineArrays(): void {
  defineConstant("ARRAY-RANK-LIMIT", 65_529);
  defineConstant("ARRAY-DIMENSION-LIMIT", 2 ** 31);
  defineConstant("ARRAY-TOTAL-SIZE-LIMIT", 2 ** 31);
  defineFunction(
    "MAKE-ARRAY dimensions &key element-type initial-element initial-contents adjustable fill-pointer displaced-to displaced-index-offset",
    (m, dimensions, elementType, element, contents, adjustable, fill, target, offset) => {
      const dims = dimensionsOf(m, dimensions);
      const shape = { dims, adjustable: isTrue(adjustable), fill };
      const wanted: Wanted = { ...shape, elementType: elementType ?? T, element, contents };
      return isTrue(target) ? displaced(m, wanted, target as Value, offset) : makeArray(m, wanted);
    },
  );
  defineFunction("VECTOR &rest items", (m, items) => {
    m.alloc(items.length + 1);
    return new Vec(items);
  });
  defineAccess();
  defineShape();
  defineAdjusting();
}

interface Wanted {
  readonly dims: readonly number[];
  readonly elementType: Value;
  readonly element: Value | undefined;
  readonly contents: Value | undefined;
  readonly adjustable: boolean;
  readonly fill: Value | undefined;
}

function makeArray(
  m: Machine,
  { dims, elementType, element, contents, adjustable, fill }: Wanted,
): LispArray {
  const kind = kindOf(m, elementType);
  const size = dims.reduce((product, dim) => product * dim, 1);
  m.alloc(kind === "CHARACTER" ? (size >> 3) + 1 : size + 1);
  const items =
    contents === undefined
      ? new Array<Value>(size).fill(element ?? blank(m, kind, elementType))
      : flatten(m, dims, contents);
  const made =
    kind === "CHARACTER" && dims.length === 1
      ? Str.ofCodes(items.map((item) => codeOf(m, item)))
      : vecOf(m, items, kind);
  if (made instanceof Vec && dims.length !== 1) made.dims = [...dims];
  made.adjustable = adjustable;
  if (isTrue(fill)) made.fill = fillOf(m, fill as Value, size);
  return made;
}

/** The default initial element. */
function blank(m: Machine, kind: string, elementType: Value): Value {
  if (kind === "CHARACTER") return char(0);
  const type = expandType(m, elementType);
  return type instanceof Sym && type.name.endsWith("-FLOAT") ? new Float(0) : 0;
}

/** A displaced array shows the items of another one from an offset on. */
function displaced(
  m: Machine,
  { dims, elementType, fill }: Wanted,
  shown: Value,
  start: Value = 0,
): LispArray {
  const size = dims.reduce((product, dim) => product * dim, 1);
  const target = arrayOf(m, shown);
  const offset = start as number;
  if (!(offset >= 0 && offset + size <= sizeOf(target)))
    return m.fail(
      `an array of ${size} elements from ${m.show(offset)} on does not fit into one of ${sizeOf(target)}`,
    );
  const made =
    kindOf(m, elementType) === "CHARACTER" && dims.length === 1
      ? Str.ofCodes(codesOf(m, target, offset, size))
      : new Vec(
          viewOf(
            size,
            (at) => getAt(m, target, offset + at),
            (at, item) => void setAt(m, target, offset + at, item),
          ),
        );
  if (made instanceof Vec) {
    made.elementType = elementTypeOf(target);
    if (dims.length !== 1) made.dims = [...dims];
  }
  made.adjustable = true;
  made.displacement = { target, offset };
  if (isTrue(fill)) made.fill = fillOf(m, fill as Value, size);
  return made;
}

function codesOf(m: Machine, target: LispArray, offset: number, size: number): number[] {
  return viewOf(
    size,
    (at) => codeOf(m, getAt(m, target, offset + at)),
    (at, code) => void setAt(m, target, offset + at, char(code)),
  );
}

function vecOf(m: Machine, items: Value[], kind: string): Vec {
  const made = new Vec(items);
  made.elementType = cl(kind);
  if (kind === "BIT") for (const item of items) fitting(m, made, item);
  return made;
}

/** Vectors of element type NIL are strings, too. */
const kindOf = (m: Machine, elementType: Value): string =>
  elementType === NIL ? "CHARACTER" : upgradedType(m, elementType).name;

function fillOf(m: Machine, fill: Value, size: number): number {
  if (fill === T) return size;
  return typeof fill === "number" && fill >= 0 && fill <= size
    ? fill
    : m.typeError(fill, `(INTEGER 0 ${size})`);
}

function dimensionsOf(m: Machine, value: Value): number[] {
  const dims = value instanceof Cons || value === NIL ? listItems(m, value) : [value];
  return dims.map((dim) =>
    typeof dim === "number" && dim >= 0 ? dim : m.typeError(dim, "(INTEGER 0 2147483647)"),
  );
}

/** Nested sequences as the row-major items of an array. */
function flatten(m: Machine, dims: readonly number[], contents: Value): Value[] {
  const [size, ...inner] = dims;
  if (size === undefined) return [contents];
  const rows = elements(m, contents);
  if (rows.length !== size)
    m.fail(`:initial-contents has ${rows.length} elements where the dimension is ${size}`);
  return inner.length === 0 ? [...rows] : rows.flatMap((row) => flatten(m, inner, row));
}

export function arrayOf(m: Machine, value: Value, expected = "ARRAY"): LispArray {
  return value instanceof Vec || value instanceof Str ? value : m.typeError(value, expected);
}

function shapeOf(array: LispArray): readonly number[] {
  if (array instanceof Str) return [array.capacity];
  return array.dims ?? [array.items.length];
}

export function sizeOf(array: LispArray): number {
  return array instanceof Str ? array.capacity : array.items.length;
}

function defineAccess(): void {
  const whole = (_: Machine, array: Value): Value => array;
  for (const [name, check] of [
    ["AREF", whole],
    ["BIT", bits],
    ["SBIT", bits],
  ] as const) {
    defineFunction(`${name} array &rest subscripts`, (m, array, subscripts) =>
      getAt(m, check(m, array), placeOf(m, array, subscripts)),
    );
    defineSetter(`${name} value array &rest subscripts`, (m, value, array, subscripts) =>
      setAt(m, check(m, array), placeOf(m, array, subscripts), value),
    );
  }
  for (const [name, check] of [
    ["SVREF", simple],
    ["ROW-MAJOR-AREF", whole],
  ] as const) {
    defineFunction(`${name} array index`, (m, array, index) =>
      getAt(m, check(m, array), rowMajor(m, array, index)),
    );
    defineSetter(`${name} value array index`, (m, value, array, index) =>
      setAt(m, check(m, array), rowMajor(m, array, index), value),
    );
  }
}

function bits(m: Machine, array: Value): Value {
  return array instanceof Vec && array.elementType.name === "BIT"
    ? array
    : m.typeError(array, "(ARRAY BIT)");
}

function simple(m: Machine, vector: Value): Value {
  const isSimple =
    vector instanceof Vec &&
    vector.dims === null &&
    vector.fill < 0 &&
    !vector.adjustable &&
    vector.elementType === T;
  return isSimple ? vector : m.typeError(vector, "SIMPLE-VECTOR");
}

export function getAt(m: Machine, array: Value, place: number): Value {
  const found = arrayOf(m, array);
  return found instanceof Str ? char(found.codeAt(place)) : (found.items[place] as Value);
}

export function setAt(m: Machine, array: Value, place: number, value: Value): Value {
  const found = arrayOf(m, array);
  if (found instanceof Str) found.setCode(place, codeOf(m, value));
  else found.items[place] = fitting(m, found, value);
  return value;
}

function placeOf(m: Machine, array: Value, subscripts: readonly Value[]): number {
  const dims = shapeOf(arrayOf(m, array));
  checkRank(m, dims, subscripts);
  let place = 0;
  for (let at = 0; at < dims.length; at += 1) {
    const dim = dims[at] as number;
    const index = subscripts[at] as Value;
    if (typeof index !== "number") return m.typeError(index, "INTEGER");
    if (index < 0 || index >= dim) {
      const text = `the index ${index} is out of bounds for axis ${at} of ${m.show(array)}`;
      return badIndex(m, index, `${text}, whose length is ${dim}`, dim);
    }
    place = place * dim + index;
  }
  return place;
}

function checkRank(m: Machine, dims: readonly number[], { length }: readonly Value[]): void {
  if (length !== dims.length) m.fail(`${length} subscripts for an array of rank ${dims.length}`);
}

function rowMajor(m: Machine, array: Value, index: Value): number {
  const size = sizeOf(arrayOf(m, array));
  if (typeof index === "number" && index >= 0 && index < size) return index;
  const text = `the index ${m.show(index)} is out of bounds for ${m.show(array)}`;
  return badIndex(m, index, `${text}, whose size is ${size}`, size);
}

function defineShape(): void {
  defineFunction("ARRAY-RANK array", (m, array) => shapeOf(arrayOf(m, array)).length);
  defineFunction("ARRAY-DIMENSIONS array", (m, array) => listOf(shapeOf(arrayOf(m, array))));
  defineFunction("ARRAY-DIMENSION array axis", (m, array, axis) => {
    const dims = shapeOf(arrayOf(m, array));
    if (typeof axis !== "number") return m.typeError(axis, "UNSIGNED-BYTE");
    return dims[axis] ?? m.fail(`an array of rank ${dims.length} has no axis ${m.show(axis)}`);
  });
  defineFunction("ARRAY-TOTAL-SIZE array", (m, array) => sizeOf(arrayOf(m, array)));
  defineFunction("ARRAY-ELEMENT-TYPE array", (m, array) => elementTypeOf(arrayOf(m, array)));
  defineFunction("UPGRADED-ARRAY-ELEMENT-TYPE type &optional environment", (m, type) =>
    upgradedType(m, type),
  );
  defineFunction("ADJUSTABLE-ARRAY-P array", (m, array) => bool(arrayOf(m, array).adjustable));
  defineFunction("ARRAY-HAS-FILL-POINTER-P array", (m, array) => bool(arrayOf(m, array).fill >= 0));
  defineFunction("ARRAY-IN-BOUNDS-P array &rest subscripts", (m, array, subscripts) => {
    const dims = shapeOf(arrayOf(m, array));
    checkRank(m, dims, subscripts);
    return bool(
      subscripts.every(
        (index, at) => typeof index === "number" && index >= 0 && index < (dims[at] as number),
      ),
    );
  });
  defineFunction("ARRAY-ROW-MAJOR-INDEX array &rest subscripts", (m, array, subscripts) =>
    placeOf(m, array, subscripts),
  );
  defineValues("ARRAY-DISPLACEMENT array", (m, array) => {
    const { displacement } = arrayOf(m, array);
    return m.values(displacement?.target ?? NIL, displacement?.offset ?? 0);
  });
}

function defineAdjusting(): void {
  defineFunction(
    "ADJUST-ARRAY array dimensions &key element-type initial-element initial-contents fill-pointer displaced-to displaced-index-offset",
    (m, array, dimensions, _type, element, contents, fill, target, offset) => {
      const old = arrayOf(m, array);
      const dims = dimensionsOf(m, dimensions);
      const { length: rank } = shapeOf(old);
      if (dims.length !== rank)
        return m.fail(`an array of rank ${rank} cannot get ${dims.length} dimensions`);
      const elementType = elementTypeOf(old);
      const { adjustable } = old;
      const wanted = { dims, elementType, element, contents, adjustable, fill: undefined };
      const made = isTrue(target)
        ? displaced(m, wanted, target as Value, offset)
        : makeArray(m, wanted);
      if (contents === undefined && !isTrue(target)) copyCommon(m, old, made);
      const size = sizeOf(made);
      made.fill = isTrue(fill) ? fillOf(m, fill as Value, size) : old.fill;
      if (made.fill > size)
        return m.fail(`the fill pointer ${made.fill} does not fit an array of size ${size}`);
      return old.adjustable ? become(old, made) : made;
    },
  );
}

const elementTypeOf = (array: LispArray): Sym =>
  array instanceof Str ? cl("CHARACTER") : array.elementType;

/** Elements whose subscripts exist in both arrays stay where they were. */
function copyCommon(m: Machine, from: LispArray, to: LispArray): void {
  const [before, after] = [shapeOf(from), shapeOf(to)];
  const walk = (axis: number, source: number, target: number): void => {
    if (axis === before.length) {
      setAt(m, to, target, getAt(m, from, source));
      return;
    }
    const [old, now] = [before[axis] as number, after[axis] as number];
    for (let at = 0; at < Math.min(old, now); at += 1)
      walk(axis + 1, source * old + at, target * now + at);
  };
  m.tick(sizeOf(to));
  walk(0, 0, 0);
}

/** An adjustable array keeps its identity. */
function become(array: LispArray, made: LispArray): Value {
  array.fill = made.fill;
  array.displacement = made.displacement;
  if (array instanceof Str && made instanceof Str) array.become(made);
  else if (array instanceof Vec && made instanceof Vec) {
    array.items = made.items;
    array.dims = made.dims;
  }
  return array;
}
