import { HallError } from "../base/errors.ts";
import type { Person } from "../tool.ts";
import type { Request } from "../wire/message.ts";
import { Exchange, type RequestSender, RunningRequests } from "../wire/requests.ts";
import {
  createCaller,
  type Envelope,
  isInDialect,
  refuseEnvelope,
  resolveCallTool,
} from "./client-request.ts";
import { explainRequest } from "./edge.ts";
import { handleModern, whenListed } from "./methods.ts";
import type { Rights } from "./rights.ts";
import type { ServerParts } from "./server.ts";

/** The sender of one stateless request. */
export interface OneTimeSender extends RequestSender {
  /** Calls back once the client can no longer be reached, also after a complete answer. */
  onClose(listener: () => void): void;
}

export interface StatelessOptions {
  readonly caller: {
    readonly principal: string;
    readonly person?: Person | undefined;
    readonly rights: Rights;
  };
  readonly quota: string;
}

/**
 * Modern requests over HTTP. Each one carries its version and capabilities, so it needs neither a
 * connection nor a peer: only a scope, a deadline and one answer.
 */
export class StatelessRequests {
  readonly #parts: ServerParts;
  readonly #running: RunningRequests;

  constructor(parts: ServerParts) {
    this.#parts = parts;
    this.#running = new RunningRequests(parts.limits, (failure, request) =>
      explainRequest(failure, request, "2026-07-28", parts),
    );
  }

  get count(): number {
    return this.#running.size;
  }

  /** Runs one request whose envelope the listener has read, and answers it exactly once. */
  serve(
    request: Request,
    envelope: Envelope,
    sender: OneTimeSender,
    options: StatelessOptions,
  ): void {
    const connection = this.#parts.connectionId();
    const exchange = new Exchange(sender, request, connection);
    sender.onClose(() => {
      // An error and its stack are built only when needed.
      if (this.#running.has(connection))
        this.#running.cancel(connection, new HallError("UNAVAILABLE", "the connection was closed"));
    });
    const { era, version, capabilities, client, logLevel } = envelope;
    const { caller, quota } = options;
    const { principal, person, rights } = caller;
    const clientRequest = {
      era,
      version,
      capabilities,
      logLevel,
      caller: createCaller({ connection, principal, person, client, quota }, rights),
      rights,
      exchange,
      reportTo: undefined,
      progressTokens: undefined,
    };
    const dispatch = (): unknown => {
      const { method, params = {} } = resolveCallTool(request);
      if (isInDialect(method, params)) throw refuseEnvelope(method);
      return handleModern(method, params, clientRequest, this.#parts);
    };
    this.#running.start(exchange, () => whenListed(exchange, this.#parts, dispatch));
  }

  /** Lets running requests end for up to `drainMs`, then answers the rest with an error. */
  async close(drainMs: number): Promise<void> {
    if (this.#running.size === 0) return;
    const reason = new HallError("UNAVAILABLE", "the hall is shutting down");
    await this.#running.drain(reason, drainMs);
    this.#running.failAll(reason);
  }
}
