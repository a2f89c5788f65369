/** Lower-case words of `deleteRepo`, `delete_repo`, `HTTPDelete`. */
export function wordsOf(name: string): readonly string[] {
  return name
    .normalize("NFKC")
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .replace(/([A-Z]+)([A-Z][a-z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== "");
}
