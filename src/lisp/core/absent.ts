// What Common Lisp has and this one has not, on purpose: each name says so, and what to do instead.
import { defineFunction, defineMacro, named } from "../define.ts";
import type { Machine } from "../machine.ts";

const files = "there are no files here; use the tools bound to this session";
const images = "programs are evaluated as they come; define the functions in the session";
const threads = "there are no threads; pmap and in-parallel run tool calls side by side";

const functions: readonly [names: string, why: string][] = [
  [
    "OPEN PROBE-FILE DELETE-FILE RENAME-FILE DIRECTORY FILE-LENGTH FILE-POSITION FILE-WRITE-DATE ENSURE-DIRECTORIES-EXIST TRUENAME PATHNAME MAKE-PATHNAME MERGE-PATHNAMES NAMESTRING PARSE-NAMESTRING FILE-NAMESTRING DIRECTORY-NAMESTRING PATHNAME-NAME PATHNAME-TYPE PATHNAME-DIRECTORY USER-HOMEDIR-PATHNAME FILE-AUTHOR READ-BYTE WRITE-BYTE",
    files,
  ],
  ["LOAD COMPILE-FILE REQUIRE PROVIDE", images],
  ["Y-OR-N-P YES-OR-NO-P", "nobody is there to answer; take the answer as an argument"],
  [
    "SET-MACRO-CHARACTER SET-DISPATCH-MACRO-CHARACTER GET-MACRO-CHARACTER MAKE-DISPATCH-MACRO-CHARACTER SET-SYNTAX-FROM-CHAR COPY-READTABLE",
    "the syntax cannot be changed",
  ],
  [
    "DISASSEMBLE ROOM ED DRIBBLE INSPECT",
    "this session runs without a person and a machine to look at",
  ],
  ["COMPLEX REALPART IMAGPART CONJUGATE PHASE CIS", "there are no complex numbers"],
];

const extras: readonly [names: string, why: string][] = [
  ["QUIT EXIT", "a program cannot end the session: return from it instead"],
  ["RUN-PROGRAM RUN-SHELL-COMMAND", "there are no processes; use the tools bound to this session"],
  ["MAKE-THREAD", threads],
];

export function defineAbsent(): void {
  for (const [names, why] of functions)
    for (const name of names.split(" ")) absentFunction(name, why);
  for (const [names, why] of extras)
    for (const name of names.split(" ")) absentFunction(`GUILDHALL:${name}`, why);
  for (const name of ["WITH-OPEN-FILE"]) {
    defineMacro(name, (_, __, m) =>
      m.unavailable(named(name), `${name.toLowerCase()} is not available: ${files}`),
    );
  }
}

function absentFunction(name: string, why: string): void {
  const sym = named(name);
  if (sym.fn !== null) return;
  defineFunction(name, "&rest arguments", (m: Machine) =>
    m.unavailable(sym, `${sym.name.toLowerCase()} is not available: ${why}`),
  );
}
