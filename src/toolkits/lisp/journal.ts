import { findFailure } from "./answer-text.ts";
import type { ClockReadings, Failure, Order } from "./protocol.ts";

/** What one evaluation was told, what the hall answered it and what it read of the clock: enough to run it again with the same results. */
export interface Entry {
  readonly order: EvaluateOrder;
  readonly answers: Answered[];
  readings?: ClockReadings | undefined;
}

export type EvaluateOrder = Omit<Extract<Order, { kind: "evaluate" }>, "tools" | "readings">;

/** A request of the program and its answer, both as they crossed between the threads. */
export interface Answered {
  readonly request: string;
  readonly answer: string;
}

/** Everything a session was told, so that it can be brought back to where it was. Bounded: past that it cannot, and says so. */
export interface Journal {
  readonly entries: readonly Entry[];
  /** False once something was left out. */
  readonly isWhole: boolean;
  begin(order: EvaluateOrder): Entry;
  add(entry: Entry, answered: Answered): void;
  /** Undefined where the program read the clock too often to keep it. */
  end(entry: Entry, readings: ClockReadings | undefined): void;
}

const entriesMax = 500;
const charactersMax = 8 * 1024 * 1024;

export function createJournal(): Journal {
  const entries: Entry[] = [];
  let characters = 0;
  let isWhole = true;
  const grow = (size: number): boolean => {
    characters += size;
    isWhole &&= characters <= charactersMax && entries.length < entriesMax;
    // What can no longer be run again needs no memory.
    if (!isWhole) entries.length = 0;
    return isWhole;
  };
  return {
    entries,
    get isWhole() {
      return isWhole;
    },
    begin(order) {
      const entry: Entry = { order, answers: [] };
      if (grow(order.code.length)) entries.push(entry);
      return entry;
    },
    add(entry, answered) {
      if (grow(answered.request.length + answered.answer.length)) entry.answers.push(answered);
    },
    end(entry, readings) {
      const size = readings
        ? (readings.clock.length + readings.timer.length) * readingCharacters
        : Number.POSITIVE_INFINITY;
      if (grow(size)) entry.readings = readings;
    },
  };
}

const readingCharacters = 16;

/** The answers without those that failed in a way that may come otherwise the next time. */
export function withoutFailures(
  answers: readonly Answered[],
  codes: ReadonlySet<Failure["code"]>,
): readonly Answered[] {
  return answers.filter(({ answer }) => {
    const failure = findFailure(answer);
    return !failure || !codes.has(failure.code);
  });
}

/** Answers from a recording; undefined for what was not recorded. The same request made twice has two answers, given in the order they came. */
export type Replay = (request: string) => string | undefined;

export function createReplay(answers: readonly Answered[]): Replay {
  const left = new Map<string, string[]>();
  for (const { request, answer } of answers) {
    const same = left.get(request);
    if (same) same.push(answer);
    else left.set(request, [answer]);
  }
  return (request) => left.get(request)?.shift();
}
