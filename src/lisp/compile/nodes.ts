// Nodes: analysed forms with resolved names and expanded macros. `emit` turns them into closures.
import type { Fn, Frame } from "../function.ts";
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

/** An analysed function. */
export interface Lambda {
  readonly parent: Lambda | null;
  name: Value;
  lambdaList: string;
  documentation: string | null;
  /** The position of its definition. */
  position: Position | null;
  required: Variable[];
  optional: OptionalParameter[];
  rest: Variable | null;
  keys: KeyParameter[];
  hasKeys: boolean;
  allowOtherKeys: boolean;
  /** Parameters that are special variables, bound as soon as they have their value. */
  readonly dynamic: Map<Variable, Sym>;
  body: Node;
  /** Variables of outer functions, in the order of the closure's `env`. */
  readonly captures: Variable[];
  frameSize: number;
  /** The number of direct exits so far; tells whether a form contains one. */
  exits: number;
  /** Nodes that may return EXIT. */
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

// Closures of nodes and their modes; see `emit.ts`.

export type Run = (frame: Frame) => Value;
export type Test = (frame: Frame) => boolean;
export type Mode = "single" | "values" | "tail";

/** The mode of a body that is not last. */
export const notTail = (mode: Mode): Mode => (mode === "tail" ? "values" : mode);
