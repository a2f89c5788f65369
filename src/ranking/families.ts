import { fields } from "./document.ts";
import type { Counted } from "./postings.ts";

/** Two tools are alike when they have the same name and say nearly the same of themselves, whoever offers them. */
export function areAlike(a: Counted, b: Counted): boolean {
  const [left, right] = [ownWords(a), ownWords(b)];
  let shared = 0;
  for (const word of left) if (right.has(word)) shared++;
  return shared >= alikeShare * (left.size + right.size - shared);
}

const alikeShare = 0.8;
/** Name, description, parameters and their choices: what a tool says, not what its toolkit does. */
const own = (["name", "description", "parameters", "choices"] as const).map((field) =>
  fields.indexOf(field),
);

function ownWords({ words, counts }: Counted): Set<number> {
  return new Set(
    words.filter((_, at) => own.some((column) => (counts[at * fields.length + column] ?? 0) > 0)),
  );
}
