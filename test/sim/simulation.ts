import { HallError } from "../../src/base/errors.ts";
import { isObject, type JsonObject } from "../../src/base/json.ts";
import { createLog } from "../../src/base/log.ts";
import type { ServerConfig } from "../../src/config/schema.ts";
import { createHall, type Hall } from "../../src/hall/hall.ts";
import type { CallRow } from "../../src/store/store.ts";
import { easingOf } from "../../src/trust/easing.ts";
import { type Entries, type Ledger, noEntries } from "../../src/trust/ledger.ts";
import { pinOf } from "../../src/trust/pin.ts";
import { reviewServer } from "../../src/trust/review.ts";
import { sourceOf } from "../../src/upstream/source.ts";
import { defaultLimits } from "../../src/wire/channel.ts";
import { createLine } from "./line.ts";
import type { Action } from "./plan.ts";
import { Random } from "./random.ts";
import { type SentRequest, SimClient } from "./sim-client.ts";
import { definitions, type Era, SimServer, unreviewedText } from "./sim-server.ts";
import { VirtualTime } from "./virtual-time.ts";

export interface Finding {
  readonly faults: readonly string[];
  readonly trace: readonly string[];
  readonly calls: number;
  /** Calls that reached a server. */
  readonly executed: number;
}

/** Every answer must have come this long after the last fault: the hall's own last resort and a margin. */
const answerMsMax = 700_000;

/** Runs the plan in virtual time. The same seed and plan give the same run. */
export async function simulate(seed: number, plan: readonly Action[]): Promise<Finding> {
  const random = new Random(seed ^ 0x5eed);
  const time = new VirtualTime(random.next);
  const mathRandom = Math.random;
  // Loaded on first use, which would take real time.
  await import("../../src/upstream/opening.ts");
  await import("../../src/gateway/compiler.ts");
  time.install();
  Math.random = random.next;
  try {
    const simulation = new Simulation(time, random);
    return await simulation.run(plan);
  } finally {
    Math.random = mathRandom;
    time.restore();
  }
}

class Simulation {
  readonly #time: VirtualTime;
  readonly #random: Random;
  readonly #faults: string[] = [];
  readonly #trace: string[] = [];
  readonly #servers: readonly SimServer[];
  readonly #clients: SimClient[] = [];
  readonly #ledger: SimLedger;
  readonly #sent = new Map<string, Sent>();
  readonly #durable = new Set<string>();
  readonly #configured = new Set<string>();
  #isDiskFull = false;
  #lastNonce = 0;
  #executed = 0;

  constructor(time: VirtualTime, random: Random) {
    this.#time = time;
    this.#random = random;
    const network = { time, random };
    const eras: readonly Era[] = ["legacy", "legacy", "modern", "modern"];
    this.#servers = eras.map((era, index) => new SimServer(`s${index}`, era, network, this));
    this.#ledger = new SimLedger(time, this.#servers);
  }

  async run(plan: readonly Action[]): Promise<Finding> {
    const hall = await this.#openHall();
    this.#join(hall);
    this.#join(hall);
    for (const action of plan)
      this.#time.after(action.at, () => {
        if (action.what !== "call") this.note(`${action.what} (${action.roll.toFixed(3)})`);
        this.#act(hall, action);
      });
    const lastAt = plan.at(-1)?.at ?? 0;
    while (this.#time.now < lastAt && (await this.#time.step(lastAt)));

    this.#heal();
    const endAt = this.#time.now + answerMsMax;
    while (this.#open().length > 0 && (await this.#time.step(endAt)));
    await this.#checkEnd(hall);
    return {
      faults: this.#faults,
      trace: this.#trace,
      calls: this.#lastNonce,
      executed: this.#executed,
    };
  }

  note(text: string): void {
    this.#trace.push(`${(this.#time.now / 1_000).toFixed(3)} ${text}`);
  }

  broken(text: string): void {
    this.note(`FAULT ${text}`);
    this.#faults.push(text);
  }

  sent(client: SimClient, { id, method, nonce }: SentRequest): void {
    this.note(`${client.name} sends ${method} ${id} ${nonce ?? ""}`);
  }

  approved(nonce: string, decision: string): void {
    const sent = this.#sent.get(nonce);
    if (!sent) return;
    sent.isApproved = true;
    if (decision === "hall") this.#ledger.trustedWhileRunning(sent.tool);
  }

  /** A call has reached a server. */
  executed(server: string, tool: string, { nonce }: JsonObject): void {
    this.#executed++;
    const sent = this.#sent.get(String(nonce));
    if (!sent) {
      this.broken(`${server} got a call that no client sent`);
      return;
    }
    this.note(`${server} runs ${tool} ${String(nonce)}`);
    if (sent.tool !== `${server}.${tool}`)
      this.broken(`${String(nonce)} was sent to ${sent.tool} and reached ${server}.${tool}`);
    if (tool !== "wipe") return;

    sent.runs++;
    if (sent.runs > 1) this.broken(`${String(nonce)} was run ${sent.runs} times`);
    if (!this.#durable.has(String(nonce)))
      this.broken(`${String(nonce)} ran without a durable row`);
    if (!sent.isApproved && !this.#ledger.wasGranted(`${server}.wipe`, sent.at))
      this.broken(`${String(nonce)} ran without approval`);
  }

  answered(client: SimClient, request: SentRequest, message: JsonObject): void {
    const text = JSON.stringify(message);
    this.note(`${client.name} hears ${request.id}: ${summarise(message)}`);
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

  async #openHall(): Promise<Hall> {
    const servers = Object.fromEntries(this.#servers.map(({ name }) => [name, configOf(name)]));
    for (const { name } of this.#servers) this.#configured.add(name);
    const hall = await createHall({
      log: createLog({ level: "silent" }),
      toolkits: [],
      servers,
      openCarrier: (config) => this.#openServer(config),
      trust: { ledger: this.#ledger },
      hasOwnResources: false,
      listsPrograms: false,
    });
    this.#breakDisk(hall);
    return hall;
  }

  #openServer(config: ServerConfig): ReturnType<SimServer["open"]> {
    const name = config.type === "stdio" ? config.args[0] : undefined;
    const server = this.#servers.find((known) => known.name === name);
    return server ? server.open() : Promise.reject(new Error("unknown server"));
  }

  /** Rows become durable after a while, or not at all while the disk is full. */
  #breakDisk({ store }: Hall): void {
    const { begin } = store.calls;
    const { append } = store.audit;
    const write = async <T>(work: () => Promise<T>): Promise<T> => {
      await new Promise<void>((resolve) => void this.#time.after(this.#random.below(30), resolve));
      if (this.#isDiskFull) throw new HallError("UNAVAILABLE", "the disk is full (simulated)");
      return work();
    };
    Object.assign(store.calls, {
      begin: (row: CallRow) =>
        write(async () => {
          await begin(row);
          this.#durable.add(String(JSON.parse(row.arguments).nonce));
        }),
    });
    Object.assign(store.audit, {
      append: (entry: Parameters<typeof append>[0]) => write(() => append(entry)),
    });
  }

  #join(hall: Hall): void {
    const [hallEnd, clientEnd] = createLine({ time: this.#time, random: this.#random });
    hall.server.accept(hallEnd);
    const era = this.#random.pick(["legacy", "modern"] as const);
    const name = `c${this.#clients.length}`;
    const network = { time: this.#time, random: this.#random };
    this.#clients.push(new SimClient(name, era, clientEnd, network, this));
  }

  #act(hall: Hall, { what, roll }: Action): void {
    const present = this.#clients.filter(({ isGone }) => !isGone);
    const client = present[Math.floor(roll * present.length)];
    const server = this.#servers[Math.floor(roll * this.#servers.length)];
    if (client) this.#actOnClient(hall, { what, roll, client, present: present.length });
    if (server) this.#actOnServer(hall, { what, roll, server, client });
    if (what === "disk fills up") this.#isDiskFull = true;
    else if (what === "disk has space") this.#isDiskFull = false;
    else if (what === "clock jumps") this.#time.jump(roll * 7_200_000 - 3_600_000);
  }

  #actOnClient(
    hall: Hall,
    { what, roll, client, present }: Omit<Action, "at"> & { client: SimClient; present: number },
  ): void {
    if (what === "list") client.request("tools/list");
    else if (what === "ping" && client.era === "legacy") client.request("ping");
    else if (what === "cancel") client.cancelOne();
    else if (what === "client joins" && present < clientsMax) this.#join(hall);
    else if (what === "client stalls") client.line.stall(Math.floor(roll * 8_000));
    else if (what === "client leaves" && present > 1) client.leave();
    else if (what === "client is cut off" && present > 1) {
      client.isGone = true;
      client.line.cut();
    }
  }

  #actOnServer(
    hall: Hall,
    {
      what,
      roll,
      server,
      client,
    }: Omit<Action, "at"> & { server: SimServer; client: SimClient | undefined },
  ): void {
    const { name } = server;
    if (what === "call") this.#call(client, server, Math.floor(roll * 1_000) % 20);
    else if (what === "server crashes") server.endAll("exited with code 137");
    else if (what === "server is cut off") for (const running of server.running) running.vanish();
    else if (what === "server does not start") server.start = "fails";
    else if (what === "server hangs at start") server.start = "hangs";
    else if (what === "server starts again") server.start = "works";
    else if (what === "server is restarted" && this.#configured.has(name))
      void hall.fleet
        .get(name)
        .restart()
        .catch(() => {});
    else if (what === "server is removed") this.#configure(hall, name, false);
    else if (what === "server is added") this.#configure(hall, name, true);
    else if (what === "definitions change") server.changeDefinitions(true);
    else if (what === "definitions change back") server.changeDefinitions(false);
    else if (what === "person grants") this.#ledger.grant(`${name}.wipe`);
    else if (what === "person revokes") this.#ledger.revoke(`${name}.wipe`);
  }

  #call(client: SimClient | undefined, server: SimServer, choice: number): void {
    if (!client) return;
    const nonce = `n${++this.#lastNonce}`;
    const tool = toolsByChance[choice] ?? "echo";
    const at = this.#time.now;
    const fullName = `${server.name}.${tool}`;
    this.#sent.set(nonce, { tool: fullName, at, isApproved: false, runs: 0 });
    client.call(fullName, nonce);
  }

  #configure(hall: Hall, name: string, isAdded: boolean): void {
    if (this.#configured.has(name) === isAdded) return;
    if (isAdded) this.#configured.add(name);
    else this.#configured.delete(name);
    const servers = Object.fromEntries([...this.#configured].map((key) => [key, configOf(key)]));
    const change = { added: isAdded ? [name] : [], removed: isAdded ? [] : [name], changed: [] };
    void hall.fleet.apply({ servers, ...change });
  }

  #heal(): void {
    this.note("all faults end");
    this.#isDiskFull = false;
    for (const server of this.#servers) {
      server.start = "works";
      // A process that does not answer any more would only be noticed by its calls.
      server.endAll("ended with the faults");
    }
  }

  /** Requests that must still be answered. */
  #open(): readonly string[] {
    return this.#clients
      .filter(({ isGone }) => !isGone)
      .flatMap(({ name, requests }) =>
        [...requests.values()]
          .filter(({ answers, isCancelled }) => answers === 0 && !isCancelled)
          .map(({ id, method, nonce = "" }) => `${name} got no answer to ${method} ${id} ${nonce}`),
      );
  }

  async #checkEnd(hall: Hall): Promise<void> {
    for (const fault of this.#open()) this.broken(fault);
    for (const { name, line } of this.#clients)
      if ((line.peer?.queuedBytesMax ?? 0) > 2 * defaultLimits.writeQueueBytesMax)
        this.broken(`more than twice the limit waited for ${name}`);
    const verified = await hall.store.audit.verify();
    if (verified.broken) this.broken(`the audit chain is broken: ${JSON.stringify(verified)}`);

    let isClosed = false;
    void hall.close().then(() => {
      isClosed = true;
    });
    const endAt = this.#time.now + answerMsMax;
    await this.#time.settle();
    while (!isClosed && (await this.#time.step(endAt)));
    if (!isClosed) this.broken("the hall did not close");
    while (await this.#time.step(endAt));
    for (const { name, running } of this.#servers)
      if (running.size > 0) this.broken(`${running.size} processes of ${name} are left`);
  }
}

const clientsMax = 6;
const toolsByChance = ["ask", "ask", "ask", "ask", "wipe", "wipe", "wipe", "wipe"];

interface Sent {
  readonly tool: string;
  readonly at: number;
  isApproved: boolean;
  runs: number;
}

function configOf(name: string): Extract<ServerConfig, { readonly type: "stdio" }> {
  return {
    type: "stdio",
    command: "simulated",
    args: [name],
    env: {},
    start: "lazy",
    idleTimeoutSeconds: 60,
    tools: { include: ["*"], exclude: [] },
    disabled: false,
    allowPrivate: false,
  };
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

/** A person thinks, and the answer travels; until then a revocation may come first. */
const answerTravelMs = 10_000;

interface SimGrant {
  readonly key: string;
  readonly isRuntime: boolean;
  /** A revocation before this time may reach the hall before the grant does. */
  readonly arrivesBy: number;
  until: number;
}

/** A ledger in memory, and the times at which it granted what. */
class SimLedger implements Ledger {
  readonly file = "simulated";
  readonly #time: VirtualTime;
  readonly #grants: SimGrant[] = [];
  #entries: Entries;
  #isChanged = true;

  constructor(time: VirtualTime, servers: readonly SimServer[]) {
    this.#time = time;
    const reviews = servers.map(({ name }) => {
      const source = sourceOf(configOf(name));
      const eased = easingOf(name, {});
      return [name, reviewServer({ source, reached: name, eased, tools: definitions() })];
    });
    this.#entries = { ...noEntries, servers: Object.fromEntries(reviews) };
  }

  read = async (): Promise<Entries> => this.#entries;
  sign = async (text: string): Promise<string> => text;

  readIfChanged(): Entries | undefined {
    const isChanged = this.#isChanged;
    this.#isChanged = false;
    return isChanged ? this.#entries : undefined;
  }

  async change(edit: (entries: Entries) => Entries): Promise<Entries> {
    this.#entries = edit(this.#entries);
    this.#isChanged = true;
    return this.#entries;
  }

  grant(key: string): void {
    this.#grants.push({ key, isRuntime: false, arrivesBy: 0, until: Number.POSITIVE_INFINITY });
    const tool = definitions().find(({ name }) => key.endsWith(`.${name}`));
    if (!tool) return;
    const grant = { pin: pinOf(tool), grantedAt: Date.now() } as Entries["grants"][string];
    void this.change((entries) => ({ ...entries, grants: { ...entries.grants, [key]: grant } }));
  }

  trustedWhileRunning(key: string): void {
    this.#grants.push({
      key,
      isRuntime: true,
      arrivesBy: this.#time.now + answerTravelMs,
      until: Number.POSITIVE_INFINITY,
    });
  }

  revoke(key: string): void {
    // Whatever is revoked, a hall forgets all that it trusts only while it runs.
    for (const grant of this.#grants)
      if ((grant.key === key || grant.isRuntime) && grant.arrivesBy <= this.#time.now)
        grant.until = Math.min(grant.until, this.#time.now);
    void this.change(({ grants, revocations = 0, ...entries }) => {
      const { [key]: _revoked, ...rest } = grants;
      return { ...entries, grants: rest, revocations: revocations + 1 };
    });
  }

  /** True if the tool was trusted at any time since then. */
  wasGranted(key: string, since: number): boolean {
    return this.#grants.some((grant) => grant.key === key && grant.until >= since);
  }
}
