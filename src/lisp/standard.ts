// The standard library in the order of its definition, once per process.
import { defineNumbers } from "./arithmetic.ts";
import { defineClasses } from "./classes.ts";
import { defineSpecialForms } from "./compile/special-forms.ts";
import { defineConditions } from "./conditions.ts";
import { defineCalling, defineControl, defineNames } from "./core/control.ts";
import { defineDefinitions, defineVariables } from "./core/definitions.ts";
import { defineConditionForms, defineHandling } from "./core/handling.ts";
import { defineCases, defineMacros } from "./core/macros.ts";
import { defineParallel } from "./core/parallel.ts";
import { defineSetf } from "./core/setf.ts";
import { defineRestarting, defineSignalling } from "./core/signalling.ts";
import { defineFunction, defineMacro, named } from "./define.ts";
import { defineFailures } from "./forms/class-table.ts";
import { defineClassForms } from "./forms/defclass.ts";
import { defineInstances, defineSlots } from "./forms/instances.ts";
import { defineLoop } from "./forms/loop.ts";
import { defineMethods } from "./forms/methods.ts";
import { definePrintObject } from "./forms/standard-generics.ts";
import { defineStructures } from "./forms/structure.ts";
import { defineArrays } from "./library/arrays.ts";
import { defineChance, defineHashTables, defineTime } from "./library/hash-tables.ts";
import { defineAlists, defineLists, defineSets } from "./library/lists.ts";

import { definePrinting } from "./library/printing.ts";
import {
  defineMapping,
  defineSequenceBuilding,
  defineSequenceReducing,
} from "./library/sequence-functions.ts";
import { defineSequences } from "./library/sequences.ts";
import { defineStreams } from "./library/streams.ts";
import { defineCharacters, defineStrings } from "./library/strings.ts";
import { defineEquality, defineHelp, definePackages, defineSymbols } from "./library/symbols.ts";
import { defineDeftype, defineTypes } from "./library/types.ts";
import { defineBits, defineFillPointers } from "./library/vectors.ts";
import type { Machine } from "./machine.ts";
import { definePrelude } from "./prelude.ts";
import { cl, type Sym, words } from "./symbol.ts";
import { defineTypeTable } from "./types.ts";

const definitions: readonly (() => void)[] = [
  defineClasses,
  defineConditions,
  defineTypeTable,
  defineSpecialForms,
  defineControl,
  defineDefinitions,
  defineMacros,
  defineCalling,
  defineNames,
  defineVariables,
  defineCases,
  defineSetf,
  defineHandling,
  defineSignalling,
  defineRestarting,
  defineAlists,
  defineArrays,
  defineFillPointers,
  defineBits,
  defineChance,
  defineCharacters,
  defineEquality,
  defineHashTables,
  defineHelp,
  defineLists,
  defineMapping,
  defineNumbers,
  definePrinting,
  defineSequenceBuilding,
  defineSequenceReducing,
  defineSequences,
  defineSets,
  defineStreams,
  defineStrings,
  defineSymbols,
  defineTime,
  defineTypes,
  defineClassForms,
  defineInstances,
  defineFailures,
  defineLoop,
  defineMethods,
  definePackages,
  defineDeftype,
  definePrintObject,
  defineSlots,
  defineStructures,
  defineConditionForms,
  defineParallel,
  definePrelude,
  defineAbsent,
  defineOtherNames,
];

let isDefined = false;

/** Safe to call for every session. */
export function defineStandard(): void {
  if (isDefined) return;
  isDefined = true;
  for (const define of definitions) define();
}

/**
 * Names of the standard without a definition. COMMON-LISP exports each of its symbols, so the library uses only names
 * of the standard there: a session could not define any other, and it would not recognise a session's own symbol.
 */
const otherNames = `&ALLOW-OTHER-KEYS &AUX &BODY &ENVIRONMENT &KEY &OPTIONAL &REST &WHOLE
  *DEFAULT-PATHNAME-DEFAULTS* CALL-METHOD CALL-NEXT-METHOD COMPILATION-SPEED COMPILER-MACRO DEBUG
  DECLARATION DYNAMIC-EXTENT FTYPE FUNCTION-KEYWORDS IGNORABLE IGNORE INLINE MAKE-METHOD
  NEXT-METHOD-P NOTINLINE OPTIMIZE OTHERWISE SAFETY SPACE SPECIAL SPEED STANDARD STRUCTURE TYPE
  VARIABLE`;

function defineOtherNames(): void {
  for (const name of words(otherNames)) cl(name);
}

// Parts of Common Lisp that are absent on purpose; each name signals an error with an alternative.

const files = "files are not supported; use the tools of this session";

const absent: readonly [names: string, why: string][] = [
  [
    `OPEN PROBE-FILE DELETE-FILE RENAME-FILE DIRECTORY FILE-LENGTH FILE-POSITION FILE-WRITE-DATE
    ENSURE-DIRECTORIES-EXIST TRUENAME PATHNAME MAKE-PATHNAME MERGE-PATHNAMES NAMESTRING
    PARSE-NAMESTRING FILE-NAMESTRING DIRECTORY-NAMESTRING PATHNAME-NAME PATHNAME-TYPE
    PATHNAME-DIRECTORY USER-HOMEDIR-PATHNAME FILE-AUTHOR READ-BYTE WRITE-BYTE PATHNAME-DEVICE
    PATHNAME-HOST PATHNAME-VERSION PATHNAME-MATCH-P TRANSLATE-PATHNAME TRANSLATE-LOGICAL-PATHNAME
    ENOUGH-NAMESTRING HOST-NAMESTRING LOGICAL-PATHNAME LOGICAL-PATHNAME-TRANSLATIONS
    LOAD-LOGICAL-PATHNAME-TRANSLATIONS WILD-PATHNAME-P COMPILE-FILE-PATHNAME FILE-STRING-LENGTH`,
    files,
  ],
  [
    "LOAD COMPILE-FILE REQUIRE PROVIDE",
    "code cannot be loaded; define the functions in the session",
  ],
  ["Y-OR-N-P YES-OR-NO-P", "no user can answer; pass the answer as an argument"],
  [
    `SET-MACRO-CHARACTER SET-DISPATCH-MACRO-CHARACTER GET-MACRO-CHARACTER SET-SYNTAX-FROM-CHAR
    MAKE-DISPATCH-MACRO-CHARACTER GET-DISPATCH-MACRO-CHARACTER`,
    "the syntax cannot be changed",
  ],
  ["ROOM ED DRIBBLE INSPECT", "there is nothing to inspect interactively"],
  ["UPGRADED-COMPLEX-PART-TYPE", "complex numbers are not supported"],
  ["GUILDHALL:QUIT GUILDHALL:EXIT", "a program cannot end the session; return from it instead"],
  [
    "GUILDHALL:RUN-PROGRAM GUILDHALL:RUN-SHELL-COMMAND",
    "processes are not supported; use the tools of this session",
  ],
  [
    "GUILDHALL:MAKE-THREAD",
    "threads are not supported; pmap and in-parallel run tool calls in parallel",
  ],
];

function defineAbsent(): void {
  const refuse = (m: Machine, sym: Sym, why: string): never =>
    m.unavailable(sym, `${sym.name.toLowerCase()} is not available: ${why}`);
  for (const [names, why] of absent)
    for (const name of words(names))
      defineFunction(`${name} &rest arguments`, (m) => refuse(m, named(name), why));
  defineMacro("WITH-OPEN-FILE", (_, __, m) => refuse(m, named("WITH-OPEN-FILE"), files));
}
