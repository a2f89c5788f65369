import { Ajv2020 } from "ajv/dist/2020.js";
import type { ServerConfig } from "../../src/config/schema.ts";
import { HttpLine } from "./http-line.ts";
import type { LineEnd, Network } from "./line.ts";
import type { Action } from "./plan.ts";
import { Random } from "./random.ts";
import { Rules, type Scene } from "./rules.ts";
import { SimClient } from "./sim-client.ts";
import { SimDisk } from "./sim-disk.ts";
import { SimHall } from "./sim-hall.ts";
import { SimLedger } from "./sim-ledger.ts";
import { configOf, type Era, SimServer } from "./sim-server.ts";
import { VirtualTime } from "./virtual-time.ts";

export interface Finding {
  readonly faults: readonly string[];
  readonly trace: readonly string[];
  readonly calls: number;
  /** Calls that reached a server. */
  readonly executed: number;
  readonly crashes: number;
}

/** Every answer must have come this long after the last fault: the hall's own last resort and a margin. */
const answerMsMax = 700_000;

/** Runs the plan in virtual time. The same seed and plan give the same run. The trace costs time, so it is left out. */
export async function simulate(
  seed: number,
  plan: readonly Action[],
  isTraced = false,
): Promise<Finding> {
  const random = new Random(seed ^ 0x5eed);
  const time = new VirtualTime(random.next);
  const mathRandom = Math.random;
  // Loaded on first use, which would take real time.
  await import("../../src/upstream/opening.ts");
  await import("../../src/gateway/compiler.ts");
  time.install();
  time.replace(Ajv2020.prototype, { compile: compileOnce });
  Math.random = random.next;
  const { stackTraceLimit } = Error;
  // No rule reads stacks, and each of the many errors would collect one.
  Error.stackTraceLimit = 0;
  const simulation = new Simulation({ time, random }, isTraced);
  try {
    return await simulation.run(plan);
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
    Math.random = mathRandom;
    time.restore();
    simulation.disk.remove();
  }
}

const { compile } = Ajv2020.prototype;
const compiled = new WeakMap<Ajv2020, Map<string, ReturnType<typeof compile>>>();

/** The halls of all seeds compile the same few schemas. */
function compileOnce(this: Ajv2020, schema: object): ReturnType<typeof compile> {
  const known = compiled.get(this) ?? new Map<string, ReturnType<typeof compile>>();
  compiled.set(this, known);
  const text = JSON.stringify(schema);
  const validate = known.get(text) ?? compile.call(this, schema);
  known.set(text, validate);
  return validate;
}

class Simulation {
  readonly disk: SimDisk;
  readonly #network: Network;
  readonly #rules: Rules;
  readonly #servers: readonly SimServer[];
  readonly #clients: SimClient[] = [];
  readonly #ledger: SimLedger;
  readonly #tokens = new Set<string>();
  readonly #configs = new Map<string, ServerConfig>();
  /** Undefined between a crash and the next start. */
  #hall: SimHall | undefined;
  /** When a hall that started has ended the calls of the one before. */
  #settledAt = Number.POSITIVE_INFINITY;
  #edits = 0;
  #crashes = 0;

  constructor(network: Network, isTraced: boolean) {
    this.#network = network;
    const scene = (): Scene => ({ time: network.time, ledger: this.#ledger, disk: this.disk });
    this.#rules = new Rules(scene, isTraced);
    const eras: readonly Era[] = ["legacy", "legacy", "modern", "modern"];
    const witness = {
      executed: this.#rules.executed.bind(this.#rules),
      note: this.#rules.note.bind(this.#rules),
      connected: (line: LineEnd) => this.#hall?.add(line),
    };
    this.#servers = eras.map((era, index) => new SimServer(`s${index}`, era, network, witness));
    for (const { name } of this.#servers) this.#configs.set(name, configOf(name));
    this.#ledger = new SimLedger(network.time, this.#servers);
    const kind = network.random.pick(["file", "database"] as const);
    const crashed = (): void => this.#crash();
    this.disk = new SimDisk(network, { note: witness.note, crashed }, kind);
  }

  async run(plan: readonly Action[]): Promise<Finding> {
    const { time } = this.#network;
    await this.#start();
    for (const action of plan)
      time.after(action.at, () => {
        if (action.what !== "call")
          this.#rules.note(() => `${action.what} (${action.roll.toFixed(3)})`);
        if (!this.#hall) return;
        this.#act(this.#hall, action);
        this.#checkBounds();
      });
    const lastAt = plan.at(-1)?.at ?? 0;
    await time.run(lastAt);

    this.#heal();
    const endAt = time.now + answerMsMax;
    let steps = 0;
    // A few steps at once: looking for open requests costs more than a step.
    const isDone = (): boolean =>
      ++steps % 20 === 0 && time.now > this.#settledAt && this.#open().length === 0;
    await time.run(endAt, isDone);
    if (this.#hall) await this.#checkEnd(this.#hall);
    else this.#rules.broken("the hall did not start again");
    const { faults, trace, calls, runs } = this.#rules;
    return { faults, trace, calls, executed: runs, crashes: this.#crashes };
  }

  async #start(): Promise<void> {
    this.#hall = await SimHall.open({
      network: this.#network,
      disk: this.disk,
      ledger: this.#ledger,
      servers: this.#servers,
      configs: Object.fromEntries(this.#configs),
      tokens: this.#tokens,
      broken: (text) => this.#rules.broken(text),
      crashed: () => this.#crash(),
    });
    this.#settledAt = this.#network.time.now + 1_000;
    this.#join(this.#hall);
    this.#join(this.#hall);
    if (this.#crashes > 0) void this.#verify(this.#hall).catch(() => {});
  }

  /** Rejects if the store cannot be read. */
  async #verify({ hall }: SimHall): Promise<void> {
    const verified = await hall.store.audit.verify();
    if (verified.broken)
      this.#rules.broken(`the audit chain is broken: ${JSON.stringify(verified)}`);
  }

  /** Nothing that a fault leaves behind may grow. */
  #checkBounds(): void {
    for (const fault of this.#hall?.findUnbounded() ?? []) this.#rules.broken(fault);
    for (const { name, running } of this.#servers)
      if (running.size > processesMax)
        this.#rules.broken(`${running.size} processes of ${name} run at once`);
  }

  #crash(): void {
    const hall = this.#hall;
    if (!hall) return;
    const { time, random } = this.#network;
    this.#crashes++;
    this.#rules.note("the hall ends without warning");
    this.#hall = undefined;
    this.#settledAt = Number.POSITIVE_INFINITY;
    for (const client of this.#clients) client.isGone = true;
    void hall.crash().then(() => {
      time.after(200 + random.below(2_000), () => void this.#start());
    });
  }

  #join(hall: SimHall): void {
    const { random } = this.#network;
    const name = `c${this.#clients.length}`;
    const era = random.pick(["legacy", "modern"] as const);
    this.#tokens.add(name);
    const line = random.isTrue(0.5) ? hall.connectHttp(name) : hall.connectLine();
    this.#clients.push(new SimClient(name, era, line, this.#network, this.#rules));
  }

  #act(hall: SimHall, { what, roll }: Action): void {
    const present = this.#clients.filter(({ isGone }) => !isGone);
    const client = present[Math.floor(roll * present.length)];
    const server = this.#servers[Math.floor(roll * this.#servers.length)];
    if (client) this.#actOnClient(hall, { what, roll, client, present: present.length });
    if (server) this.#actOnServer(hall, { what, roll, server, client });
    if (what === "clock jumps") this.#network.time.jump(roll * 7_200_000 - 3_600_000);
    else if (what === "hall crashes") {
      const sends = Math.floor(roll * 1_000) % sendsBeforeCrash;
      if (sends === 0) this.#crash();
      else hall.dieAfter(sends);
    } else this.#actOnDisk(what);
  }

  #actOnDisk(what: Action["what"]): void {
    const { disk } = this;
    const isDatabase = "url" in disk.settings;
    if (what === "disk fills up") disk.isFull = true;
    else if (what === "disk has space") disk.isFull = false;
    else if (what === "write is torn") disk.tearsNext = !isDatabase;
    else if (what === "database refuses" && isDatabase) disk.away = "refuses";
    else if (what === "database is silent" && isDatabase) disk.away = "is silent";
    else if (what === "database is back") disk.comeBack();
    else if (what === "answer of the database is lost") disk.losesAnswer = isDatabase;
  }

  #actOnClient(
    hall: SimHall,
    { what, roll, client, present }: Omit<Action, "at"> & { client: SimClient; present: number },
  ): void {
    if (what === "list") client.request("tools/list");
    else if (what === "ping" && client.era === "legacy") client.request("ping");
    else if (what === "cancel") client.cancelOne();
    else if (what === "client joins" && present < clientsMax) this.#join(hall);
    else if (what === "client stalls") client.line.stall(Math.floor(roll * 8_000));
    else if (what === "connection breaks" && client.line instanceof HttpLine)
      client.lost(client.line.breakOne());
    else if (what === "client leaves" && present > 1) client.leave();
    else if (what === "client is cut off" && present > 1) {
      client.isGone = true;
      client.line.cut();
    } else if (what === "token is revoked") {
      this.#tokens.delete(client.name);
      if (client.line instanceof HttpLine) this.#rules.revoked(client);
    }
  }

  #actOnServer(
    hall: SimHall,
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
    else if (what === "server is restarted")
      void hall.hall.fleet
        .all()
        .find(({ id }) => id === name)
        ?.restart()
        .catch(() => {});
    else if (what === "server is removed") this.#configure(hall, name, undefined);
    else if (what === "server is added" && !this.#configs.has(name))
      this.#configure(hall, name, configOf(name));
    else if (what === "server is edited" && this.#configs.has(name))
      this.#configure(hall, name, configOf(name, ++this.#edits));
    else if (what === "definitions change") server.changeDefinitions(true);
    else if (what === "definitions change back") server.changeDefinitions(false);
    else if (what === "person grants") this.#ledger.grant(`${name}.wipe`);
    else if (what === "person revokes") this.#ledger.revoke(`${name}.wipe`);
  }

  #call(client: SimClient | undefined, server: SimServer, choice: number): void {
    if (!client) return;
    const tool = `${server.name}.${toolsByChance[choice] ?? "echo"}`;
    client.call(tool, this.#rules.begin(client, tool));
  }

  /** Edits the config; undefined removes the server. */
  #configure({ hall }: SimHall, name: string, config: ServerConfig | undefined): void {
    const isKnown = this.#configs.has(name);
    if (!isKnown && !config) return;
    if (config) this.#configs.set(name, config);
    else this.#configs.delete(name);
    void hall.fleet.apply({
      servers: Object.fromEntries(this.#configs),
      added: isKnown ? [] : [name],
      removed: config ? [] : [name],
      changed: isKnown && config ? [name] : [],
    });
  }

  #heal(): void {
    this.#rules.note("all faults end");
    this.disk.heal();
    this.#hall?.spare();
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

  async #checkEnd(hall: SimHall): Promise<void> {
    const { time } = this.#network;
    const rules = this.#rules;
    const endAt = time.now + answerMsMax;
    const finish = async (work: Promise<unknown>, name: string): Promise<void> => {
      let isOver = false;
      const over = work.then(
        () => {
          isOver = true;
        },
        (error: unknown) => {
          isOver = true;
          rules.broken(`${name}: ${String(error)}`);
        },
      );
      await time.run(endAt, () => isOver);
      if (isOver) await over;
      else rules.broken(`${name} did not end`);
    };

    for (const fault of this.#open()) rules.broken(fault);
    this.#checkBounds();
    await finish(this.#verify(hall), "verifying the audit");
    // They would resume their streams for ever.
    for (const client of this.#clients) if (client.line instanceof HttpLine) client.leave();
    await finish(hall.close(), "closing the hall");
    await time.run(endAt);
    if (time.hallTimers > 0) rules.broken(`${time.hallTimers} timers of the hall are left`);
    const { running } = hall.hall.meter;
    if (running > 0) rules.broken(`${running} calls did not end`);
    for (const fault of await this.disk.findFaults()) rules.broken(fault);
    for (const { name, running } of this.#servers)
      if (running.size > 0) rules.broken(`${running.size} processes of ${name} are left`);
  }
}

const clientsMax = 6;
/** A server that asks runs at most 32 times; a few more may be ending. */
const processesMax = 40;
/** A crash may come between any two messages of these that a step sends. */
const sendsBeforeCrash = 8;
const toolsByChance = ["ask", "ask", "ask", "ask", "wipe", "wipe", "wipe", "wipe"];
