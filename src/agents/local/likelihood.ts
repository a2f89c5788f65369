import type { Considered } from "./evidence.ts";
import type { Option } from "./options.ts";
import type { Parameter } from "./parameters.ts";
import { signsOfNothing } from "./signs.ts";
import { weights } from "./weights.ts";

/** One option and how likely it is, among all options of its parameter and the possibility that none of them is meant. */
export interface Candidate {
  readonly option: Option;
  readonly likelihood: number;
}

export interface Weighed {
  readonly parameter: Parameter;
  /** Best first. */
  readonly candidates: readonly Candidate[];
  /** How likely it is that the task says nothing about the parameter. */
  readonly nothing: number;
}

/** Signs added up, and turned into shares that add up to one. */
export function weigh({ parameter, options }: Considered): Weighed {
  const [first] = options;
  if (first?.option.kind === "pair")
    return { parameter, candidates: [{ option: first.option, likelihood: 1 }], nothing: 0 };
  const scores = options.map(({ signs }) => scoreOf(signs));
  const silence = scoreOf(signsOfNothing(parameter));
  const most = Math.max(silence, ...scores);
  const powers = scores.map((score) => Math.exp(score - most));
  const nothing = Math.exp(silence - most);
  const total = powers.reduce((sum, power) => sum + power, nothing);
  const candidates = options
    .map(({ option }, at) => ({ option, likelihood: (powers[at] ?? 0) / total }))
    .sort((a, b) => b.likelihood - a.likelihood);
  return { parameter, candidates: join(candidates), nothing: nothing / total };
}

/** What tasks to learn from are too rare for, and common sense knows. */
const known: Readonly<Record<string, number>> = { "made for each other": 5 };
const worths: ReadonlyMap<string, number> = new Map(Object.entries({ ...weights, ...known }));

function scoreOf(signs: readonly string[]): number {
  let score = 0;
  for (const sign of signs) score += worths.get(sign) ?? 0;
  return score;
}

/** Read in two ways, the same words give the same value: then both count for it. */
function join(candidates: readonly Candidate[]): Candidate[] {
  const joined: { option: Option; likelihood: number }[] = [];
  for (const { option, likelihood } of candidates) {
    const same =
      typeof option.value === "object"
        ? undefined
        : joined.find(
            (other) =>
              other.option.value === option.value &&
              other.option.start < option.end &&
              option.start < other.option.end,
          );
    if (same) same.likelihood += likelihood;
    else joined.push({ option, likelihood });
  }
  return joined.sort((a, b) => b.likelihood - a.likelihood);
}
