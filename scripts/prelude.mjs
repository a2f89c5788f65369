// Writes src/lisp/prelude.json from the definitions in src/lisp/prelude/*.lisp, without comments and with all macros
// expanded, so that a session only has to read and compile a definition when it first uses it.
// `--check` fails when it is out of date.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL("..", import.meta.url));
const folder = `${root}src/lisp/prelude/`;
const target = `${root}src/lisp/prelude.json`;

const texts = readdirSync(folder)
  .sort()
  .map((file) => readFileSync(folder + file, "utf8"));
const definitions = Object.fromEntries(texts.flatMap((text) => forms(text)).map(entry));
const written = `${JSON.stringify(await expanded(definitions), null, 2)}\n`;
if (!process.argv.includes("--check")) writeFileSync(target, written);
else if (readFileSync(target, "utf8") !== written) {
  console.error("src/lisp/prelude.json is out of date: run `npm run format`.");
  process.exitCode = 1;
}

/** The top-level forms, each on one line. */
function forms(text) {
  const found = [];
  let depth = 0;
  let form = "";
  const token = /;[^\n]*|\s+|"(?:\\[\s\S]|[^"\\])*"|#\\(?:[A-Za-z]+|[\s\S])|[()]|[^\s()";]+/g;
  for (const [part] of text.matchAll(token)) {
    if (part === "(") depth++;
    if (part === ")") depth--;
    const isBlank = /^[\s;]/.test(part);
    if (!isBlank) form += part;
    else if (depth > 0 && !form.endsWith(" ")) form += " ";
    if (depth > 0 || isBlank) continue;
    found.push(form.replaceAll(/ (?=\))/g, ""));
    form = "";
  }
  return found;
}

/** `(defun name (a b) body)` as `"defun name (a b)": "body"`. */
function entry(form) {
  const [, kind, name] = /^\((\S+) (\(setf [^)]+\)|\S+) /.exec(form);
  const start = kind.length + name.length + 3;
  let depth = 0;
  let end = start;
  do {
    if (form[end] === "(") depth++;
    if (form[end] === ")") depth--;
    end++;
  } while (depth > 0);
  return [form.slice(1, end), form.slice(end, -1).trim()];
}

/** The definitions with expanded bodies, by a Lisp that has the texts as its prelude. */
async function expanded(definitions) {
  const lisp = await lispWith(definitions);
  const { machine: m } = lisp.createLisp();
  const { named, systemPackage } = lisp;
  return m.enter({ ...lisp.defaultBudgets, timeMs: 60_000 }, () => {
    m.bind(lisp.packageVariable, systemPackage);
    m.bind(named("*PRINT-CASE*"), named(":DOWNCASE"));
    // An expansion with an object in it fails.
    m.bind(named("*PRINT-READABLY*"), named("T"));
    // Pretty printing abbreviates quote and function.
    m.bind(named("*PRINT-PRETTY*"), named("T"));
    m.bind(named("*PRINT-RIGHT-MARGIN*"), 1_000_000);
    return Object.fromEntries(
      Object.entries(definitions).map(([head, body]) => [head, expandBody(lisp, m, head, body)]),
    );
  });
}

async function lispWith(definitions) {
  const files = ["lisp", "budgets", "define", "packages", "reader", "symbol", "values"];
  const compiler = ["analyse", "compile", "lambda"].map((file) => `compile/${file}`);
  const contents = [...files, ...compiler].map((file) => `export * from "./src/lisp/${file}.ts";`);
  const texts = { contents: JSON.stringify(definitions), loader: "json" };
  const { outputFiles } = await build({
    stdin: { contents: contents.join(""), resolveDir: root },
    bundle: true,
    format: "esm",
    platform: "node",
    write: false,
    plugins: [
      { name: "texts", setup: ({ onLoad }) => onLoad({ filter: /prelude\.json$/ }, () => texts) },
    ],
  });
  return import(
    `data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString("base64")}`
  );
}

/** Analyses the definition, notes the expansion of each macro call, and prints the body with these in place. */
function expandBody(lisp, m, head, body) {
  const { Analyser, named, systemPackage } = lisp;
  systemPackage.locked = false;
  const [, kind, name, lambdaList] = /^(\S+) (?:\(setf )?([^\s)]+)\)? (.*)$/s.exec(head);
  const sym = named(name.toUpperCase());
  const { car: parameters, cdr: forms } = new lisp.Reader(m, `(${lambdaList} ${body})`).next();
  const expansions = new Map();
  const plain = Analyser.prototype.expand;
  Analyser.prototype.expand = function (macro, form, scope) {
    const expansion = plain.call(this, macro, form, scope);
    expansions.set(form, expansion);
    return expansion;
  };
  const expression =
    kind === "defmacro"
      ? lisp.macroLambda(m, sym, parameters, forms).lambda.cdr
      : { car: parameters, cdr: forms };
  const scope = lisp.outermost(lisp.emptyLambda(null, sym));
  const how = { name: sym, block: sym };
  lisp.analyseLambda(new Analyser(m), expression.car, expression.cdr, scope, how);
  Analyser.prototype.expand = plain;
  return m.show(replaced(lisp, forms, expansions)).slice(1, -1);
}

/** The forms with their expansions in place. Symbols without a package get names of the library. */
function replaced({ Cons, Sym, list, named, systemPackage }, forms, expansions) {
  const names = new Map();
  const nameOf = (sym) => {
    if (sym.pkg !== null) return sym;
    if (!names.has(sym)) names.set(sym, new Sym(`%${sym.name}-${names.size}`, systemPackage));
    return names.get(sym);
  };
  const replaceAll = (items) =>
    items instanceof Cons ? new Cons(replace(items.car), replaceAll(items.cdr)) : replace(items);
  const replace = (form) => {
    if (form instanceof Sym) return nameOf(form);
    if (!(form instanceof Cons) || form.car === named("QUOTE")) return form;
    if (expansions.has(form)) return replace(expansions.get(form));
    // The macro LAMBDA expands into a form that contains the lambda expression itself.
    const isFunction = form.car === named("FUNCTION");
    return isFunction ? list(form.car, replaceAll(form.cdr.car)) : replaceAll(form);
  };
  return replaceAll(forms);
}
