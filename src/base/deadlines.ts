/**
 * One coarse clock for all deadlines. A timer per call costs more than validating its arguments, and nearly
 * all are cleared unused. So deadlines are in a list that is checked 20 times a second while it is not
 * empty; one may fire 50 ms late. Each knows its index: a Set with this turnover would retain removed
 * entries (see slot-map.ts).
 */
export interface Deadline {
  readonly deadlineAt: number;
  /** Index in the list, used by the clock only; undefined if not armed. */
  place: number | undefined;
  expire(): void;
}

const tickMs = 50;
const armed: Deadline[] = [];
let clock: NodeJS.Timeout | undefined;
let tickedAt = 0;

export function arm(deadline: Deadline, now: number): void {
  if (deadline.place === undefined) deadline.place = armed.push(deadline) - 1;
  // A clock that has not ticked for long was stopped, for example by a test that replaced the timers.
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
    // An earlier callback may have disarmed it.
    if (deadline.place === undefined) continue;
    disarm(deadline);
    deadline.expire();
  }
  if (armed.length > 0) return;
  clearInterval(clock);
  clock = undefined;
}
