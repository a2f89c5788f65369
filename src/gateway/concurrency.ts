import { HallError } from "../base/errors.ts";
import type { Toolkit } from "../tool.ts";
import { getTarget, type Stage } from "./stage.ts";

/** How many calls of one toolkit run at once, and how many more may wait for their turn. */
export interface Capacity {
  /** 0 for any number. */
  readonly concurrent: number;
  readonly queue: number;
}

export interface Capacities {
  readonly registered?: Capacity;
  readonly toolkits?: Readonly<Record<string, Capacity>>;
}

/** A toolkit gets no more calls at once than it can take; the others wait in order, and past the queue are refused at once. */
export const limitConcurrency = (capacities: Capacities): Stage => {
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
    const { toolkit } = getTarget(call);
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
        `${toolkit.id} runs as many calls as it can take, and as many as may wait`,
        { details: { retryAfterSeconds: 1 } },
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

  /** True when there was room; whoever goes in leaves again. */
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
        // Its turn may have come in the moment it was withdrawn: then it goes to the next.
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
    // The place goes from one to the other.
    this.#waiting.delete(next);
    next();
  }
}
