import { Box } from "ink";
import type { ReactElement } from "react";
import type { Binding } from "../view.ts";
import { type Line, Lines } from "./line.tsx";
import { pad } from "./width.ts";

export interface HelpProps {
  readonly title: string;
  /** Those of the screen, then those that hold everywhere. */
  readonly groups: readonly (readonly Binding[])[];
  readonly columns: number;
  readonly rows: number;
}

const keyColumns = 16;
const columnMin = 38;
const gap = 2;

/** All keys of a screen, in as many columns as are needed and fit. */
export function Help({ title, groups, columns, rows }: HelpProps): ReactElement {
  const [own = [], everywhere = []] = groups;
  const blocks = [titled(`Keys: ${title}`, own), titled("Everywhere", everywhere)];
  const lines = blocks.flatMap((block, index) => (index === 0 ? block : [[], ...block]));
  const count = Math.max(
    1,
    Math.min(Math.floor(columns / columnMin), Math.ceil(lines.length / rows)),
  );
  const width = Math.floor((columns + gap) / count) - gap;
  // Beside each other where each fits, so that no heading stands alone at the foot of a column.
  const isApart = count === blocks.length && blocks.every((block) => block.length <= rows);
  const shown = isApart
    ? blocks
    : Array.from({ length: count }, (_value, index) =>
        lines.slice(index * rows, (index + 1) * rows),
      );
  return (
    <Box columnGap={gap}>
      {shown.map((column, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a column is its place
        <Lines key={index} lines={column} columns={width} rows={rows} />
      ))}
    </Box>
  );
}

function titled(title: string, bindings: readonly Binding[]): readonly Line[] {
  return [[{ text: title, role: "title" }], ...bindings.map(bindingLine)];
}

function bindingLine({ keys, says }: Binding): Line {
  return [
    { text: pad(keys.map(showKey).join(" "), keyColumns), role: "accent" },
    { text: ` ${says}` },
  ];
}

const shownKeys: Readonly<Record<string, string>> = {
  up: "↑",
  down: "↓",
  left: "←",
  right: "→",
  enter: "Enter",
  esc: "Esc",
  tab: "Tab",
  space: "Space",
  pageup: "PgUp",
  pagedown: "PgDn",
  home: "Home",
  end: "End",
  f1: "F1",
};

/** As it is printed on the key. */
export function showKey(name: string): string {
  if (name.startsWith("ctrl+")) return `^${name.slice(5).toUpperCase()}`;
  if (name.startsWith("alt+")) return `Alt-${name.slice(4)}`;
  if (name.startsWith("shift+")) return `Shift-${showKey(name.slice(6))}`;
  return shownKeys[name] ?? name;
}
