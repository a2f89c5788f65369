/** Numbers to rows of the table. */

export function percentile(values, share) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)];
}

export const median = (values) => percentile(values, 0.5);

/** Three digits that matter. */
export const short = (value) =>
  value >= 1_000 ? Math.round(value).toLocaleString("en") : String(Number(value.toPrecision(3)));

/**
 * One row. A goal is `{ atMost }`, `{ below }`, `{ atLeast }` or nothing; what is not measured is
 * neither met nor missed.
 */
export function row(figure, measured, unit, goal = {}, note = "") {
  const { atMost, below, atLeast } = goal;
  const text =
    atMost !== undefined
      ? `≤ ${short(atMost)}`
      : below !== undefined
        ? `< ${short(below)}`
        : atLeast !== undefined
          ? `≥ ${short(atLeast)}`
          : "";
  const isJudged = measured !== undefined && text !== "";
  const isMet =
    measured <= (atMost ?? Number.POSITIVE_INFINITY) &&
    measured < (below ?? Number.POSITIVE_INFINITY) &&
    measured >= (atLeast ?? Number.NEGATIVE_INFINITY);
  return {
    figure,
    measured: measured ?? null,
    goal: text || null,
    unit,
    ok: isJudged ? isMet : null,
    note,
  };
}

/** The median over rounds of ours ÷ theirs, each round's pair measured side by side. */
export function ratioRow(figure, ours, theirs, unit, goal) {
  const ratios = ours.map((value, round) => value / theirs[round]);
  const range = `${short(Math.min(...ratios))}–${short(Math.max(...ratios))} over ${ratios.length} rounds`;
  return row(
    figure,
    median(ratios),
    "×",
    goal,
    `${range}; medians ${short(median(ours))} and ${short(median(theirs))} ${unit}`,
  );
}

/** The 99th percentile of many single times, with the median beside it. */
export function p99Row(figure, times, goal, note = "") {
  return row(
    figure,
    percentile(times, 0.99),
    "ms",
    goal,
    `p99 of ${times.length}; p50 ${short(median(times))} ms${note && `; ${note}`}`,
  );
}

export const messageOf = (error) => String(error?.message ?? error).split("\n")[0];
