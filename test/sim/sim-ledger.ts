import { easingOf } from "../../src/trust/easing.ts";
import { type Entries, type Ledger, noEntries } from "../../src/trust/ledger.ts";
import { pinOf } from "../../src/trust/pin.ts";
import { reviewServer } from "../../src/trust/review.ts";
import { sourceOf } from "../../src/upstream/source.ts";
import { configOf, definitions, type SimServer } from "./sim-server.ts";
import type { VirtualTime } from "./virtual-time.ts";

/** A person thinks, and the answer travels; until then a revocation may come first. */
const answerTravelMs = 10_000;

interface SimGrant {
  readonly key: string;
  readonly isRuntime: boolean;
  /** A revocation before this time may reach the hall before the grant does. */
  readonly arrivesBy: number;
  until: number;
}

/** A ledger in memory, and the times at which it granted what. */
export class SimLedger implements Ledger {
  readonly file = "simulated";
  readonly #time: VirtualTime;
  readonly #grants: SimGrant[] = [];
  #entries: Entries;
  #isChanged = true;

  constructor(time: VirtualTime, servers: readonly SimServer[]) {
    this.#time = time;
    const reviews = servers.map(({ name }) => {
      const source = sourceOf(configOf(name));
      const eased = easingOf(name, {});
      return [name, reviewServer({ source, reached: name, eased, tools: definitions() })];
    });
    this.#entries = { ...noEntries, servers: Object.fromEntries(reviews) };
  }

  read = async (): Promise<Entries> => this.#entries;
  sign = async (text: string): Promise<string> => text;

  readIfChanged(): Entries | undefined {
    const isChanged = this.#isChanged;
    this.#isChanged = false;
    return isChanged ? this.#entries : undefined;
  }

  async change(edit: (entries: Entries) => Entries): Promise<Entries> {
    this.#entries = edit(this.#entries);
    this.#isChanged = true;
    return this.#entries;
  }

  /** The next hall reads it again, and trusts nothing that the last one trusted only while it ran. */
  hallEnded(): void {
    this.#isChanged = true;
    for (const grant of this.#grants)
      if (grant.isRuntime) grant.until = Math.min(grant.until, this.#time.now);
  }

  grant(key: string): void {
    this.#grants.push({ key, isRuntime: false, arrivesBy: 0, until: Number.POSITIVE_INFINITY });
    const tool = definitions().find(({ name }) => key.endsWith(`.${name}`));
    if (!tool) return;
    const grant = { pin: pinOf(tool), grantedAt: Date.now() } as Entries["grants"][string];
    void this.change((entries) => ({ ...entries, grants: { ...entries.grants, [key]: grant } }));
  }

  trustedWhileRunning(key: string): void {
    this.#grants.push({
      key,
      isRuntime: true,
      arrivesBy: this.#time.now + answerTravelMs,
      until: Number.POSITIVE_INFINITY,
    });
  }

  revoke(key: string): void {
    // After any revocation a hall forgets everything it trusts only while it runs.
    for (const grant of this.#grants)
      if ((grant.key === key || grant.isRuntime) && grant.arrivesBy <= this.#time.now)
        grant.until = Math.min(grant.until, this.#time.now);
    void this.change(({ grants, revocations = 0, ...entries }) => {
      const { [key]: _revoked, ...rest } = grants;
      return { ...entries, grants: rest, revocations: revocations + 1 };
    });
  }

  /** True if the tool was trusted at any time since then. */
  wasGranted(key: string, since: number): boolean {
    return this.#grants.some((grant) => grant.key === key && grant.until >= since);
  }
}
