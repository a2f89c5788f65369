/**
 * Turns `const`, `let` and `class` at the top level into `var`, so that definitions last for the session and can
 * be made again. Lines stay where they are. Code that cannot be followed to its end is left as it is.
 */
export function shareDeclarations(code: string): string {
  if (!/\b(?:const|let|class)\b/.test(code)) return code;
  let depth = 0;
  /** The depths of `${` in open templates. */
  const templates: number[] = [];
  let before = "";
  let isInClass = false;
  let made = "";
  let from = 0;
  pattern.lastIndex = 0;
  for (let found = next(code, before); found; found = next(code, before)) {
    const { index, 0: token } = found;
    if (isIgnored(token)) continue;
    if (token === "`" || (token === "}" && templates.at(-1) === depth)) {
      if (token === "}") templates.pop();
      const end = endOfTemplate(code, pattern.lastIndex);
      if (end === undefined) return code;
      if (code[end - 1] === "{") templates.push(depth);
      pattern.lastIndex = end;
      before = "`";
      continue;
    }
    if (/^[({[]$/.test(token)) depth++;
    else if (/^[)}\]]$/.test(token)) depth--;
    if (isInClass && token === "}" && depth === 0) {
      isInClass = false;
      made += `${code.slice(from, pattern.lastIndex)};`;
      from = pattern.lastIndex;
    }
    const rest = depth === 0 && before !== "." ? code.slice(pattern.lastIndex) : "";
    const share = shareOf(token, rest, before);
    if (share !== undefined) {
      made += code.slice(from, index) + share;
      from = pattern.lastIndex;
      isInClass ||= token === "class";
    }
    before = token;
  }
  return depth === 0 && templates.length === 0 ? made + code.slice(from) : code;
}

/** Comments, strings, words, and single characters. */
const pattern =
  /\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|"(?:[^"\\\n]|\\[\s\S])*"|'(?:[^'\\\n]|\\[\s\S])*'|[\w$]+|\s+|[\s\S]/g;
const regexp = /\/(?:[^/\\\n[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/\w*/y;

/** The next token. A slash begins a regular expression unless a value ends before it. */
function next(code: string, before: string): RegExpExecArray | null {
  const found = pattern.exec(code);
  if (found?.[0] !== "/" || endsValue(before)) return found;
  regexp.lastIndex = found.index;
  const whole = regexp.exec(code);
  if (!whole) return found;
  pattern.lastIndex = regexp.lastIndex;
  return whole;
}

function endsValue(token: string): boolean {
  return (
    /[\w$)\]}"'`]$/.test(token) && !/^(?:return|typeof|case|in|of|await|void|delete)$/.test(token)
  );
}

function isIgnored(token: string): boolean {
  return /^\s|^\/[/*]/.test(token);
}

/** After the closing backtick, or after the next `${`. */
function endOfTemplate(code: string, from: number): number | undefined {
  for (let at = from; at < code.length; at++) {
    if (code[at] === "\\") at++;
    else if (code[at] === "`") return at + 1;
    else if (code[at] === "$" && code[at + 1] === "{") return at + 2;
  }
  return undefined;
}

function shareOf(token: string, rest: string, before: string): string | undefined {
  if (token === "const" && /^\s*[\w$[{]/.test(rest)) return "var";
  if (token === "let" && /^\s+[\w$[{]/.test(rest) && !/^\s+(?:in|of|instanceof)\b/.test(rest))
    return "var";
  const name =
    token === "class" && /^[;}]?$/.test(before) ? /^\s+([\w$]+)/.exec(rest)?.[1] : undefined;
  return name === undefined || name === "extends" ? undefined : `var ${name} = class`;
}
