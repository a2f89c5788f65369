// What a task mentions that could be the value of something: quoted words, numbers, days, links, paths, names, phrases, lists. Read once for
// a task, whatever the tools: which of it goes where is decided later.

import { readLists } from "./lists.ts";
import { readFormulas, readJson, readMarked, readQuoted } from "./marked.ts";
import type { Mention, MentionKind, Reading } from "./mention.ts";
import { momentsOf } from "./moments.ts";
import { readNames } from "./names.ts";
import { readPhrases, readRests } from "./phrases.ts";
import { quantitiesOf } from "./quantities.ts";
import { tokenAt, tokensOf } from "./tokens.ts";

const charactersMax = 8_000;
const mentionsMax = 400;

export function readTask(task: string, today?: Date): Reading {
  const text = task.slice(0, charactersMax);
  const tokens = tokensOf(text);
  const make = (
    kind: MentionKind,
    start: number,
    end: number,
    more: Partial<Mention> = {},
  ): Mention => {
    const first = tokenAt(tokens, start);
    return {
      kind,
      start,
      end,
      text: text.slice(start, end),
      first,
      last: Math.max(first + 1, tokenAt(tokens, end)),
      ...more,
    };
  };
  const solid = [...readJson(text, make), ...readQuoted(text, make), ...readMarked(text, make)];
  const moments = momentsOf(text, today).map((moment) =>
    make("moment", moment.start, moment.end, { moment }),
  );
  const numbers = quantitiesOf(text)
    .filter(
      ({ start, end }) =>
        !solid.some(
          (other) =>
            other.kind !== "json" &&
            other.kind !== "quoted" &&
            other.start <= start &&
            end <= other.end &&
            other.end - other.start > end - start &&
            !counts.test(other.text),
        ),
    )
    .map((quantity) => make("number", quantity.start, quantity.end, { quantity }));
  const formulas = [...readFormulas(text, make)];
  const names = readNames(text, tokens, make);
  const phrases = readPhrases(tokens, make);
  // The terms of a formula are not meant one by one.
  const isFree = ({ start, end }: Mention): boolean =>
    !formulas.some((formula) => formula.start <= start && end <= formula.end);
  const plain = [...solid, ...moments, ...numbers, ...names, ...phrases].filter(isFree);
  const single = [...formulas, ...plain].slice(0, mentionsMax);
  return {
    text,
    lower: text.toLowerCase(),
    tokens,
    mentions: [...single, ...readLists(text, single, make), ...readRests(text, tokens, make)],
  };
}

/** "2-bedroom", "two-day": a number, and what is counted. */
const counts = /^(?:\d+|one|two|three|four|five|six|seven|eight|nine|ten)-\p{L}+$/iu;
