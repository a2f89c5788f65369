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
import { streamTarget } from "../format/run.ts";
import type { Machine } from "../machine.ts";
import { printText } from "../printer.ts";
import { Reader } from "../reader.ts";
import { sliceText, spanOf } from "../sequences.ts";
import { Str } from "../string.ts";
import { cl, keyword, NIL, T, words } from "../symbol.ts";
import { Cons, itemsOf, listOf, Stream, type Value } from "../values.ts";
import { inputOf, outputOf, takeWith } from "./streams.ts";

export function definePrinting(): void {
  for (const [name, initial] of variables) defineVariable(name, initial);
  definePrinters();
  definePrettyCalls();
  defineFormat();
  defineReading();
}

const variables: readonly [string, Value][] = [
  ["*PRINT-ESCAPE*", T],
  ["*PRINT-READABLY*", NIL],
  ["*PRINT-BASE*", 10],
  ["*PRINT-RADIX*", NIL],
  ["*PRINT-CASE*", keyword("UPCASE")],
  ["*PRINT-GENSYM*", T],
  ["*PRINT-ARRAY*", T],
  ["*PRINT-LENGTH*", NIL],
  ["*PRINT-LEVEL*", NIL],
  ["GUILDHALL:*PRINT-TABLES*", NIL],
  ["*PRINT-CIRCLE*", NIL],
  ["*PRINT-PRETTY*", NIL],
  ["*PRINT-LINES*", NIL],
  ["*PRINT-MISER-WIDTH*", NIL],
  ["*PRINT-RIGHT-MARGIN*", NIL],
  ["*PRINT-PPRINT-DISPATCH*", NIL],
];

/** Keywords of `write` and the variables they bind. */
const writeKeys =
  words(`escape readably base radix case gensym array length level circle pretty lines
  right-margin`);

function definePrinters(): void {
  defineFunction("PRIN1 object &optional stream", (m, object, stream) =>
    writeObject(m, object, stream, printText(m, object, true)),
  );
  defineFunction("PRINC object &optional stream", (m, object, stream) =>
    writeObject(m, object, stream, printText(m, object, false)),
  );
  defineFunction("PRINT object &optional stream", (m, object, stream) =>
    writeObject(m, object, stream, `\n${printText(m, object, true)} `),
  );
  defineValues("PPRINT object &optional stream", (m, object, stream) => {
    writeObject(
      m,
      object,
      stream,
      `\n${bound(m, ["*PRINT-PRETTY*"], [T], () => printText(m, object, true))}`,
    );
    return m.values();
  });
  defineFunction("PRIN1-TO-STRING object", (m, object) => m.string(printText(m, object, true)));
  defineFunction("PRINC-TO-STRING object", (m, object) => m.string(printText(m, object, false)));
  defineFunction(
    `WRITE object &key stream ${writeKeys.join(" ")}`,
    (m, object, stream: Value | undefined, ...settings: (Value | undefined)[]) =>
      writeObject(m, object, stream, writtenText(m, object, settings)),
  );
  defineFunction(
    `WRITE-TO-STRING object &key ${writeKeys.join(" ")}`,
    (m, object, ...settings: (Value | undefined)[]) => m.string(writtenText(m, object, settings)),
  );
}

function writeObject(m: Machine, object: Value, stream: Value | undefined, text: string): Value {
  write(m, outputOf(m, stream), text);
  return object;
}

function writtenText(m: Machine, object: Value, settings: readonly (Value | undefined)[]): string {
  const given = writeKeys
    .map((key, at) => ({ name: `*PRINT-${key.toUpperCase()}*`, value: settings[at] }))
    .filter(({ value }) => value !== undefined);
  return bound(
    m,
    given.map(({ name }) => name),
    given.map(({ value }) => value as Value),
    () => printText(m, object),
  );
}

/** Runs `work` with variables bound. */
function bound<Result>(
  m: Machine,
  names: readonly string[],
  values: readonly Value[],
  work: () => Result,
): Result {
  const mark = m.bindings.length;
  names.forEach((name, at) => {
    m.bind(cl(name), values[at]);
  });
  try {
    return work();
  } finally {
    m.unbindTo(mark);
  }
}

/** Pretty printer operations are accepted but print on one line, except for mandatory newlines. */
function definePrettyCalls(): void {
  for (const name of ["PPRINT-FILL", "PPRINT-LINEAR", "PPRINT-TABULAR"]) {
    defineFunction(
      `${name} stream object &optional colon at-sign tabsize`,
      (m, stream, object, colon = T) => {
        const parts =
          object instanceof Cons
            ? itemsOf(object)
                .map((item) => printText(m, item))
                .join(" ")
            : printText(m, object);
        write(
          m,
          outputOf(m, stream),
          object instanceof Cons && colon !== NIL ? `(${parts})` : parts,
        );
        return NIL;
      },
    );
  }
  defineFunction("PPRINT-NEWLINE kind &optional stream", (m, kind, stream) => {
    if (kind === keyword("MANDATORY") && cl("*PRINT-PRETTY*").value !== NIL)
      write(m, outputOf(m, stream), "\n");
    return NIL;
  });
  defineFunction("PPRINT-INDENT relative-to n &optional stream", () => NIL);
  defineFunction("PPRINT-TAB kind column increment &optional stream", () => NIL);
  defineMacro("WITH-STANDARD-IO-SYNTAX", (whole) =>
    form([
      "LET",
      [
        ["*PACKAGE*", ["FIND-PACKAGE", ":CL-USER"]],
        ["*READ-BASE*", 10],
        ["*READ-SUPPRESS*", "NIL"],
        ["*READTABLE*", ["COPY-READTABLE", "NIL"]],
        ...variables.map(([name, initial]) => [name, initial]),
        ["*PRINT-READABLY*", "T"],
      ],
      ...itemsOf(whole.cdr),
    ]),
  );
}

function defineFormat(): void {
  defineFunction(
    "FORMAT destination control-string &rest arguments",
    (m, destination, control, args) => {
      if (destination === NIL) return m.string(formatText(m, control, listOf(args)));
      if (destination instanceof Str) {
        const sink = m.call1(m.fn(named("%STRING-SINK")), destination);
        formatTo(m, streamTarget(m, sink as Stream), control, args);
        return NIL;
      }
      formatTo(
        m,
        streamTarget(m, outputOf(m, destination === T ? undefined : destination)),
        control,
        args,
      );
      return NIL;
    },
  );
  defineMacro("FORMATTER", (whole) => form(["%FORMATTER", itemsOf(whole.cdr)[0] ?? NIL]));
  defineFunction("%FORMATTER control", (_, control) =>
    nativeFunction(cl("FORMATTER"), "stream &rest arguments", (m, stream: Value, args: Value[]) =>
      m.list(formatTo(m, streamTarget(m, outputOf(m, stream)), control, args)),
    ),
  );
}

function defineReading(): void {
  defineValues(
    "READ-FROM-STRING string &optional eof-error-p eof-value &key start end preserve-whitespace",
    (m, string, isError = T, atEnd = NIL, start, end) => {
      if (!(string instanceof Str)) return m.typeError(string, "STRING");
      const span = spanOf(m, start, end, string.length, string);
      const reader = new Reader(m, sliceText(string, 0, span.end), span.start);
      const value = reader.next() ?? noForm(m, isError, atEnd);
      return m.values(value, afterBlank(reader));
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
        TEXT: new Str("the text ends where a form is expected"),
      });
}
