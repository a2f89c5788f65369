/**
 * Which names a service may give itself. A model chooses tools by name, so a name that reads like another one is an
 * attack, not a coincidence: `ca1culator` must not stand beside `calculator`.
 */

const toolkitPattern = /^[A-Za-z][A-Za-z0-9_-]{0,39}$/;
const functionPattern = /^[A-Za-z][A-Za-z0-9_-]{0,59}$/;
const reservedPrefixes = ["guildhall", "hall", "mcp", "speckit", "rpc", "system"];
/** The hall's own tools, which have no prefix. */
const reservedNames = new Set([
  "find_tools",
  "call_tool",
  "evaluate-lisp",
  "tools",
  "resources",
  "prompts",
  "health",
]);

/** What is wrong with a toolkit's name, undefined when nothing is. */
export function findToolkitNameFault(name: string): string | undefined {
  if (!toolkitPattern.test(name))
    return "must begin with a letter and have at most 40 characters of A–Z, a–z, 0–9, _ and -";
  if (name.includes("__"))
    return "must not contain two underscores in a row: they stand between toolkit and tool";
  const lower = name.toLowerCase();
  const prefix = reservedPrefixes.find(
    (reserved) =>
      lower === reserved || lower.startsWith(`${reserved}_`) || lower.startsWith(`${reserved}-`),
  );
  if (prefix !== undefined) return `must not begin with "${prefix}": it is the hall's own`;
  if (reservedNames.has(lower) || lower.endsWith("_agent")) return "is a name of the hall's own";
  return undefined;
}

export function findFunctionNameFault(name: string): string | undefined {
  return functionPattern.test(name)
    ? undefined
    : "must begin with a letter and have at most 60 characters of A–Z, a–z, 0–9, _ and -";
}

/** The name of another thing that reads the same but is written differently. */
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

/** What the eye keeps of a name: characters that look alike become one, separators and case are gone. */
export function skeletonOf(name: string): string {
  let skeleton = "";
  for (const character of name.normalize("NFKC"))
    if (character !== "_" && character !== "-")
      skeleton += lookalikes[character] ?? character.toLowerCase();
  return skeleton;
}
