import { stringify } from "smol-toml";
import type { JsonObject } from "../../base/json.ts";

/** Puts a table at the end of the file: the one place where it cannot change what stands before it. */
export function setInToml(text: string, path: readonly string[], value: JsonObject): string {
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  const table = stringify(
    path.reduceRight<JsonObject>((inner, key) => ({ [key]: inner }), value),
  ).trim();
  const start = text.trimEnd();
  // Without the empty tables above it: they may be there already.
  const block = table.replaceAll("\n", eol);
  return `${start}${start === "" ? "" : eol + eol}${block}${eol}`;
}

/** Takes out a table and those inside of it, each from its header to the next. Comments above the next header stay with it. */
export function removeFromToml(text: string, path: readonly string[]): string {
  const lines = text.split(/(?<=\n)/);
  const kept: string[] = [];
  let isInside = false;
  let isDropped = false;
  for (const line of lines) {
    const keys = headerOf(line);
    if (keys) {
      isInside = path.every((key, index) => keys[index] === key);
      // What was written above a table that stays belongs to it.
      isDropped ||= isInside;
    }
    if (!isInside) kept.push(line);
  }
  return isDropped ? kept.join("").replace(/(\r?\n){3,}$/, "$1") : text;
}

function headerOf(line: string): string[] | undefined {
  const [, inner] =
    /^\s*\[\[?\s*((?:[\w-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[\w-]+|"[^"]*"|'[^']*'))*)\s*\]\]?\s*(?:#.*)?$/.exec(
      line.trimEnd(),
    ) ?? [];
  if (inner === undefined) return undefined;
  return Array.from(
    inner.matchAll(/[\w-]+|"([^"]*)"|'([^']*)'/g),
    ([bare, double, single]) => double ?? single ?? bare,
  );
}
