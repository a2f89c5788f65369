import { createHash } from "node:crypto";
import type { Board } from "../../store/shared/board.ts";
import type {
  ApprovalAnswer,
  Approvals,
  PendingApproval,
  SharedAnswers,
} from "../../trust/approvals.ts";
import type { ListedApproval as ShownApproval } from "../admin-contract.ts";

/** An approval that waits in another hall. */
interface Elsewhere {
  readonly hall: string;
  readonly shown: ShownApproval;
}

/**
 * Approvals of all halls: each hall shows what waits anywhere. An answer goes to the hall where the
 * call waits; an answer for a call that has failed waits for its next attempt in any hall, which
 * one of them uses.
 */
export class SharedApprovals {
  readonly #board: Board;
  readonly #elsewhere = new Map<string, Elsewhere>();
  /** The tokens that this hall has published. */
  readonly #published = new Set<string>();
  /** Keys of answers by the name of their row. */
  readonly #keys = new Map<string, string>();
  #approvals: Approvals | undefined;
  #changed = (): void => {};
  /** Set once the hall is there. */
  answerHere: (token: string, answer: ApprovalAnswer) => Promise<unknown> = async () => {};

  constructor(board: Board) {
    this.#board = board;
    board.on("approvals", (token, text) => this.#onApproval(token, text));
    board.on("answers", (row, text) => this.#onAnswer(row, text));
  }

  readonly answers: SharedAnswers = {
    put: (key, answer, ttlMs) =>
      this.#board.put("answers", rowOf(key), JSON.stringify({ key, answer }), { ttlMs }),
    take: (key) => this.#board.take("answers", rowOf(key)),
  };

  /** Connects the approvals of this hall. `changed` is called when those of another hall have changed. */
  attach(approvals: Approvals, changed: () => void): void {
    this.#approvals = approvals;
    this.#changed = changed;
  }

  /** The approvals that wait in other halls. */
  list(): readonly ShownApproval[] {
    const now = Date.now();
    return [...this.#elsewhere.values()]
      .filter(({ hall, shown }) => this.#isThere(hall) && shown.expiresAt > now)
      .map(({ shown }) => shown);
  }

  /** Answers a call that waits in another hall. Undefined for a token that no hall has. */
  async answer(token: string, answer: ApprovalAnswer): Promise<{ tool: string } | undefined> {
    const found = this.#elsewhere.get(token);
    if (!found || !this.#isThere(found.hall)) return undefined;
    const { shown } = found;
    const ttlMs = Math.max(1, shown.expiresAt - Date.now());
    await this.#board.put("answers", `token ${token}`, answer, { ttlMs });
    return { tool: shown.tool };
  }

  /** Publishes what began to wait here, and withdraws what does not wait any more. */
  publish(): void {
    const pending = this.#approvals?.pending() ?? [];
    const tokens = new Set(pending.map(({ token }) => token));
    for (const token of [...this.#published].filter((known) => !tokens.has(known))) {
      this.#published.delete(token);
      this.#send(token, undefined);
    }
    for (const approval of pending.filter(({ token }) => !this.#published.has(token))) {
      this.#published.add(approval.token);
      this.#send(approval.token, approval);
    }
  }

  #send(token: string, approval: PendingApproval | undefined): void {
    const { hall } = this.#board;
    const text = approval && JSON.stringify({ hall, shown: showApproval(approval) });
    const ttlMs = approval && Math.max(1, approval.expiresAt - Date.now());
    // It can still be answered here if the others are not told.
    this.#board.put("approvals", token, text, { ttlMs, isQuick: true }).catch(() => {});
  }

  #onApproval(token: string, text: string | undefined): void {
    const found = text === undefined ? undefined : (JSON.parse(text) as Elsewhere);
    if (found && found.hall !== this.#board.hall) this.#elsewhere.set(token, found);
    else if (!this.#elsewhere.delete(token)) return;
    this.#changed();
  }

  #onAnswer(row: string, text: string | undefined): void {
    const token = /^token (.+)$/.exec(row)?.[1];
    if (token !== undefined) {
      const isHere = this.#approvals?.pending().some((pending) => pending.token === token);
      // Not waited for: it may change the board itself.
      if (text !== undefined && isHere) void this.answerHere(token, text as ApprovalAnswer);
      return;
    }
    if (text === undefined) {
      const key = this.#keys.get(row);
      this.#keys.delete(row);
      if (key !== undefined) this.#approvals?.learn(key, undefined);
      return;
    }
    const { key, answer } = JSON.parse(text);
    this.#keys.set(row, key);
    this.#approvals?.learn(key, answer);
  }

  #isThere(hall: string): boolean {
    return this.#board.colleagues.some(({ id, isThere }) => id === hall && isThere);
  }
}

function rowOf(key: string): string {
  return `call ${createHash("sha256").update(key).digest("base64url")}`;
}

/** For the person who decides. */
export function showApproval({
  target,
  argumentsHash: _hash,
  isWaiting: _waits,
  callerPreview: _short,
  ...pending
}: PendingApproval): ShownApproval {
  return { tool: target.fullName, ...pending };
}
