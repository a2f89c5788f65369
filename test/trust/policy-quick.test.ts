// Conditions that are ruled out without Cedar are false for Cedar, too, and never an error.
import cedar, { type Expr } from "@cedar-policy/cedar-wasm/nodejs";
import { expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { isRuledOut } from "../../src/trust/policy/quick.ts";

/** A small generator that repeats its numbers. */
function createRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const random = createRandom(20);
const pick = <T>(choices: readonly T[]): T => choices[random(choices.length)] as T;
const words = ["", "a", "ab", "/etc/x", "/etc//x", "é", "e\u0301", "😀a", "\ud83d", "a*b"];
/** Half of a pair, without the other half. */
const hasSurrogate = /\p{Surrogate}/u;
const numbers = [0, 1, -1, 7, Number.MAX_SAFE_INTEGER];
const context: Expr = { Var: "context" };

function field(): Expr {
  const [record, attr] = pick([
    ["texts", "path"],
    ["texts", "gone"],
    ["longs", "amount"],
    ["taint", "outside"],
    ["caller", "name"],
  ]);
  return { ".": { left: { ".": { left: context, attr: record } }, attr } } as Expr;
}

function pattern(): unknown {
  const parts = Array.from({ length: random(5) }, () =>
    random(2) === 0 ? "Wildcard" : { Literal: pick(["/", "e", "a", "etc", "😀"]) },
  );
  return parts;
}

function value(): Expr {
  return pick([
    field,
    field,
    () => ({ Value: pick(words.filter((word) => !hasSurrogate.test(word))) }),
    () => ({ Value: pick(numbers) }),
    () => ({ Value: random(2) === 0 }),
  ])() as Expr;
}

function condition(depth: number): Expr {
  const inner = (): Expr =>
    depth === 0 ? ({ Value: random(2) === 0 } as Expr) : condition(depth - 1);
  const both = (make: () => Expr) => ({ left: make(), right: make() });
  return pick<() => unknown>([
    () => ({ "&&": both(inner) }),
    () => ({ "||": both(inner) }),
    () => ({ "!": { arg: inner() } }),
    () => ({ [pick(["==", "!=", "<", "<=", ">", ">="])]: both(value) }),
    () => ({ like: { left: value(), pattern: pattern() } }),
    () => ({
      has: { left: { ".": { left: context, attr: "texts" } }, attr: pick(["path", "gone"]) },
    }),
    () => ({ has: { left: { ".": { left: context, attr: "caller" } }, attr: "name" } }),
    field,
  ])() as Expr;
}

test("2,000 conditions: what is ruled out is false for Cedar, without an error", () => {
  let ruledOut = 0;
  const wrong: unknown[] = [];
  for (let round = 0; round < 2_000; round++) {
    const body = condition(3);
    const path = pick(words);
    const values: JsonObject = {
      texts: { path },
      longs: random(4) === 0 ? {} : { amount: pick(numbers) },
      taint: { outside: random(2) === 0 },
      caller: { __entity: { type: "User", id: "ann" } },
    };
    if (!isRuledOut(body, values)) continue;
    ruledOut++;
    const all = { op: "All" } as const;
    const conditions = [{ kind: "when" as const, body }];
    const permit = { effect: "permit" as const, principal: all, action: all, resource: all };
    const answer = cedar.isAuthorized({
      principal: { type: "User", id: "ann" },
      action: { type: "Action", id: "call" },
      resource: { type: "Tool", id: "t" },
      // Cedar takes no other text.
      context: { ...values, texts: { path: path.replace(hasSurrogate, "\ufffd") } } as never,
      policies: { staticPolicies: { p: { ...permit, conditions } } },
      entities: [],
    });
    const isFalse =
      answer.type === "success" &&
      answer.response.decision === "deny" &&
      answer.response.diagnostics.errors.length === 0;
    if (!isFalse) wrong.push({ body, values, answer });
  }
  expect(wrong).toEqual([]);
  expect(ruledOut).toBeGreaterThan(300);
}, 60_000);
