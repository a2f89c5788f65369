import { Scope } from "../base/scope.ts";
import type { Batch } from "./batch.ts";
import type { FrameKind } from "./channel.ts";
import type { Id, Request } from "./message.ts";

/** One request of the peer while it runs: how its handler learns of cancellation and talks back. */
export class Exchange {
  readonly request: Request;
  readonly scope = new Scope();
  readonly batch: Batch | undefined;
  expiresAt: number;
  readonly #peer: ExchangePeer;
  #isOver = false;

  constructor(peer: ExchangePeer, request: Request, batch: Batch | undefined, expiresAt: number) {
    this.#peer = peer;
    this.request = request;
    this.batch = batch;
    this.expiresAt = expiresAt;
  }

  /** A request that stays open until somebody ends it, such as a subscription. */
  get isStanding(): boolean {
    return this.expiresAt === Number.POSITIVE_INFINITY;
  }

  keepOpen(): void {
    this.expiresAt = Number.POSITIVE_INFINITY;
  }

  /** Does nothing once the request is answered or withdrawn: what comes later belongs to nobody. */
  notify(method: string, params: unknown): void {
    if (!this.#isOver) this.#peer.notify(method, params, this.request.id);
  }

  ask(method: string, params: unknown, options: Omit<AskOptions, "about">): Promise<unknown> {
    return this.#peer.request(method, params, { ...options, about: this.request.id });
  }

  reply(answer: AnswerFrame | undefined): void {
    this.#isOver = true;
    this.#peer.deliver(this, answer);
  }
}

/** The part of the peer that an exchange uses. */
interface ExchangePeer {
  notify(method: string, params: unknown, about?: Id): void;
  request(method: string, params: unknown, options?: AskOptions): Promise<unknown>;
  deliver(exchange: Exchange, answer: AnswerFrame | undefined): void;
}

export interface AnswerFrame {
  readonly frame: string;
  readonly kind: FrameKind;
}

export interface AskOptions {
  readonly scope?: Scope | undefined;
  readonly timeoutMs?: number | undefined;
  /** The peer's request that this one belongs to. */
  readonly about?: Id;
  /** Called with the request's id before it is sent. */
  readonly onId?: ((id: number) => void) | undefined;
}
