/** "001-photo-albums" as people say it. */
export function titleOf(name: string): string {
  const words = name.replace(/^[\d-]+/, "").replaceAll("-", " ");
  return words === "" ? name : `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
}

export function firstLine(content: readonly unknown[] | undefined): string {
  const [first] = content ?? [];
  const { text } = (first ?? {}) as { readonly text?: unknown };
  return typeof text === "string" ? (text.split("\n")[0] ?? "") : "done";
}
