// Writes src/lisp/prelude.json from the definitions in src/lisp/prelude/*.lisp, without comments and indentation.
// `--check` fails when it is out of date.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const folder = fileURLToPath(new URL("../src/lisp/prelude/", import.meta.url));
const target = fileURLToPath(new URL("../src/lisp/prelude.json", import.meta.url));

const texts = readdirSync(folder)
  .sort()
  .map((file) => readFileSync(folder + file, "utf8"));
const definitions = Object.fromEntries(texts.flatMap((text) => forms(text)).map(entry));
const written = `${JSON.stringify(definitions, null, 2)}\n`;
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
