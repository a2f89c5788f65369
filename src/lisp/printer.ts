/**
 * Prints values according to the `*print-…*` variables. A circular value would print forever, so every text
 * has a limit, after which it signals the output budget's condition.
 * A session with methods on `print-object` keeps an `ObjectPrinter` under that name.
 */
import { exceed } from "./budgets.ts";
import { conditionSlot, reportOf } from "./conditions.ts";
import { named } from "./define.ts";
import { Fn } from "./function.ts";
import type { Machine } from "./machine.ts";
import { isNumber } from "./numbers.ts";
import type { Pretty } from "./printer-layout.ts";
import { findCycles, findShared, prettyInto, prettyText, type Shared } from "./printer-pretty.ts";
import {
  characterText,
  type LetterCase,
  numberText,
  stringText,
  symbolText,
} from "./printer-text.ts";
import { Char, Str } from "./string.ts";
import { cl, NIL, Package, Sym, T } from "./symbol.ts";
import {
  Cons,
  gatheringStream,
  Instance,
  LispClass,
  Opaque,
  Stream,
  Table,
  type TableEntry,
  type Value,
  Vec,
} from "./values.ts";

/** Writes the object to the stream; false for the default printing. */
export type ObjectPrinter = (m: Machine, object: Instance, stream: Stream) => boolean;
export const objectPrinter = "print-object";

export interface PrintStyle {
  readonly escape: boolean;
  readonly readably: boolean;
  readonly base: number;
  readonly radix: boolean;
  readonly letterCase: LetterCase;
  readonly gensym: boolean;
  readonly array: boolean;
  readonly length: number;
  readonly level: number;
  /** `"cycles"`: labels only for parts that contain themselves. */
  readonly circle: boolean | "cycles";
  readonly pretty: boolean;
  /** True if hash tables print their contents: `#{"a" 1 "b" 2}`. */
  readonly tables: boolean;
  readonly rightMargin: number;
  /** How the program prints some types, the most important first. */
  readonly dispatch: readonly PrintDispatch[];
}

/** An entry of a pprint dispatch table. */
export interface PrintDispatch {
  readonly type: Value;
  readonly fn: Value;
  readonly priority: number;
}

export function dispatchOf(table: Value | undefined): readonly PrintDispatch[] {
  return table instanceof Opaque ? (table.content as { entries: PrintDispatch[] }).entries : [];
}

/** `prin1` if `escapes`, else `princ`; default `*print-escape*`. */
export function printText(m: Machine, value: Value, escapes?: boolean): string {
  if (prettyVariable.value === NIL) {
    if (typeof value === "number" && baseVariable.value === 10 && radixVariable.value === NIL)
      return String(value);
    if (escapes === false && value instanceof Str && readablyVariable.value === NIL)
      return value.toString();
  }
  return styledText(m, value, currentStyle(escapes));
}

export function styledText(m: Machine, value: Value, style: PrintStyle): string {
  const flat = flatIn(m, value, style);
  return style.pretty ? prettyText(m, value, style, flat) : flat(value, 0);
}

/** Prints into a logical block. */
export function printInto(m: Machine, pretty: Pretty, value: Value, escapes?: boolean): void {
  const style = currentStyle(escapes);
  if (style.pretty) prettyInto(pretty, value, style, flatIn(m, value, style));
  else pretty.text(printText(m, value, escapes));
}

function flatIn(m: Machine, value: Value, style: PrintStyle) {
  const shared = sharedIn(m, value, style);
  const outer = depthVariable.value as number;
  return (part: Value, depth: number) => new Printing(m, style, shared).text(part, depth + outer);
}

function sharedIn(m: Machine, value: Value, style: PrintStyle): Shared | undefined {
  if (style.circle === "cycles") return findCycles(value, style);
  if (!style.circle) return undefined;
  const { value: around } = labelsVariable;
  return around instanceof Opaque ? (around.content as Shared) : findShared(m, value);
}

/** Runs `work`, which prints the parts of a list one by one, with the labels of the whole list. */
export function withLabels(m: Machine, list: Value, work: () => void): void {
  const isOutermost = cl("*PRINT-CIRCLE*").value === T && labelsVariable.value === NIL;
  const mark = m.bindings.length;
  if (isOutermost) m.bind(labelsVariable, new Opaque("LABELS", findShared(m, list)));
  try {
    work();
  } finally {
    m.unbindTo(mark);
  }
}

const baseVariable = cl("*PRINT-BASE*");
/** The number of logical blocks around a value. */
const depthVariable = named("%PRINT-DEPTH");
/** The labels of the logical block around a value. */
const labelsVariable = named("%PRINT-LABELS");
const radixVariable = cl("*PRINT-RADIX*");
const prettyVariable = cl("*PRINT-PRETTY*");
/** A value of `*print-circle*` for returned values. */
const cyclesOnly = named("%CYCLES");
const readablyVariable = cl("*PRINT-READABLY*");
const tablesVariable = named("GUILDHALL:*PRINT-TABLES*");

export function currentStyle(escapes?: boolean): PrintStyle {
  const readably = isOn("*PRINT-READABLY*");
  const limit = (name: string): number =>
    readably ? Number.POSITIVE_INFINITY : numberIn(name, Number.POSITIVE_INFINITY);
  return {
    escape: readably || (escapes ?? isOn("*PRINT-ESCAPE*")),
    readably,
    base: numberIn("*PRINT-BASE*", 10),
    radix: isOn("*PRINT-RADIX*"),
    letterCase: letterCase(),
    gensym: readably || isOn("*PRINT-GENSYM*"),
    array: readably || isOn("*PRINT-ARRAY*"),
    length: limit("*PRINT-LENGTH*"),
    level: limit("*PRINT-LEVEL*"),
    circle: cl("*PRINT-CIRCLE*").value === cyclesOnly ? "cycles" : isOn("*PRINT-CIRCLE*"),
    pretty: isOn("*PRINT-PRETTY*"),
    tables: tablesVariable.value !== NIL,
    rightMargin: numberIn("*PRINT-RIGHT-MARGIN*", 80),
    dispatch: isOn("*PRINT-PRETTY*") ? dispatchOf(cl("*PRINT-PPRINT-DISPATCH*").value) : [],
  };
}

function isOn(name: string): boolean {
  return cl(name).value !== NIL;
}

function numberIn(name: string, otherwise: number): number {
  const { value } = cl(name);
  return typeof value === "number" ? value : otherwise;
}

function letterCase(): LetterCase {
  const { value } = cl("*PRINT-CASE*");
  const name = value instanceof Sym ? value.name : "";
  return name === "DOWNCASE" || name === "CAPITALIZE" ? name : "UPCASE";
}

const marks = new Map<Value, string>([
  [cl("QUOTE"), "'"],
  [cl("FUNCTION"), "#'"],
]);

/** The state of printing one value: its labels and the length so far. */
class Printing {
  readonly #m: Machine;
  readonly #style: PrintStyle;
  readonly #shared: Shared | undefined;
  #written = 0;

  constructor(m: Machine, style: PrintStyle, shared: Shared | undefined) {
    this.#m = m;
    this.#style = style;
    this.#shared = shared;
  }

  text(value: Value, depth = 0): string {
    const label = typeof value === "object" ? this.#shared?.mark(value) : undefined;
    if (label?.kind === "again") return this.#count(`#${label.number}#`);
    return `${label === undefined ? "" : `#${label.number}=`}${this.#plain(value, depth)}`;
  }

  /** The text of an atom, or undefined. */
  #atom(value: Value): string | undefined {
    if (isNumber(value)) return numberText(value, this.#style);
    if (value instanceof Sym) return symbolText(this.#m, value, this.#style);
    if (value instanceof Str) return this.#style.escape ? stringText(value) : value.toString();
    if (value instanceof Char)
      return this.#style.escape ? characterText(value) : String.fromCodePoint(value.code);
    return undefined;
  }

  #plain(value: Value, depth: number): string {
    const m = this.#m;
    const own = this.#style.dispatch.find(({ type }) => m.services.typep(m, value, type));
    if (own !== undefined) {
      const stream = gatheringStream();
      m.call2(m.fn(own.fn), stream, value);
      return this.#count(stream.gathered);
    }
    const atom = this.#atom(value);
    if (atom !== undefined) return this.#count(atom);
    if (value instanceof Cons) return depth >= this.#style.level ? "#" : this.#list(value, depth);
    if (value instanceof Vec) return this.#array(value, depth);
    if (value instanceof Instance) return this.#count(this.#instance(value, depth));
    if (this.#style.readably) this.#m.error("PRINT-NOT-READABLE", { OBJECT: value });
    if (value instanceof Table && this.#style.tables)
      return depth >= this.#style.level ? "#" : this.#table(value, depth);
    return this.#count(this.#unreadable(value));
  }

  #count(text: string): string {
    this.#written += text.length + 1;
    this.#m.tick(1);
    if (this.#written > this.#m.budgets.output) exceed(this.#m, "OUTPUT");
    return text;
  }

  #list(list: Cons, depth: number): string {
    const short = this.#style.pretty ? this.#quoted(list, depth) : undefined;
    if (short !== undefined) return short;
    const parts: string[] = [];
    let at: Value = list;
    for (; at instanceof Cons; at = at.cdr) {
      if (parts.length >= this.#style.length) return `(${[...parts, "..."].join(" ")})`;
      if (parts.length > 0 && this.#shared?.isShared(at)) break;
      parts.push(this.text(at.car, depth + 1));
    }
    return at === NIL
      ? `(${parts.join(" ")})`
      : `(${parts.join(" ")} . ${this.text(at, depth + 1)})`;
  }

  /** `'x` and `#'x`, used only by the pretty printer. */
  #quoted(list: Cons, depth: number): string | undefined {
    const mark = marks.get(list.car);
    if (mark === undefined || !(list.cdr instanceof Cons) || list.cdr.cdr !== NIL) return undefined;
    return mark + this.text(list.cdr.car, depth);
  }

  #array({ dims, items, length, elementType }: Vec, depth: number): string {
    const { array, level } = this.#style;
    if (!array) return this.#count(`#<${dims === null ? "VECTOR" : "ARRAY"}>`);
    if (elementType.name === "BIT" && dims === null)
      return this.#count(`#*${items.slice(0, length).join("")}`);
    if (depth >= level) return "#";
    const rank = dims === null ? "" : `${dims.length}A`;
    return `#${rank}${this.#dimension(items, dims ?? [length], 0, depth)}`;
  }

  #dimension(
    items: readonly Value[],
    [size, ...inner]: readonly number[],
    offset: number,
    depth: number,
  ): string {
    if (size === undefined) return this.text(items[offset] as Value, depth);
    if (depth >= this.#style.level) return "#";
    const step = inner.reduce((product, dim) => product * dim, 1);
    return this.#shown(size, (at) => this.#dimension(items, inner, offset + at * step, depth + 1));
  }

  /** As many parts as `*print-length*` allows. */
  #shown(size: number, part: (index: number) => string): string {
    const shown: string[] = [];
    for (let at = 0; at < size && at < this.#style.length; at += 1) shown.push(part(at));
    if (shown.length < size) shown.push("...");
    return `(${shown.join(" ")})`;
  }

  #table(table: Table, depth: number): string {
    const entries = table.entries.values();
    const shown = this.#shown(table.entries.size, () => {
      const { key, value } = entries.next().value as TableEntry;
      return `${this.text(key, depth + 1)} ${this.text(value, depth + 1)}`;
    });
    return `#{${shown.slice(1, -1)}}`;
  }

  #instance(object: Instance, depth: number): string {
    const own = this.#printedByProgram(object);
    if (own !== undefined) return own;
    const name = symbolText(this.#m, object.cls.name, this.#style);
    if (object.cls.kind === "condition") return this.#condition(object, name);
    if (this.#style.readably && object.cls.kind !== "structure")
      this.#m.error("PRINT-NOT-READABLE", { OBJECT: object });
    if (object.cls.kind !== "structure") return `#<${name}>`;
    if (depth >= this.#style.level) return "#";
    const parts = object.cls.slots.map((slot, at) => {
      const value = object.slots[at];
      return `:${symbolText(this.#m, slot.name, { ...this.#style, escape: false })} ${value === undefined ? "#<unbound>" : this.text(value, depth + 1)}`;
    });
    return `#S(${[name, ...parts].join(" ")})`;
  }

  #condition(condition: Instance, name: string): string {
    if (!this.#style.escape) return reportOf(this.#m, condition);
    const control = conditionSlot(condition, "FORMAT-CONTROL");
    return control === null ? `#<${name}>` : `#<${name} ${this.text(control)}>`;
  }

  #printedByProgram(object: Instance): string | undefined {
    const print = this.#m.kept.get(objectPrinter) as ObjectPrinter | undefined;
    if (print === undefined) return undefined;
    const stream = gatheringStream();
    const mark = this.#m.bindings.length;
    this.#m.bind(cl("*PRINT-ESCAPE*"), this.#style.escape ? cl("T") : NIL);
    try {
      return print(this.#m, object, stream) ? stream.gathered : undefined;
    } finally {
      this.#m.unbindTo(mark);
    }
  }

  /** Without addresses, so that output is repeatable. */
  #unreadable(value: Value): string {
    const m = this.#m;
    const nameOf = (sym: Value) =>
      sym instanceof Sym || sym instanceof Cons
        ? new Printing(m, { ...this.#style, escape: true }, undefined).text(sym)
        : "";
    if (value instanceof Table)
      return `#<HASH-TABLE :TEST ${value.test} :COUNT ${value.entries.size}>`;
    if (value instanceof Fn)
      return `#<${value.code.generic === null ? "FUNCTION" : "STANDARD-GENERIC-FUNCTION"} ${nameOf(value.code.name)}>`;
    if (value instanceof Package) return `#<PACKAGE "${value.name}">`;
    if (value instanceof Stream)
      return value.sink === null ? "#<STRING-INPUT-STREAM>" : "#<STRING-OUTPUT-STREAM>";
    if (value instanceof LispClass) return `#<${classKinds[value.kind]} ${nameOf(value.name)}>`;
    const opaque = value as Opaque;
    return opaque.report !== null && !this.#style.escape ? opaque.report(m) : `#<${opaque.label}>`;
  }
}

const classKinds: Record<LispClass["kind"], string> = {
  "built-in": "BUILT-IN-CLASS",
  structure: "STRUCTURE-CLASS",
  condition: "CONDITION-CLASS",
  standard: "STANDARD-CLASS",
};
