import type { Limits } from "./limits.ts";

/**
 * One pass over a message before JSON.parse sees it, for the three things JSON.parse does not tell:
 * how deep it is, how many values it holds, and whether a key that decides what happens is there twice.
 * Malformed text may pass; JSON.parse refuses it next.
 */
export function findFault(
  text: string,
  limits: Pick<Limits, "depthMax" | "nodesMax">,
): string | undefined {
  lastKeyAt = -1;
  let depth = 0;
  let nodes = 0;
  let isKey = false;
  let messageDepth = 1;
  let seen = 0;
  let paramsDepth = 0;
  let hasName = false;
  let key = "";
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    switch (code) {
      case quote: {
        const end = endOfString(text, i);
        if (!isKey) nodes++;
        else if (depth === messageDepth) {
          lastKeyAt = i;
          key = readKey(text, i, end);
          const bit = keyBit(key);
          if ((seen & bit) !== 0) return `the key "${key}" is there twice`;
          seen |= bit;
        } else if (depth === paramsDepth && readKey(text, i, end) === "name") {
          if (hasName) return 'the key "name" is there twice';
          hasName = true;
        }
        i = end;
        break;
      }
      case openBrace:
      case openBracket:
        nodes++;
        if (depth >= limits.depthMax) return `nested deeper than ${limits.depthMax} levels`;
        containers[++depth] = code;
        if (depth === 1 && code === openBracket) messageDepth = 2;
        else if (depth === messageDepth) {
          seen = 0;
          paramsDepth = 0;
        } else if (depth === messageDepth + 1) {
          paramsDepth = code === openBrace && key === "params" ? depth : 0;
          hasName = false;
        }
        isKey = code === openBrace;
        break;
      case closeBrace:
      case closeBracket:
        if (depth > 0) depth--;
        isKey = false;
        break;
      case comma:
        isKey = containers[depth] === openBrace;
        break;
      case colon:
        isKey = false;
        break;
      case space:
      case tab:
      case newline:
      case carriageReturn:
        break;
      default:
        nodes++;
        while (i + 1 < text.length && isScalar(text.charCodeAt(i + 1))) i++;
    }
    if (nodes > limits.nodesMax) return `more than ${limits.nodesMax} values`;
  }
  return undefined;
}

/** Where the last key of the message itself began, in the text that was looked at last: what follows it goes to the end. */
export function lastKeyOfScan(): number {
  return lastKeyAt;
}

let lastKeyAt = -1;

const quote = 0x22;
const backslash = 0x5c;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const comma = 0x2c;
const colon = 0x3a;
const space = 0x20;
const tab = 0x09;
const newline = 0x0a;
const carriageReturn = 0x0d;

/** Which container is open at each depth. Shared: a scan is one synchronous pass. */
const containers: number[] = [];

/** Numbers and literals: letters, digits, `+ - .`; everything else ends them. */
function isScalar(code: number): boolean {
  return (
    (code >= 0x30 && code <= 0x39) ||
    (code >= 0x41 && code <= 0x5a) ||
    (code >= 0x61 && code <= 0x7a) ||
    code === 0x2e ||
    code === 0x2d ||
    code === 0x2b
  );
}

function endOfString(text: string, start: number): number {
  let end = start;
  for (;;) {
    end = text.indexOf('"', end + 1);
    if (end === -1) return text.length;
    let slashes = 0;
    while (text.charCodeAt(end - 1 - slashes) === backslash) slashes++;
    if (slashes % 2 === 0) return end;
  }
}

function readKey(text: string, start: number, end: number): string {
  const raw = text.slice(start + 1, end);
  if (!raw.includes("\\")) return raw;
  try {
    return JSON.parse(`"${raw}"`) as string;
  } catch {
    // A broken escape: JSON.parse will refuse the whole message, with the better message.
    return raw;
  }
}

function keyBit(key: string): number {
  switch (key) {
    case "jsonrpc":
      return 1;
    case "id":
      return 2;
    case "method":
      return 4;
    case "params":
      return 8;
    case "result":
      return 16;
    case "error":
      return 32;
    default:
      return 0;
  }
}
