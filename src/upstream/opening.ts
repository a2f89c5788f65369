import { setTimeout as sleep } from "node:timers/promises";
import { HallError } from "../base/errors.ts";
import type { Scope } from "../base/scope.ts";
import {
  type McpConnectionOptions,
  openMcpConnection,
  type ServerConnection,
} from "../client/connection.ts";
import type { HandshakeOptions } from "../client/handshake.ts";
import { createRetryAfterGate } from "../client/retry-after.ts";
import type { ServerConfig } from "../config/schema.ts";
import type { ListKind } from "../tool.ts";
import { type Carrier, type CarrierOptions, type OpenCarrier, openCarrier } from "./carrier.ts";

/** How to open a connection to a server, and its events. */
export interface Opening extends CarrierOptions {
  readonly config: ServerConfig;
  readonly scope: Scope;
  readonly openCarrier?: OpenCarrier | undefined;
  /** The protocol family that is tried first over HTTP. */
  readonly prefers: HandshakeOptions["prefers"];
  /** Limit for the start. */
  readonly startMs: number;
  /** Options of the client end. */
  readonly connection?: Pick<McpConnectionOptions, "capabilities" | "lspCompat" | "name">;
  /** Called with the transport as soon as it exists, so that stderr is available even if the start fails. */
  carried(carrier: Carrier): void;
  /** The server ended unexpectedly; not called after `close`. */
  lost(reason: string): void;
  /** The server asked something without saying for which call. */
  asked(): void;
  listChanged(kind: ListKind): void;
  resourceUpdated(uri: string): void;
}

const relistMsMin = 1_000;
const exitMsMax = 250;
/** A failed start may take this long to report the exit code. */
const startExitMsMax = 1_000;

/** Starts or dials the server and performs the handshake. Closing the connection stops the server too. */
export async function openServer(opening: Opening): Promise<ServerConnection> {
  const { config, scope, limits, log, startMs } = opening;
  const opened = await (opening.openCarrier ?? openCarrier)(config, opening, scope);
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
    // A process has one family for all its clients, and the older one lets a tool ask in either way.
    prefers: config.type === "http" ? opening.prefers : "legacy",
    // Over HTTP every request is answered: silence means a busy server, not an old one.
    probeMs: config.type === "http" ? startMs / 2 : undefined,
    retryAfter: config.type === "stdio" ? undefined : createRetryAfterGate(),
    asked: opening.asked,
    listChanged: createRelist(opening.listChanged),
    resourceUpdated: opening.resourceUpdated,
    // A server that closes its output is unusable. Most have exited, and a moment later the
    // exit code is known.
    closed: () => {
      void Promise.race([opened.ended, sleep(exitMsMax, "closed its output")]).then(reportLost);
      void opened.stop();
    },
    junk: (text) => opening.printed?.(`stdout: ${opening.scrub?.(text) ?? text}`),
    release: end,
  }).catch(async (error: unknown) => {
    // The exit code explains more than a lost connection.
    const reason = await Promise.race([opened.ended, sleep(startExitMsMax, undefined)]);
    const isLost = error instanceof HallError && error.code === "UNAVAILABLE";
    void end();
    throw reason === undefined || !isLost ? error : new HallError("UNAVAILABLE", reason);
  });
  isOpen = true;
  return connection;
}

/** At most one refresh per second and list. */
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
