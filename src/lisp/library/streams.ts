/** Streams of text: string streams, reading characters and lines, writing them. */

import { write } from "../budgets.ts";
import {
  defineFunction,
  defineMacro,
  defineValues,
  defineVariable,
  lisp,
  named,
} from "../define.ts";
import type { Machine } from "../machine.ts";
import { symbolOf } from "../packages.ts";
import { sliceText, spanOf } from "../sequences.ts";
import { Char, char, Str } from "../string.ts";
import { bool, cl, NIL, Sym, T, words } from "../symbol.ts";
import { gatheringStream, itemsOf, Stream, type StreamKind, type Value } from "../values.ts";
import { codeOf } from "./strings.ts";

export function defineStreams(): void {
  // Until an evaluation sets one.
  for (const name of words("*STANDARD-OUTPUT* *ERROR-OUTPUT* *TRACE-OUTPUT* *TERMINAL-IO*"))
    defineVariable(name, () => new Stream(() => {}));
  for (const name of ["*DEBUG-IO*", "*QUERY-IO*"])
    defineVariable(name, (m) => synonymStream(m, cl("*TERMINAL-IO*")));
  defineVariable("*STANDARD-INPUT*", () => inputStream(""));
  defineStringStreams();
  defineWriting();
  defineReading();
  defineKinds();
  defineJoinedStreams();
}

function inputStream(text: string): Stream {
  const made = new Stream(null, "STRING-STREAM");
  made.source = Array.from(text);
  return made;
}

/** NIL is the standard stream, T the terminal. */
function designated(m: Machine, designator: Value | undefined, standard: string): Stream {
  let value = designator;
  if (value === undefined || value === NIL) value = cl(standard).value;
  else if (value === T) value = cl("*TERMINAL-IO*").value;
  if (!(value instanceof Stream)) return m.typeError(value ?? NIL, "STREAM");
  return value.closed ? m.error("STREAM-ERROR", { STREAM: value }) : value;
}

export function outputOf(m: Machine, designator: Value | undefined): Stream {
  const stream = designated(m, designator, "*STANDARD-OUTPUT*");
  return stream.sink === null ? m.typeError(stream, "(SATISFIES OUTPUT-STREAM-P)") : stream;
}

type Input = Stream & { source: string[] };

/** The stream that holds the next characters of another. */
export function inputOf(m: Machine, designator: Value | undefined): Input {
  const stream = designated(m, designator, "*STANDARD-INPUT*");
  if (stream.source !== null) return stream as Input;
  if (stream.kind === "SYNONYM-STREAM") return inputOf(m, (stream.parts[0] as Sym).value);
  if (stream.kind === "TWO-WAY-STREAM" || stream.kind === "ECHO-STREAM")
    return inputOf(m, stream.parts[0]);
  if (stream.kind !== "CONCATENATED-STREAM")
    return m.typeError(stream, "(SATISFIES INPUT-STREAM-P)");
  while (stream.parts.length > 0) {
    const input = inputOf(m, stream.parts[0]);
    if (input.at < input.source.length) return input;
    stream.parts = stream.parts.slice(1);
  }
  return inputStream("") as Input;
}

/** Consumes the next character. */
function take(m: Machine, designator: Value | undefined): string | undefined {
  const input = inputOf(m, designator);
  const next = input.source[input.at];
  if (next === undefined) return undefined;
  input.at += 1;
  const stream = designated(m, designator, "*STANDARD-INPUT*");
  if (stream.kind === "ECHO-STREAM") {
    if (stream.unread > 0) stream.unread -= 1;
    else write(m, outputOf(m, stream.parts[1]), next);
  }
  return next;
}

/** Consumes what `read` finds in the rest of a stream. */
export function takeWith<Result>(
  m: Machine,
  designator: Value | undefined,
  read: (text: string) => { readonly result: Result; readonly used: number },
): Result {
  const stream = designated(m, designator, "*STANDARD-INPUT*");
  const inputs =
    stream.kind === "CONCATENATED-STREAM"
      ? stream.parts.map((part) => inputOf(m, part))
      : [inputOf(m, stream)];
  const { result, used } = read(inputs.map(({ source, at }) => source.slice(at).join("")).join(""));
  for (let left = used; left > 0; left--) take(m, stream);
  return result;
}

function defineStringStreams(): void {
  defineFunction("MAKE-STRING-OUTPUT-STREAM &key element-type", () => gatheringStream());
  defineFunction("GET-OUTPUT-STREAM-STRING stream", (m, stream) => {
    if (!(stream instanceof Stream)) return m.typeError(stream, "STRING-STREAM");
    const text = stream.gathered;
    stream.gathered = "";
    return m.string(text);
  });
  defineFunction("MAKE-STRING-INPUT-STREAM string &optional start end", (m, string, start, end) => {
    const made = inputStream(partOf(m, string, 0, end));
    made.at = spanOf(m, start, end, (string as Str).length, string).start;
    return made;
  });
  // Writes to the end of a string with a fill pointer.
  defineFunction("%STRING-SINK string", (m, string) => {
    if (!(string instanceof Str) || string.fill < 0)
      return m.typeError(string, "(AND STRING (SATISFIES ARRAY-HAS-FILL-POINTER-P))");
    return new Stream((text) => {
      const codes = string.codes();
      m.alloc((text.length >> 3) + 1);
      for (const character of text) codes[string.fill++] = character.codePointAt(0) ?? 0;
    });
  });
  defineMacro("WITH-OUTPUT-TO-STRING", (whole) => {
    const [head = NIL, ...body] = itemsOf(whole.cdr);
    const [variable = NIL, string = NIL] = itemsOf(head);
    if (string !== NIL) return lisp`(let ((${variable} (%string-sink ${string}))) @${body})`;
    return lisp`(let ((${variable} (make-string-output-stream)))
      @${body}
      (get-output-stream-string ${variable}))`;
  });
  defineFunction("%STREAM-PLACE stream", (m, stream) => inputOf(m, stream).at);
  defineFunction("MAKE-BROADCAST-STREAM &rest streams", (m, streams) => {
    const targets = streams.map((stream) => outputOf(m, checkedStream(m, stream)));
    return composed("BROADCAST-STREAM", streams, (text) => {
      for (const target of targets) write(m, target, text);
    });
  });
}

const checkedStream = (m: Machine, value: Value): Stream =>
  value instanceof Stream ? value : m.typeError(value, "STREAM");

function composed(kind: StreamKind, parts: readonly Value[], sink: Stream["sink"]): Stream {
  const made = new Stream(sink, kind);
  made.parts = parts;
  return made;
}

function partOf(m: Machine, value: Value, start?: Value, end?: Value): string {
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

function atEnd(
  m: Machine,
  stream: Value | undefined,
  isError: Value = T,
  value: Value = NIL,
): Value {
  if (isError === NIL) return value;
  return m.error("END-OF-FILE", { STREAM: inputOf(m, stream), TEXT: "end of file" });
}

function defineReading(): void {
  for (const name of ["READ-CHAR", "READ-CHAR-NO-HANG"])
    defineFunction(
      `${name} &optional stream eof-error-p eof-value recursive-p`,
      (m, stream, isError, value) => {
        const next = take(m, stream);
        return next === undefined
          ? atEnd(m, stream, isError, value)
          : char(next.codePointAt(0) ?? 0);
      },
    );
  defineFunction("UNREAD-CHAR character &optional stream", (m, character, stream) => {
    const input = inputOf(m, stream);
    if (!(character instanceof Char)) return m.typeError(character, "CHARACTER");
    if (input.at === 0) return m.fail("no character to unread: nothing was read yet");
    input.at -= 1;
    if (stream instanceof Stream) stream.unread += 1;
    return NIL;
  });
  defineFunction(
    "PEEK-CHAR &optional peek-type stream eof-error-p eof-value recursive-p",
    (m, type = NIL, stream, isError, value) => {
      const isWanted = (text: string) => {
        if (type === NIL) return true;
        if (type === T) return text.trim() !== "";
        return text.codePointAt(0) === codeOf(m, type);
      };
      for (;;) {
        const input = inputOf(m, stream);
        const next = input.source[input.at];
        if (next === undefined) return atEnd(m, stream, isError, value);
        if (isWanted(next)) return char(next.codePointAt(0) ?? 0);
        take(m, stream);
      }
    },
  );
  defineValues(
    "READ-LINE &optional stream eof-error-p eof-value recursive-p",
    (m, stream, isError, value) => {
      let line = "";
      let next = take(m, stream);
      if (next === undefined) return m.values(atEnd(m, stream, isError, value), T);
      for (; next !== undefined && next !== "\n"; next = take(m, stream)) line += next;
      m.tick(line.length);
      return m.values(m.string(line), bool(next === undefined));
    },
  );
  defineFunction("LISTEN &optional stream", (m, stream) => {
    const input = inputOf(m, stream);
    return bool(input.at < input.source.length);
  });
  defineFunction("CLEAR-INPUT &optional stream", (m, stream) => {
    inputOf(m, stream);
    return NIL;
  });
}

function defineKinds(): void {
  defineFunction("INPUT-STREAM-P stream", (m, stream) => bool(canRead(checkedStream(m, stream))));
  defineFunction("OUTPUT-STREAM-P stream", (m, stream) =>
    bool(checkedStream(m, stream).sink !== null),
  );
  defineFunction("OPEN-STREAM-P stream", (m, stream) => bool(!checkedStream(m, stream).closed));
  for (const [name, answer] of [
    ["INTERACTIVE-STREAM-P", NIL],
    ["STREAM-ELEMENT-TYPE", cl("CHARACTER")],
    ["STREAM-EXTERNAL-FORMAT", named(":DEFAULT")],
  ] as const)
    defineFunction(`${name} stream`, (m, stream) => {
      checkedStream(m, stream);
      return answer;
    });
  defineFunction("CLOSE stream &key abort", (m, stream) => {
    checkedStream(m, stream).closed = true;
    return T;
  });
  for (const [name, kind, part] of [
    ["TWO-WAY-STREAM-INPUT-STREAM", "TWO-WAY-STREAM", 0],
    ["TWO-WAY-STREAM-OUTPUT-STREAM", "TWO-WAY-STREAM", 1],
    ["ECHO-STREAM-INPUT-STREAM", "ECHO-STREAM", 0],
    ["ECHO-STREAM-OUTPUT-STREAM", "ECHO-STREAM", 1],
    ["SYNONYM-STREAM-SYMBOL", "SYNONYM-STREAM", 0],
    ["BROADCAST-STREAM-STREAMS", "BROADCAST-STREAM", "all"],
    ["CONCATENATED-STREAM-STREAMS", "CONCATENATED-STREAM", "all"],
  ] as const)
    defineFunction(`${name} stream`, (m, stream) => {
      if (!(stream instanceof Stream) || stream.kind !== kind) return m.typeError(stream, kind);
      if (kind === "CONCATENATED-STREAM") inputOf(m, stream);
      return part === "all" ? m.list(stream.parts) : (stream.parts[part] ?? NIL);
    });
}

function canRead({ source, kind, parts }: Stream): boolean {
  const [name] = parts;
  if (kind === "SYNONYM-STREAM" && name instanceof Sym)
    return name.value instanceof Stream && canRead(name.value);
  return source !== null || /^(CONCATENATED|TWO-WAY|ECHO)-STREAM$/.test(kind);
}

function defineJoinedStreams(): void {
  defineFunction("MAKE-CONCATENATED-STREAM &rest streams", (m, streams) => {
    for (const stream of streams) inputOf(m, checkedStream(m, stream));
    return composed("CONCATENATED-STREAM", streams, null);
  });
  for (const kind of ["TWO-WAY-STREAM", "ECHO-STREAM"] as const)
    defineFunction(`MAKE-${kind} input-stream output-stream`, (m, input, output) => {
      inputOf(m, checkedStream(m, input));
      const target = outputOf(m, checkedStream(m, output));
      return composed(kind, [input, output], (text) => write(m, target, text));
    });
  defineFunction("MAKE-SYNONYM-STREAM symbol", (m, name) => synonymStream(m, symbolOf(m, name)));
}

const synonymStream = (m: Machine, name: Sym): Stream =>
  composed("SYNONYM-STREAM", [name], (text) => write(m, outputOf(m, name.value), text));
