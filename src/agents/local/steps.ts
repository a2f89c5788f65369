/**
 * A task cut where it says that one thing comes after another: numbered lines, "then", "after that", "finally". One step where it does not.
 * What stands in quotes is never cut.
 */
export function stepsOf(task: string): readonly string[] {
  const numbered = readNumbered(task);
  if (numbered.length > 1) return numbered;
  const shielded = task.replace(/"[^"\n]*"|'[^'\n]*'(?!\p{L})|`[^`\n]*`|“[^”]*”/gu, (quoted) =>
    "\u0000".repeat(quoted.length),
  );
  const cuts = [...shielded.matchAll(joints)].map((match) => ({
    at: match.index,
    next: match.index + match[0].length,
  }));
  const parts: string[] = [];
  let from = 0;
  for (const { at, next } of cuts) {
    parts.push(task.slice(from, at));
    from = next;
  }
  parts.push(task.slice(from));
  const steps = parts.map(tidy).filter((part) => part !== "");
  // A "then" inside one wish ("if … then …") leaves a part without a verb and an object.
  return steps.length > 1 &&
    steps.length <= stepsMax &&
    steps.every((step) => step.split(/\s+/).length > 1) &&
    !/\bif\b[^.]*\bthen\b/i.test(task)
    ? steps
    : [task.trim()];
}

const stepsMax = 12;

const joints =
  /[,;.]?\s*(?:\band\s+)?(?:\bthen\b|\bafter that\b|\bafterwards\b|\bfollowed by\b|\bfinally\b|\blastly\b|\bnext\b(?=,))[,:]?\s+/gi;

function readNumbered(task: string): string[] {
  const marks = [...task.matchAll(/(?:^|\n|\s)(\d{1,2})[.)]\s+(?=\S)/g)];
  const isCounting =
    marks.length > 1 &&
    marks.length <= stepsMax &&
    marks.every((match, at) => Number(match[1]) === at + 1);
  if (!isCounting) return [];
  return marks.map((match, at) =>
    tidy(task.slice(match.index + match[0].length, marks[at + 1]?.index)),
  );
}

const tidy = (text: string): string =>
  text
    .trim()
    .replace(/^(?:first(?:ly)?|second(?:ly)?|third(?:ly)?|and)[,:]?\s+/i, "")
    .replace(/[,;.\s]+$/, "")
    .trim();

/** True for a step that speaks of what came before it: only that step's result could say what is meant. */
export function leansBack(step: string): boolean {
  return /\b(?:it|its|them|their|they|that|those|these|this|there|the (?:results?|output|answer|same|former|latter|above))\b/i.test(
    step,
  );
}
