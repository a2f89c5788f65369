import { Box, Text } from "ink";
import { createContext, type ReactElement, useContext } from "react";
import { makeHarmless } from "../../base/harmless.ts";
import type { Cell, Easel } from "./easel.ts";
import { cut, widthOf } from "./width.ts";

/** What a piece of text is there for; the theme says how that looks. */
export type Role =
  | "plain"
  | "strong"
  | "quiet"
  | "accent"
  | "good"
  | "warning"
  | "bad"
  | "selected"
  | "title"
  | "code"
  | "cursor";

export interface Span {
  readonly text: string;
  readonly role?: Role | undefined;
  /** A row of a picture, in place of the text. */
  readonly cells?: readonly Cell[] | undefined;
}

/** One line on the screen. */
export type Line = readonly Span[];

interface Look {
  readonly color?: string;
  readonly bold?: boolean;
  readonly dimColor?: boolean;
  readonly inverse?: boolean;
}

export interface Theme {
  readonly looks: Readonly<Record<Role, Look>>;
  /** For pictures in colours; undefined where there are none. */
  readonly easel: Easel | undefined;
}

export interface ThemeOptions {
  readonly hasColours: boolean;
  readonly easel?: Easel | undefined;
}

/** Without colours nothing is told by colour alone: marks and words say it too, everywhere. */
export function createTheme({ hasColours, easel }: ThemeOptions): Theme {
  const paint = (color: string, look: Look = {}): Look => (hasColours ? { ...look, color } : look);
  const looks = {
    plain: {},
    strong: { bold: true },
    quiet: { dimColor: true },
    accent: paint("cyan"),
    good: paint("green"),
    warning: paint("yellow"),
    bad: paint("red", { bold: true }),
    selected: { inverse: true },
    title: paint("cyan", { bold: true }),
    code: paint("yellow"),
    cursor: { inverse: true },
  };
  return { looks, easel };
}

export const ThemeContext = createContext<Theme>(createTheme({ hasColours: true }));

export interface LinesProps {
  readonly lines: readonly Line[];
  readonly columns: number;
  /** As many rows, whatever there is to show: what does not fit is left out, what is missing stays blank. */
  readonly rows?: number | undefined;
}

/** The one place where text reaches the terminal: whatever it came from, it is made harmless and fitted here. */
export function Lines({ lines, columns, rows = lines.length }: LinesProps): ReactElement {
  return (
    <Box flexDirection="column" width={columns} height={rows} flexShrink={0}>
      {lines.slice(0, rows).map((line, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a row is its place
        <Row key={index} line={line} columns={columns} />
      ))}
    </Box>
  );
}

function Row({ line, columns }: { readonly line: Line; readonly columns: number }): ReactElement {
  const theme = useContext(ThemeContext);
  const spans = fitLine(line, columns, theme.easel);
  return (
    <Box height={1} width={columns}>
      <Text wrap="truncate">
        {spans.length === 0 ? " " : null}
        {spans.map(({ text, role = "plain" }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a span is its place in the row
          <Text key={index} {...theme.looks[role]}>
            {text}
          </Text>
        ))}
      </Text>
    </Box>
  );
}

/** Harmless, and without what would begin another row. */
export function onOneRow(text: string): string {
  return makeHarmless(text).replaceAll("\n", " ");
}

function fitLine(line: Line, columns: number, easel: Easel | undefined): readonly Span[] {
  const fitted: Span[] = [];
  let left = columns;
  for (const { text, role, cells } of line) {
    if (left <= 0) break;
    const shown =
      cells && easel
        ? easel.hang(cells.length > left ? cells.slice(0, left) : cells)
        : cut(onOneRow(text), left);
    if (shown === "") continue;
    fitted.push({ text: shown, role });
    left -= widthOf(shown);
  }
  return fitted;
}
