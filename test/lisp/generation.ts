import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import fc from "fast-check";
import { expect } from "vitest";
import { createLisp, type Lisp } from "../../src/lisp/lisp.ts";
import { commonLisp } from "../../src/lisp/symbol.ts";
import { typedPrograms, wildPrograms } from "./arbitrary-programs.ts";

/** Small, so that programs that exceed them end quickly. */
const budgets = {
  steps: 20_000,
  cells: 20_000,
  depth: 300,
  output: 5_000,
  timeMs: 2_000,
  integerBits: 100_000,
};

const programsPerSession = 50;

/**
 * Runs wild programs in one session after the other. Each must return within the limits of the test and of its
 * output; at the end the language and JavaScript must be unchanged, and memory must not have grown.
 */
export function runWildPrograms(count: number, seed: number): void {
  const before = snapshot();
  const heap = heapBytes();
  let [session, used] = [newSession(), 0];
  const answers = { values: 0, conditions: 0 };
  fc.assert(
    fc.property(wildPrograms, (source) => {
      if (used++ % programsPerSession === 0) session = newSession();
      const { condition, output } = session.evaluate(source);
      if (condition === null) answers.values++;
      else answers.conditions++;
      expect(condition?.message ?? "").not.toMatch(/internal error/);
      expect(output.length).toBeLessThanOrEqual(budgets.output + 2_000);
    }),
    { numRuns: count, seed, endOnFailure: true },
  );
  expect(session.evaluate("(cl:+ 1 2)", { package: "COMMON-LISP-USER" }).values).toEqual(["3"]);
  expect(snapshot()).toEqual(before);
  expect(heapBytes() - heap).toBeLessThan(100 * 1024 * 1024);
  // A generator of only errors, or of none, would prove little.
  expect(answers.values).toBeGreaterThan(count / 20);
  expect(answers.conditions).toBeGreaterThan(count / 20);
}

export function runTypedPrograms(count: number, seed: number): void {
  const session = createLisp({ budgets: { steps: 500_000, timeMs: 10_000 } });
  fc.assert(
    fc.property(typedPrograms, ({ source, answer }) => {
      const { values, condition } = session.evaluate(source);
      expect(condition?.message).toBeUndefined();
      expect(values).toEqual([String(answer)]);
    }),
    { numRuns: count, seed, endOnFailure: true },
  );
}

const newSession = (): Lisp => createLisp({ budgets, host: { sleep: () => {} } });

/** State that no program may change: the shared language, and the host's prototypes. */
function snapshot(): unknown {
  createLisp();
  const language = [...commonLisp.symbols.values()].map(({ name, fn, macro, kind }) => [
    name,
    fn?.code.name === undefined ? null : fn.code,
    macro,
    kind,
  ]);
  const host = [Object.prototype, Array.prototype, Function.prototype, Map.prototype].map(
    (prototype) => Object.getOwnPropertyNames(prototype),
  );
  return {
    symbols: language.length,
    language: new Map(language.map(([name, ...rest]) => [name, rest])),
    host,
    globals: Object.getOwnPropertyNames(globalThis),
  };
}

function heapBytes(): number {
  setFlagsFromString("--expose-gc");
  const collect: () => void = runInNewContext("gc");
  collect();
  return process.memoryUsage().heapUsed;
}
