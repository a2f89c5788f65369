import { isObject, type JsonObject } from "../../src/base/json.ts";
import type { ServerConfig } from "../../src/config/schema.ts";
import type { Tool } from "../../src/tool.ts";
import type { Carrier } from "../../src/upstream/carrier.ts";
import type { Id } from "../../src/wire/message.ts";
import { keys, modernVersion } from "../servers/client.ts";
import { createLine, type LineEnd, type Network } from "./line.ts";

/** Receives the reports of a simulated server and checks them. */
export interface Witness {
  /** A call has reached the server. */
  executed(server: string, tool: string, args: JsonObject): void;
  note(text: string): void;
  /** The hall has this end of a connection. */
  connected(hallEnd: LineEnd): void;
}

export type Era = "legacy" | "modern";

/** A server of the fleet: it may be started many times, also twice at once. */
export class SimServer {
  readonly name: string;
  readonly era: Era;
  /** How its next start ends. */
  start: "works" | "fails" | "hangs" = "works";
  /** True: it offers definitions that nobody has reviewed. */
  isChanged = false;
  readonly running = new Set<RunningServer>();
  readonly #network: Network;
  readonly #witness: Witness;

  constructor(name: string, era: Era, network: Network, witness: Witness) {
    this.name = name;
    this.era = era;
    this.#network = network;
    this.#witness = witness;
  }

  async open(): Promise<Carrier> {
    const { time } = this.#network;
    await new Promise<void>((resolve) => void time.after(this.#network.random.below(200), resolve));
    if (this.start === "fails") throw new Error("cannot be started (simulated)");
    const [hallEnd, ownEnd] = createLine(this.#network);
    this.#witness.connected(hallEnd);
    const running = new RunningServer(this, ownEnd, this.#network, this.#witness);
    this.running.add(running);
    void running.ended.then(() => this.running.delete(running));
    return {
      channel: hallEnd,
      ended: running.ended,
      evidence: () => [],
      stop: async () => running.end("stopped"),
    };
  }

  endAll(reason: string): void {
    for (const running of [...this.running]) running.end(reason);
  }

  tools(): readonly Tool[] {
    return definitions(this.isChanged);
  }

  changeDefinitions(isChanged: boolean): void {
    this.isChanged = isChanged;
    for (const running of this.running) running.notify("notifications/tools/list_changed");
  }
}

/** `edits` counts the changes of its entry, which do not concern its approval. */
export function configOf(
  name: string,
  edits = 0,
): Extract<ServerConfig, { readonly type: "stdio" }> {
  return {
    type: "stdio",
    // Looked for, but never started. An interpreter would also have its arguments looked for.
    command: "/bin/ls",
    args: [name],
    env: {},
    start: "lazy",
    idleTimeoutSeconds: 60 + edits,
    tools: { include: ["*"], exclude: [] },
    disabled: false,
    allowPrivate: false,
  };
}

/** Text that must never reach a client: nobody has approved it. */
export const unreviewedText = "UNREVIEWED";

export function definitions(isChanged = false): readonly Tool[] {
  const description = isChanged ? `${unreviewedText} text` : "a tool of the simulation";
  const inputSchema = { type: "object", properties: { nonce: { type: "string" } } };
  return [
    { name: "echo", description, inputSchema, annotations: { readOnlyHint: true } },
    { name: "ask", description, inputSchema, annotations: { readOnlyHint: true } },
    { name: "wipe", description, inputSchema, annotations: { destructiveHint: true } },
  ];
}

/** One process of a server. */
class RunningServer {
  readonly ended: Promise<string>;
  readonly #server: SimServer;
  readonly #line: LineEnd;
  readonly #network: Network;
  readonly #witness: Witness;
  readonly #answers = new Map<unknown, (message: JsonObject) => void>();
  #end: (reason: string) => void = () => {};
  #lastId = 0;
  #isOver = false;

  constructor(server: SimServer, line: LineEnd, network: Network, witness: Witness) {
    this.#server = server;
    this.#line = line;
    this.#network = network;
    this.#witness = witness;
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
    line.start({
      frame: (bytes) => this.#receive(JSON.parse(bytes.toString())),
      oversize() {},
      drained() {},
      ended() {},
      closed: () => this.end("closed"),
    });
  }

  end(reason: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    void this.#line.close();
    this.#end(reason);
  }

  /** The line is dead, and nobody notices. */
  vanish(): void {
    this.#line.cut();
  }

  notify(method: string, params?: JsonObject): void {
    this.#send({ method, ...(params ? { params } : {}) });
  }

  #send(message: JsonObject): void {
    if (!this.#isOver) this.#line.send(JSON.stringify({ jsonrpc: "2.0", ...message }));
  }

  #receive(message: JsonObject): void {
    if (this.#isOver || this.#server.start === "hangs") return;
    const { id, method, params } = message;
    if (method === undefined) {
      this.#answers.get(id)?.(message);
      this.#answers.delete(id);
    } else if (id !== undefined)
      void this.#serve(String(method), isObject(params) ? params : {}, id);
  }

  async #serve(method: string, params: JsonObject, id: unknown): Promise<void> {
    const isModern = this.#server.era === "modern";
    const complete = isModern ? { resultType: "complete" } : {};
    switch (method) {
      case "server/discover":
        if (!isModern) return this.#refuse(id, -32601, "method not found");
        return this.#send({
          id,
          result: {
            ...complete,
            supportedVersions: [modernVersion],
            capabilities: { tools: { listChanged: true } },
            _meta: { [keys.serverInfo]: { name: this.#server.name, version: "1" } },
          },
        });
      case "initialize":
        if (isModern) return this.#refuse(id, -32601, "method not found");
        return this.#send({
          id,
          result: {
            protocolVersion: "2025-11-25",
            capabilities: { tools: { listChanged: true } },
            serverInfo: { name: this.#server.name, version: "1" },
          },
        });
      case "tools/list":
        return this.#send({
          id,
          result: { ...complete, ttlMs: 0, cacheScope: "private", tools: this.#server.tools() },
        });
      case "tools/call":
        return this.#call(params, id, complete);
      case "ping":
        return this.#send({ id, result: complete });
      default:
        return this.#refuse(id, -32601, "method not found");
    }
  }

  async #call(params: JsonObject, id: unknown, complete: JsonObject): Promise<void> {
    const tool = String(params.name);
    const args = isObject(params.arguments) ? params.arguments : {};
    const { random, time } = this.#network;
    const hasInput = isObject(params.inputResponses);
    if (!hasInput) this.#witness.executed(this.#server.name, tool, args);

    const fate = random.weighted(fates);
    if (fate !== "answers") this.#witness.note(`${this.#server.name} ${fate} on ${args.nonce}`);
    await new Promise<void>((resolve) => void time.after(random.below(400), resolve));
    const result = {
      ...complete,
      content: [{ type: "text", text: `done ${args.nonce}` }],
      structuredContent: { nonce: args.nonce ?? null },
    };
    const answer = (): void => this.#send({ id, result });
    switch (fate) {
      case "answers":
        if (tool === "ask") return this.#ask(params, id, result);
        return answer();
      case "fails":
        return this.#send({ id, result: { ...result, isError: true } });
      case "refuses":
        return this.#refuse(id, -32603, `refused ${args.nonce}`);
      case "hangs":
        return;
      case "crashes":
        return this.end("exited with code 1");
      case "loses its answer":
        return this.#line.peer?.fail(id as Id);
      case "answers twice":
        answer();
        return answer();
      case "reports progress":
        this.#reportProgress(params);
        return answer();
      case "sends garbage":
        this.#line.send("{not json");
        this.#send({ id: "nobody asked this", result: {} });
        return answer();
    }
  }

  #reportProgress(params: JsonObject): void {
    const meta = isObject(params._meta) ? params._meta : {};
    if (meta.progressToken === undefined) return;
    for (let progress = 1; progress <= 3; progress++)
      this.notify("notifications/progress", { progressToken: meta.progressToken, progress });
  }

  /** Asks the person behind the call, and answers with what they said. */
  #ask(params: JsonObject, id: unknown, result: JsonObject): void {
    const question = {
      method: "elicitation/create",
      params: {
        mode: "form",
        message: `who are you? ${nonceOf(params)}`,
        requestedSchema: { type: "object", properties: { who: { type: "string" } } },
      },
    };
    const answer = (given: unknown): void =>
      this.#send({
        id,
        result: { ...result, structuredContent: { nonce: nonceOf(params), given: given ?? null } },
      });
    if (this.#server.era === "legacy") {
      const ownId = `q${++this.#lastId}`;
      this.#answers.set(ownId, (message) => answer(message.result));
      this.#send({ id: ownId, ...question });
    } else if (isObject(params.inputResponses)) answer(params.inputResponses.who);
    else {
      const inputRequests = { who: question };
      const state = { resultType: "input_required", inputRequests, requestState: "s" };
      this.#send({ id, result: state });
    }
  }

  #refuse(id: unknown, code: number, message: string): void {
    this.#send({ id, error: { code, message } });
  }
}

const fates = {
  answers: 80,
  fails: 3,
  refuses: 3,
  hangs: 2,
  crashes: 2,
  "answers twice": 3,
  "reports progress": 4,
  "sends garbage": 3,
  "loses its answer": 3,
} as const;

function nonceOf(params: JsonObject): string {
  return isObject(params.arguments) ? String(params.arguments.nonce) : "";
}
