/**
 * One coarse clock for all deadlines. A timer of its own for every call costs more than checking its arguments, and
 * nearly all of them are cleared unused; so deadlines are kept in a set, and looked at twenty times a second while there
 * are any. A deadline may be noticed 50 ms late.
 */
export interface Deadline {
  readonly deadlineAt: number;
  expire(): void;
}

const tickMs = 50;
const armed = new Set<Deadline>();
let clock: NodeJS.Timeout | undefined;
let tickedAt = 0;

export function arm(deadline: Deadline, now: number): void {
  armed.add(deadline);
  // A clock that has not ticked for long was stopped by somebody else, such as a test that replaced the timers.
  if (clock && now - tickedAt < 20 * tickMs && now >= tickedAt) return;
  clearInterval(clock);
  clock = setInterval(tick, tickMs);
  tickedAt = now;
}

export function disarm(deadline: Deadline): void {
  armed.delete(deadline);
}

function tick(): void {
  tickedAt = performance.now();
  for (const deadline of armed) {
    if (deadline.deadlineAt > tickedAt) continue;
    armed.delete(deadline);
    deadline.expire();
  }
  if (armed.size > 0) return;
  clearInterval(clock);
  clock = undefined;
}
