import type { Editing } from "../editing.ts";
import type { Line } from "../parts/line.ts";
import { wrapUpTo } from "../parts/width.ts";
import type { ScreenName, TuiState } from "../state.ts";
import type { Binding, Moment } from "../view.ts";

/** One screen: what it shows, and what keys do there. Help and the line of hints are made of the same bindings. */
export interface Screen {
  readonly name: ScreenName;
  readonly title: string;
  /** What keys do now, the most wanted first. While a text is being typed, those that print something are not heard. */
  bindings(moment: Moment): readonly Binding[];
  /** The text that keys go into, while there is one. */
  editing?(moment: Moment): Editing | undefined;
  body(props: BodyProps): readonly Line[];
}

export interface BodyProps extends Moment {
  readonly columns: number;
  readonly rows: number;
}

/** Header, tabs and a rule above a screen; hints below, under a notice. */
const frameRows = 4;

export function bodyRows(state: Pick<TuiState, "size" | "notices" | "connection">): number {
  return Math.max(1, state.size.rows - frameRows - noticeTexts(state).length);
}

const noticeRowsMax = 3;

/** The last notice with its keys, as far as it gets room, or else why there is no connection; always a row. */
export function noticeTexts({
  notices,
  size,
  connection,
}: Pick<TuiState, "size" | "notices" | "connection">): readonly string[] {
  const notice = notices.at(-1);
  const failure = "failure" in connection ? connection.failure : undefined;
  if (!notice) return [failure ? `! ${failure.message}` : ""];
  const keys = `(${notice.retry ? "^Y again, " : ""}^X dismiss)`;
  return wrapUpTo(
    `${keys} ${notice.level === "info" ? "" : "! "}${notice.text}`,
    size.columns,
    noticeRowsMax,
  );
}

/** The neighbour of what is selected, for up and down. Undefined at the ends, and where there is nothing. */
export function neighbour<T>(
  items: readonly T[],
  isSelected: (item: T) => boolean,
  step: number,
): T | undefined {
  const at = items.findIndex(isSelected);
  if (at < 0) return items[0];
  return items[Math.min(items.length - 1, Math.max(0, at + step))];
}
