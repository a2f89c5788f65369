import type { Log } from "../base/log.ts";
import type { CallRow } from "../store/store.ts";
import type { Progress } from "../tool.ts";

/** An event of a running hall, for views that follow it. */
export type HallEvent =
  | { readonly type: "call"; readonly row: CallRow }
  /** A line that a server wrote to stderr, or why it failed. */
  | { readonly type: "log"; readonly server: string; readonly at: number; readonly text: string }
  /** Of a call that a view made: `key` is the view's name for it. */
  | {
      readonly type: "progress";
      readonly key: string;
      readonly principal: string;
      readonly progress: Progress;
    }
  /** Something of this kind changed; views read it again. */
  | { readonly type: "changed"; readonly what: ChangedPart };

export type ChangedPart =
  | "approvals"
  | "servers"
  | "tools"
  | "review"
  | "questions"
  | "calls"
  | "logs";

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
