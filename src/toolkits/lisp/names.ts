/** A property or a tool as Lisp writes it: `maxResults` and `max_results` are MAX-RESULTS. */
export function lispName(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, "$1-$2")
    .replace(/([A-Z])([A-Z][a-z])/g, "$1-$2")
    .replace(/[\s_.:/()'"`,;|\\]+/g, "-")
    .toUpperCase();
}
