/**
 * Names that a service may use. A model chooses tools by name, so a lookalike is treated as an
 * attack: `ca1culator` is refused if `calculator` exists.
 */

const toolkitPattern = /^[A-Za-z][A-Za-z0-9_-]{0,39}$/;
const functionPattern = /^[A-Za-z][A-Za-z0-9_-]{0,59}$/;
const reservedPrefixes = ["guildhall", "hall", "mcp", "speckit", "rpc", "system"];
/** The hall's own tools and other words that it uses. */
const reservedNames = new Set([
  "find_tools",
  "call_tool",
  "evaluate-lisp",
  "evaluate-js",
  "tools",
  "resources",
  "prompts",
  "health",
]);

/** Undefined if the name is allowed. */
export function findToolkitNameFault(name: string): string | undefined {
  if (!toolkitPattern.test(name))
    return "must start with a letter and have at most 40 characters of A–Z, a–z, 0–9, _ and -";
  if (name.includes("__"))
    return "must not contain two underscores in a row: they separate toolkit and tool";
  const lower = name.toLowerCase();
  const prefix = reservedPrefixes.find(
    (reserved) =>
      lower === reserved || lower.startsWith(`${reserved}_`) || lower.startsWith(`${reserved}-`),
  );
  if (prefix !== undefined) return `must not start with the reserved prefix "${prefix}"`;
  if (reservedNames.has(lower) || lower.endsWith("_agent")) return "is reserved";
  return undefined;
}

export function findFunctionNameFault(name: string): string | undefined {
  return functionPattern.test(name)
    ? undefined
    : "must start with a letter and have at most 60 characters of A–Z, a–z, 0–9, _ and -";
}

/** A different name that looks the same. */
export function findLookalike(name: string, others: Iterable<string>): string | undefined {
  const skeleton = skeletonOf(name);
  for (const other of others) if (other !== name && skeletonOf(other) === skeleton) return other;
  return undefined;
}

const lookalikes: Readonly<Record<string, string>> = {
  "0": "o",
  "1": "l",
  I: "l",
  "5": "s",
  m: "rn",
  w: "vv",
};

/** Equal for names that look alike: similar characters are merged, case and separators are dropped. */
export function skeletonOf(name: string): string {
  let skeleton = "";
  for (const character of name.normalize("NFKC"))
    if (character !== "_" && character !== "-")
      skeleton += lookalikes[character] ?? character.toLowerCase();
  return skeleton;
}
