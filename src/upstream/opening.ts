import { setTimeout as sleep } from "node:timers/promises";
import { HallError } from "../base/errors.ts";
import type { Scope } from "../base/scope.ts";
import {
  type McpConnectionOptions,
  openMcpConnection,
  type ServerConnection,
} from "../client/connection.ts";
import type { Handshake } from "../client/handshake.ts";
import { createRetryAfterGate } from "../client/retry-after.ts";
import type { ServerConfig } from "../config/schema.ts";
import type { ListKind } from "../tool.ts";
import { type Carrier, type CarrierOptions, openCarrier } from "./carrier.ts";

/** How one line to a server is opened, and what is heard of it while it lives. */
export interface Opening extends CarrierOptions {
  readonly config: ServerConfig;
  readonly scope: Scope;
  /** What it spoke the last time. */
  readonly era: Handshake["era"] | undefined;
  /** How long the start may take. */
  readonly startMs: number;
  /** Where this end differs from a hall's. */
  readonly connection?: Pick<McpConnectionOptions, "capabilities" | "lspCompat" | "name">;
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
export async function openServer(opening: Opening): Promise<ServerConnection> {
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

async function connect(opening: Opening): Promise<ServerConnection> {
  const { config, scope, limits, log, startMs } = opening;
  const opened = await openCarrier(config, opening, scope);
  opening.carried(opened);
  let isOver = false;
  let isOpen = false;
  const end = (): Promise<void> => {
    isOver = true;
    return opened.stop();
  };
  const reportLost = (reason: string): void => {
    if (isOpen && !isOver) opening.lost(reason);
  };
  scope.onCancel(() => void end());
  void opened.ended.then(reportLost);
  const connection = await openMcpConnection(opened.channel, {
    limits,
    log,
    scope,
    ...opening.connection,
    knownEra: opening.era,
    // Over HTTP every request is answered: silence is a busy server, not an old one.
    ...(config.type === "http" ? { probeMs: startMs / 2 } : {}),
    retryAfter: config.type === "stdio" ? undefined : createRetryAfterGate(),
    listChanged: createRelist(opening.listChanged),
    resourceUpdated: opening.resourceUpdated,
    // A server that closes its output is as good as dead; most have ended, and a moment later the
    // exit code says how.
    closed: () => {
      void Promise.race([opened.ended, sleep(exitMsMax, "closed its output")]).then(reportLost);
      void opened.stop();
    },
    release: end,
  }).catch(async (error: unknown) => {
    // How the process ended says more than a lost connection.
    const reason = await Promise.race([opened.ended, sleep(startExitMsMax, undefined)]);
    const isLost = error instanceof HallError && error.code === "UNAVAILABLE";
    void end();
    throw reason === undefined || !isLost ? error : new EndedEarly("UNAVAILABLE", reason);
  });
  isOpen = true;
  return connection;
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
