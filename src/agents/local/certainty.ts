import type { Candidate, Weighed } from "./likelihood.ts";
import type { Option } from "./options.ts";
import { type Parameter, wantsCode, wantsState } from "./parameters.ts";

/** `certain`: may be acted on. `likely`: to be looked at. `guess`: the best there was. */
export type Certainty = "certain" | "likely" | "guess";

/** More than cross-validation asked for: what is wrong is wrong with tools nobody has seen before. */
const certainFrom = 0.97;
const likelyFrom = 0.5;

/** However likely a value is, it is not certain when it needed a turn that may be wrong, or when the schema wants it in a form it does not have. */
export function certaintyOf(
  { option, likelihood }: Candidate,
  { parameter, candidates }: Weighed,
): Certainty {
  if (likelihood < likelyFrom) return "guess";
  const isFirst = candidates[0]?.option === option;
  return likelihood >= certainFrom && isFirst && !isBold(option) && isInForm(option, parameter)
    ? "certain"
    : "likely";
}

const boldTurns = new Set<Option["turn"]>(["relative", "sign", "unscaled", "zone"]);
const boldFinds = new Set<Option["how"]>(["short", "some", "synonym"]);

function isBold({ turn, how, kind, value }: Option): boolean {
  // Of several choices in a task one may have gone unseen.
  const isChosenList = kind === "choice" && Array.isArray(value);
  return (
    boldTurns.has(turn) ||
    ((kind === "choice" || kind === "meaning") && boldFinds.has(how)) ||
    kind === "rest" ||
    isChosenList
  );
}

function isInForm({ value, kind }: Option, parameter: Parameter): boolean {
  if (parameter.choices || typeof value !== "string") return true;
  if (wantsCode(parameter) && /\s/.test(value)) return false;
  return !(
    wantsState(parameter) &&
    (kind === "name" || kind === "phrase" || kind === "quoted" || kind === "example") &&
    !value.includes(",")
  );
}
