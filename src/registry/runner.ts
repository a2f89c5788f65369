import type { JsonObject } from "../base/json.ts";
import type { Scope } from "../base/scope.ts";

/** Whoever runs a registered toolkit: the connection that registered it, or an address. */
export interface Runner {
  readonly kind: "connection" | "endpoint";
  /** Which one, so that the same connection registering twice stays one runner. */
  readonly id: string;
  /** One request in the registry dialect. Throws HallError, with the service's own error as `relayed`. */
  request(
    method: "tools/call" | "health/check",
    params: JsonObject,
    scope: Scope,
  ): Promise<unknown>;
  /** Calls back once when it can no longer be reached. Returns the way to stop listening. */
  onGone(listener: () => void): () => void;
  close(): void;
}
