import { test } from "vitest";
import { runTypedPrograms, runWildPrograms } from "../lisp/generation.ts";

/** Other programs every time; a failure shows its seed, and `SEED=n` replays it. */
const seed = Number(process.env.SEED ?? Date.now() % 2 ** 31);
const rounds = 40;

test("a million generated programs neither crash nor hang nor change shared state", () => {
  for (let round = 0; round < rounds; round++) {
    runWildPrograms(800_000 / rounds, seed + round);
    runTypedPrograms(200_000 / rounds, seed + round);
  }
}, 3_600_000);
