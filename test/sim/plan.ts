import { Random } from "./random.ts";

/** One thing that happens in a simulation. `roll` chooses the client, the server or the tool it happens to. */
export interface Action {
  readonly at: number;
  readonly what: keyof typeof weights;
  readonly roll: number;
}

const weights = {
  call: 700,
  list: 25,
  ping: 10,
  cancel: 30,
  "client joins": 6,
  "client leaves": 4,
  "client stalls": 6,
  "client is cut off": 2,
  "server crashes": 6,
  "server is cut off": 1,
  "server does not start": 3,
  "server hangs at start": 1,
  "server starts again": 6,
  "server is restarted": 3,
  "server is removed": 2,
  "server is added": 4,
  "definitions change": 4,
  "definitions change back": 6,
  "person grants": 5,
  "person revokes": 5,
  "server is edited": 3,
  "token is revoked": 1,
  "connection breaks": 4,
  "disk fills up": 3,
  "disk has space": 6,
  "database refuses": 2,
  "database is silent": 2,
  "database is back": 6,
  "answer of the database is lost": 3,
  "hall crashes": 1.5,
  "write is torn": 1.5,
  "clock jumps": 2,
} as const;

/**
 * The actions of the run with this seed. A failing plan can be made shorter, as its actions do not
 * depend on each other.
 */
export function createPlan(seed: number, calls: number): readonly Action[] {
  const random = new Random(seed);
  const actions: Action[] = [];
  let at = 0;
  for (let left = calls; left > 0; ) {
    at += random.isTrue(0.02) ? random.below(20_000) : random.below(40);
    const what = random.weighted(weights);
    if (what === "call") left--;
    actions.push({ at, what, roll: random.next() });
  }
  return actions;
}

/** Leaves out parts of a plan for as long as the rest still fails. */
export async function minimise(
  plan: readonly Action[],
  fails: (plan: readonly Action[]) => Promise<boolean>,
): Promise<readonly Action[]> {
  let rest = plan;
  for (let size = Math.ceil(rest.length / 2); size >= 1; size = Math.floor(size / 2))
    for (let at = 0; at < rest.length; ) {
      const shorter = [...rest.slice(0, at), ...rest.slice(at + size)];
      if (await fails(shorter)) rest = shorter;
      else at += size;
    }
  return rest;
}
