import type { Candidate, Weighed } from "./likelihood.ts";

/** How many possibilities are looked at before the best so far must do. */
const stepsMax = 4_000;
const candidatesMax = 8;

/**
 * One candidate, or none, for each parameter, so that no words of the task are used twice and the whole is as likely as can be.
 * A required parameter goes without a value only when nothing is left for it.
 */
export function assign(weighed: readonly Weighed[]): readonly (Candidate | undefined)[] {
  // Those that are surest decide first: then the bound cuts early.
  const order = weighed.map((_, at) => at).sort((a, b) => topOf(weighed[b]) - topOf(weighed[a]));
  const choices = order.map((at) => listChoices(weighed[at] as Weighed));
  const bestLeft = choices.map(() => 0);
  for (let at = choices.length - 1; at >= 0; at--)
    bestLeft[at] = (bestLeft[at + 1] ?? 0) + (choices[at]?.[0]?.worth ?? 0);
  let steps = 0;
  let best = Number.NEGATIVE_INFINITY;
  let chosen: readonly (Candidate | undefined)[] = [];
  const taken: (Candidate | undefined)[] = [];

  function search(at: number, worth: number): void {
    if (worth + (bestLeft[at] ?? 0) <= best || steps++ > stepsMax) return;
    if (at === choices.length) {
      best = worth;
      chosen = [...taken];
      return;
    }
    for (const { candidate, worth: own } of choices[at] ?? []) {
      if (candidate && taken.some((other) => other && overlap(candidate, other))) continue;
      taken.push(candidate);
      search(at + 1, worth + own);
      taken.pop();
    }
  }

  search(0, 0);
  const result: (Candidate | undefined)[] = weighed.map(() => undefined);
  for (const [place, at] of order.entries()) result[at] = chosen[place];
  return result;
}

const topOf = (weighed: Weighed | undefined): number => weighed?.candidates[0]?.likelihood ?? 0;
const logOf = (likelihood: number): number => Math.log(Math.max(1e-9, likelihood));
/** What it costs to leave a required parameter empty: more than any bad candidate, so that a person sees what was thought of. */
const emptyPenalty = -30;

function listChoices({
  parameter,
  candidates,
  nothing,
}: Weighed): { readonly candidate: Candidate | undefined; readonly worth: number }[] {
  const some = candidates
    .slice(0, candidatesMax)
    .map((candidate) => ({ candidate, worth: logOf(candidate.likelihood) }));
  const none = {
    candidate: undefined,
    worth: parameter.isRequired ? emptyPenalty : logOf(nothing),
  };
  return [...some, none].sort((a, b) => b.worth - a.worth);
}

function overlap({ option: a }: Candidate, { option: b }: Candidate): boolean {
  return !a.isShared && !b.isShared && a.start < b.end && b.start < a.end;
}
