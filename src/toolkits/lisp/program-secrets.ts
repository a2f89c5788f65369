// Programs name what they pass on: `:token "…"`, `(setf (gethash "password" h) "…")`, `"Bearer …"`. What is kept of an evaluation
// must not hold such a value, in its text or anywhere it came to: in an answer, a printed value, an error.
import { isObject } from "../../base/json.ts";
import { Secrets } from "../../base/log.ts";
import { isSecretName, secretShapes } from "../../base/secret-signs.ts";
import type { EvaluationRun, RecordedAnswer } from "./recording.ts";

const hidden = "***";

/** The run without the secrets that its program's text or its calls' arguments name as such. */
export function hideSecrets(
  run: EvaluationRun,
  code: string,
  answers: readonly RecordedAnswer[],
): EvaluationRun {
  const hide = createSecretFilter(
    code,
    answers.flatMap(({ request }) => (mayName.test(request) ? secretsIn(JSON.parse(request)) : [])),
  );
  return hide ? { ...(hide(run) as EvaluationRun), isScrubbed: true } : run;
}

/** Takes what a program's text names as a secret, and what else is known to be one, out of whatever came of it. Undefined where there is none. */
export function createSecretFilter(
  code: string,
  known: readonly string[] = [],
): ((value: unknown) => unknown) | undefined {
  const text =
    mayName.test(code) || secretShapes.some((shape) => shape.test(code))
      ? hideInProgram(code, tokens)
      : { code, values: [] };
  if (text.values.length === 0 && known.length === 0) return undefined;
  const secrets = new Secrets();
  for (const value of [...text.values, ...known]) secrets.add(value);
  return (value) => mapTexts(value, (part) => secrets.scrub(part === code ? text.code : part));
}

/** What every name of a secret has in it: most texts have none of it, and need not be taken apart. */
const mayName =
  /authorization|cookie|passw|passphrase|\bpin\b|secret|token|credential|(api|access|signing|encryption|private)[-_]?key/i;

/** Every value under a name that says what it is. */
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

/** A character, a string, a parenthesis, a mark between a name and its value, or any other word. */
const words = /#\\(?:[A-Za-z][\w-]*|[\s\S])|"(?:[^"\\]|\\[\s\S])*"?|[()]|['`,]|[^\s()"'`,]+/g;
/** A comment first: one that is never closed reaches to the end. */
const tokens = new RegExp(
  `;[^\\n]*|#\\|(?:[\\s\\S]*?\\|#|[\\s\\S]*)|${words.source.replace("[^\\s()", "[^\\s;()")}`,
  "g",
);

/** The text with its secrets hidden, and what they were. It need not be a program that can be read. */
function hideInProgram(
  code: string,
  parts: RegExp,
): { readonly code: string; readonly values: readonly string[] } {
  const values: string[] = [];
  /** For each list that is open: whether it is a place to be set, and whether a secret's name stands in it. */
  const lists: { readonly isPlace: boolean; isSecret: boolean }[] = [];
  let before = "";
  let isNext = false;

  const hide = (value: string): string => {
    const bare = value.replace(/^(bearer|basic)\s+/i, "");
    values.push(bare, unescaped(bare));
    return hidden;
  };

  /** What was commented out is a program, too. */
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
    // What stands between a name and its value.
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

/** Of what has a shape of its own, also where it is no string. */
const shortestToken = 12;

/** `:api-key`, `*api-key*`, `app::api-key` and `"api-key"` are all called that. */
function nameOf(token: string): string {
  return token.replace(/^.*:/, "").replace(/^["*+]+|["*+]+$/g, "");
}

/** Headers, addresses and JSON inside a string. What has a directive of `format` in it is no secret yet. */
function hideInText(text: string, hide: (value: string) => string): string {
  const named = text.replace(
    /(?<![\w-])([\w-]{1,60})(\\?["']?\s{0,4}[:=]\s{0,4}\\?["']?)([^\s"'\\&,;{}~]{6,})(?!~)/g,
    (whole, name: string, between: string, value: string) =>
      isSecretName(name) ? `${name}${between}${hide(value)}` : whole,
  );
  const keyless = named.replace(
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
