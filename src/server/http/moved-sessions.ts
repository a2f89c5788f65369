import type { ConnectionState } from "../connection.ts";
import { type Identity, isSameCaller } from "./guard.ts";
import type { OtherHalls } from "./other-halls.ts";
import type { Sessions } from "./sessions.ts";

/** The rows of moved sessions, shared by all halls, by the id of the session. */
export interface SharedMoves {
  get(id: string): string | undefined;
  /** True if the text that is stored now was replaced; undefined removes it. Throws UNAVAILABLE. */
  edit(
    id: string,
    change: (text: string | undefined) => string | undefined,
    ttlMs: number,
  ): Promise<boolean>;
  /** Reads what is new. Throws UNAVAILABLE. */
  refresh(): Promise<void>;
}

export interface Moving {
  readonly caller: Identity;
  readonly state: ConnectionState;
}

/** A row waits for a hall to continue the session, or names the hall that does. */
type Row = { readonly hall: string } | Moving;

/** The same as an idle session has. */
const waitsMsMax = 30 * 60_000;
/** Removed with the session; this is for halls that crashed. */
const namedMsMax = 7 * 24 * 3_600_000;

/**
 * Legacy sessions of a hall that is about to end. Each one without running requests becomes a row,
 * and the first hall that gets a request about it continues it, under the same id.
 */
export class MovedSessions {
  readonly #others: OtherHalls;
  readonly #shared: SharedMoves;
  readonly #sessions: Sessions;
  /** Those that this hall is giving away or taking over now. */
  readonly #moving = new Map<string, Promise<unknown>>();

  constructor(others: OtherHalls, shared: SharedMoves, sessions: Sessions) {
    this.#others = others;
    this.#shared = shared;
    this.#sessions = sessions;
    sessions.forgotten = (id) => void this.#forget(id).catch(() => {});
  }

  /** Gives away those that run nothing. Resolves with the number of the others. */
  async giveAway(): Promise<number> {
    for (const id of this.#sessions.ids()) {
      const session = this.#sessions.release(id);
      if (!session) continue;
      const giving = this.#write(id, session.moving).then(session.close, session.takeBack);
      this.#moving.set(id, giving);
      await giving;
      this.#moving.delete(id);
    }
    return this.#sessions.answeringCount;
  }

  /**
   * The hall that has a session, if it was moved. `isLast` if no other hall can be asked about it:
   * then what is new in the database is read before the session counts as unknown.
   */
  async find(id: string, caller: Identity, isLast: boolean): Promise<string | undefined> {
    await this.#moving.get(id);
    if (this.#sessions.has(id)) return this.#others.hall;
    let row = this.#read(id);
    if (!row && isLast) {
      await this.#shared.refresh().catch(() => {});
      row = this.#read(id);
    }
    if (!row) return undefined;
    if ("hall" in row) return row.hall;
    if (this.#sessions.isLeaving) return this.#others.any();
    if (!isSameCaller(row.caller, caller)) return undefined;
    const taking = this.#take(id, row, caller);
    this.#moving.set(id, taking);
    await taking.catch(() => {});
    this.#moving.delete(id);
    const taken = this.#read(id);
    return taken && "hall" in taken ? taken.hall : undefined;
  }

  async #take(id: string, { state }: Moving, caller: Identity): Promise<void> {
    const ours = JSON.stringify({ hall: this.#others.hall });
    const isWaiting = (text: string | undefined): boolean =>
      text !== undefined && !("hall" in JSON.parse(text));
    const claim = (text: string | undefined) => (isWaiting(text) ? ours : text);
    if (await this.#shared.edit(id, claim, namedMsMax)) this.#sessions.adopt(id, state, caller);
  }

  #write(id: string, moving: Moving): Promise<boolean> {
    return this.#shared.edit(id, () => JSON.stringify(moving), waitsMsMax);
  }

  async #forget(id: string): Promise<void> {
    const row = this.#read(id);
    if (row && "hall" in row && row.hall === this.#others.hall)
      await this.#shared.edit(id, () => undefined, 0);
  }

  #read(id: string): Row | undefined {
    const text = this.#shared.get(id);
    return text === undefined ? undefined : JSON.parse(text);
  }
}
