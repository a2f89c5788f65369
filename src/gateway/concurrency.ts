import { HallError } from "../base/errors.ts";
import type { Toolkit } from "../tool.ts";
import type { ResolvedStage } from "./stage.ts";

/** How many calls of one toolkit run at once, and how many more may queue. */
export interface Capacity {
  /** 0 for no limit. */
  readonly concurrent: number;
  readonly queue: number;
}

export interface Capacities {
  readonly registered?: Capacity;
  readonly toolkits?: Readonly<Record<string, Capacity>>;
}

/** Limits the calls that run at once per toolkit. Others queue in order; if the queue is full they fail at once. */
export const limitConcurrency = (capacities: Capacities): ResolvedStage => {
  const gates = new WeakMap<Toolkit, Gate | null>();

  function gateOf(toolkit: Toolkit): Gate | null {
    let gate = gates.get(toolkit);
    if (gate === undefined) {
      const capacity =
        capacities.toolkits?.[toolkit.id] ??
        (toolkit.source === "registered" ? capacities.registered : undefined);
      gate = capacity && capacity.concurrent > 0 ? new Gate(capacity) : null;
      gates.set(toolkit, gate);
    }
    return gate;
  }

  return (next) => (call, context) => {
    const { toolkit } = call.target;
    const gate = gateOf(toolkit);
    if (!gate) return next(call, context);
    const run = (): ReturnType<typeof next> => {
      try {
        return next(call, context).finally(() => gate.leave());
      } catch (error) {
        gate.leave();
        throw error;
      }
    };
    if (gate.enter()) return run();
    if (gate.isFull) {
      throw new HallError(
        "OVERLOADED",
        `${toolkit.id} is at its limit of running and queued calls`,
        { details: { retryAfterSeconds: 1 }, next: [{ do: "retry-after", seconds: 1 }] },
      );
    }
    const { turn, giveUp } = gate.wait();
    return context.scope.race(turn).then(run, (error: unknown) => {
      giveUp();
      throw error;
    });
  };
};

class Gate {
  readonly #capacity: Capacity;
  readonly #waiting = new Set<() => void>();
  #running = 0;

  constructor(capacity: Capacity) {
    this.#capacity = capacity;
  }

  get isFull(): boolean {
    return this.#waiting.size >= this.#capacity.queue;
  }

  /** True if a slot was free; the caller must then call `leave`. */
  enter(): boolean {
    if (this.#running >= this.#capacity.concurrent) return false;
    this.#running++;
    return true;
  }

  wait(): { readonly turn: Promise<void>; giveUp(): void } {
    let hasTurn = false;
    let next = (): void => {};
    const turn = new Promise<void>((resolve) => {
      next = () => {
        hasTurn = true;
        resolve();
      };
    });
    this.#waiting.add(next);
    return {
      turn,
      giveUp: () => {
        // If its turn came at the moment of giving up, pass the slot on.
        if (hasTurn) this.leave();
        else this.#waiting.delete(next);
      },
    };
  }

  leave(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#running--;
      return;
    }
    // Hand the slot over; `#running` stays the same.
    this.#waiting.delete(next);
    next();
  }
}
