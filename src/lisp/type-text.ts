import { named } from "./define.ts";
import { Float, listOf, type Value } from "./values.ts";

/** A type from its text: `list`, `(or (integer 1) null)`. Numbers stay numbers: a symbol made of one would be one of the language's. */
export function typeNamed(text: string): Value {
  const words = text.toUpperCase().match(/[()]|[^\s()]+/g) ?? [];
  const read = (): Value => {
    const word = words.shift() as string;
    if (word !== "(") return typeWord(word);
    const items: Value[] = [];
    while (words[0] !== ")") items.push(read());
    words.shift();
    return listOf(items);
  };
  return read();
}

function typeWord(word: string): Value {
  if (/^-?\d+$/.test(word)) return Number(word);
  return /^-?\d+\.\d+$/.test(word) ? new Float(Number(word)) : named(word);
}
