import { isObject } from "../../../base/json.ts";
import type { ClockRecorder, HallPending, HallPort } from "../hall-port.ts";
import type { HallRequest } from "../protocol.ts";

const callsAtOnce = 8;

interface OpenCall {
  readonly number: number;
  readonly name: string;
  readonly pending: HallPending;
}

/** The calls of one program: eight under way at once, the others in a queue. */
export class RealmCalls {
  readonly #hall: HallPort;
  readonly #clock: ClockRecorder;
  #numbers = 0;
  #open: OpenCall[] = [];
  #queued: { readonly number: number; readonly request: HallRequest }[] = [];

  constructor({ hall, clock }: { readonly hall: HallPort; readonly clock: ClockRecorder }) {
    this.#hall = hall;
    this.#clock = clock;
  }

  begin(): void {
    this.#numbers = 0;
  }

  get areOpen(): boolean {
    return this.#open.length > 0;
  }

  get names(): readonly string[] {
    return [...new Set(this.#open.map(({ name }) => name))];
  }

  /** The number of the call, which its answer has, too. */
  request(kind: string, text: string): number {
    const number = ++this.#numbers;
    const request = readRequest(kind, text);
    if (this.#open.length < callsAtOnce) this.#send(number, request);
    else this.#queued.push({ number, request });
    return number;
  }

  #send(number: number, request: HallRequest): void {
    const name = "name" in request ? request.name : request.kind;
    this.#open.push({ number, name, pending: this.#hall.send(request) });
  }

  /** Waits for one answer: the recorded one of a replay, else the first to arrive. */
  wait(ms: number): { readonly number: number; readonly answer: string } | undefined {
    const wanted = this.#clock.nextArrival;
    const candidates = this.#open.filter(({ number }) => wanted === undefined || number === wanted);
    const chosen = candidates.length > 0 ? candidates : this.#open;
    const some = {
      get done() {
        return chosen.some(({ pending }) => pending.done);
      },
    };
    this.#hall.wait(some, ms);
    const first = this.#hall.firstOf(chosen.map(({ pending }) => pending));
    const arrived = chosen.find(({ pending }) => pending === first);
    if (!arrived) return undefined;
    const answer = arrived.pending.takeText();
    this.#clock.noteArrival(arrived.number);
    this.#open = this.#open.filter((call) => call !== arrived);
    const queued = this.#queued.shift();
    if (queued) this.#send(queued.number, queued.request);
    return { number: arrived.number, answer };
  }

  forget(): void {
    for (const { pending } of this.#open) pending.withdraw();
    this.#open = [];
    this.#queued = [];
  }
}

/** The program's request, checked: it could have replaced functions that the prelude uses. */
function readRequest(kind: string, text: string): HallRequest {
  const given: unknown = JSON.parse(text);
  if (!isObject(given)) throw new TypeError("a request must be an object");
  const { name, arguments: args, task, limit, handle } = given;
  switch (kind) {
    case "call":
      if (!isObject(args)) throw new TypeError("a tool takes one object with its arguments");
      return { kind, name: `${name}`, arguments: args };
    case "find":
      return { kind, task: `${task}`, limit: Math.min(20, Math.max(1, Number(limit) || 5)) };
    case "schema":
    case "group":
      return { kind, name: `${name}` };
    case "show":
      return { kind, handle: `${handle}` };
    default:
      throw new TypeError("unknown request");
  }
}
