import { setImmediate, setTimeout as sleep } from "node:timers/promises";
import { HallError } from "../base/errors.ts";
import type { JsonObject } from "../base/json.ts";
import { sanitize, wordOf } from "../base/sanitize.ts";
import { Scope } from "../base/scope.ts";
import { backoffMs, withResolvers } from "../base/timing.ts";
import type { ServerConnection } from "../client/connection.ts";
import type { AdminClient } from "../hall/admin-client.ts";
import type { ListKind } from "../tool.ts";
import { explainFailure, type Failure } from "./failure.ts";
import type { HallConnectionState } from "./state.ts";
import type { ClientTarget } from "./target.ts";

interface TargetConnectionOptions {
  readonly target: ClientTarget;
  readonly capabilities: JsonObject;
  onState(state: HallConnectionState): void;
  onListChanged(kind: ListKind): void;
  onStderr(line: string): void;
  onReplaced(): void;
}

const startMsMax = 30_000;
const goodbyeMsMax = 1_000;
const lossMsMax = 1_000;
const backoff = { firstMs: 500, maxMs: 30_000 };

/** The connection to the target. Reconnects whenever it is lost. */
export class TargetConnection {
  readonly #options: TargetConnectionOptions;
  readonly #loop: Promise<void>;
  #server: ServerConnection | undefined;
  #starting: Scope | undefined;
  #wake = (): void => {};
  #loss = withResolvers<string>();
  #isClosed = false;

  constructor(options: TargetConnectionOptions) {
    this.#options = options;
    this.#loop = this.#run();
  }

  /** Throws UNAVAILABLE while there is no connection. */
  get(): ServerConnection {
    if (this.#server && !this.#server.isLost) return this.#server;
    throw new HallError("UNAVAILABLE", "not connected", {
      hint: "Wait for the connection; typed text is kept.",
    });
  }

  /** Reconnects if the error of a call shows that the server is unreachable or the session expired. */
  onCallError(error: unknown): void {
    const server = this.#server;
    if (!server || server.isLost || !isUnreachable(error)) return;
    this.#server = undefined;
    this.#loss.resolve(error.message);
    void server.close().catch(() => {});
  }

  /** Why a lost connection was lost, such as the exit code, if it is known soon. */
  async lossReason(): Promise<string | undefined> {
    if (this.#server && !this.#server.isLost) return undefined;
    return Promise.race([this.#loss.promise, sleep(lossMsMax, undefined, { ref: false })]);
  }

  /** Ends the wait for the next attempt. */
  reconnect(): void {
    this.#wake();
  }

  /** Says goodbye to the server and closes the target. Idempotent. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const server = this.#server;
    if (server && !server.isLost) {
      const goodbye = new Scope(undefined, goodbyeMsMax);
      await server.leave(goodbye);
      goodbye.close();
    }
    await server?.close();
    this.#starting?.cancel(new HallError("CANCELLED", "the client is closing"));
    this.#wake();
    // With an open connection the loop waits for its loss, which is not reported after close.
    if (!server) await this.#loop;
    await this.#options.target.close();
    this.#options.onState({ kind: "closed" });
  }

  async #run(): Promise<void> {
    const { onState } = this.#options;
    let failure: Failure | undefined;
    // Starting a server takes a moment; the first frame is shown before.
    await setImmediate();
    for (let attempt = 1; !this.#isClosed; attempt++) {
      onState({ kind: "connecting", attempt, ...(failure ? { failure } : {}) });
      let problem: unknown;
      try {
        problem = new HallError("UNAVAILABLE", await this.#stayConnected());
        attempt = 1;
      } catch (error) {
        problem = error;
      }
      this.#server = undefined;
      if (this.#isClosed) return;
      failure = this.#explain(problem);
      await this.#wait(failure, attempt);
    }
  }

  /** Resolves with the reason once the connection is lost. Throws if it could not be opened. */
  async #stayConnected(): Promise<string> {
    const { target, capabilities, onState, onListChanged, onStderr, onReplaced } = this.#options;
    const scope = new Scope(undefined, startMsMax, target.view.name);
    this.#starting = scope;
    const loss = withResolvers<string>();
    this.#loss = loss;
    const handlers = {
      listChanged: onListChanged,
      printed: onStderr,
      replaced: onReplaced,
      lost: loss.resolve,
    };
    let server: ServerConnection;
    try {
      server = await scope.race(target.connect({ scope, capabilities, ...handlers }));
    } catch (error) {
      scope.cancel(new HallError("UNAVAILABLE", "the start failed"));
      throw error;
    }
    scope.close();
    if (this.#isClosed) {
      await server.close();
      throw new HallError("CANCELLED", "the client is closing");
    }
    this.#server = server;
    const { era, version, info } = server.handshake;
    server.listen([]);
    const name = sanitize(wordOf(info.name, "unnamed server")).replace(/\s+/g, " ").trim();
    onState({ kind: "ready", era, version, server: name });
    return loss.promise;
  }

  #explain(problem: unknown): Failure {
    const isDenied = problem instanceof HallError && problem.code === "DENIED";
    const hint = isDenied
      ? "Add the token to headers of [mcp] in the config, e.g. Authorization, and restart."
      : "The client reconnects by itself; typed text is kept.";
    return { ...explainFailure(problem, this.#options.target.view.name), hint };
  }

  async #wait(failure: Failure, attempt: number): Promise<void> {
    const delayMs = backoffMs(attempt, backoff);
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, delayMs);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
      const retryAt = Date.now() + delayMs;
      this.#options.onState({ kind: "lost", failure, attempt, retryAt });
    });
  }
}

/** Over HTTP only a failed call shows that the server is gone or has forgotten the session. */
function isUnreachable(error: unknown): error is HallError {
  if (!(error instanceof HallError) || error.code !== "UNAVAILABLE" || error.relayed) return false;
  return error.details?.expired === true || error.details?.unreachable === true;
}

/**
 * The hall's control socket, opened with the first question. A question is asked once more on a new
 * connection, in case the hall was replaced. Throws UNAVAILABLE.
 */
export function createLastingAdmin(connect: () => Promise<AdminClient | undefined>): AdminClient {
  let client: AdminClient | undefined;

  async function close(): Promise<void> {
    const old = client;
    client = undefined;
    await old?.close();
  }

  return {
    async ask(method, params) {
      const isOld = client !== undefined;
      client ??= await connect();
      if (!client)
        throw new HallError("UNAVAILABLE", "cannot reach the hall of this project", {
          hint: "It has stopped, or has another version.",
        });
      try {
        return await client.ask(method, params);
      } catch (error) {
        const isLost =
          error instanceof HallError && error.code === "UNAVAILABLE" && error.relayed === undefined;
        if (!isLost) throw error;
        await close();
        if (!isOld) throw error;
        return this.ask(method, params);
      }
    },
    close,
  };
}
