/** The functions of the printer, `format` and the reader, and their variables. */

import { write } from "../budgets.ts";
import {
  defineFunction,
  defineMacro,
  defineValues,
  defineVariable,
  form,
  named,
  nativeFunction,
} from "../define.ts";
import { formatText, formatTo } from "../format/format.ts";
import type { Fn } from "../function.ts";
import type { Machine } from "../machine.ts";
import { dispatchOf, type PrintDispatch, printInto, printText, withLabels } from "../printer.ts";
import type { Pretty } from "../printer-layout.ts";
import { inBlock } from "../printer-pretty.ts";
import { Reader } from "../reader.ts";
import { sizeOf, sliceText, spanOf } from "../sequences.ts";
import { Str } from "../string.ts";
import { bool, cl, keyword, NIL, T, words } from "../symbol.ts";
import { Cons, type Float, itemsOf, listOf, Opaque, Stream, type Value } from "../values.ts";
import { inputOf, outputOf, takeWith } from "./streams.ts";

export function definePrinting(): void {
  for (const name of offVariables) defineVariable(name, NIL);
  for (const name of ["ESCAPE", "GENSYM", "ARRAY"]) defineVariable(`*PRINT-${name}*`, T);
  defineVariable("*PRINT-BASE*", 10);
  defineVariable("*PRINT-CASE*", keyword("UPCASE"));
  defineVariable("%PRINT-DEPTH", 0);
  defineVariable("*PRINT-PPRINT-DISPATCH*", () => dispatchTable([]));
  definePrinters();
  definePrettyCalls();
  defineFormat();
  defineReading();
}

/** Those that are NIL in a new session. */
const offVariables = words(`*PRINT-READABLY* *PRINT-RADIX* *PRINT-LENGTH* *PRINT-LEVEL*
  GUILDHALL:*PRINT-TABLES* %PRINT-LABELS *PRINT-CIRCLE* *PRINT-PRETTY* *PRINT-LINES*
  *PRINT-MISER-WIDTH* *PRINT-RIGHT-MARGIN*`);

function definePrinters(): void {
  for (const [name, escapes] of [["PRIN1", true] as const, ["PRINC", false] as const]) {
    defineFunction(`${name} object &optional stream`, (m, object, stream) =>
      writeObject(m, object, stream, escapes),
    );
    defineFunction(`${name}-TO-STRING object`, (m, object) =>
      m.string(printText(m, object, escapes)),
    );
  }
  defineFunction("PRINT object &optional stream", (m, object, stream) => {
    write(m, outputOf(m, stream), "\n");
    writeObject(m, object, stream, true);
    write(m, outputOf(m, stream), " ");
    return object;
  });
  // For `write` of the prelude.
  defineFunction("%WRITE object stream", (m, object, stream) => writeObject(m, object, stream));
}

/** Prints to a stream; inside a logical block the object's own parts may be broken, too. */
function writeObject(m: Machine, object: Value, stream?: Value, escapes?: boolean): Value {
  const target = outputOf(m, stream);
  if (target.pretty === null) write(m, target, printText(m, object, escapes));
  else printInto(m, target.pretty, object, escapes);
  return object;
}

/** One of some keywords. */
function oneOf<const Name extends string>(m: Machine, value: Value, names: readonly Name[]): Name {
  const found = names.find((name) => value === keyword(name));
  return found ?? m.typeError(value, form(["MEMBER", ...names.map((name) => keyword(name))]));
}

const dispatchTable = (entries: readonly PrintDispatch[]): Opaque =>
  new Opaque("PPRINT-DISPATCH", { entries });

function tableOf(m: Machine, value: Value): Opaque {
  return isTable(value) ? value : m.typeError(value, "(SATISFIES %PPRINT-DISPATCH-TABLE-P)");
}

const isTable = (value: Value): value is Opaque =>
  value instanceof Opaque && value.label === "PPRINT-DISPATCH";

const currentTable = (): Value => cl("*PRINT-PPRINT-DISPATCH*").value ?? NIL;

function defineDispatch(): void {
  defineFunction("%PPRINT-DISPATCH-TABLE-P object", (_, object) => bool(isTable(object)));
  defineFunction("COPY-PPRINT-DISPATCH &optional table", (m, table = currentTable()) =>
    dispatchTable(table === NIL ? [] : dispatchOf(tableOf(m, table))),
  );
  defineFunction(
    "SET-PPRINT-DISPATCH type function &optional priority table",
    (m, type, fn, priority = 0, table = currentTable()) => {
      const kept = dispatchOf(tableOf(m, table)).filter(
        (entry) => m.show(entry.type) !== m.show(type),
      );
      const weight = m.call1(m.fn(cl("FLOAT")), priority) as Float;
      const entries = fn === NIL ? kept : [{ type, fn, priority: weight.value }, ...kept];
      entries.sort((a, b) => b.priority - a.priority);
      (tableOf(m, table).content as { entries: readonly PrintDispatch[] }).entries = entries;
      return NIL;
    },
  );
  defineValues("PPRINT-DISPATCH object &optional table", (m, object, table = currentTable()) => {
    const found = dispatchOf(table === NIL ? NIL : tableOf(m, table)).find(({ type }) =>
      m.services.typep(m, object, type),
    );
    const plain = nativeFunction(cl("PPRINT-DISPATCH"), "stream object", (inner, stream, one) =>
      writeObject(inner, one as Value, stream as Value),
    );
    return m.values(found?.fn ?? plain, bool(found !== undefined));
  });
}

/** The logical block that a stream collects; none while `*print-pretty*` is off. */
function prettyOf(m: Machine, stream: Value | undefined): Pretty | null {
  const { pretty } = outputOf(m, stream);
  return cl("*PRINT-PRETTY*").value === NIL ? null : pretty;
}

function definePrettyCalls(): void {
  defineDispatch();
  defineFunction("PPRINT-NEWLINE kind &optional stream", (m, kind, stream) => {
    const how = oneOf(m, kind, ["LINEAR", "FILL", "MISER", "MANDATORY"]);
    prettyOf(m, stream)?.newline(how);
    return NIL;
  });
  defineFunction("PPRINT-INDENT relative-to n &optional stream", (m, from, by, stream) => {
    const isCurrent = oneOf(m, from, ["BLOCK", "CURRENT"]) === "CURRENT";
    const amount = m.call1(m.fn(cl("ROUND")), by);
    prettyOf(m, stream)?.indent(isCurrent, amount as number);
    return NIL;
  });
  defineFunction("PPRINT-TAB kind column increment &optional stream", (m, kind, ...place) => {
    const name = oneOf(m, kind, ["LINE", "SECTION", "LINE-RELATIVE", "SECTION-RELATIVE"]);
    const [isSection, isRelative] = [name.startsWith("SECTION"), name.endsWith("RELATIVE")];
    const [column, step] = [sizeOf(m, place[0]), sizeOf(m, place[1])];
    prettyOf(m, place[2])?.tab({ isSection, isRelative, column, step });
    return NIL;
  });
  defineFunction(
    "%PPRINT-BLOCK stream list prefix per-line-prefix suffix body",
    (m, stream, object, prefix, perLine, suffix, body) => {
      const target = outputOf(m, stream);
      const isPerLine = perLine !== named("%NONE");
      for (const text of [prefix, suffix, ...(isPerLine ? [perLine] : [])])
        if (!(text instanceof Str)) m.typeError(text, "STRING");
      const start = String(isPerLine ? perLine : prefix);
      const block = { prefix: start, isPerLine, suffix: String(suffix) };
      const depth = named("%PRINT-DEPTH");
      const level = cl("*PRINT-LEVEL*").value;
      if (!(object instanceof Cons) && object !== NIL) writeObject(m, object, stream);
      else if (typeof level === "number" && (depth.value as number) >= level) write(m, target, "#");
      else {
        const mark = m.bindings.length;
        m.bind(depth, (depth.value as number) + 1);
        try {
          withLabels(m, object, () =>
            inBlock(m, target, block, (inner) => void m.call1(body as Fn, inner)),
          );
        } finally {
          m.unbindTo(mark);
        }
      }
      return NIL;
    },
  );
}

function defineFormat(): void {
  defineFunction(
    "FORMAT destination control-string &rest arguments",
    (m, destination, control, args) => {
      if (destination === NIL) return m.string(formatText(m, control, listOf(args)));
      const stream =
        destination instanceof Str
          ? (m.call1(m.fn(named("%STRING-SINK")), destination) as Stream)
          : outputOf(m, destination === T ? undefined : destination);
      formatTo(m, stream, control, args);
      return NIL;
    },
  );
  defineMacro("FORMATTER", (whole) => form(["%FORMATTER", itemsOf(whole.cdr)[0] ?? NIL]));
  defineFunction("%FORMATTER control", (_, control) =>
    nativeFunction(cl("FORMATTER"), "stream &rest arguments", (m, stream: Value, args: Value[]) =>
      m.list(formatTo(m, outputOf(m, stream), control, args)),
    ),
  );
}

function defineReading(): void {
  defineValues(
    "READ-FROM-STRING string &optional eof-error-p eof-value &key start end preserve-whitespace",
    (m, string, isError = T, atEnd = NIL, start, end, keepsBlank = NIL) => {
      if (!(string instanceof Str)) return m.typeError(string, "STRING");
      const span = spanOf(m, start, end, string.length, string);
      const reader = new Reader(m, sliceText(string, 0, span.end), span.start);
      const value = reader.next() ?? noForm(m, isError, atEnd);
      return m.values(value, keepsBlank === NIL ? afterBlank(reader) : reader.at);
    },
  );
  for (const name of ["READ", "READ-PRESERVING-WHITESPACE"]) {
    defineFunction(
      `${name} &optional stream eof-error-p eof-value recursive-p`,
      (m, stream, isError = T, atEnd = NIL) =>
        takeWith(m, stream, (text) => {
          const reader = new Reader(m, text);
          reader.stream = inputOf(m, stream);
          const value = reader.next();
          const end = name === "READ" ? afterBlank(reader) : reader.at;
          // The reader counts in UTF-16 units, the stream in characters.
          return { result: value, used: Array.from(text.slice(0, end)).length };
        }) ?? noForm(m, isError, atEnd),
    );
  }
}

/** Consumes one blank after a form. */
function afterBlank(reader: Reader): number {
  return /\s/.test(reader.text.charAt(reader.at)) ? reader.at + 1 : reader.at;
}

function noForm(m: Machine, isError: Value, atEnd: Value): Value {
  return isError === NIL
    ? atEnd
    : m.error("END-OF-FILE", {
        STREAM: new Stream(),
        TEXT: "the text ends where a form is expected",
      });
}
