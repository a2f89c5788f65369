// Finds secrets in programs: `:token "…"`, `(setf (gethash "password" h) "…")`, `"Bearer …"`. A
// saved evaluation must not contain such a value, neither in the code nor in answers, values or
// errors.
import { isObject } from "../../base/json.ts";
import { Secrets } from "../../base/log.ts";
import { isSecretName, secretShapes } from "../../base/secret-signs.ts";
import type { Language } from "./protocol.ts";
import type { EvaluationRun, RecordedAnswer } from "./recording.ts";

const hidden = "***";

/** Removes secrets named in the code or in arguments of calls. */
export function hideSecrets(
  run: EvaluationRun,
  code: string,
  answers: readonly RecordedAnswer[],
): EvaluationRun {
  const hide = createSecretFilter(
    code,
    run.language ?? "lisp",
    answers.flatMap(({ request }) => (mayName.test(request) ? secretsIn(JSON.parse(request)) : [])),
  );
  return hide ? { ...(hide(run) as EvaluationRun), isScrubbed: true } : run;
}

/** A function that removes the secrets of a program, and the known ones, from a value. Undefined if there are none. */
export function createSecretFilter(
  code: string,
  language: Language,
  known: readonly string[] = [],
): ((value: unknown) => unknown) | undefined {
  const text =
    mayName.test(code) || secretShapes.some((shape) => shape.test(code))
      ? hideInCode(code, language)
      : { code, values: [] };
  if (text.values.length === 0 && known.length === 0) return undefined;
  const secrets = new Secrets();
  for (const value of [...text.values, ...known]) secrets.add(value);
  return (value) => mapTexts(value, (part) => secrets.scrub(part === code ? text.code : part));
}

function hideInCode(code: string, language: Language): ReturnType<typeof hideInProgram> {
  if (language === "lisp") return hideInProgram(code, tokens);
  // `token: "…"`, `const apiKey = "…"` and `"Bearer …"` look the same in JavaScript as in other texts.
  const values: string[] = [];
  const hide = (value: string): string => {
    values.push(value, unescaped(value));
    return hidden;
  };
  const named = code.replace(
    /([\w$-]{1,60})(["'`]?\s{0,4}[:=]\s{0,4})(["'`])((?:[^\\\n]|\\.)*?)\3/g,
    (whole, name: string, between: string, quote: string, value: string) =>
      isSecretName(name) ? `${name}${between}${quote}${hide(value)}${quote}` : whole,
  );
  return { code: hideShapes(named, hide), values };
}

/** A quick test: most texts contain no name of a secret and need not be parsed. */
const mayName =
  /authorization|cookie|passw|passphrase|\bpin\b|secret|token|credential|(api|access|signing|encryption|private)[-_]?key/i;

/** All values under names of secrets. */
function secretsIn(value: unknown, name = ""): string[] {
  if (Array.isArray(value)) return value.flatMap((item) => secretsIn(item, name));
  if (isObject(value))
    return Object.entries(value).flatMap(([key, inner]) => secretsIn(inner, key));
  return isSecretName(name) && (typeof value === "string" || typeof value === "number")
    ? [String(value)]
    : [];
}

function mapTexts(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === "string") return change(value);
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, change));
  return isObject(value)
    ? Object.fromEntries(
        Object.entries(value).map(([key, inner]) => [key, mapTexts(inner, change)]),
      )
    : value;
}

/** A character, a string, a parenthesis, a quote mark, or any other word. */
const words = /#\\(?:[A-Za-z][\w-]*|[\s\S])|"(?:[^"\\]|\\[\s\S])*"?|[()]|['`,]|[^\s()"'`,]+/g;
/** Comments first; an unclosed one extends to the end. */
const tokens = new RegExp(
  `;[^\\n]*|#\\|(?:[\\s\\S]*?\\|#|[\\s\\S]*)|${words.source.replace("[^\\s()", "[^\\s;()")}`,
  "g",
);

/** Hides the secrets of a program and returns them. The code need not be valid. */
function hideInProgram(
  code: string,
  parts: RegExp,
): { readonly code: string; readonly values: readonly string[] } {
  const values: string[] = [];
  /** For each open list: whether it is a setf place, and whether it contains the name of a secret. */
  const lists: { readonly isPlace: boolean; isSecret: boolean }[] = [];
  let before = "";
  let isNext = false;

  const hide = (value: string): string => {
    const bare = value.replace(/^(bearer|basic)\s+/i, "");
    values.push(bare, unescaped(bare));
    return hidden;
  };

  /** Comments may contain code. */
  const hideInComment = (comment: string): string => {
    const inner = hideInProgram(comment, words);
    values.push(...inner.values);
    return hideInText(inner.code, hide);
  };

  const clean = code.replace(parts, (token) => {
    if (parts === tokens && /^(;|#\|)/.test(token)) return hideInComment(token);
    if (token === "(" || token === ")") {
      const closed = token === ")" ? lists.pop() : undefined;
      if (token === "(") lists.push({ isPlace: /^setf$/i.test(before), isSecret: false });
      isNext = closed?.isPlace === true && closed.isSecret;
      before = token;
      return token;
    }
    // Quote marks and dots between a name and its value.
    if (/^(['`,]|\.$)/.test(token)) return token;
    before = token;
    const isText = token.startsWith('"');
    const isValue = isText || /^[-+]?\d/.test(token);
    if (isNext && isValue) {
      isNext = false;
      return isText
        ? `"${hide(token.slice(1, token.endsWith('"') ? -1 : undefined))}"`
        : hide(token);
    }
    isNext = isSecretName(nameOf(token));
    const list = lists.at(-1);
    if (list && isNext) list.isSecret = true;
    return isText || token.length > shortestToken ? hideInText(token, hide) : token;
  });
  return { code: clean, values };
}

/** Shorter tokens that are not strings cannot have the shape of a secret. */
const shortestToken = 12;

/** The bare name of `:api-key`, `*api-key*`, `app::api-key` and `"api-key"`. */
function nameOf(token: string): string {
  return token.replace(/^.*:/, "").replace(/^["*+]+|["*+]+$/g, "");
}

/** Secrets in headers, URLs and JSON inside a string, except values with `format` directives. */
function hideInText(text: string, hide: (value: string) => string): string {
  const named = text.replace(
    /(?<![\w-])([\w-]{1,60})(\\?["']?\s{0,4}[:=]\s{0,4}\\?["']?)([^\s"'\\&,;{}~]{6,})(?!~)/g,
    (whole, name: string, between: string, value: string) =>
      isSecretName(name) ? `${name}${between}${hide(value)}` : whole,
  );
  return hideShapes(named, hide);
}

/** Keys and tokens that need no name to be known. */
function hideShapes(text: string, hide: (value: string) => string): string {
  const keyless = text.replace(
    /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(-----END [A-Z ]*PRIVATE KEY-----|(?="?$))/g,
    hide,
  );
  return secretShapes.reduce(
    (clean, shape) => clean.replace(new RegExp(shape, `${shape.flags}g`), hide),
    keyless,
  );
}

function unescaped(text: string): string {
  return text.replace(/\\([\s\S])/g, "$1");
}
