import { HallError } from "../base/errors.ts";
import type { JsonObject } from "../base/json.ts";
import { createIds } from "../base/text.ts";
import type { HealthBook } from "../registry/health.ts";
import type { Registry } from "../registry/registry.ts";
import type { Spell } from "../registry/shown-names.ts";
import type { Call, Caller, Outcome, Taint, Target, Written } from "../tool.ts";
import type { Policies } from "../trust/policy/policies.ts";
import { Conversations } from "../trust/trust.ts";
import { keepToAllowed } from "./allow-list.ts";
import { breakCircuits } from "./breaker.ts";
import {
  type Capacities,
  limitConcurrency,
  limitRates,
  type Nest,
  type OpenBucket,
  type RateLimits,
  withDeadline,
} from "./limits.ts";
import {
  checkSituation,
  mayApproveOwn,
  offeredTo,
  type PolicyParts,
  refuseForbidden,
} from "./policy.ts";
import { type AdmitRead, guardReads } from "./reads.ts";
import { type Recording, recordCalls } from "./record.ts";
import { type Retried, retryIdempotent } from "./retry.ts";
import {
  type Ending,
  type EndStage,
  type Next,
  type ResolvedCall,
  type ResolvedStage,
  type Stage,
  uncounted,
} from "./stage.ts";
import { refuseHeldBack, requireTrust, type TrustParts } from "./trust.ts";
import type { Validators } from "./validate.ts";
import { checkResult, validateArguments } from "./validate.ts";

export interface Gateway {
  /** The one way to run a tool. Throws HallError. */
  call: Next;
  /** The flow guard for a resource that is about to be read. Throws DENIED. */
  admitRead: AdmitRead;
  /** Of several halls: undefined if this one knows what was decided anywhere, else resolves once it has asked. */
  catchUp(): Promise<void> | undefined;
  /** The kinds of content that the caller's conversation has read. */
  taintOf(caller: Caller): Taint;
}

export interface GatewayOptions {
  readonly registry: Registry;
  readonly recording: Recording;
  /** Deadline of tools that set none. */
  readonly timeoutMs: number;
  readonly validators: Validators;
  readonly health: HealthBook;
  /** Without them there are no rate limits. */
  readonly rates?: RateLimits | undefined;
  readonly openBucket?: OpenBucket | undefined;
  readonly capacities?: Capacities | undefined;
  /** Records a span per call. Without it nothing is traced. */
  readonly tracing?: Stage | undefined;
  /** Without it every tool may be called. */
  readonly trust?: TrustParts | undefined;
  /** Default: retries are not reported. */
  readonly retried?: Retried | undefined;
  /** Without them every caller may call every tool. */
  readonly policies?: PolicyParts | undefined;
  /** How errors write the names of other tools. Default: full names. */
  readonly spell?: Spell;
}

const depthMax = 4;
const nestedIds = createIds("nested");

export function createGateway({
  registry,
  recording,
  timeoutMs,
  validators,
  health,
  rates,
  openBucket,
  capacities,
  tracing,
  trust: given,
  policies,
  retried,
  spell = ({ fullName }) => fullName,
}: GatewayOptions): Gateway {
  const trust =
    given && policies ? { ...given, mayApproveOwn: mayApproveOwn(policies.policies) } : given;
  const nest: Nest = (parent, context) => async (name, args, _scope, how) => {
    const depth = (parent.depth ?? 0) + 1;
    if (depth > depthMax)
      throw new HallError("BUDGET", `calls are nested more than ${depthMax} levels deep`);
    const rootCall = parent.rootCall ?? parent;
    const inside = parent.target?.tool.facts?.isNotReentrant
      ? [...(parent.inside ?? []), parent.target.fullName]
      : parent.inside;
    if (inside?.includes(name))
      throw new HallError("BUDGET", `${name} cannot call itself`, {
        hint: "Call its tools directly, or another agent.",
      });
    const { caller, id } = parent;
    return call(
      {
        id: nestedIds(),
        name,
        arguments: args,
        caller,
        parent: id,
        root: rootCall.id,
        rootCall,
        depth,
        inside,
        planner: how?.planner,
        target: undefined,
      },
      context,
    );
  };
  const conversations = new Conversations(trust?.now);
  // The order every call takes, outermost first: these two, `resolveName`, the others.
  const outer: readonly Stage[] = [...(tracing ? [tracing] : []), recordCalls(recording)];
  const inner: readonly (ResolvedStage | EndStage)[] = [
    keepToAllowed,
    ...(rates ? [limitRates(rates, undefined, openBucket)] : []),
    ...(policies ? [refuseForbidden(policies)] : []),
    ...(trust ? [refuseHeldBack(trust)] : []),
    validateArguments(validators),
    ...(policies ? [checkSituation(policies, conversations)] : []),
    ...(trust ? [requireTrust(trust, conversations)] : []),
    breakCircuits({ health, registry, spell }),
    withDeadline(timeoutMs, nest),
    ...(capacities ? [limitConcurrency(capacities)] : []),
    retryIdempotent(Math.random, retried),
    checkResult(validators),
  ];
  const run = compileStages(inner, runTool);
  const call = outer.reduceRight(
    (next, stage) => stage(next),
    resolveName({ registry, spell, policies: policies?.policies }, run),
  );
  const admitRead = trust ? guardReads(trust, registry, conversations) : () => {};
  return {
    call,
    admitRead,
    catchUp: () => trust?.confirm?.(false),
    taintOf: (caller) => conversations.taintOf(caller),
  };
}

function resolveName(
  {
    registry,
    spell,
    policies,
  }: Pick<GatewayOptions, "registry"> & {
    readonly spell: Spell;
    readonly policies: Policies | undefined;
  },
  next: Next<ResolvedCall>,
): Next {
  return (call, context) => {
    call.target = registry.findTool(call.name);
    if (isResolved(call)) return next(call, context);
    // A client may know the name from an earlier hall while its server is still being discovered.
    const pending = registry.pendingDiscovery(call.name);
    const run = (): Promise<Outcome> => {
      const target = registry.getTool(
        call.name,
        (item) => spell(item, context),
        offeredTo(policies, call),
      );
      return next(Object.assign(call, { target }), context);
    };
    return pending ? context.scope.race(pending).then(run) : run();
  };
}

function isResolved(call: Call): call is ResolvedCall {
  return call.target !== undefined;
}

const runTool: Next<ResolvedCall> = (call, context) => {
  const { toolkit, tool } = call.target;
  const preparing = toolkit.prepare?.(tool);
  if (preparing)
    return uncounted(call, preparing).then(() => toolkit.call(tool, call.arguments, context));
  if (toolkit.source === "upstream") {
    call.written = writeOnce(call.arguments);
    context.written = call.written;
    context.takesText = call.takesText;
  }
  return toolkit.call(tool, call.arguments, context);
};

/** Undefined for what is not JSON, which the upstream reports. */
function writeOnce(value: JsonObject): Written | undefined {
  try {
    return { value, text: JSON.stringify(value) };
  } catch {
    return undefined;
  }
}

/**
 * The chain of the stages that a tool needs. Tools with the same needs share one: V8 optimises the functions of each
 * chain on their own, so with a chain for each of 100 tools none would become fast.
 */
export function compileStages(
  stages: readonly (ResolvedStage | EndStage)[],
  last: Next<ResolvedCall>,
): Next<ResolvedCall> {
  // A tool that is listed again, or of another toolkit, is another target.
  const chains = new WeakMap<Target, Next<ResolvedCall>>();
  const byNeeds = new Map<string, Next<ResolvedCall>>();
  const find = (target: Target): Next<ResolvedCall> => {
    const needed = stages.filter((stage) => stage.isNeeded?.(target) ?? true);
    const needs = needed.map((stage) => stages.indexOf(stage)).join();
    const chain = byNeeds.get(needs) ?? compile(needed);
    byNeeds.set(needs, chain);
    chains.set(target, chain);
    return chain;
  };
  const compile = (needed: readonly (ResolvedStage | EndStage)[]): Next<ResolvedCall> => {
    let chain = last;
    let ends: readonly EndStage[] = [];
    for (const stage of needed.toReversed()) {
      if ("begin" in stage) {
        ends = [stage, ...ends];
        continue;
      }
      chain = stage(endTogether(ends, chain));
      ends = [];
    }
    return endTogether(ends, chain);
  };
  return (call, context) => (chains.get(call.target) ?? find(call.target))(call, context);
}

/** Runs the rest of a chain, then the ends of these stages, the last one first. */
function endTogether(stages: readonly EndStage[], next: Next<ResolvedCall>): Next<ResolvedCall> {
  if (stages.length === 0) return next;
  return (call, outer) => {
    const endings: Ending[] = [];
    try {
      let context = outer;
      for (const stage of stages) {
        const ending = stage.begin(call, context);
        endings.push(ending);
        context = ending.context ?? context;
      }
      let running = next(call, context);
      for (const { watch } of endings) if (watch) running = watch(running);
      return running.then(
        (outcome) => succeed(outcome, endings, endings.length),
        (error: unknown) => fail(error, endings, endings.length),
      );
    } catch (error) {
      return fail(error, endings, endings.length);
    }
  };
}

function succeed(
  result: Outcome,
  endings: readonly Ending[],
  left: number,
): Outcome | Promise<Outcome> {
  let outcome = result;
  for (let i = left - 1; i >= 0; i--) {
    try {
      const seen = endings[i]?.succeeded(outcome) ?? outcome;
      if (seen instanceof Promise)
        return seen.then(
          (later) => succeed(later, endings, i),
          (error: unknown) => fail(error, endings, i),
        );
      outcome = seen;
    } catch (error) {
      return fail(error, endings, i);
    }
  }
  return outcome;
}

function fail(error: unknown, endings: readonly Ending[], left: number): never {
  let failure = error;
  for (let i = left - 1; i >= 0; i--) {
    try {
      endings[i]?.failed?.(failure);
    } catch (other) {
      failure = other;
    }
  }
  throw failure;
}
