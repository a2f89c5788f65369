import type { Log } from "../base/log.ts";
import { Scope } from "../base/scope.ts";
import type { ServerConnection } from "../client/connection.ts";
import type { Supervisor } from "./supervisor.ts";

/** Who wants to hear of which resources of one server, and what the server was told of that. */
export interface Watching {
  /** Calls back when the resource changes. Returns the way to stop listening. */
  watch(uri: string, changed: () => void): () => void;
  updated(uri: string): void;
  isNeeded(): boolean;
  /** A new line: a legacy server forgets with the old one who watches what. */
  startAgain(line: ServerConnection, scope: Scope): void;
}

const askMsMax = 10_000;

export function createWatching({
  log,
  supervisor,
}: {
  readonly log: Log;
  readonly supervisor: Pick<Supervisor, "use" | "line">;
}): Watching {
  const watchers = new Map<string, Set<() => void>>();
  /** What a legacy server was told of on the line there is. */
  let told = new Set<string>();

  async function tell(
    method: "resources/subscribe" | "resources/unsubscribe",
    uri: string,
  ): Promise<void> {
    const isWanted = method === "resources/subscribe";
    // Nothing needs to be taken back from a server that is not running.
    if (!isWanted && !supervisor.line()) return;
    const scope = new Scope(undefined, askMsMax);
    try {
      await supervisor.use(scope, async (line) => {
        if (line.handshake.era === "modern") {
          line.listen([...watchers.keys()]);
          return;
        }
        // A line that was opened for it has told already.
        if (isWanted === told.has(uri)) return;
        if (isWanted) told.add(uri);
        else told.delete(uri);
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
      if (set.size === 0) void tell("resources/subscribe", uri);
      set.add(changed);
      return () => {
        set.delete(changed);
        if (set.size > 0) return;
        watchers.delete(uri);
        void tell("resources/unsubscribe", uri);
      };
    },
    updated(uri) {
      for (const changed of watchers.get(uri) ?? []) changed();
    },
    isNeeded: () => watchers.size > 0,
    startAgain(line, scope) {
      line.listen([...watchers.keys()]);
      if (line.handshake.era === "modern") return;
      told = new Set(watchers.keys());
      for (const uri of told) {
        line
          .request("resources/subscribe", { uri }, scope)
          .catch((error: unknown) => log.warn({ err: error, uri }, "resources/subscribe failed"));
      }
    },
  };
}
