import { test } from "vitest";
import { runTypedPrograms, runWildPrograms } from "./generation.ts";

/** The same programs every time; `SEED=n` tries others. test/long/lisp-generated.long.ts runs a hundred times more. */
const seed = Number(process.env.SEED ?? 1);

test("6,000 wild programs neither crash nor hang nor change shared state", () => {
  runWildPrograms(6_000, seed);
});

test("4,000 programs compute the right integer", () => {
  runTypedPrograms(4_000, seed);
});
