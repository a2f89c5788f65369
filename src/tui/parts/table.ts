import { fitRows, type Line, onOneRow, type Role } from "./line.ts";
import { pad, widthOf } from "./width.ts";

export interface Column<T> {
  readonly title: string;
  /** Columns of the terminal; what is left goes to the one column without. */
  readonly width?: number;
  readonly side?: "left" | "right";
  text(item: T): string;
  role?(item: T): Role;
}

export interface TableOptions<T> {
  readonly columns: readonly Column<T>[];
  readonly items: readonly T[];
  isSelected(item: T): boolean;
  readonly width: number;
  readonly rows: number;
  /** What is said when there is nothing. */
  readonly empty: string;
}

/** Rows around the selected one, as many as fit; a mark tells it apart where colours do not. */
export function tableLines<T>({
  columns,
  items,
  isSelected,
  width,
  rows,
  empty,
}: TableOptions<T>): readonly Line[] {
  const widths = widthsOf(columns, width - mark.length);
  const title: Line = [
    {
      text:
        " ".repeat(mark.length) +
        columns
          .map((column, index) => pad(column.title, widths[index] ?? 0, column.side))
          .join(" "),
      role: "quiet",
    },
  ];
  const selected = items.findIndex(isSelected);
  const shown = items
    .slice(firstShown(selected, items.length, rows - 1))
    .slice(0, Math.max(0, rows - 1));
  const body = shown.map((item) => showRow(item, columns, widths, isSelected(item)));
  const lines: readonly Line[] =
    items.length === 0 ? [title, [{ text: `  ${empty}`, role: "quiet" }]] : [title, ...body];
  return fitRows(lines, rows);
}

const nameColumnsMin = 16;

/** Names are what one looks for: they get what they need, up to half. */
export function nameWidth(items: readonly { readonly name: string }[], width: number): number {
  const longest = items.reduce((most, { name }) => Math.max(most, widthOf(name)), nameColumnsMin);
  return Math.min(longest, Math.floor(width / 2));
}

const mark = "› ";

const restColumnsMin = 12;

/** Where they do not fit, all give way alike. */
function widthsOf<T>(columns: readonly Column<T>[], width: number): readonly number[] {
  const room = Math.max(0, width - columns.length + 1);
  const wanted = columns.reduce((sum, column) => sum + (column.width ?? 0), 0);
  const share = Math.min(1, Math.max(0, room - restColumnsMin) / Math.max(1, wanted));
  const taken = columns.reduce((sum, column) => sum + Math.floor((column.width ?? 0) * share), 0);
  return columns.map((column) =>
    column.width === undefined ? room - taken : Math.floor(column.width * share),
  );
}

/** The selected row stays in the middle while there is more on both sides. */
export function firstShown(selected: number, count: number, rows: number): number {
  return Math.max(0, Math.min(selected - Math.floor(rows / 2), count - rows));
}

function showRow<T>(
  item: T,
  columns: readonly Column<T>[],
  widths: readonly number[],
  isSelected: boolean,
): Line {
  const cells = columns.map((column, index) => ({
    text:
      pad(onOneRow(column.text(item)), widths[index] ?? 0, column.side) +
      (index < columns.length - 1 ? " " : ""),
    role: isSelected ? ("selected" as const) : column.role?.(item),
  }));
  return [
    { text: isSelected ? mark : " ".repeat(mark.length), role: isSelected ? "selected" : "plain" },
    ...cells,
  ];
}
