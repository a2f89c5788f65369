import { fitRows, onOneRow, type Role, type ScreenLine, textLine } from "./line.ts";
import { pad, widthOf } from "./text.ts";

export interface Column<T> {
  readonly title: string;
  /** The one column without a width gets the remaining space. */
  readonly width?: number;
  readonly side?: "left" | "right";
  /** A field of the item, or its text. */
  readonly text: keyof T | ((item: T) => string);
  readonly role?: Role | ((item: T) => Role);
}

export interface TableOptions<T> {
  readonly columns: readonly Column<T>[];
  readonly items: readonly T[];
  isSelected(item: T): boolean;
  readonly width: number;
  readonly rows: number;
  /** Shown when there are no items. */
  readonly empty: string;
}

/** A title and as many rows around the selected one as fit. */
export function tableLines<T>({
  columns,
  items,
  isSelected,
  width,
  rows,
  empty,
}: TableOptions<T>): readonly ScreenLine[] {
  const widths = widthsOf(columns, width - mark.length);
  const titles = columns.map(({ title, side }, index) => pad(title, widths[index] ?? 0, side));
  const head = textLine(noMark + titles.join(" "), "quiet");
  if (items.length === 0) return fitRows([head, textLine(noMark + empty, "quiet")], rows);
  const first = firstShown(items.findIndex(isSelected), items.length, rows - 1);
  const shown = items.slice(first, first + Math.max(0, rows - 1));
  return fitRows(
    [
      head,
      ...shown.map((item) => rowLine(item, { columns, widths, isSelected: isSelected(item) })),
    ],
    rows,
  );
}

const nameColumnsMin = 16;

/** A name column gets what the names need, up to half of the width. */
export function nameWidth(items: readonly { readonly name: string }[], width: number): number {
  const longest = items.reduce((most, { name }) => Math.max(most, widthOf(name)), nameColumnsMin);
  return Math.min(longest, Math.floor(width / 2));
}

/** Selection is visible without colours, too. */
const mark = "› ";
const noMark = "  ";

const restColumnsMin = 12;

/** Columns that do not fit shrink by the same share. */
function widthsOf<T>(columns: readonly Column<T>[], width: number): readonly number[] {
  const room = Math.max(0, width - columns.length + 1);
  const wanted = columns.reduce((sum, column) => sum + (column.width ?? 0), 0);
  const share = Math.min(1, Math.max(0, room - restColumnsMin) / Math.max(1, wanted));
  const taken = columns.reduce((sum, column) => sum + Math.floor((column.width ?? 0) * share), 0);
  return columns.map((column) =>
    column.width === undefined ? room - taken : Math.floor(column.width * share),
  );
}

/** The first item to show, with the selected one in the middle where possible. */
export function firstShown(selected: number, count: number, rows: number): number {
  return Math.max(0, Math.min(selected - Math.floor(rows / 2), count - rows));
}

interface RowLayout<T> {
  readonly columns: readonly Column<T>[];
  readonly widths: readonly number[];
  readonly isSelected: boolean;
}

function rowLine<T>(item: T, { columns, widths, isSelected }: RowLayout<T>): ScreenLine {
  const cells = columns.map(({ text, role, side }, index) => {
    const shown = typeof text === "function" ? text(item) : String(item[text]);
    const usual = typeof role === "function" ? role(item) : role;
    return {
      text:
        pad(onOneRow(shown), widths[index] ?? 0, side) + (index < columns.length - 1 ? " " : ""),
      role: isSelected ? ("selected" as const) : usual,
    };
  });
  return [{ text: isSelected ? mark : noMark, role: isSelected ? "selected" : "plain" }, ...cells];
}
