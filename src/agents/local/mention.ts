import type { Moment } from "./moments.ts";
import type { Quantity } from "./quantities.ts";
import type { Token } from "./tokens.ts";

/**
 * `code` is what only a machine would say, `name` begins with capitals, `phrase` is a run of plain words, `rest` everything up to the end of
 * the sentence, `list` several of one kind.
 */
export type MentionKind =
  | "quoted"
  | "link"
  | "email"
  | "path"
  | "code"
  | "number"
  | "moment"
  | "name"
  | "phrase"
  | "formula"
  | "rest"
  | "json"
  | "list";

export interface Mention {
  readonly kind: MentionKind;
  readonly start: number;
  readonly end: number;
  readonly text: string;
  /** The tokens it covers: from `first` up to, not including, `last`. */
  readonly first: number;
  readonly last: number;
  readonly quantity?: Quantity;
  readonly moment?: Moment;
  /** What JSON in the text says. */
  readonly json?: unknown;
  /** The parts of a list, all of one kind. */
  readonly items?: readonly Mention[];
  /** For parts of a longer mention of the same kind. */
  readonly isPart?: boolean;
  /** One half of "two pizzas and a salad": the other half has the same place. */
  readonly isCounted?: boolean;
}

/** A task, read. */
export interface Reading {
  readonly text: string;
  /** The same in small letters, for a quick look. */
  readonly lower: string;
  readonly tokens: readonly Token[];
  readonly mentions: readonly Mention[];
}

/** Makes a mention of a place in the task. */
export type Make = (
  kind: MentionKind,
  start: number,
  end: number,
  more?: Partial<Mention>,
) => Mention;
