/** Limits of calls: how many in a second, how many at once, and how long each may take. */
import { HallError } from "../base/errors.ts";
import { Scope } from "../base/scope.ts";
import { safeNameOf } from "../registry/names.ts";
import type { Call, CallContext, Caller, Target, Toolkit } from "../tool.ts";
import type { EndStage, ResolvedStage } from "./stage.ts";

/** A rate limit: calls per second on average, and at most `burst` at once. */
export interface Allowance {
  readonly perSecond: number;
  readonly burst: number;
}

/** Rate limits. A `perSecond` of 0 means no limit. */
export interface RateLimits {
  /** Per network client; all clients of a person count together. */
  readonly client?: Allowance;
  /** Per registered toolkit. */
  readonly registered?: Allowance;
  /** By the name the client reports, the toolkit's id, the tool's full name. */
  readonly clients?: Readonly<Record<string, Allowance>>;
  readonly toolkits?: Readonly<Record<string, Allowance>>;
  readonly tools?: Readonly<Record<string, Allowance>>;
}

/** 0 if a token was available, otherwise the milliseconds until there is one. */
export interface RateBucket {
  take(now: number): number | Promise<number>;
}

/** Opens the bucket of a key; several halls may share it. */
export type OpenBucket = (key: string, allowance: Allowance, now: number) => RateBucket;

/** Beyond this the oldest bucket is dropped. */
const clientsMax = 10_000;

/** Fails calls over a limit at once and says when to retry. Without limits it costs a few comparisons. */
export const limitRates = (
  limits: RateLimits,
  now: () => number = () => performance.now(),
  openBucket: OpenBucket = (_key, allowance, at) => new Bucket(allowance, at),
): ResolvedStage => {
  const clients = new Map<string, RateBucket>();
  const toolkits = new WeakMap<Toolkit, RateBucket | null>();
  const tools = new Map<string, RateBucket>();
  const overrides = Object.entries(limits.clients ?? {});
  const hasToolLimits = Object.keys(limits.tools ?? {}).length > 0;

  function bucketOfClient({ quota, client, person }: Caller): RateBucket | undefined {
    const override =
      overrides.length === 0
        ? undefined
        : overrides.find(([name]) => client === name || client.startsWith(`${name} `));
    const usual = quota === undefined ? undefined : limits.client;
    const allowance = override ? override[1] : usual;
    if (!allowance || allowance.perSecond === 0) return undefined;
    const counted = person ? `person ${person.user}` : (quota as string);
    const key = override ? `${counted} ${override[0]}` : counted;
    const known = clients.get(key);
    if (known) return known;
    if (clients.size >= clientsMax) clients.delete(clients.keys().next().value as string);
    const bucket = openBucket(`client ${key}`, allowance, now());
    clients.set(key, bucket);
    return bucket;
  }

  function bucketOfToolkit(toolkit: Toolkit): RateBucket | null {
    let bucket = toolkits.get(toolkit);
    if (bucket === undefined) {
      const allowance =
        limits.toolkits?.[toolkit.id] ??
        (toolkit.source === "registered" ? limits.registered : undefined);
      const isLimited = allowance !== undefined && allowance.perSecond > 0;
      bucket = isLimited ? openBucket(`toolkit ${toolkit.id}`, allowance, now()) : null;
      toolkits.set(toolkit, bucket);
    }
    return bucket;
  }

  function bucketOfTool({ fullName }: Target): RateBucket | undefined {
    const allowance = hasToolLimits
      ? (limits.tools?.[fullName] ?? limits.tools?.[safeNameOf(fullName)])
      : undefined;
    if (!allowance || allowance.perSecond === 0) return undefined;
    let bucket = tools.get(fullName);
    if (!bucket) {
      bucket = openBucket(`tool ${fullName}`, allowance, now());
      tools.set(fullName, bucket);
    }
    return bucket;
  }

  return (next) => (call, context) => {
    const { target } = call;
    const ofClient = bucketOfClient(call.caller);
    const ofToolkit = bucketOfToolkit(target.toolkit);
    const ofTool = bucketOfTool(target);
    if (!ofClient && !ofToolkit && !ofTool) return next(call, context);
    return take(ofClient, "this client", now, () =>
      take(ofToolkit, target.toolkit.id, now, () =>
        take(ofTool, call.name, now, () => next(call, context)),
      ),
    );
  };
};

/** Throws RATE_LIMITED. Waits only if other halls share the bucket and its tokens here are used up. */
function take<T>(
  bucket: RateBucket | null | undefined,
  subject: string,
  now: () => number,
  then: () => Promise<T>,
): Promise<T> {
  const waitMs = bucket ? bucket.take(now()) : 0;
  if (typeof waitMs === "number") {
    refuseOver(waitMs, subject);
    return then();
  }
  return waitMs.then((ms) => {
    refuseOver(ms, subject);
    return then();
  });
}

function refuseOver(waitMs: number, subject: string): void {
  if (waitMs === 0) return;
  const retryAfterSeconds = Math.ceil(waitMs) / 1000;
  throw new HallError(
    "RATE_LIMITED",
    `rate limit exceeded for ${subject}; retry in ${retryAfterSeconds} s`,
    { details: { retryAfterSeconds }, next: [{ do: "retry-after", seconds: retryAfterSeconds }] },
  );
}

/** A token bucket that refills when a token is taken. */
export class Bucket implements RateBucket {
  readonly #perMs: number;
  readonly #burst: number;
  #tokens: number;
  #filledAt: number;

  /** Has `tokens` at the start, at most a burst. */
  constructor({ perSecond, burst }: Allowance, now: number, tokens = burst) {
    this.#perMs = perSecond / 1000;
    this.#burst = burst;
    this.#tokens = Math.min(burst, tokens);
    this.#filledAt = now;
  }

  /** 0 if a token was available, otherwise the milliseconds until there is one. */
  take(now: number): number {
    this.#tokens = Math.min(this.#burst, this.#tokens + (now - this.#filledAt) * this.#perMs);
    this.#filledAt = now;
    if (this.#tokens >= 1) {
      this.#tokens--;
      return 0;
    }
    return (1 - this.#tokens) / this.#perMs;
  }
}

/** How many calls of one toolkit run at once, and how many more may queue. */
export interface Capacity {
  /** 0 for no limit. */
  readonly concurrent: number;
  readonly queue: number;
}

export interface Capacities {
  readonly registered?: Capacity;
  readonly toolkits?: Readonly<Record<string, Capacity>>;
}

/** Limits the calls that run at once per toolkit. Others queue in order; if the queue is full they fail at once. */
export const limitConcurrency = (capacities: Capacities): ResolvedStage => {
  const gates = new WeakMap<Toolkit, Gate | null>();

  function gateOf(toolkit: Toolkit): Gate | null {
    let gate = gates.get(toolkit);
    if (gate === undefined) {
      const capacity =
        capacities.toolkits?.[toolkit.id] ??
        (toolkit.source === "registered" ? capacities.registered : undefined);
      gate = capacity && capacity.concurrent > 0 ? new Gate(capacity) : null;
      gates.set(toolkit, gate);
    }
    return gate;
  }

  const stage: ResolvedStage = (next) => (call, context) => {
    const { toolkit } = call.target;
    const gate = gateOf(toolkit);
    if (!gate) return next(call, context);
    const run = (hasWaited: boolean): ReturnType<typeof next> => {
      try {
        if (hasWaited) call.requireStillTrusted?.();
        return next(call, context).finally(() => gate.leave());
      } catch (error) {
        gate.leave();
        throw error;
      }
    };
    if (gate.enter()) return run(false);
    if (gate.isFull) {
      throw new HallError(
        "OVERLOADED",
        `${toolkit.id} is at its limit of running and queued calls`,
        { details: { retryAfterSeconds: 1 }, next: [{ do: "retry-after", seconds: 1 }] },
      );
    }
    const { turn, giveUp } = gate.wait();
    return context.scope.race(turn).then(
      () => run(true),
      (error: unknown) => {
        giveUp();
        throw error;
      },
    );
  };
  return Object.assign(stage, { isNeeded: ({ toolkit }: Target) => gateOf(toolkit) !== null });
};

class Gate {
  readonly #capacity: Capacity;
  readonly #waiting = new Set<() => void>();
  #running = 0;

  constructor(capacity: Capacity) {
    this.#capacity = capacity;
  }

  get isFull(): boolean {
    return this.#waiting.size >= this.#capacity.queue;
  }

  /** True if a slot was free; the caller must then call `leave`. */
  enter(): boolean {
    if (this.#running >= this.#capacity.concurrent) return false;
    this.#running++;
    return true;
  }

  wait(): { readonly turn: Promise<void>; giveUp(): void } {
    let hasTurn = false;
    let next = (): void => {};
    const turn = new Promise<void>((resolve) => {
      next = () => {
        hasTurn = true;
        resolve();
      };
    });
    this.#waiting.add(next);
    return {
      turn,
      giveUp: () => {
        // If its turn came at the moment of giving up, pass the slot on.
        if (hasTurn) this.leave();
        else this.#waiting.delete(next);
      },
    };
  }

  leave(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#running--;
      return;
    }
    // Hand the slot over; `#running` stays the same.
    this.#waiting.delete(next);
    next();
  }
}

/** Gives each call its own deadline within the caller's, and fails on time even if the tool ignores it. */
export const withDeadline = (defaultMs: number, nest: Nest): EndStage => ({
  begin(call, context) {
    const { cancelReason } = context.scope;
    // It was cancelled while it waited for a person or for its row: not every tool would notice.
    if (cancelReason) throw cancelReason;
    const { tool, toolkit } = call.target;
    const ownMs = tool.facts?.timeoutMs ?? defaultMs;
    const timeoutMs =
      call.timeoutMs === undefined ? ownMs : Math.min(call.timeoutMs, Math.max(ownMs, callerMsMax));
    const scope = new Scope(context.scope, timeoutMs, call.name);
    return {
      context: narrow(context, { scope, caller: call.caller, nest: (child) => nest(call, child) }),
      // A request to an upstream ends with its scope by itself.
      watch: toolkit.source === "upstream" ? undefined : (running) => scope.race(running),
      succeeded(outcome) {
        scope.close();
        return outcome;
      },
      failed: () => scope.close(),
    };
  },
});

/** A caller's own timeout may extend the tool's, up to this. */
const callerMsMax = 30_000;

/** Creates the function with which a tool calls other tools. */
export type Nest = (parent: Call, context: CallContext) => NonNullable<CallContext["call"]>;

interface Narrowed {
  readonly scope: Scope;
  readonly caller: Caller;
  nest(context: CallContext): NonNullable<CallContext["call"]>;
}

function narrow(context: CallContext, { scope, caller, nest }: Narrowed): CallContext {
  const narrowed: CallContext = {
    scope,
    progress: (progress) => {
      if (!scope.cancelReason) context.progress(progress);
    },
    log: context.log,
    logLevel: context.logLevel,
    capabilities: context.capabilities,
    meta: context.meta,
    task: context.task,
    callId: context.callId,
    // The deadline is paused while a person is being asked.
    ask: (questions, asked) => scope.pauseWhile(() => context.ask(questions, asked)),
    call: (name, args, inner, how) => {
      const { progress = narrowed.progress, log = narrowed.log } = how ?? {};
      const child = {
        ...narrowed,
        scope: inner ?? scope,
        progress,
        log,
        callId: undefined,
        task: undefined,
      };
      return nest(child)(name, args, inner, how);
    },
    caller,
    flow: context.flow,
    written: undefined,
    takesText: undefined,
  };
  return narrowed;
}
