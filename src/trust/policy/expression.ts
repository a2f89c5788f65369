import type { Expr, PolicyJson } from "@cedar-policy/cedar-wasm/nodejs";
import { isObject, type JsonObject } from "../../base/json.ts";

/** The parts of a request that a condition reads besides its principal, action and resource. */
export interface Needs {
  readonly principal: boolean;
  readonly resource: boolean;
  /** Names in the context. */
  readonly context: ReadonlySet<string>;
  /** Arguments by name or JSON pointer, as texts and as whole numbers. */
  readonly texts: ReadonlySet<string>;
  readonly longs: ReadonlySet<string>;
}

/** A condition in two parts: what only the principal, action and resource decide, and the rest. */
export interface Conditions {
  readonly fixed: Expr | undefined;
  readonly contextual: Expr | undefined;
  readonly needs: Needs;
}

/**
 * Splits the conditions of a policy. Both parts must hold for it to apply. Arguments become fields of
 * records, which Cedar reads several times faster than the tags of an entity.
 */
export function splitConditions({ conditions }: PolicyJson): Conditions {
  const parts = conditions.flatMap(({ kind, body }) =>
    kind === "when" ? conjuncts(body) : [{ "!": { arg: body } }],
  );
  const contextual = parts.filter(readsContext).map(withRecords);
  return {
    fixed: join(parts.filter((part) => !readsContext(part))),
    contextual: join(contextual),
    needs: needsOf(contextual),
  };
}

/**
 * The use of arguments that we do not support, if there is one: their names must be literals, so that a
 * call carries only what policies read.
 */
export function readsUnnamedArgument({ conditions }: PolicyJson): boolean {
  return conditions
    .map(({ body }) => withRecords(body))
    .some((body) => has(body, isArgumentEntity));
}

/** JavaScript would hand another number to Cedar than the one in the file. */
export function hasInexactNumber({ conditions }: PolicyJson): boolean {
  return has(conditions, ({ Value }) => typeof Value === "number" && !Number.isSafeInteger(Value));
}

/** Holds if any of the conditions does. A test that several begin with is evaluated once. */
export function anyOf(conditions: readonly Expr[]): Expr {
  const groups = new Map<string, { readonly first: Expr; readonly rests: Expr[] }>();
  for (const condition of conditions) {
    const [first = condition, ...rest] = conjuncts(condition);
    const key = JSON.stringify(first);
    const group = groups.get(key) ?? { first, rests: [] };
    group.rests.push(join(rest) ?? { Value: true });
    groups.set(key, group);
  }
  return disjunction(
    [...groups.values()].map(
      ({ first, rests }): Expr => ({
        "&&": { left: first, right: disjunction(rests) },
      }),
    ),
  );
}

/** Balanced, because Cedar limits the depth of an expression. */
function disjunction(parts: readonly Expr[]): Expr {
  const [only] = parts;
  if (parts.length <= 1) return only ?? { Value: false };
  const middle = parts.length >> 1;
  const left = disjunction(parts.slice(0, middle));
  return { "||": { left, right: disjunction(parts.slice(middle)) } };
}

function conjuncts(expr: Expr): readonly Expr[] {
  return "&&" in expr && isObject(expr["&&"])
    ? [...conjuncts(expr["&&"].left as Expr), ...conjuncts(expr["&&"].right as Expr)]
    : [expr];
}

function join(parts: readonly Expr[]): Expr | undefined {
  return parts.length === 0
    ? undefined
    : parts.reduce((left, right): Expr => ({ "&&": { left, right } }));
}

function readsContext(expr: Expr): boolean {
  return has(expr, (node) => node.Var === "context");
}

/** True if the test holds for a node of the expression. */
function has(value: unknown, test: (node: JsonObject) => boolean): boolean {
  if (Array.isArray(value)) return value.some((item) => has(item, test));
  return isObject(value) && (test(value) || Object.values(value).some((item) => has(item, test)));
}

/** The records that hold the arguments at evaluation, by their names in the schema. */
const records: Readonly<Record<string, string>> = { arguments: "texts", numbers: "longs" };

function isArgumentEntity(node: JsonObject): boolean {
  return Object.hasOwn(records, contextField(node) ?? "");
}

/** The name in `context.name`. */
function contextField(node: unknown): string | undefined {
  const access = isObject(node) ? node["."] : undefined;
  const isOfContext = isObject(access) && isObject(access.left) && access.left.Var === "context";
  return isOfContext ? String(access.attr) : undefined;
}

/** `context.arguments.getTag("path")` as `context.texts.path`, and `hasTag` as `has`. */
function withRecords(expr: Expr): Expr {
  return rewrite(expr) as Expr;
}

function rewrite(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(rewrite);
  if (!isObject(value)) return value;
  const access = value.hasTag ?? value.getTag;
  if (isObject(access) && isObject(access.right) && typeof access.right.Value === "string") {
    const record = records[contextField(access.left) ?? ""];
    if (record !== undefined) {
      const left = { ".": { left: { Var: "context" }, attr: record } };
      const field = { left, attr: access.right.Value };
      return value.hasTag === undefined ? { ".": field } : { has: field };
    }
  }
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, rewrite(part)]));
}

function needsOf(parts: readonly Expr[]): Needs {
  const fields = new Set<string>();
  const named = { texts: new Set<string>(), longs: new Set<string>() };
  has(parts, (node) => {
    const field = contextField(node);
    if (field !== undefined) fields.add(field);
    const access = node["."] ?? node.has;
    const record = isObject(access) ? contextField(access.left) : undefined;
    if (record === "texts" || record === "longs")
      named[record].add(String((access as JsonObject).attr));
    return false;
  });
  const uses = (name: string): boolean => has(parts, (node) => node.Var === name);
  return { principal: uses("principal"), resource: uses("resource"), context: fields, ...named };
}
