// What analysis makes of a form: every name resolved, every macro expanded, every shape checked. `emit` turns nodes into closures;
// `stepping` runs them one step at a time.

import type { Fn } from "../function.ts";
import type { Position } from "../reader.ts";
import type { Sym } from "../symbol.ts";
import type { Value } from "../values.ts";
import type { Target, Variable } from "./scope.ts";

export type Node =
  | { readonly kind: "constant"; readonly value: Value }
  | { readonly kind: "local"; readonly variable: Variable }
  | { readonly kind: "set-local"; readonly variable: Variable; readonly value: Node }
  | { readonly kind: "special"; readonly sym: Sym }
  | { readonly kind: "set-special"; readonly sym: Sym; readonly value: Node }
  | { readonly kind: "if"; readonly test: Node; readonly when: Node; readonly otherwise: Node }
  | { readonly kind: "or"; readonly items: readonly Node[] }
  | { readonly kind: "progn"; readonly body: readonly Node[] }
  | {
      readonly kind: "let";
      readonly bindings: readonly Binding[];
      readonly sequential: boolean;
      readonly body: Node;
    }
  | {
      readonly kind: "values-let";
      readonly variables: readonly (Variable | Sym)[];
      readonly form: Node;
      readonly body: Node;
    }
  | { readonly kind: "lambda"; readonly lambda: Lambda }
  | { readonly kind: "function"; readonly sym: Sym; readonly setter: boolean }
  | {
      readonly kind: "labels";
      readonly functions: readonly { readonly variable: Variable; readonly lambda: Lambda }[];
      readonly body: Node;
    }
  | {
      readonly kind: "call";
      readonly sym: Sym;
      readonly setter: boolean;
      readonly args: readonly Node[];
    }
  | { readonly kind: "call-local"; readonly variable: Variable; readonly args: readonly Node[] }
  | { readonly kind: "call-native"; readonly fn: Fn; readonly args: readonly Node[] }
  | { readonly kind: "funcall"; readonly fn: Node; readonly args: readonly Node[] }
  | { readonly kind: "values-call"; readonly fn: Node; readonly args: readonly Node[] }
  | { readonly kind: "values-list"; readonly form: Node }
  | { readonly kind: "values-prog1"; readonly first: Node; readonly rest: Node }
  | { readonly kind: "block"; readonly target: Target; readonly body: Node }
  | {
      readonly kind: "return";
      readonly target: Target;
      readonly value: Node;
      readonly direct: boolean;
    }
  | { readonly kind: "tagbody"; readonly target: Target; readonly statements: readonly Node[] }
  | {
      readonly kind: "go";
      readonly target: Target;
      readonly index: number;
      readonly direct: boolean;
    };

/** A lexical variable or a special one. */
export interface Binding {
  readonly to: Variable | Sym;
  readonly init: Node;
}

/** A function under analysis, and what the other passes need of it. */
export interface Lambda {
  readonly parent: Lambda | null;
  name: Value;
  lambdaList: string;
  documentation: string | null;
  /** Where the form that defines it began in the text. */
  position: Position | null;
  required: Variable[];
  optional: OptionalParameter[];
  rest: Variable | null;
  keys: KeyParameter[];
  hasKeys: boolean;
  allowOtherKeys: boolean;
  /** Parameters that are special variables: bound as soon as they have their value. */
  readonly dynamic: Map<Variable, Sym>;
  body: Node;
  /** Variables of outer functions, in the order of the closure's `env`. */
  readonly captures: Variable[];
  frameSize: number;
  /** Direct exits met so far; analysis compares it to know whether a form contains one. */
  exits: number;
  /** Nodes that may answer EXIT. */
  readonly exiting: Set<Node>;
}

export interface OptionalParameter {
  readonly variable: Variable;
  readonly init: Node;
  readonly supplied: Variable | null;
}

export interface KeyParameter extends OptionalParameter {
  readonly key: Sym;
}
