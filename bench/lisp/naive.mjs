/**
 * The interpreter one writes in an afternoon, for comparison: it walks the forms as they were read,
 * looks names up in a chain of maps, and knows just what the programs of the bench need. Numbers
 * are JS numbers, and nothing is counted or bounded.
 */
export function createNaive() {
  const functions = new Map(Object.entries(builtins));
  return {
    evaluate: (source) => read(source).reduce((_, form) => evaluate(form, null, functions), null),
  };
}

class Pair {
  constructor(car, cdr) {
    this.car = car;
    this.cdr = cdr;
  }
}

class Name {
  constructor(name) {
    this.name = name;
  }
}

const names = new Map();

function nameOf(text) {
  if (!names.has(text)) names.set(text, new Name(text));
  return names.get(text);
}

const yes = nameOf("t");
const truth = (value) => (value ? yes : null);

const builtins = {
  "+": (...args) => args.reduce((a, b) => a + b, 0),
  "-": (a, b) => (b === undefined ? -a : a - b),
  "*": (...args) => args.reduce((a, b) => a * b, 1),
  "<": (a, b) => truth(a < b),
  ">": (a, b) => truth(a > b),
  "=": (a, b) => truth(a === b),
  mod: (a, b) => ((a % b) + b) % b,
  abs: Math.abs,
  not: (a) => truth(a === null),
  null: (a) => truth(a === null),
  car: (a) => (a === null ? null : a.car),
  cdr: (a) => (a === null ? null : a.cdr),
  cons: (a, b) => new Pair(a, b),
  length: (a) => a.length,
  "make-hash-table": () => new Map(),
  gethash: (key, table, otherwise = null) => (table.has(key) ? table.get(key) : otherwise),
  "make-string-output-stream": () => ({ text: "" }),
  "get-output-stream-string": (stream) => stream.text,
  "write-string": (text, stream) => write(stream, text),
  princ: (value, stream) => write(stream, String(value)),
};

function write(stream, text) {
  stream.text += text;
  return text;
}

function evaluate(form, scope, functions) {
  if (form instanceof Name)
    return form.name === "nil" ? null : form === yes ? yes : lookup(form, scope).get(form);
  if (!Array.isArray(form)) return form;
  const [head, ...operands] = form;
  switch (head.name) {
    case "quote":
      return operands[0];
    case "if":
      return evaluate(operands[0], scope, functions) !== null
        ? evaluate(operands[1], scope, functions)
        : evaluate(operands[2] ?? null, scope, functions);
    case "progn":
      return evaluateAll(operands, scope, functions);
    case "defun": {
      const [name, parameters, ...body] = operands;
      functions.set(name.name, (...args) => {
        const inner = {
          names: new Map(parameters.map((parameter, index) => [parameter, args[index]])),
          outer: null,
        };
        return evaluateAll(body, inner, functions);
      });
      return name;
    }
    case "let": {
      const [bindings, ...body] = operands;
      const bound = new Map(
        bindings.map(([name, value]) => [name, evaluate(value, scope, functions)]),
      );
      return evaluateAll(body, { names: bound, outer: scope }, functions);
    }
    case "dotimes": {
      const [[variable, count], ...body] = operands;
      const inner = { names: new Map(), outer: scope };
      const limit = evaluate(count, scope, functions);
      for (let i = 0; i < limit; i++) {
        inner.names.set(variable, i);
        evaluateAll(body, inner, functions);
      }
      return null;
    }
    case "setq": {
      const value = evaluate(operands[1], scope, functions);
      lookup(operands[0], scope).set(operands[0], value);
      return value;
    }
    case "setf": {
      const [[, key, table], value] = operands;
      const made = evaluate(value, scope, functions);
      evaluate(table, scope, functions).set(evaluate(key, scope, functions), made);
      return made;
    }
    default:
      return functions.get(head.name)(
        ...operands.map((operand) => evaluate(operand, scope, functions)),
      );
  }
}

function evaluateAll(forms, scope, functions) {
  let value = null;
  for (const form of forms) value = evaluate(form, scope, functions);
  return value;
}

function lookup(name, scope) {
  for (let at = scope; at !== null; at = at.outer) if (at.names.has(name)) return at.names;
  throw new Error(`${name.name} is unbound`);
}

function read(source) {
  const tokens = source.match(/"[^"]*"|[()']|[^\s()']+/g);
  const forms = [];
  while (tokens.length > 0) forms.push(readForm(tokens));
  return forms;
}

function readForm(tokens) {
  const token = tokens.shift();
  if (token === "'") return [nameOf("quote"), readForm(tokens)];
  if (token !== "(")
    return token.startsWith('"')
      ? token.slice(1, -1)
      : Number.isNaN(Number(token))
        ? nameOf(token)
        : Number(token);
  const items = [];
  while (tokens[0] !== ")") items.push(readForm(tokens));
  tokens.shift();
  return items;
}
