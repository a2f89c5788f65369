import { stripVTControlCharacters } from "node:util";
import { type AskList, drawList, type ListState, pressKey } from "../../src/cli/list.ts";
import { createTerminalReviewer } from "../../src/cli/review.ts";
import type { Reviewer } from "../../src/hall/review.ts";

export interface Reviewing {
  readonly reviewer: Reviewer;
  /** Every list and question, as the person saw it. */
  readonly shown: string[];
  /** Answers that nobody asked for. */
  readonly left: readonly string[];
}

/**
 * A reviewer at a terminal that types these answers: in a list `space`, `down`, `v`, `p` or `enter`, at a line
 * whatever is written. Afterwards it unticks everything.
 */
export function reviewWith(...answers: readonly string[]): Reviewing {
  const left = [...answers];
  const shown: string[] = [];
  const askList: AskList = async (question, initial) => {
    let state: ListState = initial;
    for (;;) {
      const size = { columns: 400, rows: 400 };
      shown.push(stripVTControlCharacters(drawList(question, state, size).lines.join("\n")));
      const key = left.shift();
      if (key === undefined) return { at: 0, ticked: new Set(), key: "enter" };
      if (key === "enter" || Object.hasOwn(question.keys ?? {}, key)) return { ...state, key };
      state = pressKey(key, state, question.items.length);
    }
  };
  const ask = async (question: string): Promise<string> => {
    shown.push(stripVTControlCharacters(question));
    return left.shift() ?? "";
  };
  return { reviewer: createTerminalReviewer({ ask, askList }), shown, left };
}
