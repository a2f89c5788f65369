import { setTimeout as sleep } from "node:timers/promises";
import { HallError } from "../base/errors.ts";
import type { Scope } from "../base/scope.ts";
import type { Greeting } from "../client/handshake.ts";
import { type Line, type LineOptions, openLine } from "../client/line.ts";
import { createPace } from "../client/retry-after.ts";
import type { ServerConfig } from "../config/schema.ts";
import type { ListKind } from "../tool.ts";
import { type Carrier, type CarrierOptions, openCarrier } from "./carrier.ts";

/** How one line to a server is opened, and what is heard of it while it lives. */
export interface Opening extends CarrierOptions {
  readonly config: ServerConfig;
  readonly scope: Scope;
  /** What it spoke the last time. */
  readonly era: Greeting["era"] | undefined;
  /** How long the start may take. */
  readonly startMs: number;
  /** Where our end differs from a hall's. */
  readonly manners?: Pick<LineOptions, "capabilities" | "hasLanguageWays" | "name">;
  /** What carries the line, as soon as it is there: also of a start that fails there is something to show. */
  carried(carrier: Carrier): void;
  /** The server is gone, and why; not after the line was closed. */
  lost(reason: string): void;
  listChanged(kind: ListKind): void;
  resourceUpdated(uri: string): void;
}

const relistMsMin = 1_000;
const exitMsMax = 250;
/** A start that failed may take longer to say why: nobody is kept waiting who was not waiting already. */
const startExitMsMax = 1_000;

/** Starts or dials the server and shakes hands. Closing the line ends the server too. */
export async function openServer(opening: Opening): Promise<Line> {
  const { config, era, scope } = opening;
  try {
    return await connect(opening);
  } catch (error) {
    // Some legacy programs end over the question which era they speak: they are started again and not asked.
    const mayHaveEnded =
      config.type === "stdio" &&
      era !== "legacy" &&
      error instanceof EndedEarly &&
      !scope.cancelled;
    if (mayHaveEnded) return connect({ ...opening, era: "legacy" });
    throw error;
  }
}

async function connect(opening: Opening): Promise<Line> {
  const { config, scope, limits, log, startMs } = opening;
  const opened = await openCarrier(config, opening, scope);
  opening.carried(opened);
  let isOver = false;
  let isOpen = false;
  const end = (): Promise<void> => {
    isOver = true;
    return opened.stop();
  };
  const tellLost = (reason: string): void => {
    if (isOpen && !isOver) opening.lost(reason);
  };
  scope.onCancel(() => void end());
  void opened.ended.then(tellLost);
  const lineOptions: LineOptions = {
    limits,
    log,
    scope,
    ...opening.manners,
    knownEra: opening.era,
    // Over HTTP every request is answered: silence is a busy server, not an old one.
    ...(config.type === "http" ? { probeMs: startMs / 2 } : {}),
    pace: config.type === "stdio" ? undefined : createPace(),
    listChanged: createRelist(opening.listChanged),
    resourceUpdated: opening.resourceUpdated,
    // A server that closes its output but lives is as good as dead; most have ended, and say in a moment how.
    closed: () => {
      void Promise.race([opened.ended, sleep(exitMsMax, "closed its output")]).then(tellLost);
      void opened.stop();
    },
  };
  const line = await openLine(opened.channel, lineOptions).catch(async (error: unknown) => {
    // How it ended says more than that the line is gone.
    const reason = await Promise.race([opened.ended, sleep(startExitMsMax, undefined)]);
    const isLost = error instanceof HallError && error.code === "UNAVAILABLE";
    void end();
    throw reason === undefined || !isLost ? error : new EndedEarly("UNAVAILABLE", reason);
  });
  isOpen = true;
  return {
    ...line,
    get isLost() {
      return line.isLost;
    },
    get runningCount() {
      return line.runningCount;
    },
    get junkCount() {
      return line.junkCount;
    },
    async close() {
      isOver = true;
      await line.close();
      await end();
    },
  };
}

/** A server that ended before it had said who it is. */
class EndedEarly extends HallError {}

/** Storms of changes become one reading a second for each list. */
function createRelist(read: (kind: ListKind) => void): (kind: ListKind) => void {
  const waiting = new Map<ListKind, NodeJS.Timeout>();
  const readAt = new Map<ListKind, number>();
  return (kind) => {
    if (waiting.has(kind)) return;
    const delayMs = Math.max(
      0,
      (readAt.get(kind) ?? Number.NEGATIVE_INFINITY) + relistMsMin - performance.now(),
    );
    const timer = setTimeout(() => {
      waiting.delete(kind);
      readAt.set(kind, performance.now());
      read(kind);
    }, delayMs);
    timer.unref();
    waiting.set(kind, timer);
  };
}
