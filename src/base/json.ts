import { hash } from "node:crypto";
import { HallError } from "./errors.ts";

export type Json =
  | null
  | boolean
  | number
  | string
  | readonly Json[]
  | { readonly [key: string]: Json };

/** An object from the wire. Its values are `unknown`: each reader checks what it needs. */
export type JsonObject = { readonly [key: string]: unknown };

/** Undefined if the text is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The caller decides what other text means.
    return undefined;
  }
}

/** Undefined if the text is not a JSON object. */
export function parseObject(text: string): JsonObject | undefined {
  const value = parseJson(text);
  return isObject(value) ? value : undefined;
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Throws SERIALIZATION for a value that JSON cannot carry, or would change silently. `subject` begins the message. */
export function requireJson(value: unknown, subject: string): void {
  const fault = findFault(value, "", new Set());
  if (fault !== undefined)
    throw new HallError("SERIALIZATION", `${subject} cannot be written as JSON: ${fault}`, {
      hint: "Return plain objects, lists, texts, finite numbers, booleans and null.",
    });
}

function findFault(value: unknown, path: string, outer: Set<unknown>): string | undefined {
  const at = path === "" ? "it" : path;
  if (typeof value === "number" && !Number.isFinite(value)) return `${at} is ${value}`;
  if (typeof value === "bigint" || typeof value === "function" || typeof value === "symbol")
    return `${at} is a ${typeof value}`;
  if (typeof value !== "object" || value === null) return undefined;
  if (outer.has(value)) return `${at} contains itself`;
  if (value instanceof Map || value instanceof Set) return `${at} is a ${value.constructor.name}`;
  if ("toJSON" in value) return undefined;
  outer.add(value);
  for (const [key, item] of Object.entries(value)) {
    const fault = findFault(item, `${path}/${key}`, outer);
    if (fault !== undefined) return fault;
  }
  outer.delete(value);
  return undefined;
}

/**
 * A copy with sorted keys, for files that people read; the keys below `kept` keep their order. To
 * hash or compare, see `writeSorted`.
 */
export function sortKeys(value: unknown, kept?: string, isKept = false): unknown {
  if (Array.isArray(value)) return value.map((item) => sortKeys(item, kept));
  if (!isObject(value)) return value;
  const keys = Object.keys(value);
  const ordered = isKept ? keys : keys.sort();
  return Object.fromEntries(ordered.map((key) => [key, sortKeys(value[key], kept, key === kept)]));
}

/** SHA-256 of the value as JSON with sorted keys, as base64url: the order of keys does not matter. */
export function hashOf(value: unknown): string {
  return hashText(writeSorted(value));
}

export function hashText(text: string): string {
  return hash("sha256", text, "base64url");
}

/**
 * Compact JSON with all keys sorted as text. A copy of `sortKeys` cannot do that: objects always
 * have keys such as "10" first. Empty for what JSON leaves out.
 */
export function writeSorted(value: unknown): string {
  const text = JSON.stringify(value) as string | undefined;
  return text === undefined ? "" : sortText(text);
}

/** Sorts the keys in a text that `JSON.stringify` wrote, which takes half the time of parsing and writing it. */
export function sortText(text: string): string {
  return new KeySorter(text).value() ?? text;
}

/** Its methods read a part of the text and return it with sorted keys, or undefined if they are sorted already. */
class KeySorter {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  value(): string | undefined {
    switch (this.#text[this.#at]) {
      case "{":
        return this.#object();
      case "[":
        return this.#array();
      case '"':
        return this.#skipString();
      default:
        while (!isEnd(this.#text[this.#at])) this.#at++;
        return undefined;
    }
  }

  #object(): string | undefined {
    const members: { readonly key: string; readonly text: string }[] = [];
    let isSorted = true;
    while (this.#hasItem("}")) {
      const keyAt = this.#at;
      this.#skipString();
      const key = readKey(this.#text.slice(keyAt, this.#at));
      const valueAt = ++this.#at;
      const sorted = this.value();
      const text =
        sorted === undefined
          ? this.#text.slice(keyAt, this.#at)
          : this.#text.slice(keyAt, valueAt) + sorted;
      isSorted &&= sorted === undefined && (members.at(-1)?.key ?? "") <= key;
      members.push({ key, text });
    }
    if (isSorted) return undefined;
    members.sort((a, b) => (a.key < b.key ? -1 : 1));
    return `{${members.map(({ text }) => text).join(",")}}`;
  }

  #array(): string | undefined {
    const items: string[] = [];
    let isSorted = true;
    while (this.#hasItem("]")) {
      const from = this.#at;
      const sorted = this.value();
      isSorted &&= sorted === undefined;
      items.push(sorted ?? this.#text.slice(from, this.#at));
    }
    return isSorted ? undefined : `[${items.join(",")}]`;
  }

  /** Goes past the bracket or comma before the next item, or past the closing bracket. */
  #hasItem(closing: "}" | "]"): boolean {
    const isOver = this.#text[this.#at] === closing || this.#text[this.#at + 1] === closing;
    this.#at += this.#text[this.#at] === closing || !isOver ? 1 : 2;
    return !isOver;
  }

  #skipString(): undefined {
    let end = this.#at;
    do end = this.#text.indexOf('"', end + 1);
    while (isEscaped(this.#text, end));
    this.#at = end + 1;
  }
}

function readKey(written: string): string {
  return written.includes("\\") ? (JSON.parse(written) as string) : written.slice(1, -1);
}

function isEscaped(text: string, at: number): boolean {
  let first = at;
  while (text[first - 1] === "\\") first--;
  return (at - first) % 2 === 1;
}

function isEnd(character: string | undefined): boolean {
  return character === "," || character === "}" || character === "]" || character === undefined;
}

/** The texts in the content of a result. */
export function textsOf(content: readonly JsonObject[]): string {
  return content.flatMap(({ text }) => (typeof text === "string" ? [text] : [])).join("\n");
}

/**
 * A result with text only, as the JSON that a server sent. Only for a call whose answer is passed on: a
 * copy by spreading would be empty.
 */
export class TextOutcome {
  readonly #json: string;
  #content: readonly JsonObject[] | undefined;
  readonly [field: string]: unknown;

  private constructor(json: string) {
    this.#json = json;
  }

  /** Undefined for any other result, and for text that is not JSON. */
  static read(json: string): TextOutcome | undefined {
    return textResult.test(json) ? new TextOutcome(json) : undefined;
  }

  get json(): string {
    return this.#json;
  }

  get content(): readonly JsonObject[] {
    this.#content ??= (JSON.parse(this.#json) as { content: readonly JsonObject[] }).content;
    return this.#content;
  }

  toJSON(): JsonObject {
    return { content: this.content };
  }
}

/** Everything but quotes, backslashes and control characters, and escapes. */
const jsonString = /"[ !#-[\]-\uffff]*(?:\\(?:["\\/bfnrt]|u[\da-fA-F]{4})[ !#-[\]-\uffff]*)*"/
  .source;
const textItem = `\\{"type":"text","text":${jsonString}\\}`;
const textResult = new RegExp(
  `^\\{"content":\\[${textItem}(?:,${textItem})*\\](?:,"isError":false)?\\}$`,
);
