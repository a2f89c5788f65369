import { HallError } from "../base/errors.ts";
import { hashOf } from "../base/hash.ts";
import type { Target } from "../tool.ts";
import type { Answer } from "./approvals.ts";
import {
  type Entries,
  type Grant,
  grantTools,
  type Ledger,
  noEntries,
  type Review,
} from "./ledger.ts";
import { type Marks, markTool } from "./marks.ts";
import { pinOf } from "./pin.ts";

/** Decides what may be started and called; never runs anything. What it knows is the ledger, the user's config, and what was said while this hall runs. */
export interface Trust {
  judge(target: Target): Verdict;
  /** Why no model reads what a tool says, or undefined when it may: all that a list needs to know, for thousands at once. */
  heldBecause(target: Target): Held | undefined;
  /** Why a server may not be started, or undefined when it may. */
  mayStart(server: string, source: string): string | undefined;
  mayLoadModules(patterns: readonly string[]): boolean;
  /** Grants what a person answered about a call: `hall` until the hall ends, `always` in the ledger; other answers grant nothing. */
  grant(target: Target, answer: Answer): Promise<void>;
  /** Forgets everything granted until the hall ends. */
  clearRuntimeTrust(): void;
  /** Reads the ledger again, and from then on whenever it may have changed. */
  refresh(): Promise<void>;
  entries(): Entries;
}

export interface Held {
  readonly kind: "changed" | "unreviewed";
  readonly reason: string;
}

export type Level = "untrusted" | "verified" | "trusted";

export interface Verdict {
  readonly level: Level;
  readonly marks: Marks;
  /** Set when the tool is not what was reviewed: it is not called. */
  readonly held?: string | undefined;
  /** Set when its server may not even be started: no yes to a call would help. */
  readonly refused?: string | undefined;
  /** Why a call needs a person's yes; undefined when it does not. */
  readonly ask?: string | undefined;
  /** Whether the flow guard looks at it. */
  readonly isGuarded: boolean;
}

export interface TrustOptions {
  readonly ledger: Ledger;
  /** The user's own word, by toolkit and tool or `toolkit.*`; a project's config cannot loosen anything. */
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
  const here = new Map<string, string>();
  /** Verdicts hold until something is said; those with a grant that ends are made anew. */
  let verdicts = new WeakMap<Target, { readonly verdict: Verdict; readonly until: number }>();

  function adopt(next: Entries): void {
    entries = next;
    verdicts = new WeakMap();
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

  function reviewOf({ toolkit }: Target): Review | undefined {
    return Object.hasOwn(entries.servers, toolkit.id) ? entries.servers[toolkit.id] : undefined;
  }

  function decide(target: Target): { readonly verdict: Verdict; readonly until: number } {
    const { toolkit, tool } = target;
    const key = keyOf(target);
    const grant = grantOf(target);
    // The pin is made only where something is compared with it: hashing thousands of tools is not for the first list.
    const trustedHere = here.get(key);
    const isTrusted =
      grant !== undefined || (trustedHere !== undefined && trustedHere === pinOf(tool));
    const known =
      toolkit.source === "upstream" ? judgeReviewed(target, reviewOf(target)) : judgeOwn(target);
    const override = own(overrides, key) ?? own(overrides, `${toolkit.id}.*`);
    const marks =
      override === undefined
        ? known.marks
        : { ...known.marks, destructive: override === "destructive" };
    const level: Level = isTrusted && !known.held ? "trusted" : known.level;
    const isAskedFor = marks.destructive || (own(policies, toolkit.id) ?? policy) === "all";
    const ask =
      isAskedFor && !isTrusted
        ? (known.why ??
          (marks.destructive
            ? `it may destroy or send: ${marks.why.destructive ?? "so the config says"}`
            : "every call is asked for"))
        : undefined;
    const isGuarded = !unguarded.includes(key) && !unguarded.includes(`${toolkit.id}.*`);
    return {
      verdict: { level, marks, held: known.held, refused: known.refused, ask, isGuarded },
      until: grant?.until ?? Number.POSITIVE_INFINITY,
    };
  }

  return {
    judge(target) {
      // The hall's own tools read what is known of the others; what they call is judged by itself. An agent's name is only its group's.
      if (target.toolkit.source === "hall") return harmless;
      let kept = verdicts.get(target);
      if (!kept || kept.until <= now()) {
        kept = decide(target);
        verdicts.set(target, kept);
      }
      return kept.verdict;
    },
    heldBecause(target) {
      if (target.toolkit.source !== "upstream") return undefined;
      const review = reviewOf(target);
      if (!review) return { kind: "unreviewed", reason: unreviewed(target) };
      const reason = changedSince(target, review);
      return reason === undefined ? undefined : { kind: "changed", reason };
    },
    mayStart(server, source) {
      const review = Object.hasOwn(entries.servers, server) ? entries.servers[server] : undefined;
      if (!review) return "was never approved on this machine: run `guildhall verify`";
      return review.source === source
        ? undefined
        : "is reached in another way than the one approved: run `guildhall verify`";
    },
    mayLoadModules: (patterns) => patterns.length === 0 || entries.modules === hashOf(patterns),
    async grant(target, answer) {
      if (answer === "hall") {
        here.set(keyOf(target), pinOf(target.tool));
        verdicts = new WeakMap();
      }
      if (answer === "always")
        adopt(await grantTools(ledger, [{ key: keyOf(target), pin: pinOf(target.tool) }], { now }));
    },
    clearRuntimeTrust() {
      here.clear();
      verdicts = new WeakMap();
    },
    async refresh() {
      adopt(await ledger.read());
    },
    entries: () => entries,
  };
}

/** What a tool is known by in the ledger and in the user's config: a project's config chooses prefixes, not these. */
export function keyOf({ toolkit, tool }: Target): string {
  return `${toolkit.id}.${tool.name}`;
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
  readonly held?: string;
  readonly refused?: string;
  /** Why everything of it needs a yes. */
  readonly why?: string;
}

/** A tool of an upstream: what it says of itself counts only as far as a person has seen it. */
function judgeReviewed(target: Target, review: Review | undefined): Known {
  const { toolkit, tool, fullName } = target;
  const marks = markTool(tool);
  const dangerous = { ...marks, destructive: true };
  if (!review) {
    const refused = unreviewed(target);
    return { level: "untrusted", marks: dangerous, why: refused, refused };
  }
  const reviewed = own(review.tools, tool.name);
  if (!reviewed)
    return {
      level: "untrusted",
      marks: dangerous,
      why: `${fullName} is new since ${toolkit.id} was reviewed`,
    };
  const held = changedSince(target, review);
  if (held !== undefined) return { level: "untrusted", marks: dangerous, held };
  return { level: "verified", marks: { ...marks, destructive: reviewed.isDestructive } };
}

function unreviewed({ toolkit }: Target): string {
  return `nobody has reviewed ${toolkit.id} on this machine`;
}

function changedSince({ tool, fullName }: Target, review: Review): string | undefined {
  const reviewed = own(review.tools, tool.name);
  return reviewed && reviewed.pin !== pinOf(tool)
    ? `${fullName} has changed since it was reviewed`
    : undefined;
}

/** Ours, a module's, or a registration's: its own word counts, it came in by a person's hand. */
function judgeOwn({ tool }: Target): Known {
  return { level: "verified", marks: markTool(tool) };
}

/** A tool that is not what was reviewed. */
export function heldBack(reason: string): HallError {
  return new HallError("DENIED", `${reason}; it is held back`, {
    hint: "A person looks at it with `guildhall diff` and lets it through with `guildhall verify`.",
  });
}

/** A tool of a server that nobody has let start. */
export function neverReviewed(reason: string): HallError {
  return new HallError("DENIED", `${reason}, so it is not started`, {
    hint: "A person reviews it with `guildhall verify`.",
  });
}
