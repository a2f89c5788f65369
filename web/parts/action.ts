import { useState } from "preact/hooks";
import type { PageError } from "../../src/hall/page/contract.ts";
import { failureOf } from "../store.ts";

export interface PageAction {
  readonly isBusy: boolean;
  readonly error: PageError | undefined;
  run(work: () => Promise<unknown>): void;
}

/** Something a person starts: it runs once at a time, and its failure is shown beside it. */
export function useAction(): PageAction {
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<PageError>();
  return {
    isBusy,
    error,
    run(work) {
      setBusy(true);
      setError(undefined);
      work()
        .catch((failure: unknown) => setError(failureOf(failure) ?? away))
        .finally(() => setBusy(false));
    },
  };
}

const away: PageError = {
  code: "UNAVAILABLE",
  message: "the hall does not answer",
  hint: "Nothing was changed, as far as this page knows. Try again when it is back.",
  next: [],
};
