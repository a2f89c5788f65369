import type { Caller, FlowMarks, Taint } from "../tool.ts";
import type { Verdict } from "./trust.ts";

const taintMs = 30 * 60_000;

/**
 * The untrusted and private content that each conversation has read. An injected instruction may steer everything that follows, and
 * what was read may leave with it, so the taint covers later calls, too: until 30 minutes after the
 * last such read. A conversation is a connection, or a principal whose requests have none.
 */
export class Conversations {
  /** The one that expires next comes first. */
  readonly #taints = new Map<string, { readonly taint: Taint; readonly until: number }>();
  readonly #now: () => number;

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  taintOf(caller: Caller): Taint {
    if (this.#taints.size === 0) return clean;
    const kept = this.#taints.get(keyOf(caller));
    return kept !== undefined && kept.until > this.#now() ? kept.taint : clean;
  }

  add(caller: Caller, { outside, private: owned }: Taint): void {
    if (outside === undefined && owned === undefined) return;
    const known = this.taintOf(caller);
    const now = this.#now();
    const key = keyOf(caller);
    this.#taints.delete(key);
    this.#taints.set(key, {
      taint: { outside: known.outside ?? outside, private: known.private ?? owned },
      until: now + taintMs,
    });
    for (const [other, { until }] of this.#taints) {
      if (until > now) break;
      this.#taints.delete(other);
    }
  }
}

const clean: Taint = {};

/** Only a connection of one request has a rate limit that it shares with others. */
function keyOf({ connection, principal, quota = connection }: Caller): string {
  return quota === connection ? `connection ${connection}` : `principal ${principal}`;
}

/** Why a call needs approval after what its conversation has read; undefined if it does not. */
export function taintReason(
  { effect }: Verdict["marks"],
  { sendsOut = false, takesAddress = false, goesOut = false }: Partial<FlowMarks>,
  { outside, private: owned }: Taint,
): string | undefined {
  const isUnknown = effect === "unknown";
  if (outside !== undefined && effect === "changes")
    return explain("outside content", outside, "the tool may change something");
  if (outside !== undefined && (sendsOut || takesAddress))
    return explain("outside content", outside, "the tool can send data out");
  if (owned !== undefined && (sendsOut || takesAddress || goesOut))
    return explain("private data", owned, "the tool can send data out");
  if (isUnknown && outside !== undefined) return explain("outside content", outside, unknown);
  if (isUnknown && owned !== undefined) return explain("private data", owned, unknown);
  return undefined;
}

const unknown = "the tool does not say whether it changes anything";

function explain(what: string, tool: string, effect: string): string {
  return `this conversation has read ${what} through ${tool}, and ${effect}`;
}
