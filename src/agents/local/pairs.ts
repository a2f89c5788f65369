import type { Reading } from "./mention.ts";
import type { Option } from "./options.ts";
import type { Parameter } from "./parameters.ts";
import { breaks } from "./phrases.ts";
import { isTooLong } from "./quantities.ts";
import { tokensOf } from "./tokens.ts";

/** `limit=5`, `name = "x y"`: said outright, by the parameter's own name. Undefined when it is said twice, or as another type. */
export function findPair(
  { path, type, choices }: Parameter,
  { text }: Reading,
): Option | undefined {
  if (!text.includes("=")) return undefined;
  const name = (path.at(-1) ?? "").replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const pattern = new RegExp(
    String.raw`(?<![\p{L}\p{N}_.])${name}\s*=\s*(?:"([^"\n]*)"|'([^'\n]*)'|([^\s,;"'=]+))(?!\s*[-+*/^=])`,
    "giu",
  );
  const [first, second] = [...text.matchAll(pattern)];
  if (!first || second) return undefined;
  const word = first.slice(1).find((group) => group !== undefined) ?? "";
  const bare = first[3] === undefined ? word : word.replace(/[.?!)]+$/, "");
  const value = readAs(type, bare);
  if (value === undefined || (choices && !choices.includes(value))) return undefined;
  const start = first.index + first[0].lastIndexOf(bare);
  return { value, kind: "pair", start, end: start + bare.length };
}

/**
 * "echo hello": a task that begins with the tool's own name, of one word, says after it what the tool is to have, where the tool has one place for words.
 * What begins with a small word ("search for …") is left to be weighed.
 */
export function findObject(
  parameter: Parameter,
  { text }: Reading,
  {
    tool,
    parameters,
  }: { readonly tool: { readonly name: string }; readonly parameters: readonly Parameter[] },
): Option | undefined {
  const { type, choices, isRequired, sort } = parameter;
  if (
    type !== "string" ||
    choices ||
    !isRequired ||
    parameters.length > 1 ||
    (sort !== "text" && sort !== "other")
  )
    return undefined;
  const name = /[^._]+$/.exec(tool.name)?.[0] ?? "";
  const [, verb = "", value = ""] =
    /^\s*(\p{L}+)\s+([\p{L}\p{N}][^\n"'`:]*?)[.?!\s]*$/u.exec(text) ?? [];
  if (verb.toLowerCase() !== name.toLowerCase() || value === "" || tool.name.endsWith(`_${name}`))
    return undefined;
  const [first = ""] = tokensOf(value).map(({ lower }) => lower);
  const start = text.indexOf(value, verb.length);
  return breaks.has(first) ? undefined : { value, kind: "pair", start, end: start + value.length };
}

function readAs(type: Parameter["type"], word: string): unknown {
  switch (type) {
    case "string":
    case "any":
      return word === "" ? undefined : word;
    case "integer":
    case "number": {
      const value = word === "" ? Number.NaN : Number(word);
      return Number.isFinite(value) &&
        !isTooLong(word) &&
        (type === "number" || Number.isInteger(value))
        ? value
        : undefined;
    }
    case "boolean":
      return /^(?:true|yes)$/i.test(word) ? true : /^(?:false|no)$/i.test(word) ? false : undefined;
    case "array":
    case "object":
      return undefined;
  }
}
