import { HallError } from "../base/errors.ts";
import { isObject } from "../base/json.ts";
import { SlotMap } from "../base/slot-map.ts";
import { formatBytes } from "../base/text.ts";
import { withResolvers } from "../base/timing.ts";
import type { Channel, Limits } from "../wire/channel.ts";
import { errorFrame, type Id, isId, notificationFrame, readEdges } from "../wire/message.ts";
import { leaving, left } from "./socket.ts";

/**
 * Relays a client's frames to a hall in another process. If that hall ends, the relay continues with
 * the next one: it repeats the handshake, the subscriptions and the unanswered requests. Tool calls
 * are not repeated, because they may have taken effect; they fail instead.
 */
export interface AttachOptions {
  readonly limits: Limits;
  /** Connects to the project's hall: the running one, or one this process becomes. */
  connect(): Promise<Channel>;
}

/** Resolves when the client has disconnected. */
export async function attach(near: Channel, options: AttachOptions): Promise<void> {
  const relay = new Relay(near, options);
  await relay.run();
}

const replayId = "guildhall/replay";
let replays = 0;

function asReplay(frame: string): string {
  replays += 1;
  return JSON.stringify({ ...(JSON.parse(frame) as object), id: `${replayId} ${replays}` });
}

/** The toolkit a registration, or its end, is about. */
function toolkitOf(params: unknown): unknown {
  if (!isObject(params)) return undefined;
  return isObject(params.tool) ? params.tool.name : params.tool_name;
}

/** Frames of a hall always begin with the id. */
const answerHead = /^\{"jsonrpc":"2\.0","id":("(?:[^"\\]|\\.)*"|-?\d+),"(?:result|error)":/;
const questionHead = /^\{"jsonrpc":"2\.0","id":(\d+),"method":/;
const withdrawalHead =
  /^\{"jsonrpc":"2\.0","method":"notifications\/cancelled","params":\{"requestId":(\d+)/;

/** A request that the hall has not answered. */
interface Unanswered {
  readonly method: string;
  /** As the client sent it, maybe with others. */
  readonly frame: string;
  /** Alone. */
  readonly own: string;
}

class Relay {
  readonly #near: Channel;
  readonly #options: AttachOptions;
  readonly #waiting = new SlotMap<Id, Unanswered>();
  /** Questions of the hall that the client has not answered. */
  readonly #asked = new Set<Id>();
  /** Frames that set connection state (log level, subscriptions, registrations), by subject. */
  readonly #standing = new Map<string, string>();
  #far: Channel | undefined;
  /** Frames the client sent while no hall was connected. */
  #held: string[] = [];
  #heldBytes = 0;
  #initialize: string | undefined;
  #isInitialized = false;
  #takesBatches = false;
  #isLeaving = false;
  #hasEnded = false;
  readonly #finished = withResolvers<void>();

  constructor(near: Channel, options: AttachOptions) {
    this.#near = near;
    this.#options = options;
  }

  async run(): Promise<void> {
    this.#near.start({
      frame: (bytes) => this.#fromClient(bytes),
      oversize: (edges) =>
        this.#near.send(
          errorFrame(
            readEdges(edges).id,
            {
              code: -32600,
              message: `message exceeds the limit of ${formatBytes(this.#options.limits.messageBytesMax)}`,
            },
            "null",
          ),
        ),
      drained: () => this.#far?.resume(),
      ended: () => {
        this.#hasEnded = true;
        this.#far?.send(left);
        this.#leaveWhenDone();
      },
      closed: () => this.#finished.resolve(),
    });
    await this.#reach();
    await this.#finished.promise;
    const far = this.#far;
    // Closing it must not start a search for the next hall.
    this.#far = undefined;
    await far?.close();
    await this.#near.close();
  }

  /** Connects, and again whenever the hall ends. */
  async #reach(): Promise<void> {
    const far = await this.#options.connect();
    far.start({
      frame: (bytes) => this.#fromHall(bytes),
      oversize: () => {},
      drained: () => this.#near.resume(),
      ended: () => {},
      closed: () => {
        if (this.#far !== far) return;
        this.#far = undefined;
        this.#isLeaving = false;
        this.#withdrawQuestions();
        this.#leaveWhenDone();
        if (!this.#hasEnded || this.#waiting.size > 0)
          void this.#reach().catch((error) => this.#giveUp(error));
      },
    });
    this.#replay(far);
    this.#far = far;
    for (const frame of this.#held.splice(0)) far.send(frame);
    if (this.#hasEnded) far.send(left);
    this.#heldBytes = 0;
    if (far.queuedBytes <= this.#options.limits.writeQueueBytesMax) this.#near.resume();
  }

  #replay(far: Channel): void {
    const unanswered = this.#waiting.entries();
    const isFirst =
      this.#initialize === undefined ||
      unanswered.some(([, { method }]) => method === "initialize");
    const held = new Set(this.#held);
    if (!isFirst && this.#initialize !== undefined) {
      far.send(asReplay(this.#initialize));
      if (this.#isInitialized) far.send('{"jsonrpc":"2.0","method":"notifications/initialized"}');
      const unsent = new Set([...held, ...unanswered.map(([, { own }]) => own)]);
      for (const frame of this.#standing.values())
        if (!unsent.has(frame)) far.send(asReplay(frame));
    }
    for (const [id, { method, frame, own }] of unanswered) {
      if (held.has(frame)) continue;
      if (method === "tools/call") this.#refuse(id);
      else far.send(own);
    }
  }

  /** The hall that asked has ended: nobody waits for the answer. */
  #withdrawQuestions(): void {
    for (const requestId of this.#asked) {
      const params = { requestId, reason: "the hall ended" };
      this.#near.send(notificationFrame("notifications/cancelled", params));
    }
    this.#asked.clear();
  }

  #refuse(id: Id, { message, hint }: HallError = lostCall()): void {
    this.#waiting.delete(id);
    this.#near.send(
      errorFrame(
        id,
        { code: -32603, message, data: { error_type: "unavailable", suggestion: hint } },
        "null",
      ),
    );
  }

  #giveUp(error: unknown): void {
    const reason = error instanceof Error ? error.message : String(error);
    const noHall = new HallError(
      "UNAVAILABLE",
      `the hall ended, and the next one did not start (${reason})`,
      { hint: "The user can run `guildhall status`." },
    );
    for (const [id, { method }] of this.#waiting.entries())
      this.#refuse(id, method === "tools/call" ? lostCall() : noHall);
    this.#finished.resolve();
  }

  #fromClient(bytes: Buffer): void {
    const frame = bytes.toString("utf8");
    this.#remember(frame);
    if (!this.#far || this.#isLeaving) {
      this.#held.push(frame);
      this.#heldBytes += bytes.length;
      if (this.#heldBytes > this.#options.limits.writeQueueBytesMax) this.#near.pause();
      return;
    }
    this.#far.send(frame);
    if (this.#far.queuedBytes > this.#options.limits.writeQueueBytesMax) this.#near.pause();
  }

  #remember(frame: string): void {
    let message: unknown;
    try {
      message = JSON.parse(frame);
    } catch {
      // The hall answers invalid JSON.
      return;
    }
    if (!Array.isArray(message)) this.#rememberOne(message, frame, frame);
    else if (this.#takesBatches && message.length <= this.#options.limits.inFlightMax)
      for (const each of message) this.#rememberOne(each, frame, JSON.stringify(each));
  }

  #rememberOne(message: unknown, frame: string, own: string): void {
    if (!isObject(message)) return;
    const { id, method, params } = message;
    if (typeof method !== "string") {
      if (isId(id)) this.#asked.delete(id);
      return;
    }
    if (method === "initialize") this.#initialize ??= own;
    if (method === "notifications/initialized") this.#isInitialized = true;
    if (method === "notifications/cancelled" && isObject(params) && isId(params.requestId))
      this.#waiting.delete(params.requestId);
    if (method === "logging/setLevel") this.#standing.set("level", own);
    if (method === "resources/subscribe" && isObject(params))
      this.#standing.set(`uri ${params.uri}`, own);
    if (method === "resources/unsubscribe" && isObject(params))
      this.#standing.delete(`uri ${params.uri}`);
    if (method === "tools/register") this.#standing.set(`toolkit ${toolkitOf(params)}`, own);
    if (method === "tools/unregister") this.#standing.delete(`toolkit ${toolkitOf(params)}`);
    if (isId(id) && !this.#waiting.has(id)) this.#waiting.set(id, { method, frame, own });
  }

  #fromHall(bytes: Buffer): void {
    const frame = bytes.toString("utf8");
    if (frame === leaving) {
      // Earlier requests are still answered; later ones go to the next hall.
      this.#far?.send(left);
      this.#isLeaving = true;
      return;
    }
    const head = frame.slice(0, 600);
    const id = answerHead.exec(head)?.[1];
    if (id !== undefined) {
      const answered = JSON.parse(id) as Id;
      if (String(answered).startsWith(replayId)) return;
      if (this.#waiting.get(answered)?.method === "initialize")
        this.#takesBatches = frame.includes('"protocolVersion":"2025-03-26"');
      // The subscription continues with the next hall.
      if (this.#isLeaving && this.#waiting.get(answered)?.method === "subscriptions/listen") return;
      this.#waiting.delete(answered);
    } else this.#noteOther(frame, head);
    this.#near.send(frame);
    if (this.#near.queuedBytes > this.#options.limits.writeQueueBytesMax) this.#far?.pause();
    this.#leaveWhenDone();
  }

  /** Anything but one answer. */
  #noteOther(frame: string, head: string): void {
    const asked = questionHead.exec(head)?.[1];
    if (asked !== undefined) this.#asked.add(Number(asked));
    const withdrawn = withdrawalHead.exec(head)?.[1];
    if (withdrawn !== undefined) this.#asked.delete(Number(withdrawn));
    if (!frame.startsWith("[")) return;
    for (const { id } of JSON.parse(frame) as { readonly id?: unknown }[])
      if (isId(id)) this.#waiting.delete(id);
  }

  /** A client that closed its input still receives outstanding answers. */
  #leaveWhenDone(): void {
    if (!this.#hasEnded) return;
    const isDone = this.#waiting.values().every(({ method }) => method === "subscriptions/listen");
    if (isDone) this.#finished.resolve();
  }
}

function lostCall(): HallError {
  return new HallError(
    "UNAVAILABLE",
    "the hall ended while the tool was running; the call may have taken effect",
    { hint: "Check whether the call took effect before you repeat it." },
  );
}
