/**
 * One coarse clock for all deadlines. A timer of its own for every call costs more than checking its arguments, and
 * nearly all of them are cleared unused; so deadlines are kept in a list, and looked at twenty times a second while there
 * are any. A deadline may be noticed 50 ms late. Each knows its place in the list: a set with such a turnover would keep
 * what it has forgotten (see slot-map.ts).
 */
export interface Deadline {
  readonly deadlineAt: number;
  /** For the clock alone; undefined while it does not watch it. */
  place: number | undefined;
  expire(): void;
}

const tickMs = 50;
const armed: Deadline[] = [];
let clock: NodeJS.Timeout | undefined;
let tickedAt = 0;

export function arm(deadline: Deadline, now: number): void {
  if (deadline.place === undefined) deadline.place = armed.push(deadline) - 1;
  // A clock that has not ticked for long was stopped by somebody else, such as a test that replaced the timers.
  if (clock && now - tickedAt < 20 * tickMs && now >= tickedAt) return;
  clearInterval(clock);
  clock = setInterval(tick, tickMs);
  tickedAt = now;
}

export function disarm(deadline: Deadline): void {
  const { place } = deadline;
  if (place === undefined) return;
  deadline.place = undefined;
  const last = armed.pop();
  if (last === undefined || last === deadline) return;
  armed[place] = last;
  last.place = place;
}

function tick(): void {
  tickedAt = performance.now();
  for (const deadline of armed.filter(({ deadlineAt }) => deadlineAt <= tickedAt)) {
    // One that came before it may have called it off.
    if (deadline.place === undefined) continue;
    disarm(deadline);
    deadline.expire();
  }
  if (armed.length > 0) return;
  clearInterval(clock);
  clock = undefined;
}
