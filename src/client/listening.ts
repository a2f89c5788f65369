import { setTimeout as sleep } from "node:timers/promises";
import { backoffMs } from "../base/backoff.ts";
import { HallError } from "../base/errors.ts";
import type { JsonObject } from "../base/json.ts";
import type { Log } from "../base/log.ts";
import { Scope } from "../base/scope.ts";

/** The standing request by which a modern server is asked to tell of changes: of its lists, and of these resources. */
export interface Listening {
  /** Again for another set of resources. */
  listen(uris: readonly string[]): void;
  /** The server says that the newest request stands. */
  acknowledged(): void;
  close(): void;
}

export interface ListeningOptions {
  readonly log: Log;
  /** Stands until the server ends it. */
  send(params: JsonObject, scope: Scope): Promise<unknown>;
  isLost(): boolean;
}

const refusalsMax = 5;
const healthyMs = 10_000;
const againMs = 1_000;
const againMsMax = 30_000;
const releaseMsMax = 2_000;

export function createListening({ log, send, isLost }: ListeningOptions): Listening {
  /** What was listened for before and is about to go. */
  const leaving = new Set<Scope>();
  let current: Scope | undefined;

  /** Opened again when it ends by itself, for as long as the line is there. */
  async function keep(uris: readonly string[], scope: Scope): Promise<void> {
    const resourceSubscriptions = uris.length > 0 ? { resourceSubscriptions: uris } : {};
    const notifications = {
      toolsListChanged: true,
      resourcesListChanged: true,
      promptsListChanged: true,
      ...resourceSubscriptions,
    };
    let failures = 0;
    while (!scope.cancelled && !isLost()) {
      const startedAt = performance.now();
      try {
        await send({ notifications }, scope);
      } catch (error) {
        log.debug({ err: error }, "subscriptions/listen ended");
        // A server that is out of reach comes back; one that says no, again and again, means it.
        if (error instanceof HallError && error.relayed && failures >= refusalsMax) return;
      }
      failures = performance.now() - startedAt > healthyMs ? 0 : failures + 1;
      await sleep(
        againMs + backoffMs(failures - refusalsMax, { firstMs: againMs, maxMs: againMsMax }),
        undefined,
        { ref: false },
      );
    }
  }

  function release(): void {
    for (const old of leaving)
      old.cancel(new HallError("CANCELLED", "listening for something else"));
    leaving.clear();
  }

  return {
    listen(uris) {
      // Nothing must be missed in between: the old request goes when the new one is known to stand.
      if (current) leaving.add(current);
      if (leaving.size > 0) setTimeout(release, releaseMsMax).unref();
      current = new Scope();
      void keep(uris, current);
    },
    acknowledged: release,
    close() {
      release();
      current?.cancel(new HallError("CANCELLED", "the line is closed"));
    },
  };
}
