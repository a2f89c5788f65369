import { isObject, type JsonObject } from "../../src/base/json.ts";
import type { ClientWitness, SentRequest, SimClient } from "./sim-client.ts";
import type { SimDisk } from "./sim-disk.ts";
import type { SimLedger } from "./sim-ledger.ts";
import { unreviewedText, type Witness } from "./sim-server.ts";
import type { VirtualTime } from "./virtual-time.ts";

/** The state that the rules check. */
export interface Scene {
  readonly time: VirtualTime;
  readonly ledger: SimLedger;
  readonly disk: SimDisk;
}

interface Sent {
  readonly client: SimClient;
  readonly tool: string;
  readonly at: number;
  /** How often a person has said yes. */
  approvals: number;
  /** How often the client has sent it again. */
  repeats: number;
  runs: number;
}

/** Checks what clients and servers see, and keeps the trace. */
export class Rules implements ClientWitness, Omit<Witness, "connected"> {
  readonly faults: string[] = [];
  readonly trace: string[] = [];
  calls = 0;
  runs = 0;
  readonly #scene: () => Scene;
  readonly #sent = new Map<string, Sent>();
  readonly #revoked = new Map<SimClient, number>();

  readonly #isTraced: boolean;

  constructor(scene: () => Scene, isTraced: boolean) {
    this.#scene = scene;
    this.#isTraced = isTraced;
  }

  note(said: string | (() => string)): void {
    if (!this.#isTraced) return;
    const text = typeof said === "string" ? said : said();
    this.trace.push(`${(this.#scene().time.now / 1_000).toFixed(3)} ${text}`);
  }

  broken(text: string): void {
    this.note(`FAULT ${text}`);
    this.faults.push(text);
  }

  /** The nonce of a call that is about to be sent. */
  begin(client: SimClient, tool: string): string {
    const nonce = `n${++this.calls}`;
    const at = this.#scene().time.now;
    this.#sent.set(nonce, { client, tool, at, approvals: 0, repeats: 0, runs: 0 });
    return nonce;
  }

  sent(client: SimClient, { id, method, nonce }: SentRequest): void {
    this.note(() => `${client.name} sends ${method} ${id} ${nonce ?? ""}`);
  }

  repeated(nonce: string): void {
    const sent = this.#sent.get(nonce);
    if (sent) sent.repeats++;
  }

  approved(nonce: string, decision: string): void {
    const sent = this.#sent.get(nonce);
    if (!sent) return;
    sent.approvals++;
    if (decision === "hall") this.#scene().ledger.trustedWhileRunning(sent.tool);
  }

  /** The token of this client is no longer valid. */
  revoked(client: SimClient): void {
    this.#revoked.set(client, this.#scene().time.now);
  }

  /** A call has reached a server. */
  executed(server: string, tool: string, { nonce }: JsonObject): void {
    this.runs++;
    const name = String(nonce);
    const sent = this.#sent.get(name);
    if (!sent) {
      this.broken(`${server} got a call that no client sent`);
      return;
    }

    this.note(() => `${server} runs ${tool} ${name}`);
    if (sent.tool !== `${server}.${tool}`)
      this.broken(`${name} was sent to ${sent.tool} and reached ${server}.${tool}`);
    if (sent.at > (this.#revoked.get(sent.client) ?? Number.POSITIVE_INFINITY))
      this.broken(`${name} ran with a revoked token`);
    if (tool !== "wipe") return;

    sent.runs++;
    if (sent.runs > 1 + sent.repeats) this.broken(`${name} was run ${sent.runs} times`);
    if (sent.runs > sent.approvals && !this.#scene().ledger.wasGranted(sent.tool, sent.at))
      this.broken(`${name} ran ${sent.runs} times with ${sent.approvals} approvals`);
    void this.#checkDurable(name);
  }

  async #checkDurable(nonce: string): Promise<void> {
    try {
      const { calls, decisions } = await this.#scene().disk.findRows({ nonce });
      if (calls === 0) this.broken(`${nonce} ran without a durable row`);
      if (decisions === 0) this.broken(`${nonce} ran without a durable decision`);
    } catch (error) {
      this.broken(`${nonce} ran, and the store cannot be read: ${String(error)}`);
    }
  }

  answered(
    client: SimClient,
    request: SentRequest,
    { message, text }: { readonly message: JsonObject; readonly text: string },
  ): void {
    this.note(() => `${client.name} hears ${request.id}: ${summarise(message)}`);
    if (request.answers > 1)
      this.broken(`${client.name} got ${request.answers} answers to ${request.id}`);
    if (text.includes(unreviewedText)) this.broken(`${client.name} read unreviewed text`);

    const { nonce } = request;
    const { result } = message;
    if (nonce === undefined || !isObject(result) || result.resultType === "input_required") return;
    const { structuredContent } = result;
    if (!isObject(structuredContent) || structuredContent.nonce === undefined) return;
    if (structuredContent.nonce !== nonce)
      this.broken(
        `${client.name} got the result of ${String(structuredContent.nonce)} for ${nonce}`,
      );
    const { given } = structuredContent;
    const who = isObject(given) && isObject(given.content) ? given.content.who : undefined;
    if (who !== undefined && who !== client.name)
      this.broken(`${String(who)} was asked the question of ${client.name} (${nonce})`);
  }
}

/** How a request ended, without what differs from run to run. */
function summarise({ result, error }: JsonObject): string {
  if (isObject(error)) return `error ${String(error.code)}`;
  if (!isObject(result)) return "no result";
  if (result.resultType === "input_required") return "a question";
  const { structuredContent = {} } = result;
  if (!isObject(structuredContent)) return "result";
  return `${result.isError === true ? "failed" : "result"} ${structuredContent.error_type ?? structuredContent.nonce ?? ""}`;
}
