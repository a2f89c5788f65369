/** A property or a tool as Lisp writes it: `maxResults` and `max_results` are MAX-RESULTS. */
export function lispName(name: string): string {
  const known = names.get(name);
  if (known !== undefined) return known;
  const made = name
    .replace(/([a-z0-9])([A-Z])/g, "$1-$2")
    .replace(/([A-Z])([A-Z][a-z])/g, "$1-$2")
    .replace(/[\s_.:/()'"`,;|\\]+/g, "-")
    .toUpperCase();
  if (name.length > nameLengthMax) return made;
  if (names.size >= namesMax) names.clear();
  names.set(name, made);
  return made;
}

/** A program says the same few names over and over. */
const names = new Map<string, string>();
const namesMax = 10_000;
const nameLengthMax = 100;
