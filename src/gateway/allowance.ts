/** How much may be asked: so many calls a second on average, and at most `burst` at once. */
export interface Allowance {
  readonly perSecond: number;
  readonly burst: number;
}

/** A token bucket that is filled when it is looked at. */
export class Bucket {
  readonly #perMs: number;
  readonly #burst: number;
  #tokens: number;
  #filledAt: number;

  constructor({ perSecond, burst }: Allowance, now: number) {
    this.#perMs = perSecond / 1000;
    this.#burst = burst;
    this.#tokens = burst;
    this.#filledAt = now;
  }

  /** 0 when there was one to take, else how many milliseconds until there is. */
  take(now: number): number {
    this.#tokens = Math.min(this.#burst, this.#tokens + (now - this.#filledAt) * this.#perMs);
    this.#filledAt = now;
    if (this.#tokens >= 1) {
      this.#tokens--;
      return 0;
    }
    return (1 - this.#tokens) / this.#perMs;
  }
}
