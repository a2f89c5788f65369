import { type Action, createPlan, minimise } from "./plan.ts";
import { simulate } from "./simulation.ts";

/** Bound early: a simulation replaces the clock. */
const now = performance.now.bind(performance);
const callsPerSeed = 150;
const attemptsMax = 150;

export interface Simulated {
  readonly seeds: number;
  readonly calls: number;
  /** Calls that reached a server. */
  readonly executed: number;
}

/**
 * Simulates one seed after the other for this long. Throws at the first broken rule, with the shortest plan that still
 * breaks one and its trace; `GUILDHALL_SIM_SEED` starts with that seed.
 */
export async function runSeeds(seconds: number): Promise<Simulated> {
  const endsAt = now() + seconds * 1_000;
  let [seeds, calls, executed] = [0, 0, 0];
  for (let seed = Number(process.env.GUILDHALL_SIM_SEED ?? 1); now() < endsAt; seed++) {
    const plan = createPlan(seed, callsPerSeed);
    const finding = await simulate(seed, plan);
    if (finding.faults.length > 0) await report(seed, plan);
    seeds++;
    calls += finding.calls;
    executed += finding.executed;
  }
  return { seeds, calls, executed };
}

async function report(seed: number, plan: readonly Action[]): Promise<never> {
  let attempts = 0;
  const short = await minimise(plan, async (part) => {
    attempts++;
    return attempts <= attemptsMax && (await simulate(seed, part)).faults.length > 0;
  });
  const { faults, trace } = await simulate(seed, short);
  throw new Error(
    [`seed ${seed}: ${faults.join("; ")}`, JSON.stringify(short), ...trace].join("\n"),
  );
}
