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
  const lines: readonly Line[] = [
    [{ text: `Keys: ${title}`, role: "title" }],
    ...own.map(bindingLine),
    [],
    [{ text: "Everywhere", role: "title" }],
    ...everywhere.map(bindingLine),
  ];
  const count = Math.max(1, Math.min(Math.floor(columns / columnMin), Math.ceil(lines.length / rows)));
  const width = Math.floor((columns + gap) / count) - gap;
  return (
    <Box columnGap={gap}>
      {Array.from({ length: count }, (_value, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a column is its place
        <Lines key={index} lines={lines.slice(index * rows, (index + 1) * rows)} columns={width} rows={rows} />
      ))}
    </Box>
  );
}

function bindingLine({ keys, says }: Binding): Line {
  return [{ text: pad(keys.map(showKey).join(" "), keyColumns), role: "accent" }, { text: ` ${says}` }];
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
