// Which nodes can come to a power that waits. The rest need no stepping.
import type { Code } from "../function.ts";
import type { Lambda, Node } from "./nodes.ts";

const waiting = new WeakMap<Node, boolean>();

/** Decided once for a node: should a function it calls be redefined to wait, it waits alone, which is still right. */
export function mayWait(node: Node): boolean {
  let answer = waiting.get(node);
  if (answer === undefined) {
    answer = nodeCanWait(node, new Set());
    waiting.set(node, answer);
  }
  return answer;
}

/** Whether running the function may come to a power that can wait. Functions nobody knows yet may. */
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
    // An exit has to be made the way its target is run.
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
