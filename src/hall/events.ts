import type { Log } from "../base/log.ts";
import type { CallRow } from "../store/store.ts";

/** An event of a running hall, for views that follow it. */
export type HallEvent =
  | { readonly type: "call"; readonly row: CallRow }
  /** A line that a server wrote to stderr, or why it failed. */
  | { readonly type: "log"; readonly server: string; readonly at: number; readonly text: string }
  /** Something of this kind changed; views read it again. */
  | { readonly type: "changed"; readonly what: "approvals" | "servers" | "tools" | "review" };

export interface HallEvents {
  emit(event: HallEvent): void;
  /** Returns a function that ends it. */
  follow(listener: (event: HallEvent) => void): () => void;
}

export function createHallEvents(): HallEvents {
  const listeners = new Set<(event: HallEvent) => void>();
  return {
    emit(event) {
      for (const listener of listeners) listener(event);
    },
    follow(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

/** Reports each call to those who follow, and to the log in one line without its arguments. */
export function reportCalls(events: HallEvents, log: Log): (row: CallRow) => void {
  return (row) => {
    const { caller: client, tool, outcome, code, ms, parent } = row;
    const inside = parent === null ? {} : { parent };
    log.info({ client, tool, outcome: code ?? outcome, ms: Math.round(ms), ...inside }, "call");
    events.emit({ type: "call", row });
  };
}
