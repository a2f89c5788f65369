import { createHmac } from "node:crypto";
import type { Board, Topic } from "../../store/shared/board.ts";

interface Value {
  readonly text: string;
  readonly until: number;
}

/**
 * Texts that all halls know, by key, with a copy in the memory of each. In the database a key is a
 * digest, because keys name people.
 */
export class SharedValues {
  readonly #board: Board;
  readonly #topic: Topic;
  readonly #names: Buffer;
  readonly #known = new Map<string, Value & { readonly key: string }>();
  /** Called for each change, also of this hall. */
  changed: (key: string, text: string | undefined, before: string | undefined) => void = () => {};

  constructor(board: Board, topic: Topic) {
    this.#board = board;
    this.#topic = topic;
    this.#names = board.key.derive(`names of ${topic}`);
    board.on(topic, (row, body) => this.#apply(row, body));
  }

  /** Throws UNAVAILABLE if this hall was cut off for too long to know. */
  get(key: string): string | undefined {
    this.#requireCurrent();
    const found = this.#known.get(this.#rowOf(key));
    return found && found.until > Date.now() ? found.text : undefined;
  }

  /** Throws UNAVAILABLE if this hall was cut off for too long to know. */
  entries(): readonly (Value & { readonly key: string })[] {
    this.#requireCurrent();
    return [...this.#known.values()].filter(({ until }) => until > Date.now());
  }

  /** Every hall knows it once this resolves. Throws UNAVAILABLE. */
  async put(key: string, text: string, ttlMs?: number): Promise<void> {
    this.#dropExpired();
    const until = ttlMs === undefined ? null : Date.now() + ttlMs;
    const row = this.#rowOf(key);
    await this.#board.put(this.#topic, row, JSON.stringify({ key, text, until }), { ttlMs });
  }

  /** True if there was one. No hall has it once this resolves. Throws UNAVAILABLE. */
  remove(key: string): Promise<boolean> {
    return this.#board.put(this.#topic, this.#rowOf(key), undefined);
  }

  /**
   * Replaces the text by what `change` makes of the one that is stored now; undefined removes it. True if something
   * changed. Throws UNAVAILABLE.
   */
  edit(
    key: string,
    change: (text: string | undefined) => string | undefined,
    ttlMs: number,
  ): Promise<boolean> {
    this.#dropExpired();
    const until = Date.now() + ttlMs;
    const replace = (body: string | undefined): string | undefined => {
      const before = read(body)?.text;
      const text = change(before);
      if (text === before) return body;
      return text === undefined ? undefined : JSON.stringify({ key, text, until });
    };
    return this.#board.edit(this.#topic, this.#rowOf(key), replace, { ttlMs, isQuick: true });
  }

  /** Removes the text and resolves with it, in one hall only; undefined if there is none for which `isFor` is true. */
  async take(key: string, isFor: (text: string) => boolean): Promise<string | undefined> {
    let taken: string | undefined;
    const remove = (body: string | undefined): string | undefined => {
      const found = read(body);
      if (!found || found.until <= Date.now() || !isFor(found.text)) return body;
      taken = found.text;
      return undefined;
    };
    const hasTaken = await this.#board.edit(this.#topic, this.#rowOf(key), remove, {
      isQuick: true,
    });
    return hasTaken ? taken : undefined;
  }

  #apply(row: string, body: string | undefined): void {
    const found = read(body);
    const before = this.#known.get(row);
    if (found) this.#known.set(row, found);
    else this.#known.delete(row);
    const key = found?.key ?? before?.key;
    if (key !== undefined) this.changed(key, found?.text, before?.text);
  }

  #requireCurrent(): void {
    const { outdated } = this.#board;
    if (outdated) throw outdated;
  }

  #dropExpired(): void {
    for (const [row, { until }] of this.#known) if (until <= Date.now()) this.#known.delete(row);
  }

  #rowOf(key: string): string {
    return createHmac("sha256", this.#names).update(key).digest("base64url");
  }
}

/** Only halls of the team can write a row. */
function read(body: string | undefined): (Value & { readonly key: string }) | undefined {
  if (body === undefined) return undefined;
  const { key, text, until } = JSON.parse(body);
  return { key, text, until: until ?? Number.POSITIVE_INFINITY };
}
