import { HallError } from "../../base/errors.ts";
import { hashOf } from "../../base/hash.ts";
import type { Failure, HallRequest, Order } from "./protocol.ts";

/** What one evaluation was told, and what the hall answered it: enough to run it again with the same results. */
export interface Entry {
  readonly order: EvaluateOrder;
  readonly answers: Answer[];
}

export type EvaluateOrder = Extract<Order, { kind: "evaluate" }>;

export interface Answer {
  readonly key: string;
  readonly value?: unknown;
  readonly failure?: Failure;
}

/** Everything a session was told, so that it can be brought back to where it was. Bounded: past that it cannot, and says so. */
export interface Journal {
  readonly entries: readonly Entry[];
  /** False once something was left out. */
  readonly isWhole: boolean;
  begin(order: EvaluateOrder): Entry;
  add(entry: Entry, answer: Answer): void;
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
    add(entry, answer) {
      if (grow(JSON.stringify(answer).length)) entry.answers.push(answer);
    },
  };
}

/** The same request made twice has two answers: they are given in the order they came. */
export function keyOf(request: HallRequest): string {
  return `${request.kind} ${hashOf(request)}`;
}

/** Answers from a recording; undefined for what was not recorded. Throws what was thrown. */
export type Replay = (request: HallRequest) => { readonly value: unknown } | undefined;

export function createReplay(answers: readonly Answer[]): Replay {
  const left = new Map<string, Answer[]>();
  for (const answer of answers) {
    const same = left.get(answer.key);
    if (same) same.push(answer);
    else left.set(answer.key, [answer]);
  }
  return (request) => {
    const answer = left.get(keyOf(request))?.shift();
    if (!answer) return undefined;
    if (!answer.failure) return { value: answer.value };
    const { code, message, hint, details } = answer.failure;
    throw new HallError(code, message, { ...(hint === undefined ? {} : { hint }), ...(details ? { details } : {}) });
  };
}
