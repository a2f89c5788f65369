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

type Released = NonNullable<ReturnType<Sessions["release"]>>;

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
  readonly #moving = new Map<string, Promise<string | undefined>>();

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
      await this.#inTurn(id, () => this.#give(id, session));
    }
    return this.#sessions.answeringCount;
  }

  /**
   * The hall that has a session, if it was moved. `isLast` if no other hall can be asked about it:
   * then what is new in the database is read before the session counts as unknown. Throws
   * UNAVAILABLE if the database does not say which hall has it.
   */
  async find(id: string, caller: Identity, isLast: boolean): Promise<string | undefined> {
    const isHere = this.#sessions.has(id) || this.#moving.has(id);
    if (!isHere && isLast && !this.#read(id)) await this.#shared.refresh().catch(() => {});
    await this.#moving.get(id)?.catch(() => {});
    if (this.#sessions.has(id)) return this.#others.hall;
    const row = this.#read(id);
    if (!row) return undefined;
    if ("hall" in row) return row.hall;
    const next = this.#sessions.isLeaving ? this.#others.any() : undefined;
    if (next !== undefined) return next;
    if (!isSameCaller(row.caller, caller)) return undefined;
    return this.#moving.get(id) ?? this.#inTurn(id, () => this.#take(id, caller));
  }

  #inTurn(id: string, move: () => Promise<string | undefined>): Promise<string | undefined> {
    const moving = move().finally(() => this.#moving.delete(id));
    this.#moving.set(id, moving);
    return moving;
  }

  async #give(id: string, { moving, close, takeBack }: Released): Promise<undefined> {
    const text = JSON.stringify(moving);
    const give = (stored: string | undefined): string => {
      const row = parse(stored);
      // Another hall has taken it, from a row whose write seemed to fail.
      const isTaken = row && "hall" in row && row.hall !== this.#others.hall;
      return stored !== undefined && isTaken ? stored : text;
    };
    await this.#shared.edit(id, give, waitsMsMax).then(close, takeBack);
  }

  /** Resolves with the hall that has the session then, read from its row, not from a copy. */
  async #take(id: string, caller: Identity): Promise<string | undefined> {
    const ours = { hall: this.#others.hall };
    const stored: { hall?: string | undefined; state?: ConnectionState } = {};
    const claim = (text: string | undefined): string | undefined => {
      const row = parse(text);
      if (!row || "hall" in row) {
        stored.hall = row?.hall;
        return text;
      }
      Object.assign(stored, ours, { state: row.state });
      return JSON.stringify(ours);
    };
    const edit = (): Promise<boolean> => this.#shared.edit(id, claim, namedMsMax);
    // A claim whose answer was lost may be stored.
    await edit().catch(edit);
    if (stored.hall === ours.hall && stored.state) this.#sessions.adopt(id, stored.state, caller);
    return stored.hall;
  }

  async #forget(id: string): Promise<void> {
    const row = this.#read(id);
    if (row && "hall" in row && row.hall === this.#others.hall)
      await this.#shared.edit(id, () => undefined, 0);
  }

  #read(id: string): Row | undefined {
    return parse(this.#shared.get(id));
  }
}

function parse(text: string | undefined): Row | undefined {
  return text === undefined ? undefined : JSON.parse(text);
}
