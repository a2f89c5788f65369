/** A client in this process that holds every message it gets against the schema of the version it speaks. */
import { isObject, type JsonObject } from "../../src/base/json.ts";
import { metaKeys, type Version } from "../../src/server/client-request.ts";
import type { Channel } from "../../src/wire/channel.ts";
import type { WireSchemas } from "./schemas.ts";
import { until } from "./until.ts";

export type Message = JsonObject & {
  readonly result?: JsonObject;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: JsonObject };
};
type Answer = (request: Message) => JsonObject | undefined;

export interface WitnessOptions {
  readonly version: Version;
  readonly schemas: WireSchemas;
  readonly capabilities: JsonObject;
  /** Answers a question of the hall; undefined leaves it open. */
  readonly answer: Answer;
}

export class Witness {
  readonly version: Version;
  readonly isModern: boolean;
  capabilities: JsonObject;
  /** Definitions of which at least one message was seen. */
  readonly seen = new Set<string>();
  readonly faults: string[] = [];
  readonly received: Message[] = [];
  readonly codes = new Set<number>();
  readonly #schemas: WireSchemas;
  readonly #channel: Channel;
  readonly #answer: Answer;
  readonly #open = new Map<
    unknown,
    { readonly method: string; readonly about: string; resolve(message: Message): void }
  >();
  #nextId = 0;

  constructor(channel: Channel, { version, schemas, capabilities, answer }: WitnessOptions) {
    this.version = version;
    this.isModern = version === "2026-07-28";
    this.capabilities = capabilities;
    this.#schemas = schemas;
    this.#channel = channel;
    this.#answer = answer;
    channel.start({
      frame: (bytes) => this.#receive(bytes),
      oversize() {},
      drained() {},
      ended() {},
      closed() {},
    });
  }

  raw(text: string): void {
    this.#channel.send(text);
  }

  notify(method: string, params?: JsonObject): void {
    this.raw(JSON.stringify({ jsonrpc: "2.0", method, params }));
  }

  /** Starts a request; `id` names it, `answered` is its one answer. */
  start(
    method: string,
    params: JsonObject = {},
  ): { readonly id: number; readonly answered: Promise<Message> } {
    const { id, message, answered } = this.#compose(method, params);
    this.raw(JSON.stringify(message));
    return { id, answered };
  }

  /** Sends requests as one batch. */
  batch(
    ...requests: readonly (readonly [method: string, params?: JsonObject])[]
  ): Promise<readonly Message[]> {
    const composed = requests.map(([method, params]) => this.#compose(method, params));
    this.raw(JSON.stringify(composed.map(({ message }) => message)));
    return Promise.all(composed.map(({ answered }) => answered));
  }

  /** Sends a request and answers what it is asked on the way, in either era. */
  async request(method: string, params: JsonObject = {}): Promise<Message> {
    let message = await this.start(method, params).answered;
    while (message.result?.resultType === "input_required") {
      const { inputRequests, requestState } = message.result;
      const inputResponses = Object.fromEntries(
        Object.entries(inputRequests as Record<string, Message>).map(([key, request]) => [
          key,
          this.#answer(request),
        ]),
      );
      message = await this.start(method, { ...params, inputResponses, requestState }).answered;
    }
    return message;
  }

  call(name: string, args: JsonObject = {}, meta?: JsonObject): Promise<Message> {
    return this.request("tools/call", {
      name: `showcase.${name}`,
      arguments: args,
      ...(meta ? { _meta: meta } : {}),
    });
  }

  #compose(
    method: string,
    params: JsonObject = {},
  ): { readonly id: number; readonly message: JsonObject; readonly answered: Promise<Message> } {
    const id = ++this.#nextId;
    const about = `${method} ${params.name ?? params.uri ?? ""}`.trim();
    const answered = new Promise<Message>((resolve) =>
      this.#open.set(id, { method, about, resolve }),
    );
    return {
      id,
      message: {
        jsonrpc: "2.0",
        id,
        method,
        params: this.isModern ? this.#inEnvelope(params) : params,
      },
      answered,
    };
  }

  #inEnvelope(params: JsonObject): JsonObject {
    const envelope = {
      [metaKeys.version]: this.version,
      [metaKeys.capabilities]: this.capabilities,
      [metaKeys.clientInfo]: { name: "witness", version: "1" },
      [metaKeys.logLevel]: "info",
    };
    return { ...params, _meta: { ...envelope, ...(isObject(params._meta) ? params._meta : {}) } };
  }

  /** The first message, past or to come, that fits. */
  async waitFor(what: string, fits: (message: Message) => boolean): Promise<Message> {
    return until(() => this.received.find(fits), `${what} arrives`);
  }

  #receive(bytes: Buffer): void {
    const value: unknown = JSON.parse(bytes.toString());
    if (Array.isArray(value)) this.#judge("JSONRPCBatchResponse", value, "a batch");
    for (const message of Array.isArray(value) ? (value as Message[]) : [value as Message])
      this.#take(message);
  }

  #take(message: Message): void {
    this.received.push(message);
    if (typeof message.method === "string") this.#takeOwn(message, message.method);
    else this.#takeAnswer(message);
  }

  /** A request or notification of the hall. */
  #takeOwn(message: Message, method: string): void {
    this.#judge("JSONRPCMessage", message, method);
    this.#judgeMethod(message, method);
    if (message.id === undefined) return;
    const result = this.#answer(message);
    if (result) this.raw(JSON.stringify({ jsonrpc: "2.0", id: message.id, result }));
  }

  #takeAnswer(message: Message): void {
    const open = this.#open.get(message.id);
    this.#open.delete(message.id);
    const about = open?.about ?? "something unreadable";
    // JSON-RPC itself wants a null here, which no MCP schema has a place for. 2026 settled it: no id at all.
    const isNullId = !this.isModern && !open && message.id === null;
    this.#judge("JSONRPCMessage", isNullId ? { ...message, id: 0 } : message, about);
    if (message.error) this.#judgeError(message, message.error, about);
    else if (open) this.#judgeResult(message.result ?? {}, open.method, about);
    else this.faults.push(`an answer to nothing: ${JSON.stringify(message)}`);
    open?.resolve(message);
  }

  #judgeResult(result: JsonObject, method: string, about: string): void {
    if (result.resultType === "input_required") {
      this.#judge("InputRequiredResult", result, about);
      for (const request of Object.values(result.inputRequests as Record<string, Message>))
        this.#judgeMethod(request, String(request.method));
      return;
    }
    if (this.isModern && result.resultType !== "complete")
      this.faults.push(`${about}: resultType is ${result.resultType}`);
    const definition =
      this.#schemas.definitionOf(method)?.replace(/Request$/, "Result") ?? "no such method";
    this.#judge(this.#schemas.has(definition) ? definition : "EmptyResult", result, about);
  }

  #judgeError(message: Message, error: { readonly code: number }, about: string): void {
    this.codes.add(error.code);
    const definition = this.isModern ? errorDefinitions[error.code] : undefined;
    if (!definition) return;
    // Some of these definitions are of the error object, some of the whole message.
    this.#judge(definition, error.code > -32100 ? message : error, about);
  }

  #judgeMethod(message: Message, method: string): void {
    const definition = this.#schemas.definitionOf(method);
    if (definition) this.#judge(definition, message, method);
    else this.faults.push(`${method} is no message of ${this.version}`);
  }

  #judge(definition: string, value: unknown, about: string): void {
    this.seen.add(definition);
    const faults = this.#schemas.faults(definition, value);
    if (faults.length > 0)
      this.faults.push(`${about}: no ${definition}: ${faults.slice(0, 12).join("; ")}`);
  }
}

/** The codes that the schema of 2026-07-28 defines. */
const errorDefinitions: Readonly<Record<number, string>> = {
  [-32700]: "ParseError",
  [-32600]: "InvalidRequestError",
  [-32601]: "MethodNotFoundError",
  [-32602]: "InvalidParamsError",
  [-32603]: "InternalError",
  [-32020]: "HeaderMismatchError",
  [-32021]: "MissingRequiredClientCapabilityError",
  [-32022]: "UnsupportedProtocolVersionError",
};
