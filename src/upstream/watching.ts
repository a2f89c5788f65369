import type { Log } from "../base/log.ts";
import { Scope } from "../base/scope.ts";
import type { ServerConnection } from "../client/connection.ts";
import type { Supervisor } from "./supervisor.ts";

/** Subscriptions to the resources of one server. */
export interface Watching {
  /** Calls back when the resource changes. Returns a function that unsubscribes. */
  watch(uri: string, changed: () => void): () => void;
  updated(uri: string): void;
  isNeeded(): boolean;
  /** Subscribes again on a new connection. */
  startAgain(line: ServerConnection, scope: Scope): void;
}

const askMsMax = 10_000;

export function createWatching({
  log,
  supervisor,
}: {
  readonly log: Log;
  readonly supervisor: Pick<Supervisor, "use" | "connection">;
}): Watching {
  const watchers = new Map<string, Set<() => void>>();
  /** URIs subscribed on the current connection of an older server. */
  let subscribed = new Set<string>();

  async function update(
    method: "resources/subscribe" | "resources/unsubscribe",
    uri: string,
  ): Promise<void> {
    const isWanted = method === "resources/subscribe";
    // A server that is not running has no subscriptions.
    if (!isWanted && !supervisor.connection()) return;
    const scope = new Scope(undefined, askMsMax);
    try {
      await supervisor.use(scope, async (line) => {
        if (line.handshake.era === "modern") {
          line.listen([...watchers.keys()]);
          return;
        }
        // A connection that was opened for this is subscribed already.
        if (isWanted === subscribed.has(uri)) return;
        if (isWanted) subscribed.add(uri);
        else subscribed.delete(uri);
        await line.request(method, { uri }, scope);
      });
    } catch (error) {
      log.warn({ err: error, uri }, `${method} failed`);
    } finally {
      scope.close();
    }
  }

  return {
    watch(uri, changed) {
      const set = watchers.get(uri) ?? new Set();
      watchers.set(uri, set);
      if (set.size === 0) void update("resources/subscribe", uri);
      set.add(changed);
      return () => {
        set.delete(changed);
        if (set.size > 0) return;
        watchers.delete(uri);
        void update("resources/unsubscribe", uri);
      };
    },
    updated(uri) {
      for (const changed of watchers.get(uri) ?? []) changed();
    },
    isNeeded: () => watchers.size > 0,
    startAgain(line, scope) {
      line.listen([...watchers.keys()]);
      if (line.handshake.era === "modern") return;
      subscribed = new Set(watchers.keys());
      for (const uri of subscribed) {
        line
          .request("resources/subscribe", { uri }, scope)
          .catch((error: unknown) => log.warn({ err: error, uri }, "resources/subscribe failed"));
      }
    },
  };
}
