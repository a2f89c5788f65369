// Conditions that are decided without Cedar have the same value for Cedar, and are never an error.
import cedar, { type Expr } from "@cedar-policy/cedar-wasm/nodejs";
import { expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import type { Target } from "../../src/tool.ts";
import { Policies } from "../../src/trust/policy/policies.ts";
import { holdsFor } from "../../src/trust/policy/quick.ts";

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

test("2,000 conditions: a value that is found without Cedar is Cedar's, without an error", () => {
  const found = { true: 0, false: 0 };
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
    const holds = holdsFor(body, values);
    if (holds === undefined) continue;
    found[`${holds}`]++;
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
    const isSame =
      answer.type === "success" &&
      answer.response.decision === (holds ? "allow" : "deny") &&
      answer.response.diagnostics.errors.length === 0;
    if (!isSame) wrong.push({ body, values, answer });
  }
  expect(wrong).toEqual([]);
  expect(Math.min(found.true, found.false)).toBeGreaterThan(200);
}, 60_000);

test("half a surrogate pair in an argument, a client's name or a person denies with a reason", async () => {
  const policies = new Policies();
  const text = `forbid (principal, action == Action::"call", resource)
    when { context.arguments.hasTag("path") && context.arguments.getTag("path") like "/etc/*" };
    forbid (principal, action == Action::"call", resource) when { context.client == "bad" };
    forbid (principal, action == Action::"call", resource) when { principal in Group::"bad" };`;
  await policies.replace([{ file: "p.cedar", text, isProject: false }]);
  expect(policies.problems).toEqual([]);
  const toolkit = { id: "s", source: "upstream" };
  const tool = {
    tool: { name: "t", inputSchema: {} },
    toolkit,
    fullName: "s.t",
  } as unknown as Target;
  const half = "x\ud83d";
  const ask = (path: string, client = "c", user = "ann") =>
    policies.refuses({
      caller: { person: { user, groups: [] }, client },
      action: "call",
      subject: { tool },
      arguments: { path },
    })?.shown;
  expect(ask("/home/x")).toBeUndefined();
  for (const shown of [ask(half), ask("/home/x", half), ask("/home/x", "c", half)])
    expect(shown).toContain("not well-formed Unicode");
  expect(ask("/home/x")).toBeUndefined();
});
