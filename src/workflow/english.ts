/** Small pieces of English that drafts are put together from. */
export function joinWords(words: readonly string[]): string {
  return words.length < 2
    ? (words[0] ?? "")
    : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
}

/** At the end of a word. */
export function clip(text: string, max: number): string {
  if (text.length <= max) return text;
  return `${text.slice(0, max).replace(/\s+\S*$/, "")} …`;
}

export function article(noun: string): string {
  if (/staff$/.test(noun)) return `a member of the ${noun}`;
  return `${/^[aeiou]/i.test(noun) && !/^(?:user|uni|one)/i.test(noun) ? "an" : "a"} ${noun}`;
}

export function titleCase(text: string): string {
  return text.replace(
    /(^|[\s-])(\p{L})/gu,
    (_found, before: string, letter: string) => `${before}${letter.toUpperCase()}`,
  );
}

/** Small letters, but for "CSV" and its like. */
export function lowerCase(text: string): string {
  return text
    .split(" ")
    .map((word) => (/^[A-Z0-9]{2,}s?$/.test(word) ? word : word.toLowerCase()))
    .join(" ");
}

/** "1 file", "2,000 files". */
export function countOf(number: number, one: string, many: string): string {
  return `${number.toLocaleString("en")} ${number === 1 ? one : many}`;
}
