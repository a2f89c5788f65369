import type { Result } from "./programs.ts";

/** Where our Lisp answers otherwise than SBCL on purpose. One that no longer differs must go. */
export interface Difference {
  /** `file/name`. */
  readonly program: string;
  readonly ours: Result;
  readonly sbcl: Result;
  readonly reason: string;
}

export const differences: readonly Difference[] = [];
