import { beforeAll, expect, test } from "vitest";
import { differences } from "./differences.ts";
import { askOracle } from "./oracle.ts";
import { askOurs } from "./ours.ts";
import { type Program, type Result, readPrograms } from "./programs.ts";

/**
 * Every program of test/lisp/programs in our Lisp, in SBCL and in ECL: the same values, the same output, the same type of condition. Where SBCL and
 * ECL disagree, SBCL is what counts.
 */
const programs = readPrograms();
let ours: Map<string, Result>;
let sbcl: Map<string, Result>;
let ecl: Map<string, Result>;

beforeAll(async () => {
  [sbcl, ecl] = await Promise.all([askOracle("sbcl", programs), askOracle("ecl", programs)]);
  ours = askOurs(programs);
}, 120_000);

test("there are at least 600 programs, and each has a name of its own", () => {
  expect(programs.length).toBeGreaterThanOrEqual(600);
  expect(new Set(programs.map(({ name }) => name)).size).toBe(programs.length);
});

test("every program answers what SBCL answers, or what its deliberate difference says", () => {
  const deliberate = new Map(
    differences.map((difference) => [difference.program, difference.ours]),
  );
  const wrong = programs.filter(
    ({ name }) => text(ours.get(name)) !== text(deliberate.get(name) ?? sbcl.get(name)),
  );
  expect(wrong.map(explain)).toEqual([]);
});

test("deliberate differences are few, say why, and still differ", () => {
  expect(differences.length).toBeLessThanOrEqual(15);
  for (const { program, ours: claimed, sbcl: theirs, reason } of differences) {
    expect(programs.map(({ name }) => name)).toContain(program);
    expect(reason.length).toBeGreaterThan(20);
    expect(text(sbcl.get(program))).toBe(text(theirs));
    expect(text(claimed)).not.toBe(text(theirs));
  }
});

test("the other two Lisps agree on most programs, so the programs ask for the language and not for SBCL", () => {
  const agreed = programs.filter(({ name }) => text(sbcl.get(name)) === text(ecl.get(name)));
  expect(agreed.length / programs.length).toBeGreaterThan(0.8);
});

const text = (result: Result | undefined): string => JSON.stringify(result ?? null);

function explain({ name, source }: Program): string {
  return `${name}\n${source}\nours: ${text(ours.get(name))}\nSBCL: ${text(sbcl.get(name))}\nECL:  ${text(ecl.get(name))}`;
}
