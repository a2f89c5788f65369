import { setImmediate as nextTurn } from "node:timers/promises";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { errorTable, HallError } from "../../src/base/errors.ts";
import { defaultLimits } from "../../src/wire/channel.ts";
import type { Id, Request } from "../../src/wire/message.ts";
import { Peer } from "../../src/wire/peer.ts";
import type { Exchange, Reply } from "../../src/wire/requests.ts";
import { FakeChannel } from "./fake-channel.ts";

/**
 * Exactly one answer in any order of events: random interleavings of everything that can end a request, each compared
 * with a model of the expected order. One schedule is one seed; `SEED=n` replays just that one.
 */
const scheduleCount = 20_000;
const replaySeed = process.env.SEED === undefined ? undefined : Number(process.env.SEED);

const { stackTraceLimit } = Error;
beforeAll(() => {
  vi.useFakeTimers({
    toFake: ["setInterval", "clearInterval", "setTimeout", "clearTimeout", "performance"],
  });
  // The stacks of the many errors made here are not needed.
  Error.stackTraceLimit = 0;
});
afterAll(() => {
  vi.useRealTimers();
  Error.stackTraceLimit = stackTraceLimit;
});

test("in every interleaving each request gets exactly one answer, or none when it was withdrawn", async () => {
  const seeds =
    replaySeed === undefined
      ? Array.from({ length: scheduleCount }, (_, index) => index + 1)
      : [replaySeed];
  const totals = { answers: 0, silent: 0 };
  for (const seed of seeds) {
    const schedule = new Schedule(seed);
    const faults = await faultsOf(schedule);
    if (faults.length > 0)
      expect.fail(
        `${faults.join("\n")}\n\nseed ${seed}; replay with SEED=${seed}. Steps:\n${schedule.steps.join("\n")}`,
      );
    totals.answers += schedule.answerCount;
    totals.silent += schedule.silentCount;
    if (seed % 1_000 === 0) await nextTurn();
  }
  // A generator that has gone quiet would pass everything.
  expect(totals.answers).toBeGreaterThan(seeds.length);
  if (replaySeed === undefined) expect(totals.silent).toBeGreaterThan(seeds.length / 4);
});

async function faultsOf(schedule: Schedule): Promise<string[]> {
  try {
    await schedule.run();
    return schedule.findFaults();
  } catch (error) {
    return [`something threw: ${error}`];
  }
}

/** Instructions to the handler. `wait` waits for a step that resolves or rejects it; many are never reached. */
const behaviours = [
  "wait",
  "wait",
  "wait",
  "return",
  "throw",
  "resolve",
  "reject",
  "twice",
  "unserialisable",
] as const;
type Behaviour = (typeof behaviours)[number];

/** `withdrawn` has the one answer given with the withdrawal; `silenced` and `lost` have none. */
type Ending =
  | "result"
  | "failed"
  | "unserialisable"
  | "duplicate"
  | "overloaded"
  | "withdrawn"
  | "silenced"
  | "timeout"
  | "shutdown"
  | "lost";

interface Sent {
  readonly token: number;
  readonly id: Id;
  readonly side: Side;
  readonly behaviour: Behaviour;
  readonly batch: number | undefined;
  exchange: Exchange | undefined;
  resolve: ((value: unknown) => void) | undefined;
  reject: ((reason: unknown) => void) | undefined;
  /** Decided by the model before the peer does anything. Undefined while it runs. */
  ending: Ending | undefined;
  /** The handler has settled its promise, but the peer hears of it only on a later microtask. */
  pending: Ending | undefined;
}

interface Side {
  readonly name: string;
  readonly channel: FakeChannel;
  readonly peer: Peer;
  readonly running: Map<string, Sent>;
  isLost: boolean;
}

const codeOf: Record<Exclude<Ending, "result" | "silenced" | "lost">, number> = {
  failed: -32602,
  unserialisable: -32603,
  duplicate: -32600,
  overloaded: -32603,
  withdrawn: -32800,
  timeout: -32603,
  shutdown: -32603,
};

const ids: readonly Id[] = [1, 1, 1, "1", 2, ""];
const inFlightMax = 3;
const answerMsMax = 1_000;

class Schedule {
  readonly #steps: (() => string)[] = [];
  readonly #random: () => number;
  readonly #sides: Side[] = [];
  /** By token. */
  readonly #sent: Sent[] = [];
  #batchCount = 0;
  answerCount = 0;
  silentCount = 0;

  constructor(seed: number) {
    this.#random = createRandom(seed);
    const sideCount = 1 + this.#below(3);
    for (let index = 0; index < sideCount; index++)
      this.#sides.push(this.#openSide(`peer ${index}`));
  }

  async run(): Promise<void> {
    const stepCount = 2 + this.#below(11);
    for (let step = 0; step < stepCount; step++) {
      this.#step(this.#pick(this.#sides));
      // Without the wait, the next step overtakes what handlers have already settled.
      if (this.#below(2) === 0) await this.#wait();
    }
    if (this.#below(2) === 0) await this.#wait();
    const closing = this.#sides.map((side) => {
      this.#note(() => `${side.name} closes`);
      this.#endAll(side, "shutdown");
      side.isLost = true;
      return side.peer.close();
    });
    await Promise.all(closing);
    // Late events must change nothing.
    for (const sent of this.#sent) sent.resolve?.(this.#echo(sent));
    await this.#wait();
  }

  #step(side: Side): void {
    const choice = this.#below(20);
    if (choice < 8) this.#deliver(side, this.#compose(side, undefined));
    else if (choice < 11) this.#deliverBatch(side);
    else if (choice < 14) this.#settleOne();
    else if (choice < 18) this.#cancel(side);
    else if (choice < 19) this.#passDeadline();
    else this.#lose(side);
  }

  #deliver(side: Side, sent: Sent): void {
    this.#note(() => `${side.name} gets request ${label(sent)}`);
    this.#foresee(sent);
    if (!side.isLost) side.channel.deliver(frameOf(sent));
  }

  #deliverBatch(side: Side): void {
    const batch = this.#batchCount++;
    const items = Array.from({ length: 1 + this.#below(inFlightMax) }, () =>
      this.#compose(side, batch),
    );
    this.#note(() => `${side.name} gets batch ${batch}: ${items.map(label).join(", ")}`);
    for (const item of items) this.#foresee(item);
    const frames = items.map(frameOf);
    if (frames.length < inFlightMax && this.#below(3) === 0)
      frames.splice(this.#below(frames.length + 1), 0, '{"jsonrpc":"2.0","method":"note"}');
    if (!side.isLost) side.channel.deliver(`[${frames.join(",")}]`);
  }

  #compose(side: Side, batch: number | undefined): Sent {
    const sent: Sent = {
      token: this.#sent.length,
      id: this.#pick(ids),
      side,
      behaviour: this.#pick(behaviours),
      batch,
      exchange: undefined,
      resolve: undefined,
      reject: undefined,
      ending: undefined,
      pending: undefined,
    };
    this.#sent.push(sent);
    return sent;
  }

  /** The expected end of a request that arrives now. */
  #foresee(sent: Sent): void {
    const { running, isLost } = sent.side;
    const key = keyOf(sent.id);
    if (isLost) sent.ending = "lost";
    else if (running.has(key)) sent.ending = "duplicate";
    else if (running.size >= inFlightMax) sent.ending = "overloaded";
    else if (sent.behaviour === "return") sent.ending = "result";
    else if (sent.behaviour === "throw") sent.ending = "failed";
    else {
      running.set(key, sent);
      if (sent.behaviour === "resolve" || sent.behaviour === "twice") sent.pending = "result";
      else if (sent.behaviour === "reject") sent.pending = "failed";
      else if (sent.behaviour === "unserialisable") sent.pending = "unserialisable";
    }
  }

  /** Settles the promise of some handler, perhaps one whose request has long been answered or withdrawn. */
  #settleOne(): void {
    const waiting = this.#sent.filter((sent) => sent.resolve !== undefined);
    const sent = waiting[this.#below(Math.max(1, waiting.length))];
    if (!sent) return;
    const isResolved = this.#below(3) > 0;
    this.#note(() => `handler of ${label(sent)} ${isResolved ? "resolves" : "rejects"}`);
    if (sent.ending === undefined) sent.pending ??= isResolved ? "result" : "failed";
    if (isResolved) sent.resolve?.(this.#echo(sent));
    else sent.reject?.(failure());
    // Only the first of two settlements counts.
    if (this.#below(3) === 0) sent.reject?.(failure());
    sent.resolve = undefined;
    sent.reject = undefined;
  }

  #cancel(side: Side): void {
    const id = this.#pick(ids);
    const isAnswered = this.#below(2) === 0;
    const sent = side.running.get(keyOf(id));
    this.#note(
      () => `${side.name} cancels ${JSON.stringify(id)}${isAnswered ? " with an answer" : ""}`,
    );
    const answer = {
      code: codeOf.withdrawn,
      message: "withdrawn",
      data: { token: sent?.token ?? "nobody", peer: side.name },
    };
    if (sent) this.#end(sent, isAnswered ? "withdrawn" : "silenced");
    side.peer.cancel(id, new HallError("CANCELLED", "withdrawn"), isAnswered ? answer : undefined);
  }

  #passDeadline(): void {
    this.#note(() => "the deadline of everything that runs passes");
    for (const side of this.#sides) this.#endAll(side, "timeout");
    vi.advanceTimersByTime(2 * answerMsMax);
  }

  #lose(side: Side): void {
    this.#note(() => `${side.name} is lost`);
    this.#endAll(side, "lost");
    side.isLost = true;
    side.channel.lose();
  }

  #endAll(side: Side, ending: Ending): void {
    for (const sent of [...side.running.values()]) this.#end(sent, ending);
  }

  #end(sent: Sent, ending: Ending): void {
    sent.ending = ending;
    sent.side.running.delete(keyOf(sent.id));
  }

  /** Lets the microtasks run: handlers that have settled and whose requests still run are heard now. */
  async #wait(): Promise<void> {
    for (const sent of this.#sent)
      if (sent.ending === undefined && sent.pending !== undefined) this.#end(sent, sent.pending);
    for (let turn = 0; turn < 4; turn++) await undefined;
  }

  #openSide(name: string): Side {
    const channel = new FakeChannel();
    const peer = new Peer(channel, {
      limits: { ...defaultLimits, inFlightMax, answerMsMax },
      handle: (request, exchange) => this.#handle(request, exchange),
      notified: () => {},
      explain: (error, request) => explain(error, request, name),
    });
    peer.acceptsBatches = true;
    return { name, channel, peer, running: new Map(), isLost: false };
  }

  #handle(request: Request, exchange: Exchange): unknown {
    const sent = this.#sent[Number(request.params?.token)];
    if (!sent) throw new Error("a request nobody sent");
    sent.exchange = exchange;
    switch (sent.behaviour) {
      case "return":
        return this.#echo(sent);
      case "throw":
        throw failure();
      case "resolve":
        return Promise.resolve(this.#echo(sent));
      case "reject":
        return Promise.reject(failure());
      case "unserialisable":
        return Promise.resolve(1n);
      case "twice":
        return new Promise((resolve, reject) => {
          resolve(this.#echo(sent));
          resolve("a second result");
          reject(failure());
        });
      case "wait":
        return new Promise((resolve, reject) => {
          sent.resolve = resolve;
          sent.reject = reject;
        });
    }
  }

  #echo(sent: Sent): unknown {
    return { token: sent.token, peer: sent.side.name };
  }

  /** Empty when everything that was sent is what the model foresaw, no more and no less. */
  findFaults(): string[] {
    const faults: string[] = [];
    const answered = new Map<number, number>();
    for (const side of this.#sides) {
      const batches = new Set<number>();
      for (const frame of side.channel.sent) {
        const json = JSON.parse(frame) as Reply & Answer;
        const isList = Array.isArray(json);
        const answers: readonly Answer[] = isList ? json : [json];
        if (answers.length === 0) faults.push(`${side.name} sent an empty list`);
        const places = new Set<number | undefined>();
        for (const answer of answers) {
          const carried = answer.result ?? answer.error?.data;
          const sent = this.#sent[carried?.token ?? -1];
          if (!sent) {
            faults.push(`${side.name} answered a request nobody sent: ${frame}`);
            continue;
          }
          answered.set(sent.token, (answered.get(sent.token) ?? 0) + 1);
          places.add(sent.batch);
          if (sent.side !== side || carried?.peer !== side.name)
            faults.push(`${side.name} got an answer meant for ${sent.side.name}: ${frame}`);
          if (answer.id !== sent.id)
            faults.push(`${label(sent)} was answered with id ${JSON.stringify(answer.id)}`);
          if (!isExpected(answer, sent.ending))
            faults.push(
              `${label(sent)} should end as ${sent.ending}, but got ${JSON.stringify(answer)}`,
            );
        }
        const [place] = places;
        if (places.size > 1 || (place !== undefined) !== isList)
          faults.push(`answers in the wrong frame: ${frame}`);
        if (place === undefined) continue;
        if (batches.has(place)) faults.push(`batch ${place} was answered twice`);
        batches.add(place);
      }
      if (side.peer.inFlightCount > 0)
        faults.push(`${side.name} still holds ${side.peer.inFlightCount} requests`);
    }
    const unheard = this.#unheardBatches();
    for (const sent of this.#sent) {
      const count = answered.get(sent.token) ?? 0;
      const expected =
        sent.ending === "silenced" ||
        sent.ending === "lost" ||
        (sent.batch !== undefined && unheard.has(sent.batch))
          ? 0
          : 1;
      if (count !== expected)
        faults.push(
          `${label(sent)} ends as ${sent.ending} and needs ${expected} answers, but got ${count}`,
        );
      if (
        sent.exchange &&
        isStopped(sent.ending) !== (sent.exchange.scope.cancelReason !== undefined)
      ) {
        faults.push(
          `${label(sent)} ended as ${sent.ending}, but its handler was ${isStopped(sent.ending) ? "not " : ""}told to stop`,
        );
      }
      if (expected === 0) this.silentCount++;
      else this.answerCount++;
    }
    return faults;
  }

  /** Batches whose line was lost before their last request ended: the list was never complete. */
  #unheardBatches(): Set<number> {
    const unheard = new Set<number>();
    for (const { batch, ending } of this.#sent)
      if (batch !== undefined && ending === "lost") unheard.add(batch);
    return unheard;
  }

  get steps(): string[] {
    return this.#steps.map((step) => step());
  }

  /** Put into words only when somebody asks. */
  #note(step: () => string): void {
    this.#steps.push(step);
  }

  #below(limit: number): number {
    return Math.floor(this.#random() * limit);
  }

  #pick<T>(items: readonly T[]): T {
    return items[this.#below(items.length)] as T;
  }
}

interface Answer {
  readonly id: Id;
  readonly result?: { readonly token: number; readonly peer: string };
  readonly error?: {
    readonly code: number;
    readonly data?: { readonly token: number; readonly peer: string; readonly code?: string };
  };
}

function isExpected(answer: Answer, ending: Ending | undefined): boolean {
  if (ending === undefined || ending === "silenced" || ending === "lost") return false;
  if (ending === "result") return answer.result !== undefined && answer.error === undefined;
  if (answer.result !== undefined || answer.error?.code !== codeOf[ending]) return false;
  return ending === "withdrawn" || answer.error.data?.code === hallCodeOf[ending];
}

const hallCodeOf = {
  failed: "NOT_FOUND",
  unserialisable: "SERIALIZATION",
  duplicate: "INVALID_REQUEST",
  overloaded: "OVERLOADED",
  timeout: "TIMEOUT",
  shutdown: "UNAVAILABLE",
} as const;

function isStopped(ending: Ending | undefined): boolean {
  return (
    ending === "lost" ||
    ending === "silenced" ||
    ending === "withdrawn" ||
    ending === "timeout" ||
    ending === "shutdown"
  );
}

function failure(): HallError {
  return new HallError("NOT_FOUND", "no such thing");
}

/** Every answer says which request it believes to answer, and through which peer. */
function explain(error: unknown, request: Request | undefined, peer: string): Reply {
  const code = error instanceof HallError ? error.code : "INTERNAL";
  return {
    error: {
      code: errorTable[code].request,
      message: "explained",
      data: { token: request?.params?.token, peer, code },
    },
  };
}

function frameOf({ id, token }: Sent): string {
  return `{"jsonrpc":"2.0","id":${keyOf(id)},"method":"m","params":{"token":${token}}}`;
}

function label({ token, id, behaviour }: Sent): string {
  return `#${token} (id ${JSON.stringify(id)}, ${behaviour})`;
}

function keyOf(id: Id): string {
  return typeof id === "string" ? `"${id}"` : `${id}`;
}

/** mulberry32: small, quick, and the same on every machine. */
function createRandom(seed: number): () => number {
  let state = (seed * 0x9e3779b9) >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
