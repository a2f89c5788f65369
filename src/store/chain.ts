import { createHmac, hash as digest } from "node:crypto";
import type { AuditEntry, AuditRow, Verification } from "./store.ts";

/** Covers everything in the row and the hash of the row before it. With a key, only its owner can compute it. */
export function chainHash(
  previous: string,
  { seq, at, kind, subject, caller, reason, details }: Omit<ChainedRow, "hash">,
  key?: Buffer,
): string {
  const text = JSON.stringify([previous, seq, at, kind, subject, caller, reason, details]);
  return key ? createHmac("sha256", key).update(text).digest("hex") : digest("sha256", text);
}

/** A row as it is stored: the details are text, so that parsing cannot change what is hashed. */
export interface ChainedRow extends Omit<AuditRow, "details"> {
  readonly details: string;
}

/** A position in the chain. */
export interface Anchor {
  readonly seq: number;
  readonly hash: string;
}

export const chainStart: Anchor = { seq: 0, hash: "" };

/** The ends of a chain. */
export interface Ends {
  /** The last row that was pruned. */
  readonly anchor: Anchor;
  readonly head: Anchor;
  /** The last row without a key, and the name of the store. A database has none: its users do not share a key. */
  readonly sealed: Anchor | undefined;
}

const prunedKind = "pruned";

/** The row that records how far the audit was pruned. The chain continues from the hash it names. */
export function prunedEntry(anchor: Anchor, reason: string): AuditEntry {
  const details = { ...anchor };
  return { kind: prunedKind, subject: "audit", caller: "guildhall", reason, details };
}

/** Checks a chain row by row, from behind the pruned part (`anchor`) to the last row that was written (`head`). */
export class ChainWalk {
  readonly #anchor: Anchor;
  readonly #head: Anchor;
  #last: Anchor;
  #rows = 0;
  /** True if a row of the chain itself records the pruning. */
  #isAnchored: boolean;
  /** The rows after `keyed.since` are keyed; the hash of that row is sealed. */
  readonly #keyed: Keyed | undefined;

  constructor({ anchor, head }: Pick<Ends, "anchor" | "head">, keyed?: Keyed) {
    this.#anchor = anchor;
    this.#head = head;
    this.#keyed = keyed;
    this.#last = anchor;
    this.#isAnchored = anchor.seq === chainStart.seq && anchor.hash === chainStart.hash;
  }

  /** Returns what is wrong if this is not the row that must follow. */
  step(row: ChainedRow): Verification | undefined {
    const { seq, hash } = this.#last;
    if (row.seq !== seq + 1) return this.#broken(seq + 1, "the row is missing");
    const { since, key } = this.#keyed ?? { since: chainStart };
    if (row.hash !== chainHash(hash, row, row.seq > since.seq ? key : undefined))
      return this.#broken(row.seq, "the row was changed");
    if (row.seq === since.seq && row.hash !== since.hash)
      return this.#broken(row.seq, "this row or one before it was changed since it got a key");
    if (row.kind === prunedKind && row.details === JSON.stringify(this.#anchor))
      this.#isAnchored = true;
    this.#last = { seq: row.seq, hash: row.hash };
    this.#rows++;
    return undefined;
  }

  end(): Verification {
    const { seq, hash } = this.#last;
    const head = this.#head;
    if (seq < head.seq) return this.#broken(seq + 1, `the rows up to ${head.seq} are missing`);
    if (seq > head.seq) return this.#broken(seq + 1, "rows were added after the last one");
    if (hash !== head.hash) return this.#broken(seq, "the last row was replaced");
    if (!this.#isAnchored)
      return this.#broken(this.#anchor.seq, "the rows up to here were removed without a record");
    return { rows: this.#rows, head: hash || null };
  }

  #broken(seq: number, reason: string): Verification {
    return { rows: this.#rows, head: this.#last.hash || null, broken: { seq, reason } };
  }
}

interface Keyed {
  readonly since: Anchor;
  readonly key: Buffer;
}
