import type { Reading } from "./mention.ts";
import type { Option } from "./options.ts";
import type { Parameter } from "./parameters.ts";
import type { Token } from "./tokens.ts";

/** How near the name of a parameter stands to a value. */
export interface Nearness {
  /** Words between the parameter's name and the value, those that only connect not counted. */
  readonly distance: number;
  readonly side: "before" | "after" | "inside" | "none";
  /** Share of the name's words that stand near. */
  readonly share: number;
}

/** The distance of what is not near at all. */
export const far = 99;

const connecting = new Set(
  "of is are was = : as to the a an be should with at equal equals equal named called on for being will my in its it and ( ' \" ` - # id number value name".split(
    " ",
  ),
);

export function distanceTo(
  { words, path }: Parameter,
  option: Option,
  { tokens }: Reading,
): Nearness {
  const span = option.mention ?? spanOf(option, tokens);
  let best: Nearness = { distance: far, side: "none", share: 0 };
  const named = new Set(words);
  const name = path.at(-1)?.toLowerCase();
  let shared = 0;
  for (let step = 1, walked = 0; step <= 9; step++) {
    const token = tokens[span.first - step];
    if (!token || (token.opensSentence && step > 1 && tokens[span.first - step + 1]?.opensSentence))
      break;
    if (named.has(token.stem) || token.lower === name) {
      if (walked < best.distance) best = { distance: walked, side: "before", share: 0 };
      shared++;
    } else if (/^[.?!;]$/.test(token.text)) break;
    else if (!connecting.has(token.lower)) walked++;
    if (token.text === ",") walked++;
  }
  for (let step = 0, walked = 0; step <= 4; step++) {
    const token = tokens[span.last + step];
    if (!token || /^[.?!;]$/.test(token.text)) break;
    if (named.has(token.stem) || token.lower === name) {
      if (walked + 0.5 < best.distance) best = { distance: walked + 0.5, side: "after", share: 0 };
      shared++;
    } else if (!connecting.has(token.lower)) walked++;
    if (token.text === ",") walked += 2;
  }
  return { ...best, share: words.length === 0 ? 0 : Math.min(1, shared / words.length) };
}

/** The tokens an option covers. */
export function spanOf(
  { start, end }: Option,
  tokens: readonly Token[],
): { first: number; last: number } {
  const first = tokens.findIndex((token) => token.end > start);
  const after = tokens.findIndex((token) => token.start >= end);
  return {
    first: first === -1 ? tokens.length : first,
    last: after === -1 ? tokens.length : after,
  };
}
