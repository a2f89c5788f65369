import { type Action, createPlan, minimise } from "./plan.ts";
import { simulate } from "./simulation.ts";

/** Bound early: a simulation replaces the clock. */
const now = performance.now.bind(performance);
const callsPerSeed = 150;
const attemptsMax = 150;
/** A busy machine simulates these too: some of them crash. */
const seedsMin = 6;

export interface Simulated {
  readonly seeds: number;
  readonly calls: number;
  /** Calls that reached a server. */
  readonly executed: number;
  /** Halls that ended without warning, and were started again on the same store. */
  readonly crashes: number;
}

/**
 * Simulates one seed after the other for this long. Throws at the first broken rule, with the shortest plan that still
 * breaks one and its trace; `GUILDHALL_SIM_SEED` starts with that seed, `GUILDHALL_SIM_SECONDS` changes how long.
 */
export async function runSeeds(seconds: number): Promise<Simulated> {
  const endsAt = now() + Number(process.env.GUILDHALL_SIM_SECONDS ?? seconds) * 1_000;
  const sum = { seeds: 0, calls: 0, executed: 0, crashes: 0 };
  const first = Number(process.env.GUILDHALL_SIM_SEED ?? 1);
  for (let seed = first; now() < endsAt || sum.seeds < seedsMin; seed++) {
    const plan = createPlan(seed, callsPerSeed);
    const finding = await simulate(seed, plan);
    if (finding.faults.length > 0) await report(seed, plan);
    sum.seeds++;
    sum.calls += finding.calls;
    sum.executed += finding.executed;
    sum.crashes += finding.crashes;
  }
  console.log(
    `simulated ${sum.calls} calls with ${sum.seeds} seeds and ${sum.crashes} crashes; ${sum.executed} reached a server`,
  );
  return sum;
}

async function report(seed: number, plan: readonly Action[]): Promise<never> {
  let attempts = 0;
  const short = await minimise(plan, async (part) => {
    attempts++;
    return attempts <= attemptsMax && (await simulate(seed, part)).faults.length > 0;
  });
  const { faults, trace } = await simulate(seed, short, true);
  throw new Error(
    [`seed ${seed}: ${faults.join("; ")}`, JSON.stringify(short), ...trace].join("\n"),
  );
}
