import { HallError } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { Scope } from "../base/scope.ts";
import type { ServerConnection } from "../client/connection.ts";
import type { Supervisor } from "./supervisor.ts";

/** Subscriptions to the resources of one server. */
export interface Watching {
  /**
   * Calls back when the resource changes. Resolves with a function that unsubscribes once the
   * server has agreed, or is down.
   */
  watch(uri: string, changed: () => void): Promise<() => void>;
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
  /** Answers to the subscriptions on the current connection. */
  let subscribed = new Map<string, Promise<unknown>>();

  function subscribe(line: ServerConnection, uri: string, scope: Scope): Promise<unknown> {
    const agreed =
      line.handshake.era === "modern"
        ? line.listen([...watchers.keys()]).then((uris) => requireAccepted(uris, uri))
        : line.request("resources/subscribe", { uri }, scope);
    agreed.catch(() => {});
    subscribed.set(uri, agreed);
    return agreed;
  }

  async function start(uri: string): Promise<void> {
    const scope = new Scope(undefined, askMsMax);
    // A connection that was opened for this is subscribed already.
    await scope.closeAfter(
      supervisor.use(scope, (line) => subscribed.get(uri) ?? subscribe(line, uri, scope)),
    );
  }

  async function stop(uri: string): Promise<void> {
    const isSubscribed = subscribed.delete(uri);
    const line = supervisor.connection();
    // A server that is not running has no subscriptions.
    if (!isSubscribed || !line) return;
    const scope = new Scope(undefined, askMsMax);
    try {
      if (line.handshake.era === "modern") await line.listen([...watchers.keys()]);
      else await line.request("resources/unsubscribe", { uri }, scope);
    } catch (error) {
      log.warn({ err: error, uri }, "resources/unsubscribe failed");
    } finally {
      scope.close();
    }
  }

  return {
    async watch(uri, changed) {
      const set = watchers.get(uri) ?? new Set();
      watchers.set(uri, set);
      set.add(changed);
      const leave = (): void => {
        set.delete(changed);
        if (set.size > 0 || watchers.get(uri) !== set) return;
        watchers.delete(uri);
        void stop(uri);
      };
      try {
        await start(uri);
      } catch (error) {
        // A server that is down is subscribed when it is back; a refusal of its own ends the watch.
        if (isUnavailable(error)) return leave;
        leave();
        throw error;
      }
      return leave;
    },
    updated(uri) {
      for (const changed of watchers.get(uri) ?? []) changed();
    },
    isNeeded: () => watchers.size > 0,
    startAgain(line, scope) {
      subscribed = new Map();
      if (line.handshake.era === "modern") {
        const listening = line.listen([...watchers.keys()]);
        for (const uri of watchers.keys())
          subscribed.set(
            uri,
            listening.then((uris) => requireAccepted(uris, uri)),
          );
      } else for (const uri of watchers.keys()) void subscribe(line, uri, scope);
      for (const [uri, agreed] of subscribed)
        agreed.catch((error: unknown) => log.warn({ err: error, uri }, "subscription failed"));
    },
  };
}

function requireAccepted(uris: readonly unknown[], uri: string): void {
  if (!uris.includes(uri))
    throw new HallError("EXECUTION", `the server does not report changes of ${uri}`);
}

function isUnavailable(error: unknown): boolean {
  return error instanceof HallError && error.code === "UNAVAILABLE" && !error.relayed;
}
