import { hash as digest } from "node:crypto";
import type { AuditRow, Verification } from "./store.ts";

/** The hash a row must have behind another: of everything in it and of the hash before. */
export function chainHash(
  previous: string,
  { seq, at, kind, subject, caller, reason, details }: Omit<ChainedRow, "hash">,
): string {
  return digest(
    "sha256",
    JSON.stringify([previous, seq, at, kind, subject, caller, reason, details]),
  );
}

/** As it is written: the details as text, so that reading and writing cannot change them. */
export interface ChainedRow extends Omit<AuditRow, "details"> {
  readonly details: string;
}

/** What stands before the first row of all. */
export const chainStart = "";

/** The row that says how far the audit was forgotten: the chain goes on from the hash it names. */
export const prunedKind = "pruned";

export interface Anchor {
  readonly seq: number;
  readonly hash: string;
}

export interface ChainEnd {
  /** Where the chain must begin: behind what was forgotten. */
  readonly anchor: Anchor;
  /** Where it must end. */
  readonly head: Anchor;
}

/** Walks the whole chain; the first row that is not what it must be ends it. */
export function verifyChain(rows: Iterable<ChainedRow>, ends: ChainEnd): Verification {
  const walk = createChainWalk(ends);
  for (const row of rows) {
    const broken = walk.step(row);
    if (broken) return broken;
  }
  return walk.end();
}

/** The walk itself, for rows that do not come all at once. */
export interface ChainWalk {
  /** What is wrong with the row, where it is not the one that must follow. */
  step(row: ChainedRow): Verification | undefined;
  end(): Verification;
}

export function createChainWalk({ anchor, head }: ChainEnd): ChainWalk {
  let { seq, hash } = anchor;
  let count = 0;
  // What was forgotten must be said by a row that is itself in the chain.
  let isAnchored = anchor.seq === 0 && anchor.hash === chainStart;
  const broken = (at: number, reason: string): Verification => ({
    rows: count,
    head: hash || null,
    broken: { seq: at, reason },
  });
  return {
    step(row) {
      if (row.seq !== seq + 1) return broken(seq + 1, "the row is missing");
      if (row.hash !== chainHash(hash, row)) return broken(row.seq, "the row was changed");
      if (row.kind === prunedKind && row.details === JSON.stringify(anchor)) isAnchored = true;
      ({ seq, hash } = row);
      count++;
      return undefined;
    },
    end() {
      if (seq !== head.seq)
        return broken(
          seq + 1,
          seq < head.seq
            ? `the rows up to ${head.seq} are missing`
            : "there are rows that nobody wrote",
        );
      if (hash !== head.hash) return broken(seq, "the last row is not the one that was written");
      if (!isAnchored)
        return broken(anchor.seq, "the rows up to here were removed, and no row says so");
      return { rows: count, head: hash || null };
    },
  };
}
