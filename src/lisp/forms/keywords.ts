// Keywords in definitions are known by name: a session makes its own symbol for each that the library did not have before.
import { Sym, sharedKeywords } from "../symbol.ts";
import type { Value } from "../values.ts";

export const isKeyword = (value: Value | undefined, name: string): boolean =>
  value instanceof Sym && value.pkg === sharedKeywords && value.name === name;

/** The value behind a keyword in a list of keywords and values. */
export function optionOf(options: readonly Value[], name: string): Value | undefined {
  const at = options.findIndex((item, index) => index % 2 === 0 && isKeyword(item, name));
  return at < 0 ? undefined : options[at + 1];
}
