import fc from "fast-check";
import { commonLisp } from "../../src/lisp/symbol.ts";

/**
 * Random programs. Wild ones call every name of the language with arbitrary arguments. Typed ones compute an integer
 * and come with the result.
 */

const atoms = fc.oneof(
  fc.integer({ min: -3, max: 300 }).map(String),
  fc.constantFrom(
    "nil",
    "t",
    "x",
    "y",
    "z",
    ":key",
    ":test",
    ":start",
    ":initial-value",
    '"text"',
    '""',
    "#\\a",
    "1.5",
    "2/3",
    "-0.0",
    "1e300",
    "'sym",
    "#'car",
    "#'+",
    "'list",
  ),
  fc.constantFrom(
    "'(1 2 3)",
    "'(a . b)",
    "(list 3 1 2)",
    "#(1 2 3)",
    "(make-hash-table)",
    "(lambda (x) x)",
    "(lambda (&rest r) r)",
    "'((a . 1) (b . 2))",
    "#'<",
    "'integer",
    "'string",
  ),
  fc.constantFrom(
    "constructor",
    "__proto__",
    "'__proto__",
    '"__proto__"',
    "toString",
    "this",
    "process",
    "(expt 10 50)",
    "most-positive-fixnum",
    "*standard-output*",
  ),
  fc.constantFrom(
    "&rest",
    "&key",
    ".",
    "'",
    "`(a ,x ,@y)",
    "((x 1) (y 2))",
    "(x y)",
    "(x &optional y &rest z)",
    "#:g",
    "cl:car",
    "'|a b|",
    "#*101",
    "#2a((1 2) (3 4))",
  ),
);

// Names are asked for late: the language is there once the first session is.
const names = fc.nat().map((number) => {
  const all = [...commonLisp.symbols.keys()];
  return (all[number % all.length] ?? "LIST").toLowerCase();
});

const calls: fc.Arbitrary<string> = fc.letrec<{ form: string }>((tie) => ({
  form: fc.oneof(
    { depthSize: "small", maxDepth: 4 },
    atoms,
    fc
      .tuple(names, fc.array(tie("form"), { maxLength: 4 }))
      .map(([name, args]) => `(${[name, ...args].join(" ")})`),
    fc.tuple(tie("form"), tie("form")).map(([value, body]) => `(let ((x ${value}) (y 2)) ${body})`),
    fc
      .tuple(
        fc.constantFrom(
          "handler-case",
          "ignore-errors",
          "progn",
          "unwind-protect",
          "catch 'k",
          "block nil",
        ),
        tie("form"),
        tie("form"),
      )
      .map(([head, ...forms]) =>
        head === "handler-case"
          ? `(handler-case ${forms[0]} (error (x) ${forms[1]}))`
          : `(${head} ${forms.join(" ")})`,
      ),
    fc
      .tuple(
        fc.constantFrom("in", "on", "across", "from 1 to", "=", "being the hash-keys of"),
        tie("form"),
        fc.constantFrom("collect", "sum", "append", "do", "maximize", "while"),
        tie("form"),
      )
      .map(([how, over, what, form]) => `(loop for x ${how} ${over} repeat 20 ${what} ${form})`),
    fc
      .tuple(
        fc.constantFrom(
          "defun f",
          "defmacro f",
          "defstruct s",
          "defclass c",
          "defmethod m",
          "defgeneric m",
          "flet ((f",
        ),
        tie("form"),
        tie("form"),
      )
      .map(([head, ...rest]) => `(${head} ${rest.join(" ")})`),
    fc
      .tuple(
        fc.constantFrom(
          "~a",
          "~s",
          "~d",
          "~10,2f",
          "~r",
          "~{~a~^ ~}",
          "~[a~;b~]",
          "~e",
          "~<~a~>",
          "~?",
          "~v,vd",
          "~:@r",
          "~^",
          "~}",
        ),
        tie("form"),
        tie("form"),
      )
      .map(([control, ...args]) => `(format nil "${control} ${control}" ${args.join(" ")})`),
  ),
})).form;

const noise = fc
  .array(
    fc.constantFrom(
      "(",
      ")",
      "'",
      "`",
      ",",
      ",@",
      "#'",
      "#(",
      "#|",
      "|#",
      '"',
      ";",
      "\n",
      "|",
      "\\",
      "#\\",
      "#:",
      "#+",
      "#.",
      "#1=",
      "#1#",
      ".",
      " ",
      "a",
      "1",
      "nil",
      ":",
      "::",
      "#S(",
      "car",
      "\u{1F600}",
      "\0",
    ),
    {
      maxLength: 25,
    },
  )
  .map((tokens) => tokens.join(""));

export const wildPrograms: fc.Arbitrary<string> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.array(calls, { minLength: 1, maxLength: 3 }).map((forms) => forms.join("\n")),
  },
  { weight: 1, arbitrary: noise },
);

export interface TypedProgram {
  readonly source: string;
  readonly answer: bigint;
}

/** An expression and its value under any `x` and `y`. */
interface Expression {
  readonly source: string;
  readonly value: (x: bigint, y: bigint) => bigint;
}

const expressions: fc.Arbitrary<Expression> = fc.letrec<{ integer: Expression }>((tie) => {
  const integer = tie("integer");
  const joined = (make: (a: Expression, b: Expression) => Expression) =>
    fc.tuple(integer, integer).map(([a, b]) => make(a, b));
  const divided = (make: (a: Expression, n: bigint) => Expression) =>
    fc.tuple(integer, fc.integer({ min: 1, max: 99 })).map(([a, n]) => make(a, BigInt(n)));
  return {
    integer: fc.oneof(
      { depthSize: "small", maxDepth: 5 },
      fc
        .bigInt({ min: -(2n ** 70n), max: 2n ** 70n })
        .map((number) => ({ source: String(number), value: () => number })),
      fc
        .integer({ min: -9, max: 9 })
        .map((number) => ({ source: String(number), value: () => BigInt(number) })),
      fc.constantFrom<Expression>(
        { source: "x", value: (x) => x },
        { source: "y", value: (_, y) => y },
      ),
      joined((a, b) => ({
        source: `(+ ${a.source} ${b.source})`,
        value: (x, y) => a.value(x, y) + b.value(x, y),
      })),
      joined((a, b) => ({
        source: `(- ${a.source} ${b.source})`,
        value: (x, y) => a.value(x, y) - b.value(x, y),
      })),
      joined((a, b) => ({
        source: `(* ${a.source} ${b.source})`,
        value: (x, y) => a.value(x, y) * b.value(x, y),
      })),
      joined((a, b) => ({
        source: `(max ${a.source} ${b.source})`,
        value: (x, y) => larger(a.value(x, y), b.value(x, y)),
      })),
      joined((a, b) => ({
        source: `(let ((x ${a.source}) (y x)) ${b.source})`,
        value: (x, y) => b.value(a.value(x, y), x),
      })),
      joined((a, b) => ({
        source: `(let* ((x ${a.source}) (y x)) ${b.source})`,
        value: (x, y) => ((inner) => b.value(inner, inner))(a.value(x, y)),
      })),
      joined((a, b) => ({
        source: `(funcall (lambda (y x) ${b.source}) ${a.source} y)`,
        value: (x, y) => b.value(y, a.value(x, y)),
      })),
      joined((a, b) => ({
        source: `(flet ((f (x) ${b.source})) (f ${a.source}))`,
        value: (x, y) => b.value(a.value(x, y), y),
      })),
      joined((a, b) => ({
        source: `(block nil (if (< ${a.source} x) (return ${b.source})) y)`,
        value: (x, y) => (a.value(x, y) < x ? b.value(x, y) : y),
      })),
      joined((a, b) => ({
        source: `(let ((s 0)) (dolist (x (list ${a.source} y)) (incf s ${b.source})) s)`,
        value: (x, y) => b.value(a.value(x, y), y) + b.value(y, y),
      })),
      joined((a, b) => ({
        source: `(loop for y from 1 to 3 sum (if (oddp y) ${a.source} ${b.source}))`,
        value: (x) => a.value(x, 1n) + b.value(x, 2n) + a.value(x, 3n),
      })),
      joined((a, b) => ({
        source: `(reduce #'+ (mapcar (lambda (x) ${a.source}) (list ${b.source} 2)))`,
        value: (x, y) => a.value(b.value(x, y), y) + a.value(2n, y),
      })),
      joined((a, b) => ({
        source: `(handler-case (progn (error "x") ${a.source}) (error () ${b.source}))`,
        value: (x, y) => b.value(x, y),
      })),
      joined((a, b) => ({
        source: `(let ((z 0)) (catch 'k (unwind-protect (throw 'k ${a.source}) (setq z ${b.source}))))`,
        value: (x, y) => a.value(x, y),
      })),
      joined((a, b) => ({
        source: `(multiple-value-bind (y x) (values ${a.source} ${b.source}) (- x y))`,
        value: (x, y) => b.value(x, y) - a.value(x, y),
      })),
      divided((a, n) => ({
        source: `(mod ${a.source} ${n})`,
        value: (x, y) => floorMod(a.value(x, y), n),
      })),
      divided((a, n) => ({
        source: `(floor ${a.source} ${n})`,
        value: (x, y) => floorDiv(a.value(x, y), n),
      })),
    ),
  };
}).integer;

export const typedPrograms: fc.Arbitrary<TypedProgram> = fc
  .tuple(
    expressions,
    fc.integer({ min: -50, max: 50 }),
    fc.bigInt({ min: -(2n ** 60n), max: 2n ** 60n }),
  )
  .map(([{ source, value }, x, y]) => ({
    source: `(let ((x ${x}) (y ${y})) (values ${source}))`,
    answer: value(BigInt(x), y),
  }));

const larger = (a: bigint, b: bigint): bigint => (a > b ? a : b);
const floorMod = (a: bigint, n: bigint): bigint => ((a % n) + n) % n;
const floorDiv = (a: bigint, n: bigint): bigint => (a - floorMod(a, n)) / n;
