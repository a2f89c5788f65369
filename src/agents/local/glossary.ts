/** What a description says its values stand for: "1 represents cleaning", "'CA' for California", "asc (ascending)". By value, in words. */
export function glossaryOf(
  description: string,
): readonly (readonly [value: string, meaning: string])[] {
  return [...description.matchAll(entries)].flatMap((match) => {
    const [, quoted, digits, meaning = ""] = match;
    const value = quoted ?? digits ?? "";
    const words =
      meaning
        .trim()
        .replace(/^(?:the|a|an)\s+/i, "")
        .split(/\s+(?:and|or|while|if|when|in|to)\s+/)[0]
        ?.trim() ?? "";
    return value !== "" && words.length > 1 && words.toLowerCase() !== value.toLowerCase()
      ? [[value, words] as const]
      : [];
  });
}

const entries =
  /(?:['"`]([^'"`\n]{1,30})['"`]|(?<![\p{L}\p{N}.-])(\d{1,4}))\s*(?:\(\s*|for\s+|=\s*|:\s*|means\s+|is\s+|as\s+|to\s+|indicates\s+|represents\s+|represent\s+|-\s+)['"]?(\p{L}[\p{L} ]{1,40})/gu;

const intl = new Map<string, Intl.DisplayNames>();

/** What a short code stands for all over the world: `da` is Danish, `EUR` the euro. */
export function meaningOfCode(code: string): readonly string[] {
  const kinds = /^[a-z]{2}$/.test(code)
    ? (["language"] as const)
    : /^[A-Z]{3}$/.test(code)
      ? (["currency"] as const)
      : /^[A-Z]{2}$/.test(code)
        ? (["region", "language"] as const)
        : [];
  return kinds.flatMap((type) => {
    let names = intl.get(type);
    if (!names) {
      names = new Intl.DisplayNames("en", { type, fallback: "none" });
      intl.set(type, names);
    }
    const name = names.of(type === "language" ? code.toLowerCase() : code);
    return name === undefined ? [] : [name];
  });
}

/** Words that mean the same where a choice is offered. */
const groups = [
  "buy purchase acquire",
  "delete remove erase discard",
  "add create new insert make",
  "update modify change edit alter",
  "start begin launch open on",
  "stop end halt off close",
  "cheap inexpensive affordable budget low-cost",
  "expensive pricey costly upscale luxury",
  "fast quick rapid express",
  "fastest quickest",
  "large big",
  "small little tiny",
  "comedy comic funny humor",
  "film movie",
  "car automobile vehicle",
  "city town",
  "male man men boy",
  "female woman women girl",
  "monthly month",
  "daily day",
  "weekly week",
  "yearly annual annually year",
  "hourly hour",
  "high highest maximum",
  "low lowest minimum",
  "theater theatre play broadway",
  "music concert song",
  "ascending increasing",
  "descending decreasing",
  "photo picture image",
  "complete done finished finish",
  "search find look",
  "send deliver",
  "carbohydrates carbs",
];
const synonyms = new Map<string, readonly string[]>();
for (const group of groups)
  for (const word of group.split(" "))
    synonyms.set(word, [
      ...(synonyms.get(word) ?? []),
      ...group.split(" ").filter((other) => other !== word),
    ]);

export function synonymsOf(word: string): readonly string[] {
  return synonyms.get(word.toLowerCase()) ?? [];
}
