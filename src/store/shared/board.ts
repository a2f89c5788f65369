import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { HallError } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { createOneAtATime } from "../../base/one-at-a-time.ts";
import type { Connection } from "../postgres/connection.ts";
import { parseDatabaseUrl } from "../postgres/url.ts";
import type { Sql } from "../sql.ts";
import { beginEdit, createTables } from "./board-tables.ts";
import { away, Line } from "./line.ts";
import type { TeamKey } from "./team-key.ts";

/**
 * Rows that the halls of a team share. A row is the last value of a key; its sequence number grows with every change, in
 * the order of the commits. A notification only says that there is something new: each hall reads what it has
 * not seen, at each beat, and everything after it was disconnected.
 *
 * A hall holds a lease that each beat renews. A change is confirmed when every hall with a lease has applied it. So a hall
 * with a lease knows every confirmed change, and a hall without one must ask before it relies on what it knows.
 */
export interface BoardOptions {
  readonly url: string;
  readonly key: TeamKey;
  readonly log: Pick<Log, "warn" | "info">;
}

export type Topic =
  | "trust"
  | "tokens"
  | "registrations"
  | "approvals"
  | "answers"
  | "health"
  | "sessions"
  | "begun"
  | "moves"
  | "logins"
  | "secrets"
  | "policies"
  | "locks";

/**
 * Called for each change, also of this hall, before the change counts as applied; undefined for a removed row. Must
 * not wait for an edit of the board.
 */
export type Listener = (key: string, text: string | undefined) => void | Promise<void>;

/** Another hall of the team. */
export interface Colleague {
  readonly id: string;
  /** Where it listens for the others. */
  readonly url?: string | undefined;
  readonly isLeaving: boolean;
  /** False if it has not renewed its lease for a moment. */
  readonly isThere: boolean;
}

export interface EditOptions {
  /** The row is removed after this long. */
  readonly ttlMs?: number | undefined;
  /** Resolve once it is stored, before the other halls have applied it. */
  readonly isQuick?: boolean | undefined;
}

const beatMs = 250;
/** Counted from before the renewal is sent, so it ends before the database's. */
const leaseMs = 1_000;
const leaseInDatabaseMs = 1_200;
/** How long a hall without the database relies on what it last read: longer than a failover takes. */
const cutOffMsMax = 120_000;
const settleMs = 10;
const lockPollMs = 50;
/** Longer than the work of a lock takes. */
const lockMsMax = 60_000;
const cleanUpMs = 60_000;
const hallsKeptMs = 3_600_000;

export class Board {
  /** Names this hall among the others. */
  readonly hall = randomBytes(6).toString("hex");
  readonly key: TeamKey;
  readonly #log: BoardOptions["log"];
  readonly #schema: string;
  readonly #reading: Line;
  readonly #writing: Line;
  readonly #listeners = new Map<Topic, Listener>();
  readonly #wholeListeners: (() => Promise<void>)[] = [];
  /** The keys that this hall knows, by topic. */
  readonly #known = new Map<string, { readonly topic: Topic; readonly key: string }>();
  readonly #beats = createOneAtATime<"beat">(() => this.#beat());
  #hasJoined = (): void => {};
  /** Resolves after the first attempt to read. */
  readonly joined = new Promise<void>((resolve) => {
    this.#hasJoined = resolve;
  });
  #colleagues: readonly Colleague[] = [];
  #seen = -1;
  #leaseFrom = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;
  #cleanedAt = performance.now();
  #url: string | undefined;
  #isLeaving = false;
  /** When the last attempt to read began, if it failed. */
  #failedFrom: number | undefined;
  /** When the timer last ran, and when it ran again after this process was stopped. */
  #tickedAt = performance.now();
  #resumedAt = this.#tickedAt;

  constructor({ url, key, log }: BoardOptions) {
    const address = parseDatabaseUrl(url);
    this.key = key;
    this.#log = log;
    this.#schema = address.schema;
    this.#reading = new Line(address, (connection) => this.#begin(connection));
    this.#writing = new Line(address, ({ sql }) => createTables(sql, this.#schema));
  }

  on(topic: Topic, listener: Listener): void {
    this.#listeners.set(topic, listener);
  }

  /** Called once all rows were read, at first and after a reconnect, before this hall counts as current. */
  onWhole(listener: () => Promise<void>): void {
    this.#wholeListeners.push(listener);
  }

  /** Joins the team. Resolves after the first attempt to read, even if that failed. */
  async join(): Promise<void> {
    this.#timer = setInterval(() => {
      if (this.#hasStopped) this.#resumedAt = performance.now();
      this.#tickedAt = performance.now();
      this.#beatSoon();
    }, beatMs).unref();
    await this.#beats.run("beat").catch(ignore);
    this.#hasJoined();
  }

  /** Where the other halls reach this one. */
  set url(url: string) {
    this.#url = url;
    this.#beatSoon();
  }

  /** The other halls that were there in the last minute. */
  get colleagues(): readonly Colleague[] {
    return this.#colleagues;
  }

  /** True if this hall knows every change that was confirmed to anybody. */
  get isCurrent(): boolean {
    return performance.now() - this.#leaseFrom < leaseMs;
  }

  /** True if the database did not answer the last time. An attempt during which this process was stopped says nothing. */
  get isAway(): boolean {
    return (this.#failedFrom ?? 0) >= this.#resumedAt && !this.#hasStopped;
  }

  get #hasStopped(): boolean {
    return performance.now() - this.#tickedAt > leaseMs;
  }

  /** Set if this hall never reached the database, or so long ago that what it knows may be void. */
  get outdated(): HallError | undefined {
    return performance.now() - this.#leaseFrom < cutOffMsMax ? undefined : away();
  }

  /** Reads what is new. Throws UNAVAILABLE if the database cannot be asked. */
  async refresh(): Promise<void> {
    await this.#beats.run("beat").catch((cause: unknown) => Promise.reject(away(cause)));
    if (!this.isCurrent) throw away();
  }

  /**
   * Replaces the text of a row; undefined removes it. `change` gets the text that is stored now, and may return it to
   * change nothing. True if something changed. Throws UNAVAILABLE.
   */
  async edit(
    topic: Topic,
    key: string,
    change: (text: string | undefined) => string | undefined,
    { ttlMs, isQuick = false }: EditOptions = {},
  ): Promise<boolean> {
    const seq = await this.#writing.run(async (sql) => {
      await sql.script(beginEdit(this.#schema));
      const [row] = await sql.query(
        `SELECT body FROM ${this.#schema}.board WHERE team = ? AND topic = ? AND key = ? AND ${isCurrent}`,
        [this.key.team, topic, key],
      );
      const text = this.#read(topic, key, row?.body);
      const next = change(text);
      if (next === text) {
        await sql.script("ROLLBACK");
        return undefined;
      }
      const body = next === undefined ? null : this.key.close(next, `${topic} ${key}`);
      const [stored] = await sql.query(
        `INSERT INTO ${this.#schema}.board (team, topic, key, seq, body, expires)
         VALUES (?, ?, ?, nextval('${this.#schema}.board_seq'), ?, now() + ?::float8 * interval '1 ms')
         ON CONFLICT (team, topic, key)
         DO UPDATE SET seq = excluded.seq, body = excluded.body, expires = excluded.expires
         RETURNING seq`,
        // A removed row stays for a while, so that the others see that it is gone.
        [this.key.team, topic, key, body, body === null ? hallsKeptMs : (ttlMs ?? null)],
      );
      await sql.script(`NOTIFY ${this.#channel}; COMMIT`);
      return Number(stored?.seq);
    });
    if (seq === undefined) return false;
    if (this.#timer) await this.refresh();
    if (!isQuick) await this.#settled(seq);
    return true;
  }

  put(
    topic: Topic,
    key: string,
    text: string | undefined,
    options?: EditOptions,
  ): Promise<boolean> {
    return this.edit(topic, key, () => text, options);
  }

  /** Removes a row. True for one hall only. */
  take(topic: Topic, key: string): Promise<boolean> {
    return this.put(topic, key, undefined, { isQuick: true });
  }

  /** Runs work in one hall at a time. A hall that has ended loses its turn. Throws UNAVAILABLE. */
  async exclusively<T>(name: string, work: () => Promise<T>): Promise<T> {
    const mine = `${this.hall} ${randomBytes(6).toString("hex")}`;
    const isLost = (holder: string): boolean => {
      const [hall] = holder.split(" ");
      return (
        hall !== this.hall && !this.#colleagues.some(({ id, isThere }) => id === hall && isThere)
      );
    };
    const options = { ttlMs: lockMsMax, isQuick: true };
    const take = (holder: string | undefined): string =>
      holder === undefined || isLost(holder) ? mine : holder;
    while (!(await this.edit("locks", name, take, options))) {
      await sleep(lockPollMs);
      // Its lease tells whether the other hall is still there.
      await this.refresh();
    }
    try {
      return await work();
    } finally {
      await this.edit("locks", name, (holder) => (holder === mine ? undefined : holder), options);
    }
  }

  /** Takes up to `wanted` tokens from a bucket of the team; `left` may be less than one. Throws UNAVAILABLE. */
  async draw(
    bucket: string,
    { perSecond, burst }: { readonly perSecond: number; readonly burst: number },
    wanted: number,
  ): Promise<{ readonly taken: number; readonly left: number }> {
    const place = [this.key.team, bucket];
    return this.#reading.run(async (sql) => {
      const take = (): ReturnType<Sql["query"]> =>
        sql.query(
          `WITH was AS (
             SELECT least(?::float8, tokens + ?::float8 * extract(epoch FROM clock_timestamp() - at)) AS tokens
             FROM ${this.#schema}.buckets WHERE team = ? AND key = ? FOR UPDATE)
           UPDATE ${this.#schema}.buckets AS b
           SET tokens = was.tokens - least(?::float8, floor(was.tokens)), at = clock_timestamp()
           FROM was WHERE team = ? AND key = ?
           RETURNING least(?::float8, floor(was.tokens)) AS taken, b.tokens AS rest`,
          [burst, perSecond, ...place, wanted, ...place, wanted],
        );
      let [row] = await take();
      if (!row) {
        await sql.change(
          `INSERT INTO ${this.#schema}.buckets (team, key, tokens, at) VALUES (?, ?, ?, clock_timestamp())
           ON CONFLICT DO NOTHING`,
          [...place, burst],
        );
        [row] = await take();
      }
      return { taken: Number(row?.taken), left: Number(row?.rest) };
    });
  }

  /** The others send nothing new here, but still what this hall has begun. */
  async leave(): Promise<void> {
    this.#isLeaving = true;
    await this.refresh().catch(() => {});
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    if (this.#timer)
      await this.#reading
        .run((sql) => sql.change(`DELETE FROM ${this.#schema}.halls WHERE id = ?`, [this.hall]))
        .catch(() => {});
    this.#timer = undefined;
    await Promise.all([this.#reading.close(), this.#writing.close()]);
  }

  get #channel(): string {
    return `guildhall_${this.key.team}`;
  }

  async #begin(connection: Connection): Promise<void> {
    await createTables(connection.sql, this.#schema);
    // A key that was removed meanwhile may have left no row.
    this.#seen = -1;
    await connection.listen(this.#channel, () => this.#beatSoon());
  }

  #beatSoon(): void {
    this.#beats.run("beat").catch(ignore);
  }

  async #beat(): Promise<void> {
    const wasOpen = this.#reading.isOpen;
    const from = performance.now();
    try {
      // A connection may have ended while nobody used it: only a new one shows that the database is away.
      await this.#readNews().catch((error) => (wasOpen ? this.#readNews() : Promise.reject(error)));
      this.#note(undefined);
    } catch (error) {
      this.#note(error, from);
      throw error;
    }
    if (performance.now() - this.#cleanedAt > cleanUpMs) await this.#cleanUp();
  }

  async #readNews(): Promise<void> {
    const from = performance.now();
    const { rows, isWhole } = await this.#reading.run(async (sql) => {
      // Before reading: a change that was confirmed without this hall is then among the rows.
      await this.#renew(sql);
      const seen = this.#seen;
      const changed = await sql.query(
        `SELECT topic, key, seq, CASE WHEN ${isCurrent} THEN body END AS body
         FROM ${this.#schema}.board WHERE team = ? AND seq > ? ORDER BY seq`,
        [this.key.team, seen],
      );
      await this.#readHalls(sql);
      return { rows: changed, isWhole: seen === -1 };
    });
    if (isWhole) await this.#forgetOthers(rows.map(({ topic, key }) => `${topic} ${key}`));
    for (const { topic, key, seq, body } of rows) {
      await this.#apply(topic as Topic, String(key), this.#read(String(topic), String(key), body));
      this.#seen = Number(seq);
    }
    if (rows.length > 0) await this.#reading.run((sql) => this.#renew(sql));
    if (isWhole) await this.#endWhole();
    this.#leaseFrom = from;
  }

  async #renew(sql: Sql): Promise<void> {
    const about = this.key.close(
      JSON.stringify({ url: this.#url, isLeaving: this.#isLeaving }),
      `hall ${this.hall}`,
    );
    await sql.change(
      `INSERT INTO ${this.#schema}.halls (id, team, body, seen, until)
       VALUES (?, ?, ?, ?, clock_timestamp() + ?::float8 * interval '1 ms')
       ON CONFLICT (id) DO UPDATE SET body = excluded.body, seen = excluded.seen, until = excluded.until`,
      [this.hall, this.key.team, about, this.#seen, leaseInDatabaseMs],
    );
  }

  async #readHalls(sql: Sql): Promise<void> {
    const halls = await sql.query(
      `SELECT id, body, until > clock_timestamp() AS is_there FROM ${this.#schema}.halls
       WHERE team = ? AND id <> ? AND until > clock_timestamp() - interval '1 minute'`,
      [this.key.team, this.hall],
    );
    this.#colleagues = halls.flatMap(({ id, body, is_there: isThere }) => {
      const text = this.key.open(String(body), `hall ${id}`);
      if (text === undefined) return [];
      return [{ ...JSON.parse(text), id: String(id), isThere: Boolean(isThere) } as Colleague];
    });
  }

  async #forgetOthers(there: readonly string[]): Promise<void> {
    const names = new Set(there);
    for (const [name, { topic, key }] of [...this.#known])
      if (!names.has(name)) await this.#apply(topic, key, undefined);
  }

  async #endWhole(): Promise<void> {
    try {
      for (const listener of this.#wholeListeners) await listener();
      if (this.#seen === -1) this.#seen = 0;
    } catch (error) {
      // Read all again.
      this.#seen = -1;
      throw error;
    }
  }

  async #apply(topic: Topic, key: string, text: string | undefined): Promise<void> {
    const name = `${topic} ${key}`;
    if (text === undefined) this.#known.delete(name);
    else this.#known.set(name, { topic, key });
    try {
      await this.#listeners.get(topic)?.(key, text);
    } catch (err) {
      this.#log.warn({ err, topic }, "could not apply a change of another hall");
    }
  }

  #read(topic: string, key: string, body: unknown): string | undefined {
    return typeof body === "string" ? this.key.open(body, `${topic} ${key}`) : undefined;
  }

  /** Resolves when every hall has applied the change, or has lost its lease. */
  async #settled(seq: number): Promise<void> {
    const statement = `SELECT 1 FROM ${this.#schema}.halls
      WHERE team = ? AND id <> ? AND seen < ? AND until > clock_timestamp() LIMIT 1`;
    const place = [this.key.team, this.hall, seq];
    for (;;) {
      const behind = await this.#writing.run((sql) => sql.query(statement, place));
      if (behind.length === 0) return;
      await sleep(settleMs);
    }
  }

  async #cleanUp(): Promise<void> {
    this.#cleanedAt = performance.now();
    await this.#writing.run((sql) =>
      sql.script(
        `DELETE FROM ${this.#schema}.board WHERE expires < now();
         DELETE FROM ${this.#schema}.halls WHERE until < now() - interval '${hallsKeptMs} ms';
         DELETE FROM ${this.#schema}.buckets WHERE at < now() - interval '${hallsKeptMs} ms'`,
      ),
    );
  }

  /** One line when the database is away, and one when it is back. */
  #note(error: unknown, from?: number): void {
    const isAway = error !== undefined;
    if (isAway && this.#timer === undefined) return;
    const isNews = isAway !== (this.#failedFrom !== undefined);
    this.#failedFrom = from;
    if (!isNews) return;
    if (isAway) this.#log.warn({ err: error }, "the other halls cannot be reached");
    else this.#log.info("the other halls can be reached again");
  }
}

/** The next beat tries again. */
function ignore(): void {}

const isCurrent = "(expires IS NULL OR expires > now())";
