import { type Advice, adviceForModel } from "../base/advice.ts";
import { HallError } from "../base/errors.ts";
import type { JsonObject } from "../base/json.ts";
import type { Caller, FlowMarks, Taint, Target, Tool, Toolkit } from "../tool.ts";
import type { ApprovalAnswer } from "./approvals.ts";
import { asksForAll, easingOf, overrideOf, ownValue, type TrustSettings } from "./easing.ts";
import {
  type Entries,
  type Grant,
  grantTools,
  isInForce,
  type Ledger,
  noEntries,
  type Review,
  type ReviewedTool,
} from "./ledger.ts";
import { type Effect, type Marks, markTool } from "./marks.ts";
import { definitionKey, type OfferKind, pinOf } from "./pin.ts";
import { findReviewed, type InstalledPackage, isOutdated, refusePackage } from "./review.ts";

/**
 * Decides what may be started and called; never runs anything. Based on the ledger, the user's
 * config and the approvals given while this hall runs.
 */
export interface Trust {
  judge(target: Target): Verdict;
  /** Why a model may not read the tool's definition; undefined if it may. Cheap enough for a list of thousands. */
  heldBecause(target: Target): Held | undefined;
  /** The same for anything a server offers: also prompts, resources and templates. */
  holds(toolkit: Toolkit, kind: OfferKind, definition: JsonObject): Held | undefined;
  /**
   * Why a server may not be started, or the package installed for it run, as a predicate after its
   * name; undefined if it may.
   */
  mayStart(server: string, source: string, installed?: InstalledPackage): string | undefined;
  /** True if a person approved this file with these contents. */
  mayLoadModule(file: string, digest: string): boolean;
  /**
   * Applies an answer: `hall` trusts the tool until the hall stops, `always` in the ledger; other
   * answers grant nothing.
   */
  grant(target: Target, answer: ApprovalAnswer): Promise<void>;
  /** Reads the ledger again if any process has changed it. Calls that rely on it begin with this. */
  refresh(): void;
  /** Called after each such change. */
  onChange(listener: () => void): void;
  /** Follows an edit of the config. */
  configure(settings: TrustSettings): void;
  entries(): Entries;
}

export interface Held {
  readonly kind: "changed" | "new" | "unreviewed";
  readonly reason: string;
}

export type Level = "untrusted" | "verified" | "trusted";

export interface Verdict {
  readonly level: Level;
  readonly marks: Marks;
  /** Set if the tool is new or differs from the reviewed one; it is not called. */
  readonly held?: string | undefined;
  /** Set if its server may not be started, so that approving a call would not help. */
  readonly refused?: string | undefined;
  /** Why a call needs approval; undefined if it does not. */
  readonly ask?: string | undefined;
  /** Why a call by an agent or a program needs approval; set whenever `ask` is. */
  readonly askInside?: string | undefined;
  /** True if the flow guard applies. */
  readonly isGuarded: boolean;
}

export interface TrustOptions extends TrustSettings {
  readonly ledger: Ledger;
  /** Called when the user has taken something back, in any process. */
  onRevoked?(): void;
  now?(): number;
}

export function createTrust({ ledger, onRevoked, now = Date.now, ...given }: TrustOptions): Trust {
  let settings: TrustSettings = given;
  let entries: Entries = noEntries;
  const runtimeTrust = new Map<string, string>();
  /** Kept until a decision changes; not for a grant that expires. */
  let verdicts = new WeakMap<Target, Verdict>();

  let announce = (): void => {};

  function adopt(next: Entries): void {
    if (next.revocations !== entries.revocations) {
      runtimeTrust.clear();
      onRevoked?.();
    }
    entries = next;
    verdicts = new WeakMap();
  }

  function refresh(): void {
    const next = ledger.readIfChanged();
    if (!next) return;
    adopt(next);
    announce();
  }

  function reviewOf({ id }: Pick<Toolkit, "id">): Review | undefined {
    return ownValue(entries.servers, id);
  }

  function decide(target: Target): Verdict {
    const { toolkit, tool } = target;
    const key = keyOf(target);
    const grant = findGrant(entries, target, now());
    // Hash the tool only if there is a pin to compare: the first list may have thousands of tools.
    const runtimePin = runtimeTrust.get(key);
    const isTrusted =
      grant !== undefined || (runtimePin !== undefined && runtimePin === pinOf(tool));
    const review = toolkit.source === "upstream" ? reviewOf(toolkit) : undefined;
    const isEased =
      toolkit.source !== "upstream" || review?.eased === easingOf(toolkit.id, settings);
    const known =
      toolkit.source === "upstream" ? judgeReviewed(target, review, isEased) : judgeOwn(target);
    const override = overrideOf(toolkit.id, tool.name, settings);
    const marks: Marks = { ...known.marks, effect: overridden(known, override, isEased) };
    const level: Level = isTrusted && !known.held ? "trusted" : known.level;
    const isAskedFor = marks.effect === "changes" || asksForAll(toolkit.id, settings, isEased);
    const why = override === "safe" && !isEased ? notShown(toolkit) : undefined;
    const ask = isAskedFor && !isTrusted ? (known.why ?? why ?? approvalReason(marks)) : undefined;
    const askInside = ask ?? (marks.effect === "unknown" && !isTrusted ? unknownEffect : undefined);
    const { unguarded = [] } = settings;
    const isExempt = unguarded.includes(key) || unguarded.includes(`${toolkit.id}.*`);
    const isGuarded = !(isEased && isExempt);
    const { held, refused } = known;
    const verdict = { level, marks, held, refused, ask, askInside, isGuarded };
    if (grant?.until === undefined) verdicts.set(target, verdict);
    return verdict;
  }

  return {
    judge(target) {
      // The hall's own tools only read; each call they make is judged by itself. An agent is named
      // after its group, so its name says nothing.
      if (target.toolkit.source === "hall") return harmless;
      return verdicts.get(target) ?? decide(target);
    },
    heldBecause: ({ toolkit, tool, fullName }) =>
      toolkit.source === "upstream"
        ? findHeld(toolkit, reviewOf(toolkit), { kind: "tools", definition: tool, name: fullName })
        : undefined,
    holds(toolkit, kind, definition) {
      if (toolkit.source !== "upstream") return undefined;
      const name = `${toolkit.id}: ${definitionKey(kind, definition).slice(0, 100)}`;
      return findHeld(toolkit, reviewOf(toolkit), { kind, definition, name });
    },
    mayStart(server, source, installed) {
      refresh();
      const review = reviewOf({ id: server });
      if (!review) return "has not been approved in this folder";
      return review.source === source
        ? refusePackage(review, source, installed)
        : "has another command, URL, script or sandbox than the one you approved";
    },
    mayLoadModule: (file, digest) => ownValue(entries.modules ?? {}, file) === digest,
    async grant(target, answer) {
      if (answer === "hall") {
        runtimeTrust.set(keyOf(target), pinOf(target.tool));
        verdicts = new WeakMap();
      }
      if (answer === "always")
        adopt(await grantTools(ledger, [{ key: keyOf(target), pin: pinOf(target.tool) }], { now }));
    },
    refresh,
    onChange(listener) {
      announce = listener;
    },
    configure(next) {
      settings = next;
      verdicts = new WeakMap();
    },
    entries: () => entries,
  };
}

/** The key in the ledger and in the user's config. A project's config can choose prefixes, but not these. */
export function keyOf({ toolkit, tool }: Target): string {
  return `${toolkit.id}.${tool.name}`;
}

function findGrant(entries: Entries, target: Target, now: number): Grant | undefined {
  const grant = ownValue(entries.grants, keyOf(target));
  return grant && isInForce(grant, entries, now) && grant.pin === pinOf(target.tool)
    ? grant
    : undefined;
}

/** The config can always ask for more. It calls a tool safe unless a person who saw that decided otherwise. */
function overridden(
  { marks: { effect }, isMarked }: Known,
  override: ReturnType<typeof overrideOf>,
  isEased: boolean,
): Effect {
  if (override === "destructive") return "changes";
  return override === "safe" && isEased && !isMarked ? "reads" : effect;
}

function notShown({ id }: Toolkit): string {
  return `the config calls it safe, which counts once a review of ${id} has shown that`;
}

const unknownEffect = "it does not say whether it changes anything";

function approvalReason({ effect, why }: Marks): string {
  if (effect !== "changes") return "the config requires approval for every call";
  return why.changes ?? "it is marked destructive";
}

const harmless: Verdict = {
  level: "trusted",
  marks: {
    effect: "reads",
    bringsIn: false,
    sendsOut: false,
    takesAddress: false,
    goesOut: false,
    readsPrivate: false,
    why: {},
  },
  isGuarded: false,
};

interface Known extends Pick<Verdict, "level" | "marks" | "held" | "refused"> {
  /** Why all its calls need approval. */
  readonly why?: string | undefined;
  /** True if a person marked the tool in a review: its calls require approval. */
  readonly isMarked?: boolean | undefined;
}

/** A tool of an upstream: its own claims count only if a person has reviewed them. */
function judgeReviewed(target: Target, review: Review | undefined, isEased: boolean): Known {
  const { toolkit, tool, fullName } = target;
  const marks = markTool(tool);
  const dangerous: Marks = { ...marks, effect: "changes" };
  const item = { kind: "tools", definition: tool, name: fullName } as const;
  const held = findHeld(toolkit, review, item);
  const reviewed = review && ownValue(review.tools, tool.name);
  if (!held && reviewed)
    return {
      level: "verified",
      marks: { ...marks, effect: reviewedEffect(marks, reviewed, isEased) },
      isMarked: reviewed.isDestructive,
    };
  const reason = held?.reason;
  return held?.kind === "unreviewed"
    ? { level: "untrusted", marks: dangerous, why: reason, refused: reason }
    : { level: "untrusted", marks: dangerous, held: reason };
}

/**
 * If a person removed the mark of a changing tool in the review, the tool counts as reading; an unknown tool
 * stays unknown. If the config has changed since, the mark may have been removed because of the earlier config.
 */
function reviewedEffect(
  { effect }: Marks,
  { isDestructive }: ReviewedTool,
  isEased: boolean,
): Effect {
  if (isDestructive) return "changes";
  return effect === "changes" && isEased ? "reads" : effect;
}

interface OfferedItem {
  readonly kind: OfferKind;
  readonly definition: JsonObject;
  /** For the reason. */
  readonly name: string;
}

/** The one rule for what a server offers: it is used only as it was approved. */
function findHeld(
  { id }: Toolkit,
  review: Review | undefined,
  { kind, definition, name }: OfferedItem,
): Held | undefined {
  if (!review)
    return {
      kind: "unreviewed",
      reason: `server "${id}" has not been reviewed in this folder`,
    };
  const reviewed = findReviewed(review, kind, definition);
  if (!reviewed) return { kind: "new", reason: `${name} is new since ${id} was reviewed` };
  if (reviewed.pin !== pinOf(definition))
    return { kind: "changed", reason: `${name} has changed since it was reviewed` };
  return isOutdated(review)
    ? {
        kind: "changed",
        reason: `${name} was reviewed by version 0.1, which did not show all of it`,
      }
    : undefined;
}

/** Built in, from a module or registered: a person added it, so its own claims count. */
/** The annotations of built-in tools are ours: one that only adds what people keep needs no approval. */
function judgeOwn({ toolkit, tool }: Target): Known {
  const marks = markTool(tool);
  const isBuiltIn = toolkit.source === undefined;
  const isAdding = isBuiltIn && tool.annotations?.destructiveHint === false;
  return { level: "verified", marks: isAdding ? { ...marks, effect: "reads" } : marks };
}

/** Advice for what must be reviewed; on a reviewed server, the changes are compared first. */
function reviewAdvice({ kind }: Pick<Held, "kind">, server: string): readonly Advice[] {
  const verify: Advice = { do: "verify", server };
  return kind === "unreviewed" ? [verify] : [{ do: "run-command", command: "diff" }, verify];
}

/** A prompt or resource that is held back is not read. */
export function refuseHeld(held: Held, server: string): HallError {
  return new HallError("DENIED", held.reason, { next: reviewAdvice(held, server) });
}

/** The tool is new or differs from the reviewed one. */
export function toolChanged(reason: string, server: string): HallError {
  return new HallError("DENIED", `${reason}; it is held back until you review it`, {
    next: reviewAdvice({ kind: "changed" }, server),
  });
}

/** The tool's server was never approved, so it is not started. */
export function serverNotReviewed(reason: string, server: string): HallError {
  return new HallError("DENIED", `${reason}, so it is not started`, {
    next: reviewAdvice({ kind: "unreviewed" }, server),
  });
}

/**
 * A tool as a model may read it. A tool that is new or changed keeps only its name and the reason:
 * its text could contain instructions to the model.
 */
export function readableTool(target: Target, trust: Pick<Trust, "heldBecause"> | undefined): Tool {
  const held = trust?.heldBecause(target);
  if (held === undefined) return target.tool;
  const advice = adviceForModel(reviewAdvice(held, target.toolkit.id));
  return {
    name: target.tool.name,
    description: `Held back: ${held.reason}. ${advice}`,
    inputSchema: { type: "object" },
    _meta: { "guildhall/status": held.kind },
  };
}

const taintMs = 30 * 60_000;

/**
 * The untrusted and private content that each conversation has read. An injected instruction may
 * steer everything that follows, and what was read may leave with it, so the taint covers later
 * calls, too: until 30 minutes after the last such read. A conversation is a connection, or a
 * principal whose requests have none.
 */
export class Conversations {
  /** The one that expires next comes first. */
  readonly #taints = new Map<string, { readonly taint: Taint; readonly until: number }>();
  readonly #now: () => number;

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  taintOf(caller: Caller): Taint {
    if (this.#taints.size === 0) return clean;
    const kept = this.#taints.get(conversationOf(caller));
    return kept !== undefined && kept.until > this.#now() ? kept.taint : clean;
  }

  add(caller: Caller, { outside, private: owned }: Taint): void {
    if (outside === undefined && owned === undefined) return;
    const known = this.taintOf(caller);
    const now = this.#now();
    const key = conversationOf(caller);
    this.#taints.delete(key);
    this.#taints.set(key, {
      taint: { outside: known.outside ?? outside, private: known.private ?? owned },
      until: now + taintMs,
    });
    for (const [other, { until }] of this.#taints) {
      if (until > now) break;
      this.#taints.delete(other);
    }
  }
}

const clean: Taint = {};

/** Only a connection of one request has a rate limit that it shares with others. */
function conversationOf({ connection, principal, quota = connection }: Caller): string {
  return quota === connection ? `connection ${connection}` : `principal ${principal}`;
}

/** Why a call needs approval after what its conversation has read; undefined if it does not. */
export function taintReason(
  { effect }: Verdict["marks"],
  { sendsOut = false, takesAddress = false, goesOut = false }: Partial<FlowMarks>,
  { outside, private: owned }: Taint,
): string | undefined {
  const isUnknown = effect === "unknown";
  if (outside !== undefined && effect === "changes")
    return explain("outside content", outside, "the tool may change something");
  if (outside !== undefined && (sendsOut || takesAddress))
    return explain("outside content", outside, "the tool can send data out");
  if (owned !== undefined && (sendsOut || takesAddress || goesOut))
    return explain("private data", owned, "the tool can send data out");
  if (isUnknown && outside !== undefined) return explain("outside content", outside, unknown);
  if (isUnknown && owned !== undefined) return explain("private data", owned, unknown);
  return undefined;
}

const unknown = "the tool does not say whether it changes anything";

function explain(what: string, tool: string, effect: string): string {
  return `this conversation has read ${what} through ${tool}, and ${effect}`;
}
