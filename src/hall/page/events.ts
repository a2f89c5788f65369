import { randomBytes } from "node:crypto";
import type { StreamEvent } from "../../net/event-stream.ts";
import type { Identity } from "../../server/http/guard.ts";
import { isAllowed } from "../../server/rights.ts";
import type { CallRow } from "../../store/store.ts";
import type { ChangedPart, HallEvent, HallEvents } from "../events.ts";
import type { LogEntry } from "../server-logs.ts";
import type { CallLine, PageEvent } from "./contract.ts";

/** Keeps the last events of a hall for pages that lost their stream. */
export interface PageEvents {
  follow(
    after: string | undefined,
    caller: Identity,
    send: (event: StreamEvent) => void,
  ): () => void;
  /** The id of the last event so far. */
  last(): string;
  close(): void;
}

/** Many calls and lines become one event. */
const gatherMs = 100;
const keptMax = 500;
/** Beyond it, a page reads again what it missed, once there are fewer. */
const gatheredMax = 500;

interface KeptEvent {
  readonly seq: number;
  readonly event: PageEvent;
  /** Only this principal receives the event; undefined for all. */
  readonly principal?: string | undefined;
}

export function createPageEvents(events: HallEvents, startedAt: number): PageEvents {
  /** Ids of another run of the hall mean nothing here. */
  const run = randomBytes(6).toString("hex");
  const kept: KeptEvent[] = [];
  const pages = new Set<(event: KeptEvent) => void>();
  let seq = 0;
  let calls: CallLine[] = [];
  let lines: LogEntry[] = [];
  /** The last of each call. */
  let progress = new Map<string, Extract<HallEvent, { readonly type: "progress" }>>();
  let changed = new Set<ChangedPart>();
  const missed = new Set<"calls" | "logs">();
  let timer: NodeJS.Timeout | undefined;

  function put(event: PageEvent, principal?: string): void {
    seq += 1;
    const next = { seq, event, principal };
    kept.push(next);
    if (kept.length > keptMax) kept.shift();
    for (const send of pages) send(next);
  }

  function flush(): void {
    timer = undefined;
    if (calls.length > 0) put({ type: "calls", calls });
    if (lines.length > 0) put({ type: "logs", lines });
    if (calls.length < gatheredMax && lines.length < gatheredMax) {
      for (const what of missed) changed.add(what);
      missed.clear();
    }
    for (const { key, principal, progress: last } of progress.values())
      put({ type: "progress", key, progress: last }, principal);
    for (const what of changed) put({ type: "changed", what });
    [calls, lines, progress, changed] = [[], [], new Map(), new Set()];
    if (missed.size > 0) schedule();
  }

  function schedule(): void {
    timer ??= setTimeout(flush, gatherMs).unref();
  }

  const stop = events.follow((event) => {
    if (event.type === "call") {
      if (calls.length < gatheredMax) calls.push(lineOf(event.row));
      else missed.add("calls");
    } else if (event.type === "log") {
      const { server, at, text } = event;
      if (lines.length < gatheredMax) lines.push({ server, at, text });
      else missed.add("logs");
    } else if (event.type === "progress") progress.set(event.key, event);
    else if (event.type === "changed") changed.add(event.what);
    else return;
    schedule();
  });

  return {
    follow(after, caller, send) {
      const isAdmin = isAllowed(caller.rights, "admin");
      const deliver = ({ seq: id, event, principal }: KeptEvent): void => {
        if (principal !== undefined && principal !== caller.principal) return;
        // The output of servers may be private.
        if (event.type === "logs" && !isAdmin) return;
        send({ id: `${run}.${id}`, data: JSON.stringify(event) });
      };
      const [ofRun, number] = after?.split(".") ?? [];
      const last = ofRun === run ? Number(number) : Number.NaN;
      const first = kept[0]?.seq ?? seq + 1;
      const isKnown = last + 1 >= first && last <= seq;
      if (!isKnown) deliver({ seq, event: { type: "reset", startedAt } });
      for (const event of kept) if (isKnown && event.seq > last) deliver(event);
      pages.add(deliver);
      return () => void pages.delete(deliver);
    },
    last: () => `${run}.${seq}`,
    close() {
      stop();
      clearTimeout(timer);
    },
  };
}

export function lineOf({ arguments: _private, kept: _whole, ...row }: CallRow): CallLine {
  return row;
}
