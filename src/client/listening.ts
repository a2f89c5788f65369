import { setTimeout as sleep } from "node:timers/promises";
import { HallError } from "../base/errors.ts";
import { isObject, type JsonObject } from "../base/json.ts";
import type { Log } from "../base/log.ts";
import { Scope } from "../base/scope.ts";
import { backoffMs } from "../base/timing.ts";

/** The long-running request that makes a modern server report changes of its lists and resources. */
export interface Listening {
  /**
   * May be called again for another set of resources. Resolves with those whose changes the server
   * reports, or with all if it does not say.
   */
  listen(uris: readonly string[]): Promise<readonly unknown[]>;
  /** The server has accepted the newest request. */
  acknowledged(params: JsonObject): void;
  close(): void;
}

export interface ListeningOptions {
  readonly log: Log | undefined;
  /** Resolves when the server ends it. */
  send(params: JsonObject, scope: Scope): Promise<unknown>;
  isLost(): boolean;
}

const refusalsMax = 5;
const healthyMs = 10_000;
const againMs = 1_000;
const againMsMax = 30_000;
const releaseMsMax = 2_000;

export function createListening({ log, send, isLost }: ListeningOptions): Listening {
  /** Earlier requests, ended once the newest is accepted. */
  const leaving = new Set<Scope>();
  let current: Scope | undefined;
  let accept: (uris: readonly unknown[]) => void = () => {};

  /** Reopened whenever the server ends it, until the connection is lost. */
  async function keep(uris: readonly string[], scope: Scope): Promise<void> {
    const resourceSubscriptions = uris.length > 0 ? { resourceSubscriptions: uris } : {};
    const notifications = {
      toolsListChanged: true,
      resourcesListChanged: true,
      promptsListChanged: true,
      ...resourceSubscriptions,
    };
    let failures = 0;
    while (!scope.cancelReason && !isLost()) {
      const startedAt = performance.now();
      try {
        await send({ notifications }, scope);
      } catch (error) {
        log?.debug({ err: error }, "subscriptions/listen ended");
        // An unreachable server may come back; one that keeps refusing does not support it.
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
      accept(uris);
      const accepted = new Promise<readonly unknown[]>((resolve) => {
        accept = resolve;
        setTimeout(() => resolve(uris), releaseMsMax).unref();
      });
      // No change may be missed: the old request ends once the new one is accepted.
      if (current) leaving.add(current);
      if (leaving.size > 0) setTimeout(release, releaseMsMax).unref();
      current = new Scope();
      void keep(uris, current);
      return accepted;
    },
    acknowledged({ notifications }) {
      release();
      const uris = isObject(notifications) ? notifications.resourceSubscriptions : undefined;
      accept(Array.isArray(uris) ? uris : []);
    },
    close() {
      release();
      current?.cancel(new HallError("CANCELLED", "the connection is closed"));
    },
  };
}
