import type { Log } from "../../base/log.ts";
import type { Store } from "../../store/store.ts";

/** How calls of tools went lately in this project: who has to choose among tools that fit alike takes what did well. */
export interface Experience {
  /**
   * By full name, from -1, all failed, to 1; the same map until there is more to know. Never waits:
   * it is looked up behind the question.
   */
  read(): ReadonlyMap<string, number>;
}

export interface ExperienceOptions {
  readonly store: Pick<Store, "statistics">;
  readonly log: Log;
  /** Milliseconds; for tests. */
  now?(): number;
}

const refreshMs = 5_000;
const lately = 7 * 24 * 60 * 60_000;

export function createExperience({ store, log, now = Date.now }: ExperienceOptions): Experience {
  let known: ReadonlyMap<string, number> = new Map();
  let lookedAt = Number.NEGATIVE_INFINITY;
  let isLooking = false;

  async function look(): Promise<void> {
    isLooking = true;
    try {
      const { tools } = await store.statistics(now() - lately);
      known = new Map(tools.map(({ tool, calls, errorRate }) => [tool, judge(calls, errorRate)]));
    } catch (err) {
      // Keep the earlier figures; the store reports its own failure.
      log.debug({ err }, "how calls went could not be looked up");
    } finally {
      isLooking = false;
      lookedAt = now();
    }
  }

  return {
    read() {
      if (!isLooking && now() - lookedAt >= refreshMs) void look();
      return known;
    },
  };
}

/**
 * From -1 (all calls fail) to 1 (none fails). One call counts about a third of nine; more than nine calls add
 * nothing.
 */
function judge(calls: number, errorRate: number): number {
  return (1 - 2 * errorRate) * Math.min(1, Math.log10(1 + calls));
}
