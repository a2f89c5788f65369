/** Streams of text: string streams, reading characters and lines, writing them. */

import { write } from "../budgets.ts";
import {
  defineFunction,
  defineMacro,
  defineValues,
  defineVariable,
  form,
  lisp,
} from "../define.ts";
import type { Machine } from "../machine.ts";
import { elements, lengthOf, setElementAt, sliceText, spanOf } from "../sequences.ts";
import { Char, char, Str } from "../string.ts";
import { bool, cl, NIL, optionOf, Sym, T, words } from "../symbol.ts";
import { gatheringStream, itemsOf, Stream, type Value } from "../values.ts";
import { codeOf } from "./strings.ts";

export function defineStreams(): void {
  // Until an evaluation sets one.
  for (const name of words(
    "*STANDARD-OUTPUT* *ERROR-OUTPUT* *TRACE-OUTPUT* *DEBUG-IO* *QUERY-IO* *TERMINAL-IO*",
  ))
    defineVariable(name, () => new Stream(() => {}));
  defineVariable("*STANDARD-INPUT*", () => inputStream(""));
  defineStringStreams();
  defineWriting();
  defineReading();
  defineKinds();
  defineBlocks();
  defineJoinedStreams();
}

function inputStream(text: string): Stream {
  const made = new Stream();
  made.source = Array.from(text);
  return made;
}

/** NIL means standard output, T the terminal; both are the same here. */
export function outputOf(m: Machine, designator: Value | undefined): Stream {
  const value =
    designator === undefined || designator === NIL || designator === T
      ? cl("*STANDARD-OUTPUT*").value
      : designator;
  if (!(value instanceof Stream) || value.sink === null) return m.typeError(value ?? NIL, "STREAM");
  if (value.closed) return m.error("STREAM-ERROR", { STREAM: value });
  return value;
}

export function inputOf(m: Machine, designator: Value | undefined): Stream & { source: string[] } {
  const value =
    designator === undefined || designator === NIL || designator === T
      ? cl("*STANDARD-INPUT*").value
      : designator;
  if (!(value instanceof Stream) || value.source === null)
    return m.typeError(value ?? NIL, "STREAM");
  return value as Stream & { source: string[] };
}

function defineStringStreams(): void {
  defineFunction("MAKE-STRING-OUTPUT-STREAM &key element-type", () => gatheringStream());
  defineFunction("GET-OUTPUT-STREAM-STRING stream", (m, stream) => takeText(m, stream));
  defineFunction("MAKE-STRING-INPUT-STREAM string &optional start end", (m, string, start, end) => {
    if (!(string instanceof Str)) return m.typeError(string, "STRING");
    const span = spanOf(m, start, end, string.length, string);
    const made = inputStream(sliceText(string, 0, span.end));
    made.at = span.start;
    return made;
  });
  defineFunction("%STRING-SINK string", (m, string) => stringSink(m, string));
  defineMacro("WITH-OUTPUT-TO-STRING", (whole) => {
    const [head = NIL, ...body] = itemsOf(whole.cdr);
    const [variable = NIL, string = NIL] = itemsOf(head);
    if (string !== NIL) return lisp`(let ((${variable} (%string-sink ${string}))) @${body})`;
    return lisp`(let ((${variable} (make-string-output-stream)))
      @${body}
      (get-output-stream-string ${variable}))`;
  });
  defineMacro("WITH-INPUT-FROM-STRING", (whole) => {
    const [head = NIL, ...body] = itemsOf(whole.cdr);
    const [variable = NIL, string = NIL, ...options] = itemsOf(head);
    const [start = 0, end, index] = ["START", "END", "INDEX"].map((key) => optionOf(options, key));
    const bindings = lisp`((${variable} (make-string-input-stream ${string} ${start} ${end})))`;
    if (index === undefined) return lisp`(let ${bindings} @${body})`;
    return lisp`(let ${bindings}
      (multiple-value-prog1 (progn @${body}) (setf ${index} (%stream-place ${variable}))))`;
  });
  defineFunction("%STREAM-PLACE stream", (m, stream) => inputOf(m, stream).at);
  defineMacro("WITH-OPEN-STREAM", (whole) => {
    const [head = NIL, ...body] = itemsOf(whole.cdr);
    const [variable = NIL, stream = NIL] = itemsOf(head);
    return form([
      "LET",
      [[variable, stream]],
      ["UNWIND-PROTECT", ["PROGN", ...body], ["CLOSE", variable]],
    ]);
  });
  defineFunction("MAKE-BROADCAST-STREAM &rest streams", (m, streams) => {
    const targets = streams.map((stream) => outputOf(m, stream));
    return new Stream((text) => {
      for (const target of targets) write(m, target, text);
    });
  });
}

function takeText(m: Machine, stream: Value): Str {
  if (!(stream instanceof Stream)) return m.typeError(stream, "STRING-STREAM");
  const text = stream.gathered;
  stream.gathered = "";
  return m.string(text);
}

/** Writes to the end of a string with a fill pointer. */
function stringSink(m: Machine, value: Value): Stream {
  if (!(value instanceof Str) || value.fill < 0)
    return m.typeError(value, "(AND STRING (SATISFIES ARRAY-HAS-FILL-POINTER-P))");
  return new Stream((text) => {
    const codes = value.codes();
    m.alloc((text.length >> 3) + 1);
    for (const character of text) codes[value.fill++] = character.codePointAt(0) ?? 0;
  });
}

function partOf(
  m: Machine,
  value: Value,
  start: Value | undefined,
  end: Value | undefined,
): string {
  if (!(value instanceof Str)) return m.typeError(value, "STRING");
  if (start === undefined && end === undefined) return value.toString();
  const span = spanOf(m, start, end, value.length, value);
  return sliceText(value, span.start, span.end);
}

function defineWriting(): void {
  defineFunction("WRITE-CHAR character &optional stream", (m, character, stream) => {
    write(m, outputOf(m, stream), String.fromCodePoint(codeOf(m, character)));
    return character;
  });
  for (const [name, ending] of [
    ["WRITE-STRING", ""],
    ["WRITE-LINE", "\n"],
  ] as const) {
    defineFunction(
      `${name} string &optional stream &key start end`,
      (m, string, stream, start, end) => {
        write(m, outputOf(m, stream), partOf(m, string, start, end) + ending);
        return string;
      },
    );
  }
  defineFunction("TERPRI &optional stream", (m, stream) => {
    write(m, outputOf(m, stream), "\n");
    return NIL;
  });
  defineFunction("FRESH-LINE &optional stream", (m, stream) => {
    const target = outputOf(m, stream);
    if (target.column === 0) return NIL;
    write(m, target, "\n");
    return T;
  });
  for (const name of ["FINISH-OUTPUT", "FORCE-OUTPUT", "CLEAR-OUTPUT"]) {
    defineFunction(`${name} &optional stream`, (m, stream) => {
      outputOf(m, stream);
      return NIL;
    });
  }
}

interface AtEnd {
  readonly isError: boolean;
  readonly value: Value;
}

function endOfFile(m: Machine, stream: Stream, atEnd: AtEnd): Value {
  if (!atEnd.isError) return atEnd.value;
  return m.error("END-OF-FILE", { STREAM: stream, TEXT: new Str("end of file") });
}

const atEndOf = (isError: Value = T, value: Value = NIL): AtEnd => ({
  isError: isError !== NIL,
  value,
});

function defineReading(): void {
  defineFunction(
    "READ-CHAR &optional stream eof-error-p eof-value recursive-p",
    (m, stream, isError, value) => {
      const input = inputOf(m, stream);
      const next = input.source[input.at];
      if (next === undefined) return endOfFile(m, input, atEndOf(isError, value));
      input.at += 1;
      return char(next.codePointAt(0) ?? 0);
    },
  );
  defineFunction(
    "READ-CHAR-NO-HANG &optional stream eof-error-p eof-value recursive-p",
    (m, stream, isError, value) =>
      m.apply(m.fn(cl("READ-CHAR")), [stream ?? NIL, isError ?? T, value ?? NIL]),
  );
  defineFunction("UNREAD-CHAR character &optional stream", (m, character, stream) => {
    const input = inputOf(m, stream);
    if (!(character instanceof Char)) return m.typeError(character, "CHARACTER");
    if (input.at === 0) return m.fail("no character to unread: nothing was read yet");
    input.at -= 1;
    return NIL;
  });
  defineFunction(
    "PEEK-CHAR &optional peek-type stream eof-error-p eof-value recursive-p",
    (m, type = NIL, stream, isError, value) => {
      const input = inputOf(m, stream);
      const isWanted = (text: string) => {
        if (type === NIL) return true;
        if (type === T) return text.trim() !== "";
        return type instanceof Char && text.codePointAt(0) === type.code;
      };
      while (input.at < input.source.length && !isWanted(input.source[input.at] as string))
        input.at += 1;
      const next = input.source[input.at];
      return next === undefined
        ? endOfFile(m, input, atEndOf(isError, value))
        : char(next.codePointAt(0) ?? 0);
    },
  );
  defineValues(
    "READ-LINE &optional stream eof-error-p eof-value recursive-p",
    (m, stream, isError, value) => {
      const input = inputOf(m, stream);
      if (input.at >= input.source.length)
        return m.values(endOfFile(m, input, atEndOf(isError, value)), T);
      const end = input.source.indexOf("\n", input.at);
      const line = input.source.slice(input.at, end < 0 ? undefined : end).join("");
      m.tick(line.length);
      input.at = end < 0 ? input.source.length : end + 1;
      return m.values(m.string(line), bool(end < 0));
    },
  );
  defineFunction("LISTEN &optional stream", (m, stream) => {
    const input = inputOf(m, stream);
    return bool(input.at < input.source.length);
  });
  defineFunction("CLEAR-INPUT &optional stream", () => NIL);
}

function defineKinds(): void {
  const streamOf = (m: Machine, value: Value) =>
    value instanceof Stream ? value : m.typeError(value, "STREAM");
  defineFunction("INPUT-STREAM-P stream", (m, stream) => bool(streamOf(m, stream).source !== null));
  defineFunction("OUTPUT-STREAM-P stream", (m, stream) => bool(streamOf(m, stream).sink !== null));
  defineFunction("OPEN-STREAM-P stream", (m, stream) => bool(!streamOf(m, stream).closed));
  defineFunction("INTERACTIVE-STREAM-P stream", (m, stream) => {
    streamOf(m, stream);
    return NIL;
  });
  defineFunction("STREAM-ELEMENT-TYPE stream", (m, stream) => {
    streamOf(m, stream);
    return cl("CHARACTER");
  });
  defineFunction("CLOSE stream &key abort", (m, stream) => {
    streamOf(m, stream).closed = true;
    return T;
  });
}

/** Many characters at once. */
function defineBlocks(): void {
  defineFunction(
    "WRITE-SEQUENCE sequence stream &key start end",
    (m, sequence, stream, start, end) => {
      const text = elements(m, sequence, start, end).map((item) =>
        String.fromCodePoint(codeOf(m, item)),
      );
      write(m, outputOf(m, stream), text.join(""));
      return sequence;
    },
  );
  defineFunction(
    "READ-SEQUENCE sequence stream &key start end",
    (m, sequence, stream, start, end) => {
      const input = inputOf(m, stream);
      const span = spanOf(m, start, end, lengthOf(m, sequence), sequence);
      let at = span.start;
      for (; at < span.end && input.at < input.source.length; at += 1) {
        m.tick(1);
        setElementAt(m, sequence, at, char((input.source[input.at] as string).codePointAt(0) ?? 0));
        input.at += 1;
      }
      return at;
    },
  );
}

/** Streams made of others; they share the parts' positions. */
function defineJoinedStreams(): void {
  defineFunction("MAKE-CONCATENATED-STREAM &rest streams", (m, streams) => {
    const parts = streams.map((stream) => inputOf(m, stream));
    return inputStream(parts.map((part) => part.source.slice(part.at).join("")).join(""));
  });
  defineFunction("MAKE-TWO-WAY-STREAM input-stream output-stream", (m, input, output) => {
    const made = inputStream("");
    const [source, target] = [inputOf(m, input), outputOf(m, output)];
    made.source = source.source;
    made.at = source.at;
    made.sink = (text) => write(m, target, text);
    return made;
  });
  defineFunction("MAKE-SYNONYM-STREAM symbol", (m, name) => {
    const target = (): Value | undefined => (name instanceof Sym ? name.value : name);
    return new Stream((text) => write(m, outputOf(m, target()), text));
  });
}
