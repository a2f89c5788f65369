import { setTimeout as sleep } from "node:timers/promises";
import type { Cluster } from "../store/cluster.ts";
import type { Team } from "./team.ts";

/** The next fault, and how long it lasts. */
export interface Fault {
  readonly kind: (typeof kinds)[number];
  /** Which hall; faults of the database do not use it. */
  readonly hall: number;
  /** Before it, as a part of the usual pause. */
  readonly pause: number;
  readonly ms: number;
}

/**
 * A hall is killed, asked to leave, stopped, cut off from the database without a word, cut off from
 * clients and other halls without a word, or loses its connections to the database. The database is
 * killed or stopped.
 */
const kinds = [
  "kill",
  "leave",
  "stop",
  "partition",
  "isolate",
  "cut",
  "kill database",
  "stop database",
] as const;

/** Numbers that a seed repeats. */
export function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** The faults of a seed: always the same ones in the same order. */
export function* planFaults(seed: number, halls: number): Generator<Fault, never> {
  const random = createRandom(seed);
  for (;;) {
    const kind = kinds[Math.floor(random() * kinds.length)] ?? "kill";
    const hall = Math.floor(random() * halls);
    yield { kind, hall, pause: 0.5 + random(), ms: 300 + random() * 3_000 };
  }
}

export const nameOf = ({ kind, hall }: Fault): string =>
  kind.endsWith("database") ? kind : `${kind} ${hall}`;

/** Runs the plan. One fault at a time, so that a hall is always there. */
export class Faults {
  /** Those that have begun, in their order. */
  readonly names: string[] = [];
  #lasting = 0;
  #endedAt = 0;
  #isOver = false;
  readonly #team: Team;
  readonly #cluster: Cluster;

  constructor(team: Team, cluster: Cluster) {
    this.#team = team;
    this.#cluster = cluster;
  }

  /** True if nothing fails, and everything has had this time to recover. */
  isQuietFor(ms: number): boolean {
    return this.#lasting === 0 && performance.now() - this.#endedAt > ms;
  }

  end(): void {
    this.#isOver = true;
  }

  async run({ seed, pauseMs }: { readonly seed: number; readonly pauseMs: number }): Promise<void> {
    for (const fault of planFaults(seed, this.#team.halls.length)) {
      await sleep(pauseMs * fault.pause);
      if (this.#isOver) return;
      this.names.push(nameOf(fault));
      this.#lasting++;
      await this.#cause(fault);
      this.#lasting--;
      this.#endedAt = performance.now();
    }
  }

  async #cause({ kind, hall: index, ms }: Fault): Promise<void> {
    const hall = this.#team.halls[index];
    if (!hall) throw new Error(`there is no hall ${index}`);
    switch (kind) {
      case "kill":
        hall.isOpen = false;
        return this.#team.restart(index);
      case "leave":
        hall.process.child.kill("SIGTERM");
        // The balancer notices a little later.
        await sleep(ms / 3);
        hall.isOpen = false;
        await hall.process.exited;
        return this.#team.restart(index);
      case "stop":
        hall.process.child.kill("SIGSTOP");
        await sleep(ms);
        hall.process.child.kill("SIGCONT");
        return;
      case "partition":
      case "isolate": {
        const proxy = kind === "isolate" ? hall.front : hall.proxy;
        if (!proxy) throw new Error("the halls have no proxies in front");
        proxy.isSilent = true;
        await sleep(ms);
        proxy.isSilent = false;
        return proxy.cut();
      }
      case "cut":
        return hall.proxy.cut();
      case "kill database":
        await this.#cluster.kill();
        await sleep(ms / 3);
        return this.#cluster.start();
      case "stop database":
        this.#cluster.pause();
        await sleep(ms);
        return this.#cluster.resume();
    }
  }
}
