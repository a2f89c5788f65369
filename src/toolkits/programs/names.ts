/** Names of toolkits, tools and properties as programs write them. */

/** A property or tool name in Lisp: `maxResults` and `max_results` become MAX-RESULTS. */
export function lispName(name: string): string {
  const known = lispNames.get(name);
  if (known !== undefined) return known;

  const made = name
    .replace(/([a-z0-9])([A-Z])/g, "$1-$2")
    .replace(/([A-Z])([A-Z][a-z])/g, "$1-$2")
    .replace(/[\s_.:/()'"`,;|\\]+/g, "-")
    .toUpperCase();
  if (name.length > nameLengthMax) return made;
  if (lispNames.size >= namesMax) lispNames.clear();
  lispNames.set(name, made);
  return made;
}

/** A cache: programs use the same few names over and over. */
const lispNames = new Map<string, string>();
const namesMax = 10_000;
const nameLengthMax = 100;

/** `create_issue` and `create-issue` become `createIssue`; other characters separate words, too. */
export function camelName(name: string): string {
  return name
    .replace(/[^A-Za-z0-9$]+([A-Za-z0-9$]?)/g, (_, first: string) => first.toUpperCase())
    .replace(/^[A-Z]+(?![a-z])|^[A-Z]/, (start) => start.toLowerCase());
}
