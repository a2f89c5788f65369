import { setTimeout as sleep } from "node:timers/promises";
import { type Allowance, Bucket, type OpenBucket, type RateBucket } from "../../gateway/limits.ts";
import type { Board } from "../../store/shared/board.ts";

/** Each hall takes this part of a second's tokens at once, so that all together exceed the limit only a little. */
const share = 1 / 50;
/** A call does not wait longer for the database: after this time a hall knows that it is away. */
const drawMsMax = 1_000;

/** Buckets in the database, from which each hall takes some tokens at once and gives them to its calls. */
export function shareBuckets(board: Pick<Board, "draw" | "isCurrent" | "colleagues">): OpenBucket {
  return (key, allowance, now) => new LeasedBucket(board, key, allowance, now);
}

class LeasedBucket implements RateBucket {
  readonly #board: Parameters<typeof shareBuckets>[0];
  readonly #key: string;
  readonly #allowance: Allowance;
  /** While the database is away, this hall allows its part of the limit, from what was left. */
  #alone: Bucket | undefined;
  #left: number;
  #drawnAt: number;
  #tokens = 0;
  #emptyUntil = Number.NEGATIVE_INFINITY;
  #drawing: Promise<boolean> | undefined;

  constructor(
    board: Parameters<typeof shareBuckets>[0],
    key: string,
    allowance: Allowance,
    now: number,
  ) {
    this.#board = board;
    this.#key = key;
    this.#allowance = allowance;
    this.#left = allowance.burst;
    this.#drawnAt = now;
  }

  take(now: number): number | Promise<number> {
    if (this.#tokens >= 1) {
      this.#tokens--;
      return 0;
    }
    if (now < this.#emptyUntil) return this.#emptyUntil - now;
    return this.#board.isCurrent ? this.#takeDrawn(now) : this.#takeAlone(now);
  }

  async #takeDrawn(now: number): Promise<number> {
    this.#drawing ??= this.#draw(now).finally(() => {
      this.#drawing = undefined;
    });
    const hasDrawn = await this.#drawing;
    return hasDrawn ? this.take(now) : this.#takeAlone(now);
  }

  /** False if the database did not answer. */
  async #draw(now: number): Promise<boolean> {
    const { perSecond } = this.#allowance;
    const wanted = Math.max(1, Math.ceil(perSecond * share));
    const late = sleep(drawMsMax, undefined, { ref: false });
    const draw = this.#board.draw(this.#key, this.#allowance, wanted).then(
      ({ taken, left }) => {
        this.#tokens += taken;
        this.#left = left;
        this.#drawnAt = now;
        this.#alone = undefined;
        if (taken === 0) this.#emptyUntil = now + ((1 - left) * 1_000) / perSecond;
        return true;
      },
      () => false,
    );
    return (await Promise.race([draw, late])) ?? false;
  }

  #takeAlone(now: number): number {
    const halls = 1 + this.#board.colleagues.length;
    const { perSecond, burst } = this.#allowance;
    const part = { perSecond: perSecond / halls, burst: Math.max(1, burst / halls) };
    this.#alone ??= new Bucket(part, this.#drawnAt, this.#left / halls);
    return this.#alone.take(now);
  }
}
