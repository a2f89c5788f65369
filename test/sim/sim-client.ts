import { isObject, type JsonObject } from "../../src/base/json.ts";
import { clientInfo, modern } from "../servers/client.ts";
import type { ClientLine } from "./http-line.ts";
import type { Network } from "./line.ts";
import type { Era } from "./sim-server.ts";

/** Receives the reports of a simulated client and checks them. */
export interface ClientWitness {
  sent(client: SimClient, request: SentRequest): void;
  /** `text` is the message as it arrived. */
  answered(
    client: SimClient,
    request: SentRequest,
    answer: { readonly message: JsonObject; readonly text: string },
  ): void;
  /** The client has sent the call with this nonce once more. */
  repeated(nonce: string): void;
  /** The person behind the client has approved the call with this nonce. */
  approved(nonce: string, decision: string): void;
  broken(text: string): void;
}

export interface SentRequest {
  readonly id: number;
  readonly method: string;
  readonly params: JsonObject;
  readonly nonce: string | undefined;
  readonly sentAt: number;
  isCancelled: boolean;
  answers: number;
}

/** A client with a person behind it, who answers questions, approves, denies, or is not there. */
export class SimClient {
  readonly name: string;
  readonly era: Era;
  readonly line: ClientLine;
  readonly requests = new Map<number, SentRequest>();
  readonly #network: Network;
  readonly #witness: ClientWitness;
  #lastId = 0;
  isGone = false;

  constructor(name: string, era: Era, line: ClientLine, network: Network, witness: ClientWitness) {
    this.name = name;
    this.era = era;
    this.line = line;
    this.#network = network;
    this.#witness = witness;
    line.start({
      frame: (bytes) => this.#receive(bytes.toString()),
      oversize() {},
      drained() {},
      ended() {},
      closed: () => {
        this.isGone = true;
      },
    });
    if (era === "legacy") {
      this.request("initialize", { protocolVersion: "2025-11-25", capabilities, clientInfo });
      this.#send({ method: "notifications/initialized" });
    }
  }

  request(method: string, params: JsonObject = {}, nonce?: string): void {
    if (this.isGone) return;
    const id = ++this.#lastId;
    const full = this.era === "modern" ? modern(params, capabilities) : params;
    const sentAt = this.#network.time.now;
    const request = { id, method, params, nonce, sentAt, isCancelled: false, answers: 0 };
    this.requests.set(id, request);
    this.#witness.sent(this, request);
    this.#send({ id, method, params: full });
  }

  call(tool: string, nonce: string): void {
    this.request("tools/call", { name: tool, arguments: { nonce } }, nonce);
  }

  cancelOne(): void {
    const open = [...this.requests.values()].filter(
      ({ answers, isCancelled, method }) =>
        answers === 0 && !isCancelled && method === "tools/call",
    );
    if (open.length === 0) return;
    const request = this.#network.random.pick(open);
    request.isCancelled = true;
    const cancelled = {
      method: "notifications/cancelled",
      params: { requestId: request.id },
    };
    this.#send(cancelled);
    if (this.#network.random.isTrue(0.2)) this.#send(cancelled);
  }

  /** The connection of a request broke: an answer may come if the client can ask for it again. */
  lost(id: unknown): void {
    const request = this.requests.get(Number(id));
    if (request) request.isCancelled = true;
  }

  leave(): void {
    this.isGone = true;
    void this.line.close();
  }

  #send(message: JsonObject): void {
    if (this.line.isClosed) return;
    const whole = { jsonrpc: "2.0", ...message };
    this.line.send(JSON.stringify(whole), whole);
  }

  #receive(text: string): void {
    const message = JSON.parse(text) as JsonObject;
    const { id, method } = message;
    if (method !== undefined) {
      if (id !== undefined) this.#answerQuestion(message);
      return;
    }
    const request = this.requests.get(Number(id));
    if (!request) {
      this.#witness.broken(`${this.name} got an answer to ${String(id)}`);
      return;
    }
    request.answers++;
    this.#witness.answered(this, request, { message, text });
    const { result } = message;
    if (isObject(result) && result.resultType === "input_required") this.#continue(request, result);
  }

  /** A modern client sends the call again, with the answers. */
  #continue({ params, nonce, method }: SentRequest, result: JsonObject): void {
    const asked = Object.entries((result.inputRequests ?? {}) as Record<string, JsonObject>);
    if (this.#network.random.isTrue(0.1)) return;
    const inputResponses = Object.fromEntries(
      asked.map(([key, question]) => [key, this.#decide(question)]),
    );
    const again = { ...params, requestState: result.requestState, inputResponses };
    const send = (): void => this.request(method, again, nonce);
    const afterMs = this.#network.random.below(4_000);
    this.#network.time.after(afterMs, send);
    if (nonce === undefined || !this.#network.random.isTrue(0.1)) return;
    this.#witness.repeated(nonce);
    this.#network.time.after(afterMs + this.#network.random.below(100), send);
  }

  #answerQuestion(message: JsonObject): void {
    const { random, time } = this.#network;
    if (random.isTrue(0.1)) return;
    const result = this.#decide(message);
    const answer = (): void => this.#send({ id: message.id, result });
    const afterMs = random.below(4_000);
    time.after(afterMs, answer);
    if (random.isTrue(0.1)) time.after(afterMs + random.below(100), answer);
  }

  #decide({ params }: JsonObject): JsonObject {
    const { random } = this.#network;
    const text = isObject(params) ? String(params.message) : "";
    const nonce = /n\d+/.exec(text)?.[0] ?? "";
    if (!text.includes("Allow this call?"))
      return { action: "accept", content: { who: this.name } };

    const decision = random.weighted({ once: 6, hall: 1, no: 3 });
    if (decision !== "no") this.#witness.approved(nonce, decision);
    return { action: "accept", content: { decision } };
  }
}

const capabilities = { elicitation: { form: {} } };
