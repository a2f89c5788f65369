import { type Advice, adviceForModel } from "../base/advice.ts";
import { HallError } from "../base/errors.ts";
import { hashOf, type JsonObject } from "../base/json.ts";
import type { Target, Tool, Toolkit } from "../tool.ts";
import type { ApprovalAnswer } from "./approvals.ts";
import {
  type Entries,
  type Grant,
  grantTools,
  type Ledger,
  noEntries,
  type Review,
} from "./ledger.ts";
import { type Marks, markTool } from "./marks.ts";
import { definitionKey, type OfferKind, pinOf } from "./pin.ts";
import { findReviewed } from "./review.ts";

/** Decides what may be started and called; never runs anything. Based on the ledger, the user's config and the approvals given while this hall runs. */
export interface Trust {
  judge(target: Target): Verdict;
  /** Why a model may not read the tool's definition; undefined if it may. Cheap enough for a list of thousands. */
  heldBecause(target: Target): Held | undefined;
  /** The same for anything a server offers: also prompts, resources and templates. */
  holds(toolkit: Toolkit, kind: OfferKind, definition: JsonObject): Held | undefined;
  /** Why a server may not be started, as a predicate after its name; undefined if it may. */
  mayStart(server: string, source: string): string | undefined;
  mayLoadModules(patterns: readonly string[]): boolean;
  /** Applies an answer: `hall` trusts the tool until the hall stops, `always` in the ledger; other answers grant nothing. */
  grant(target: Target, answer: ApprovalAnswer): Promise<void>;
  /** Reads the ledger again if any process has changed it. Calls that rely on it begin with this. */
  refresh(): void;
  /** Called after each such change. */
  onChange(listener: () => void): void;
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
  /** True if the flow guard applies. */
  readonly isGuarded: boolean;
}

export interface TrustOptions {
  readonly ledger: Ledger;
  /** From the user's config only: a project's config cannot loosen anything. Keys: `toolkit.tool` or `toolkit.*`. */
  readonly policy?: "destructive" | "all";
  readonly policies?: Readonly<Record<string, "destructive" | "all">>;
  readonly overrides?: Readonly<Record<string, "safe" | "destructive">>;
  readonly unguarded?: readonly string[];
  now?(): number;
}

export function createTrust({
  ledger,
  policy = "destructive",
  policies = {},
  overrides = {},
  unguarded = [],
  now = Date.now,
}: TrustOptions): Trust {
  let entries: Entries = noEntries;
  const runtimeTrust = new Map<string, string>();
  /** Cached until a decision changes or a grant expires. */
  let verdicts = new WeakMap<Target, { readonly verdict: Verdict; readonly until: number }>();

  let announce = (): void => {};

  function adopt(next: Entries): void {
    if (next.revocations !== entries.revocations) runtimeTrust.clear();
    entries = next;
    verdicts = new WeakMap();
  }

  function refresh(): void {
    const next = ledger.readIfChanged();
    if (!next) return;
    adopt(next);
    announce();
  }

  function grantOf(target: Target): Grant | undefined {
    const key = keyOf(target);
    const grant = Object.hasOwn(entries.grants, key) ? entries.grants[key] : undefined;
    return grant &&
      (grant.until ?? Number.POSITIVE_INFINITY) > now() &&
      grant.pin === pinOf(target.tool)
      ? grant
      : undefined;
  }

  function reviewOf({ id }: Pick<Toolkit, "id">): Review | undefined {
    return own(entries.servers, id);
  }

  function decide(target: Target): { readonly verdict: Verdict; readonly until: number } {
    const { toolkit, tool } = target;
    const key = keyOf(target);
    const grant = grantOf(target);
    // Hash the tool only if there is a pin to compare: the first list may have thousands of tools.
    const runtimePin = runtimeTrust.get(key);
    const isTrusted =
      grant !== undefined || (runtimePin !== undefined && runtimePin === pinOf(tool));
    const known =
      toolkit.source === "upstream" ? judgeReviewed(target, reviewOf(toolkit)) : judgeOwn(target);
    const override = own(overrides, key) ?? own(overrides, `${toolkit.id}.*`);
    const marks =
      override === undefined
        ? known.marks
        : { ...known.marks, destructive: override === "destructive" };
    const level: Level = isTrusted && !known.held ? "trusted" : known.level;
    const isAskedFor = marks.destructive || (own(policies, toolkit.id) ?? policy) === "all";
    const ask = isAskedFor && !isTrusted ? (known.why ?? approvalReason(marks)) : undefined;
    const isGuarded = !unguarded.includes(key) && !unguarded.includes(`${toolkit.id}.*`);
    return {
      verdict: { level, marks, held: known.held, refused: known.refused, ask, isGuarded },
      until: grant?.until ?? Number.POSITIVE_INFINITY,
    };
  }

  return {
    judge(target) {
      // The hall's own tools only read; each call they make is judged by itself. An agent is named
      // after its group, so its name says nothing.
      if (target.toolkit.source === "hall") return harmless;
      let kept = verdicts.get(target);
      if (!kept || kept.until <= now()) {
        kept = decide(target);
        verdicts.set(target, kept);
      }
      return kept.verdict;
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
    mayStart(server, source) {
      refresh();
      const review = reviewOf({ id: server });
      if (!review) return "has not been approved on this machine";
      return review.source === source
        ? undefined
        : "has another command or URL than the one you approved";
    },
    mayLoadModules: (patterns) => patterns.length === 0 || entries.modules === hashOf(patterns),
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
    entries: () => entries,
  };
}

/** The key in the ledger and in the user's config. A project's config can choose prefixes, but not these. */
export function keyOf({ toolkit, tool }: Target): string {
  return `${toolkit.id}.${tool.name}`;
}

function approvalReason({ destructive, why }: Marks): string {
  if (!destructive) return "the config requires approval for every call";
  return why.destructive ?? "it is marked destructive";
}

function own<T>(record: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}

const harmless: Verdict = {
  level: "trusted",
  marks: { destructive: false, bringsIn: false, sendsOut: false, why: {} },
  isGuarded: false,
};

interface Known {
  readonly level: Level;
  readonly marks: Marks;
  readonly held?: string | undefined;
  readonly refused?: string | undefined;
  /** Why all its calls need approval. */
  readonly why?: string | undefined;
}

/** A tool of an upstream: its own claims count only if a person has reviewed them. */
function judgeReviewed(target: Target, review: Review | undefined): Known {
  const { toolkit, tool, fullName } = target;
  const marks = markTool(tool);
  const dangerous = { ...marks, destructive: true };
  const item = { kind: "tools", definition: tool, name: fullName } as const;
  const held = findHeld(toolkit, review, item);
  const reviewed = review && own(review.tools, tool.name);
  if (!held && reviewed)
    return { level: "verified", marks: { ...marks, destructive: reviewed.isDestructive } };
  const reason = held?.reason;
  return held?.kind === "unreviewed"
    ? { level: "untrusted", marks: dangerous, why: reason, refused: reason }
    : { level: "untrusted", marks: dangerous, held: reason };
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
      reason: `server "${id}" has not been reviewed on this machine`,
    };
  const reviewed = findReviewed(review, kind, definition);
  if (!reviewed) return { kind: "new", reason: `${name} is new since ${id} was reviewed` };
  if (reviewed.pin === pinOf(definition)) return undefined;
  return { kind: "changed", reason: `${name} has changed since it was reviewed` };
}

/** Built in, from a module or registered: a person added it, so its own claims count. */
function judgeOwn({ tool }: Target): Known {
  return { level: "verified", marks: markTool(tool) };
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
