import type { Key } from "./keyboard.ts";

/**
 * A question comes up when a server likes, also under a finger that is on its way to a key. What is pressed then was meant for something else:
 * it is not heard until the question has been on the screen for a moment without any key.
 */
export interface Surprise {
  /** The question that is on the screen now, as it is painted. */
  painted(question: string | undefined): void;
  /** Whether the key is one that came too soon for that question. */
  isTooSoon(question: string | undefined, key: Key): boolean;
}

const calmMs = 300;
/** Ctrl-G says that one has seen it. */
const always: ReadonlySet<string> = new Set(["ctrl+c", "ctrl+g"]);

export function createSurprise(now: () => number): Surprise {
  let shown: string | undefined;
  let calmAt = 0;
  return {
    painted(question) {
      if (question !== shown) calmAt = now() + calmMs;
      shown = question;
    },
    isTooSoon(question, { name }) {
      if (question === undefined || always.has(name)) return false;
      if (question === shown && now() >= calmAt) return false;
      calmAt = now() + calmMs;
      return true;
    },
  };
}
