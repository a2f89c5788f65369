import { HallError } from "../base/errors.ts";
import type { Caller, Target, Toolkit } from "../tool.ts";
import { type Allowance, Bucket } from "./allowance.ts";
import { getTarget, type Stage } from "./stage.ts";

/** Who may call how often. A `perSecond` of 0 takes a limit away. */
export interface RateLimits {
  /** Each client that came over the network. */
  readonly client?: Allowance;
  /** Each toolkit that a service registered. */
  readonly registered?: Allowance;
  /** By the name a client gives itself, a toolkit's id, a tool's full name. */
  readonly clients?: Readonly<Record<string, Allowance>>;
  readonly toolkits?: Readonly<Record<string, Allowance>>;
  readonly tools?: Readonly<Record<string, Allowance>>;
}

/** Past these the client that was seen longest ago starts anew. */
const clientsMax = 10_000;

/** Refuses calls over an allowance at once, saying when to come again. What has none costs a few comparisons. */
export const limitRates = (
  limits: RateLimits,
  now: () => number = () => performance.now(),
): Stage => {
  const clients = new Map<string, Bucket>();
  const toolkits = new WeakMap<Toolkit, Bucket | null>();
  const tools = new Map<string, Bucket>();
  const overrides = Object.entries(limits.clients ?? {});
  const hasToolLimits = Object.keys(limits.tools ?? {}).length > 0;

  function bucketOfClient({ quota, client }: Caller): Bucket | undefined {
    const override =
      overrides.length === 0
        ? undefined
        : overrides.find(([name]) => client === name || client.startsWith(`${name} `));
    const allowance = override ? override[1] : quota === undefined ? undefined : limits.client;
    if (!allowance || allowance.perSecond === 0) return undefined;
    const key = override ? `${quota} ${override[0]}` : (quota as string);
    const known = clients.get(key);
    if (known) return known;
    if (clients.size >= clientsMax) clients.delete(clients.keys().next().value as string);
    const bucket = new Bucket(allowance, now());
    clients.set(key, bucket);
    return bucket;
  }

  function bucketOfToolkit(toolkit: Toolkit): Bucket | null {
    let bucket = toolkits.get(toolkit);
    if (bucket === undefined) {
      const allowance =
        limits.toolkits?.[toolkit.id] ??
        (toolkit.source === "registered" ? limits.registered : undefined);
      bucket = allowance && allowance.perSecond > 0 ? new Bucket(allowance, now()) : null;
      toolkits.set(toolkit, bucket);
    }
    return bucket;
  }

  function bucketOfTool({ fullName }: Target): Bucket | undefined {
    const allowance = hasToolLimits ? limits.tools?.[fullName] : undefined;
    if (!allowance || allowance.perSecond === 0) return undefined;
    let bucket = tools.get(fullName);
    if (!bucket) {
      bucket = new Bucket(allowance, now());
      tools.set(fullName, bucket);
    }
    return bucket;
  }

  return (next) => (call, context) => {
    const target = getTarget(call);
    take(bucketOfClient(call.caller), "this client", now);
    take(bucketOfToolkit(target.toolkit), target.toolkit.id, now);
    take(bucketOfTool(target), target.fullName, now);
    return next(call, context);
  };
};

function take(bucket: Bucket | null | undefined, whose: string, now: () => number): void {
  if (!bucket) return;
  const waitMs = bucket.take(now());
  if (waitMs === 0) return;
  const retryAfterSeconds = Math.ceil(waitMs) / 1000;
  throw new HallError(
    "RATE_LIMITED",
    `too many calls: the allowance of ${whose} is used up for ${retryAfterSeconds} s`,
    { details: { retryAfterSeconds } },
  );
}
