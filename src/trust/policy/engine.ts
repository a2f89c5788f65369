import type {
  AuthorizationAnswer,
  CedarValueJson,
  EntityJson,
  Expr,
  TypeAndId,
} from "@cedar-policy/cedar-wasm/nodejs";
import type { Target } from "../../tool.ts";
import type { Marks } from "../marks.ts";
import { anyOf, type Needs } from "./expression.ts";
import type { Cedar, Policy } from "./parse.ts";
import { holdsFor } from "./quick.ts";
import {
  describeSubject,
  describeUser,
  ownServer,
  type PolicyRequest,
  readArguments,
  TooLong,
} from "./request.ts";
import type { PolicyAction } from "./schema.ts";

/** The policies that decided. None: no policy permits it, or none applies and nothing needs a permit. */
export interface Ruling {
  readonly allows: boolean;
  readonly by: readonly Policy[];
  /** Why a policy could not be evaluated: the request is denied. */
  readonly failure?: string | undefined;
}

/**
 * The part of a decision that needs no context: the ruling, or the policies that the context decides.
 * Plans do not change until the policies, the caller's groups or the tool's marks do.
 */
export type Plan =
  | { readonly kind: "decided"; readonly ruling: Ruling }
  | {
      readonly kind: "open";
      /** Applies if none of the policies below does. */
      readonly otherwise: Ruling;
      readonly open: readonly Policy[];
    };

export interface EngineOptions {
  readonly cedar: Cedar;
  readonly policies: readonly Policy[];
  marksOf(target: Target): Marks;
  now(): number;
}

/**
 * Evaluates policies. Their scopes are matched here, by an index of action and server; conditions are
 * Cedar's, in sets that were parsed before and contain only policies that can apply.
 */
export class PolicyEngine {
  readonly policies: readonly Policy[];
  readonly #options: EngineOptions;
  readonly #index = new Map<string, readonly Policy[]>();
  readonly #sets: ParsedSets;
  /** Cedar's default is to deny; a set that only forbids would deny everything. */
  readonly #isPermitNeeded: boolean;

  constructor(options: EngineOptions) {
    this.#options = options;
    this.policies = options.policies;
    this.#sets = new ParsedSets(options.cedar);
    this.#isPermitNeeded = options.policies.some(({ effect }) => effect === "permit");
  }

  plan({ caller, action, subject }: PolicyRequest): Plan {
    const user = describeUser(caller.person);
    const thing = describeSubject(subject, this.#options.marksOf);
    const applicable = this.#candidates(action, thing).filter(
      ({ scope }) => matches(scope.principal, user) && matches(scope.resource, thing),
    );
    const { held, failure } = this.#whereFixedPartHolds(applicable, { user, action, thing });
    if (failure) return decided({ allows: false, ...failure });
    const isCertain = (policy: Policy): boolean => policy.conditions.contextual === undefined;
    const forbids = held.filter(({ effect }) => effect === "forbid");
    const denying = forbids.filter(isCertain);
    if (denying.length > 0) return decided({ allows: false, by: denying });
    const permits = held.filter(({ effect }) => effect === "permit");
    const permitting = permits.filter(isCertain);
    const isFree =
      !this.#isPermitNeeded || action === "list" || (action === "call" && isOwn(thing));
    const otherwise = { allows: isFree || permitting.length > 0, by: permitting };
    const open = otherwise.allows ? forbids : [...forbids, ...permits];
    return open.length === 0 ? decided(otherwise) : { kind: "open", otherwise, open };
  }

  /** Decides an open plan by the context of the request. */
  evaluate({ otherwise, open }: Extract<Plan, { kind: "open" }>, request: PolicyRequest): Ruling {
    const context = this.#contextOf(request, open);
    if (!("values" in context)) return { allows: false, ...context };
    const { held, failure } = this.#whereContextHolds(open, request, context.values);
    if (failure) return { allows: false, ...failure };
    const denying = held.filter(({ effect }) => effect === "forbid");
    if (denying.length > 0) return { allows: false, by: denying };
    return otherwise.allows || held.length === 0 ? otherwise : { allows: true, by: held };
  }

  /** Cedar is asked about the conditions that are not plain without it. */
  #whereContextHolds(open: readonly Policy[], request: PolicyRequest, context: Context): Asked {
    const certain: Policy[] = [];
    const unsure: Policy[] = [];
    for (const policy of open) {
      const { contextual } = policy.conditions;
      const holds = contextual === undefined || holdsFor(contextual, context);
      if (holds === undefined) unsure.push(policy);
      else if (holds) certain.push(policy);
    }
    if (unsure.length === 0) return { held: certain };
    const facts = {
      user: describeUser(request.caller.person),
      action: request.action,
      thing: describeSubject(request.subject, this.#options.marksOf),
      context,
    };
    const { held, failure } = this.#askEach(unsure, open, facts);
    return { held: [...new Set([...certain, ...held])], failure };
  }

  /** Frees what Cedar holds for it. */
  close(): void {
    this.#sets.close();
  }

  /** The policies whose action and server fit. */
  #candidates(action: PolicyAction, thing: EntityJson): readonly Policy[] {
    const server = thing.parents[0] ?? thing.uid;
    const key = `${action} ${JSON.stringify(server)}`;
    let found = this.#index.get(key);
    if (!found) {
      found = this.policies.filter(
        ({ scope }) => matchesAction(scope.action, action) && mayConcern(scope.resource, server),
      );
      if (this.#index.size >= indexMax) this.#index.clear();
      this.#index.set(key, found);
    }
    return found;
  }

  /** The policies whose conditions on principal and resource hold, with those that have none. */
  #whereFixedPartHolds(policies: readonly Policy[], facts: Facts): Asked {
    const asked = policies.filter(({ conditions }) => conditions.fixed !== undefined);
    if (asked.length === 0) return { held: policies };
    const { held, failure } = this.#ask(asked, "fixed", facts);
    return {
      held: policies.filter((policy) => !asked.includes(policy) || held.includes(policy)),
      failure,
    };
  }

  /** Each by itself where few are possible: Cedar keeps a parsed set of each, and none for every choice of them. */
  #askEach(possible: readonly Policy[], all: readonly Policy[], facts: Facts): Asked {
    if (possible.length > singlesMax || possible.length === all.length)
      return this.#ask(all, "contextual", facts);
    const answers = possible.map((policy) => this.#ask(aloneOf(policy), "contextual", facts));
    const failure = answers.find((answer) => answer.failure)?.failure;
    return { held: answers.flatMap(({ held }) => held), failure };
  }

  #ask(policies: readonly Policy[], part: Part, facts: Facts): Asked {
    // Cedar spends more on each policy of a set than on its condition, and usually none holds.
    const isLarge = policies.length >= largeSet;
    if (isLarge && isDenied(this.#query(policies, part, facts, "any"))) return { held: [] };

    const answer = this.#query(policies, part, facts, "each");
    if (answer.type === "failure")
      return { held: [], failure: { by: policies, failure: answer.errors[0]?.message ?? "" } };
    const { reason, errors } = answer.response.diagnostics;
    const [error] = errors;
    const named = (id: string): readonly Policy[] => policies.filter((_, at) => `${at}` === id);
    if (error)
      return { held: [], failure: { by: named(error.policyId), failure: error.error.message } };
    return { held: reason.flatMap(named) };
  }

  #query(
    policies: readonly Policy[],
    part: Part,
    { user, action, thing, context = {} }: Facts,
    form: Form,
  ): AuthorizationAnswer {
    const isNeeded = (name: "principal" | "resource"): boolean =>
      part === "fixed" || needsOf(policies)[name];
    const preparsedPolicySetId = this.#sets.idOf(policies, part, form);
    try {
      return this.#options.cedar.statefulIsAuthorized({
        principal: user.uid,
        action: { type: "Action", id: action },
        resource: thing.uid,
        context,
        preparsedPolicySetId,
        entities: [
          ...(isNeeded("principal") ? [user] : []),
          ...(isNeeded("resource") ? [thing] : []),
        ],
      });
    } catch {
      // Half a surrogate pair is no text for Cedar, and whatever else it cannot read must not be allowed either.
      return unreadable;
    }
  }

  /** Only what the policies read: passing values to Cedar costs more than evaluating them. */
  #contextOf(
    request: PolicyRequest,
    policies: readonly Policy[],
  ): { readonly values: Context } | Failure {
    const { arguments: args = {}, caller, taint = {}, approvedFor } = request;
    const needs = needsOf(policies);
    const readers: Readonly<Record<string, () => CedarValueJson>> = {
      time: () => ({
        __extn: { fn: "datetime", arg: new Date(this.#options.now()).toISOString() },
      }),
      client: () => caller.client,
      taint: () => ({
        outside: taint.outside !== undefined,
        private: taint.private !== undefined,
      }),
      caller: () => ({ __entity: describeUser(approvedFor).uid as TypeAndId }),
      texts: () => readArguments(args, needs.texts, "texts"),
      longs: () => readArguments(args, needs.longs, "longs"),
    };
    const values: Context = {};
    try {
      for (const name of needs.context) {
        const value = readers[name]?.();
        if (value !== undefined) values[name] = value;
      }
      return { values };
    } catch (error) {
      if (!(error instanceof TooLong)) throw error;
      const by = policies.filter(({ conditions }) => conditions.needs.texts.has(error.message));
      return { by, failure: `the argument "${error.message}" is longer than 64 KiB` };
    }
  }
}

const message = "the request has text that is not well-formed Unicode";
const unreadable: AuthorizationAnswer = {
  type: "failure",
  errors: [{ message, help: null, code: null, url: null, severity: null }],
  warnings: [],
};

type Part = "fixed" | "contextual";
/** A set with each condition, or one condition that holds if any of them does. */
type Form = "each" | "any";
/** Policies up to which asking for each by itself is faster. */
const singlesMax = 3;
/** Policies from which on asking for any of them first is faster. */
const largeSet = 8;

function isDenied(answer: AuthorizationAnswer): boolean {
  if (answer.type === "failure") return false;
  const { decision, diagnostics } = answer.response;
  return decision === "deny" && diagnostics.errors.length === 0;
}

type Context = Record<string, CedarValueJson>;

interface Facts {
  readonly user: EntityJson;
  readonly action: PolicyAction;
  readonly thing: EntityJson;
  readonly context?: Context;
}

interface Failure {
  readonly by: readonly Policy[];
  readonly failure: string;
}

interface Asked {
  readonly held: readonly Policy[];
  readonly failure?: Failure | undefined;
}

/** Servers and methods, which a caller may name freely. */
const indexMax = 10_000;

function decided(ruling: Ruling): Plan {
  return { kind: "decided", ruling };
}

/** The hall's own tools need no permit: they do nothing but call others. */
function isOwn({ parents: [server] }: EntityJson): boolean {
  return server !== undefined && idOf(server).id === ownServer;
}

const alone = new WeakMap<Policy, readonly Policy[]>();

/** The same list every time, so that its needs are found once. */
function aloneOf(policy: Policy): readonly Policy[] {
  const kept = alone.get(policy) ?? [policy];
  alone.set(policy, kept);
  return kept;
}

/** Plans keep their lists of policies, so the needs of each list are found once. */
const needsKept = new WeakMap<readonly Policy[], Needs>();

/** The fields that any of the policies reads. */
function needsOf(policies: readonly Policy[]): Needs {
  const kept = needsKept.get(policies);
  if (kept) return kept;
  const all = policies.map(({ conditions }) => conditions.needs);
  const needs = {
    principal: all.some(({ principal }) => principal),
    resource: all.some(({ resource }) => resource),
    context: new Set(all.flatMap(({ context }) => [...context])),
    texts: new Set(all.flatMap(({ texts }) => [...texts])),
    longs: new Set(all.flatMap(({ longs }) => [...longs])),
  };
  needsKept.set(policies, needs);
  return needs;
}

function idOf(entity: EntityJson["uid"]): TypeAndId {
  return "__entity" in entity ? entity.__entity : entity;
}

function isSame(one: EntityJson["uid"], other: EntityJson["uid"]): boolean {
  const [a, b] = [idOf(one), idOf(other)];
  return a.type === b.type && a.id === b.id;
}

type Constraint = Policy["scope"]["principal"];

function matches(constraint: Constraint, thing: EntityJson): boolean {
  const isIn = (wanted: EntityJson["uid"]): boolean =>
    isSame(wanted, thing.uid) || thing.parents.some((parent) => isSame(wanted, parent));
  switch (constraint.op) {
    case "All":
      return true;
    case "==":
      return "entity" in constraint && isSame(constraint.entity, thing.uid);
    case "in":
      return "entity" in constraint && isIn(constraint.entity);
    case "is":
      return (
        constraint.entity_type === idOf(thing.uid).type &&
        (constraint.in === undefined || ("entity" in constraint.in && isIn(constraint.in.entity)))
      );
  }
}

/** False if a policy's resource is in another server. */
function mayConcern(constraint: Constraint, server: EntityJson["uid"]): boolean {
  const within = constraint.op === "is" ? constraint.in : constraint;
  if (within === undefined || !("entity" in within)) return true;
  return idOf(within.entity).type !== "Server" || isSame(within.entity, server);
}

function matchesAction(constraint: Policy["scope"]["action"], action: PolicyAction): boolean {
  if (constraint.op === "All") return true;
  if ("entities" in constraint) return constraint.entities.some((id) => idOf(id).id === action);
  return "entity" in constraint && idOf(constraint.entity).id === action;
}

/** Sets of one engine at most; the oldest makes room. */
const setsMax = 1_000;

/** Ids of sets that no engine uses. Cedar keeps its sets for the whole thread and drops none; it only replaces them. */
const freeIds: string[] = [];
let idCount = 0;

/** Sets of conditions that Cedar has parsed. Each condition is a permit of its own: Cedar then names all that hold. */
class ParsedSets {
  readonly #cedar: Cedar;
  readonly #ids = new Map<string, string>();
  readonly #numbers = new Map<Policy, number>();

  constructor(cedar: Cedar) {
    this.#cedar = cedar;
  }

  idOf(policies: readonly Policy[], part: Part, form: Form): string {
    const key = `${part} ${form} ${policies.map((policy) => this.#numberOf(policy)).join()}`;
    const kept = this.#ids.get(key);
    if (kept !== undefined) return kept;
    if (this.#ids.size >= setsMax) this.#free([...this.#ids].slice(0, 1));
    const id = freeIds.pop() ?? `set ${++idCount}`;
    const bodies = policies.map(({ conditions }): Expr => conditions[part] ?? { Value: true });
    const asked = form === "any" ? [anyOf(bodies)] : bodies;
    const parsed = this.#cedar.preparsePolicySet(id, {
      staticPolicies: Object.fromEntries(asked.map((body, at) => [`${at}`, permitWhen(body)])),
    });
    if (parsed.type === "failure") throw new Error(parsed.errors[0]?.message);
    this.#ids.set(key, id);
    return id;
  }

  close(): void {
    this.#free([...this.#ids]);
  }

  #free(entries: readonly (readonly [string, string])[]): void {
    for (const [key, id] of entries) {
      this.#ids.delete(key);
      freeIds.push(id);
    }
  }

  #numberOf(policy: Policy): number {
    const number = this.#numbers.get(policy) ?? this.#numbers.size;
    this.#numbers.set(policy, number);
    return number;
  }
}

function permitWhen(body: Expr) {
  const all = { op: "All" } as const;
  return {
    effect: "permit" as const,
    principal: all,
    action: all,
    resource: all,
    conditions: [{ kind: "when" as const, body }],
  };
}
