import type { ReactElement } from "react";
import type { Editing } from "../editing.ts";
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
  Body(props: BodyProps): ReactElement;
}

export interface BodyProps extends Moment {
  readonly columns: number;
  readonly rows: number;
}

/** Header, tabs and a rule above a screen; a notice and hints below. */
const frameRows = 5;

export function bodyRows({ size }: Pick<TuiState, "size">): number {
  return Math.max(1, size.rows - frameRows);
}

/** The neighbour of what is selected, for up and down. Undefined at the ends, and where there is nothing. */
export function neighbour<T>(items: readonly T[], isSelected: (item: T) => boolean, step: number): T | undefined {
  const at = items.findIndex(isSelected);
  if (at < 0) return items[0];
  return items[Math.min(items.length - 1, Math.max(0, at + step))];
}
