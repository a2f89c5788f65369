// The language's variables that belong to no one part of the library. Each session has values of its own.
import { defineConstant, defineVariable, form, named } from "../define.ts";
import { featureList } from "../dispatch-macros.ts";
import type { Machine } from "../machine.ts";
import { NIL, type Package } from "../symbol.ts";

const lambdaListKeywords = [
  "&ALLOW-OTHER-KEYS",
  "&AUX",
  "&BODY",
  "&ENVIRONMENT",
  "&KEY",
  "&OPTIONAL",
  "&REST",
  "&WHOLE",
];

export function defineVariables(): void {
  // What was evaluated and what came of it, the last three times.
  for (const name of ["*", "**", "***", "+", "++", "+++", "-", "/", "//", "///"])
    defineVariable(name, NIL);
  defineVariable("*PACKAGE*", (m: Machine) => m.packages.get("COMMON-LISP-USER") as Package);
  defineVariable("*READ-BASE*", 10);
  defineVariable("*READ-DEFAULT-FLOAT-FORMAT*", named("DOUBLE-FLOAT"));
  defineVariable("*READ-EVAL*", NIL);
  defineVariable("*READ-SUPPRESS*", NIL);
  defineVariable("*READTABLE*", NIL);
  defineVariable("*FEATURES*", () => featureList());
  defineVariable("*MODULES*", NIL);
  defineVariable("*GENSYM-COUNTER*", 1);
  defineVariable("*BREAK-ON-SIGNALS*", NIL);
  defineVariable("*DEBUGGER-HOOK*", NIL);
  defineVariable("*MACROEXPAND-HOOK*", named("FUNCALL"));
  defineVariable("*COMPILE-PRINT*", NIL);
  defineVariable("*COMPILE-VERBOSE*", NIL);
  defineVariable("*LOAD-PRINT*", NIL);
  defineVariable("*LOAD-VERBOSE*", NIL);
  defineConstant("CALL-ARGUMENTS-LIMIT", 100_000);
  defineConstant("LAMBDA-PARAMETERS-LIMIT", 100_000);
  defineConstant("MULTIPLE-VALUES-LIMIT", 100_000);
  defineConstant("LAMBDA-LIST-KEYWORDS", form(lambdaListKeywords));
}
