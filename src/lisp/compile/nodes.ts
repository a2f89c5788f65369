// Nodes: analysed forms with resolved names and expanded macros. `emit` turns them into closures; `stepping`
// interprets them.
import type { Code, Fn, Frame } from "../function.ts";
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

// Finds nodes that may wait for a host function; others need no stepping.

const waiting = new WeakMap<Node, boolean>();

/** Cached per node. If a called function is redefined to wait later, it blocks, which is still correct. */
export function mayWait(node: Node): boolean {
  let answer = waiting.get(node);
  if (answer === undefined) {
    answer = nodeCanWait(node, new Set());
    waiting.set(node, answer);
  }
  return answer;
}

/** True if the function may wait for a host function. Undefined functions may. */
function canWait(lambda: Lambda, seen: Set<Lambda>): boolean {
  if (seen.has(lambda)) return false;
  seen.add(lambda);
  const inits = [...lambda.optional, ...lambda.keys].map(({ init }) => init);
  return [lambda.body, ...inits].some((node) => nodeCanWait(node, seen));
}

function codeCanWait(code: Code, seen: Set<Lambda>): boolean {
  if (code.start !== null || code.step !== null) return true;
  return code.lambda !== null && canWait(code.lambda as Lambda, seen);
}

function nodeCanWait(node: Node, seen: Set<Lambda>): boolean {
  switch (node.kind) {
    case "constant":
    case "local":
    case "special":
    case "function":
    case "lambda":
      return false;
    // An exit must be made in the same way as its target is run.
    case "return":
    case "go":
      return true;
    case "funcall":
    case "values-call":
    case "call-local":
      return true;
    case "call": {
      const fn = node.setter ? node.sym.setter : node.sym.fn;
      return (
        fn === null || codeCanWait(fn.code, seen) || node.args.some((arg) => nodeCanWait(arg, seen))
      );
    }
    case "call-native":
      return codeCanWait(node.fn.code, seen) || node.args.some((arg) => nodeCanWait(arg, seen));
    default:
      return childrenOf(node).some((child) => nodeCanWait(child, seen));
  }
}

function childrenOf(node: Node): readonly Node[] {
  switch (node.kind) {
    case "set-local":
    case "set-special":
      return [node.value];
    case "if":
      return [node.test, node.when, node.otherwise];
    case "or":
      return node.items;
    case "progn":
      return node.body;
    case "let":
      return [...node.bindings.map(({ init }) => init), node.body];
    case "values-let":
      return [node.form, node.body];
    case "labels":
    case "block":
      return [node.body];
    case "values-list":
      return [node.form];
    case "values-prog1":
      return [node.first, node.rest];
    case "tagbody":
      return node.statements;
    default:
      return [];
  }
}
