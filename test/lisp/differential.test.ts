import { beforeAll, expect, test } from "vitest";
import { differences } from "./differences.ts";
import { runInLisp } from "./oracle.ts";
import { runOurs } from "./ours.ts";
import { type Program, type Result, readPrograms } from "./programs.ts";

/**
 * Runs every program of test/lisp/programs in our Lisp, in SBCL and in ECL, and compares values, output and
 * condition types. If SBCL and ECL disagree, SBCL decides.
 */
const programs = readPrograms();
let ours: Map<string, Result>;
let sbcl: Map<string, Result>;
let ecl: Map<string, Result>;

beforeAll(async () => {
  [sbcl, ecl] = await Promise.all([runInLisp("sbcl", programs), runInLisp("ecl", programs)]);
  ours = runOurs(programs);
});

test("there are at least 1,400 programs with unique names", () => {
  expect(programs.length).toBeGreaterThanOrEqual(1_400);
  expect(new Set(programs.map(({ name }) => name)).size).toBe(programs.length);
});

test("every program has the results of SBCL, or a deliberate difference", () => {
  const deliberate = new Map(
    differences.map((difference) => [difference.program, difference.ours]),
  );
  const wrong = programs.filter(
    ({ name }) => text(ours.get(name)) !== text(deliberate.get(name) ?? sbcl.get(name)),
  );
  expect(wrong.map(explain)).toEqual([]);
});

test("deliberate differences are few, have a reason, and still differ", () => {
  expect(differences.length).toBeLessThanOrEqual(15);
  for (const { program, ours: claimed, sbcl: theirs, reason } of differences) {
    expect(programs.map(({ name }) => name)).toContain(program);
    expect(reason.length).toBeGreaterThan(20);
    expect(text(sbcl.get(program))).toBe(text(theirs));
    expect(text(claimed)).not.toBe(text(theirs));
  }
});

test("SBCL and ECL agree on most programs, so they test the language and not SBCL", () => {
  const agreed = programs.filter(({ name }) => text(sbcl.get(name)) === text(ecl.get(name)));
  expect(agreed.length / programs.length).toBeGreaterThan(0.8);
});

const text = (result: Result | undefined): string => JSON.stringify(result ?? null);

function explain({ name, source }: Program): string {
  return `${name}\n${source}\nours: ${text(ours.get(name))}\nSBCL: ${text(sbcl.get(name))}\nECL:  ${text(ecl.get(name))}`;
}
