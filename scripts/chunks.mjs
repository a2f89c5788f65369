// Chunks as CommonJS. esbuild splits ES modules only, and V8 keeps compiled code only of scripts; see decision 0023.

import { transform } from "esbuild";

/** A chunk that esbuild made: the same code, which imports other chunks with `require`. */
export async function chunkAsScript(text) {
  const { code, warnings } = await transform(shareValues(importChunksLater(text)), {
    format: "cjs",
    platform: "node",
    target: "node20.19",
    define: { "import.meta.url": "__url" },
    // `import()` of packages and of modules of a project stays.
    supported: { "dynamic-import": true },
  });
  if (warnings.length > 0) throw new Error(`cannot convert a chunk: ${warnings[0].text}`);
  if (/String\.raw`[^`]*[^\0-\x7f]/.test(code))
    throw new Error("write characters beyond ASCII as escapes in String.raw");
  const here = 'const __url = require("node:url").pathToFileURL(__filename).href;\n';
  const share = "const __share = (values) => { module.exports = values; };\n";
  return `"use strict";\n${share}${code.includes("__url") ? here : ""}${withLater(escapeRest(code))}`;
}

/**
 * esbuild would export getters, which every call between chunks has to run. A variable that is set again later, such as
 * one of a module that runs at its first use, needs its getter; one too many does no harm.
 */
function shareValues(text) {
  const imported = [...text.matchAll(/^import \{([^}]*)\}/gm)].map(([, names]) => names).join();
  if (/^export default /m.test(text) && /^export \{/m.test(text))
    throw new Error("a chunk has a default export beside others");
  return text.replace(/^export \{\n([^}]*)\n\};$/gm, (_, list) => {
    const shared = list.split(",\n").map((item) => {
      const [name, shown = name] = item.trim().split(" as ");
      const isPassedOn = new RegExp(`[ ,]${name.replaceAll("$", "\\$")}(?![\\w$])`).test(imported);
      return isPassedOn || isSetLater(name, text)
        ? `get ${shown}() { return ${name}; }`
        : `${shown}: ${name}`;
    });
    return `__share({\n${shared.join(",\n")}\n});`;
  });
}

function isSetLater(name, text) {
  const escaped = name.replaceAll("$", "\\$");
  const sets = new RegExp(
    `(?<![\\w$.])${escaped}(?:,[^;()]*\\])? ?(?:[-+*/%&|^?<>]*=(?![=>])|\\+\\+|--)|(?:\\+\\+|--)${escaped}(?![\\w$])`,
    "g",
  );
  const isDeclared = new RegExp(`^var ${escaped} = `, "m").test(text);
  const isUnset = new RegExp(`^var (?:[\\w$, ]+, )?${escaped}(?:, [\\w$, ]+)?;$`, "m").test(text);
  return isUnset || (text.match(sets)?.length ?? 0) > (isDeclared ? 1 : 0);
}

/** esbuild escapes strings only. Text in ASCII takes half the memory, and is read without decoding. */
function escapeRest(code) {
  return code.replace(
    /[^\0-\x7f]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** An entry stays an ES module, because workers await at the top level. Chunks are there when it begins. */
export function importChunksInEntry(text) {
  const imports = /^import (?:\{([^}]*)\} from )?"(\.\/chunks\/[^"]+)";$/gm;
  const code = importChunksLater(text).replace(imports, (_, names, path) => {
    // Set only when it is called: a copy of the variables it sets would stay undefined.
    if (/\binit_/.test(names)) throw new Error(`an entry imports a lazy module from ${path}`);
    const variables = names ? `const {${names.replaceAll(" as ", ": ")}} = ` : "";
    return `${variables}require("${path}");`;
  });
  if (/(?:from|import) ?"\.\//.test(code)) throw new Error("an entry still imports a chunk");
  return withRequire + withLater(code);
}

const importChunksLater = (text) => text.replace(/\bimport\((?="\.\.?\/)/g, "__later(");

function withLater(code) {
  return code.includes("__later(")
    ? `const __later = async (path) => require(path);\n${code}`
    : code;
}

const withRequire =
  'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);\n';
