/** Two texts line by line: removed lines, added lines, and a little of what is around them. */
export function Diff({ before, after }: { readonly before: string; readonly after: string }) {
  const lines = withoutLongRuns(compareLines(before.split("\n"), after.split("\n")));
  return (
    <section class="diff" aria-label="Changes" tabIndex={0}>
      {lines.map(({ kind, text }, index) => (
        <div key={index} class={kind}>
          {signs[kind]} {text || " "}
        </div>
      ))}
    </section>
  );
}

interface Line {
  readonly kind: "same" | "added" | "removed" | "gap";
  readonly text: string;
}

const signs = { same: " ", added: "+", removed: "−", gap: "⋯" } as const;
const aroundMax = 3;
/** Beyond it the whole text counts as changed: the table would be large. */
const cellsMax = 4_000_000;

/** The longest common part, by the usual table. */
function compareLines(before: readonly string[], after: readonly string[]): readonly Line[] {
  const width = after.length + 1;
  if (before.length * width > cellsMax)
    return [
      ...before.map((text): Line => ({ kind: "removed", text })),
      ...after.map((text): Line => ({ kind: "added", text })),
    ];
  const lengths = new Uint32Array((before.length + 1) * width);
  const at = (i: number, j: number): number => lengths[i * width + j] ?? 0;
  for (let i = before.length - 1; i >= 0; i--)
    for (let j = after.length - 1; j >= 0; j--)
      lengths[i * width + j] =
        before[i] === after[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));

  const lines: Line[] = [];
  let [i, j] = [0, 0];
  while (i < before.length || j < after.length) {
    if (i < before.length && j < after.length && before[i] === after[j]) {
      lines.push({ kind: "same", text: before[i] ?? "" });
      i += 1;
      j += 1;
    } else if (j >= after.length || (i < before.length && at(i + 1, j) >= at(i, j + 1))) {
      lines.push({ kind: "removed", text: before[i] ?? "" });
      i += 1;
    } else {
      lines.push({ kind: "added", text: after[j] ?? "" });
      j += 1;
    }
  }
  return lines;
}

function withoutLongRuns(lines: readonly Line[]): readonly Line[] {
  const isNear = (index: number): boolean =>
    lines
      .slice(Math.max(0, index - aroundMax), index + aroundMax + 1)
      .some(({ kind }) => kind !== "same");
  return lines.flatMap((line, index): readonly Line[] => {
    if (isNear(index)) return [line];
    return index === 0 || isNear(index - 1) ? [{ kind: "gap", text: "" }] : [];
  });
}
