import type { ClockReadings, ClockRecord } from "./protocol.ts";

/**
 * What a program reads of the clock. A program that is run again must take the ways it took before, so it reads the same times again; past
 * the end of them it reads the clock.
 */
export interface Readings {
  begin(recorded?: ClockReadings): void;
  read(kind: keyof ClockReadings, live: () => number): number;
  /** A call was refused that a person may still allow: what is read from here on may be read anew. */
  refuse(): void;
  end(): ClockRecord;
}

/** A program that waits by looking at the clock reads it as often as it can; it cannot be run again. */
const readingsMax = 10_000;

export function createReadings(): Readings {
  let recorded: ClockReadings = { clock: [], timer: [] };
  let readings = { clock: [] as number[], timer: [] as number[] };
  let isWhole = true;
  let beforeRefusal: ClockReadings | undefined;
  return {
    begin(again = { clock: [], timer: [] }) {
      recorded = again;
      readings = { clock: [], timer: [] };
      isWhole = true;
      beforeRefusal = undefined;
    },
    read(kind, live) {
      const value = recorded[kind][readings[kind].length] ?? live();
      isWhole &&= readings.clock.length + readings.timer.length < readingsMax;
      if (isWhole) readings[kind].push(value);
      return value;
    },
    refuse() {
      if (isWhole) beforeRefusal ??= { clock: [...readings.clock], timer: [...readings.timer] };
    },
    end: () => ({ readings: isWhole ? readings : undefined, beforeRefusal }),
  };
}
