import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { isObject, type JsonObject } from "../../src/base/json.ts";
import type { Settings } from "../../src/hall/settings.ts";
import { shareLedger } from "../../src/hall/together/shared-ledger.ts";
import { grantTools, type Ledger, openLedger } from "../../src/trust/ledger.ts";
import type { Cluster } from "../store/cluster.ts";
import { ask, type HttpAnswer, post, said, type Team } from "./team.ts";

export interface ChaosOptions {
  readonly seconds: number;
  /** Half of them of each era. */
  readonly clients: number;
  readonly seed: number;
  /** Faults do not begin within this time of each other. */
  readonly pauseMs: number;
}

export interface ChaosReport {
  readonly requests: number;
  readonly answered: number;
  /** The connection was cut: the client knows that it got no answer. */
  readonly cut: number;
  readonly faults: readonly string[];
  readonly grants: number;
  readonly revocations: number;
  /** Calls that were approved by the answer to a question, through whichever hall. */
  readonly approvals: number;
  readonly registrations: number;
  /** What must not happen, in words. */
  readonly broken: readonly string[];
  /** Ids of changes that were answered as done. */
  readonly acknowledged: readonly string[];
}

/** Numbers that a seed repeats. */
function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** A request that neither gets an answer nor is cut off within this time counts as lost. */
const answerMsMax = 60_000;

class Chaos {
  readonly broken: string[] = [];
  readonly acknowledged: string[] = [];
  readonly faults: string[] = [];
  requests = 0;
  answered = 0;
  cut = 0;
  grants = 0;
  revocations = 0;
  approvals = 0;
  registrations = 0;
  /** Faults that have begun, and how many of them last. */
  #begun = 0;
  #lasting = 0;
  #endedAt = 0;
  #isOver = false;
  #ids = 0;
  readonly #team: Team;
  readonly #cluster: Cluster;
  readonly #options: ChaosOptions;
  readonly #random: () => number;

  constructor(team: Team, cluster: Cluster, options: ChaosOptions) {
    this.#team = team;
    this.#cluster = cluster;
    this.#options = options;
    this.#random = createRandom(options.seed);
  }

  async run(): Promise<void> {
    const { clients, seconds } = this.#options;
    const running = Array.from({ length: clients }, (_, index) =>
      index % 2 === 0 ? this.#modern() : this.#legacy(),
    );
    const { stdout } = await this.#team.run(
      0,
      ...["token", "create", "chaos", "--scope", "register:weather", "--json"],
    );
    const services = this.#register(JSON.parse(stdout).token);
    const faults = this.#break();
    const decisions = this.#decide();
    await sleep(seconds * 1_000);
    // On a busy machine, a short run may have seen nothing but failures.
    while (!this.grants || !this.approvals || !this.registrations) await sleep(100);
    this.#isOver = true;
    await Promise.all([faults, decisions, services, ...running]);
  }

  /** The answer to one request; undefined if its connection was cut. */
  async #send(what: string, request: () => Promise<HttpAnswer>): Promise<HttpAnswer | undefined> {
    this.requests++;
    const late = new AbortController();
    const lost = sleep(answerMsMax, "lost" as const, { signal: late.signal }).catch(
      () => "lost" as const,
    );
    try {
      const answer = await Promise.race([request(), lost]);
      if (answer === "lost") {
        this.broken.push(`no answer: ${what}`);
        return undefined;
      }
      this.answered++;
      return answer;
    } catch {
      this.cut++;
      await sleep(20);
      return undefined;
    } finally {
      late.abort();
    }
  }

  #nextId(): string {
    return `${++this.#ids}`;
  }

  #check(answer: HttpAnswer | undefined, id: string): JsonObject {
    const given = answer ? said(answer) : {};
    if (given.id !== undefined && given.id !== id)
      this.broken.push(`crossed: ${id} got the answer of ${given.id}`);
    return given;
  }

  async #modern(): Promise<void> {
    const { url } = this.#team;
    const call = (name: string, id: string, more: JsonObject = {}) =>
      this.#send(`${name} ${id}`, () =>
        ask(url, "tools/call", { name: `work__${name}`, arguments: { id }, ...more }),
      );
    while (!this.#isOver) {
      const id = this.#nextId();
      const kind = this.#random();
      if (kind < 0.5) this.#check(await call("read", id), id);
      else if (kind < 0.8) {
        const { result } = (await call("ask", id))?.body ?? {};
        if (!isObject(result) || !isObject(result.inputRequests)) continue;
        const [key = ""] = Object.keys(result.inputRequests);
        const inputResponses = { [key]: { action: "accept", content: { word: `w${id}` } } };
        const { requestState } = result;
        const given = this.#check(await call("ask", id, { requestState, inputResponses }), id);
        if (given.id !== undefined && given.word !== `w${id}`)
          this.broken.push(`crossed: ${id} was told ${given.word}`);
      } else {
        const first = await call("change", id);
        const asked = first?.body.result;
        const isAsked = isObject(asked) && isObject(asked.inputRequests);
        const answer = isAsked ? await call("change", id, approve(asked)) : first;
        if (this.#check(answer, id).name !== "change") continue;
        this.acknowledged.push(id);
        if (isAsked) this.approvals++;
      }
      await sleep(5);
    }
  }

  async #legacy(): Promise<void> {
    const { url } = this.#team;
    let session: Record<string, string> | undefined;
    while (!this.#isOver) {
      if (!session) {
        const answer = await this.#send("initialize", () => post(url, greeting));
        const id = answer?.headers["mcp-session-id"];
        if (typeof id !== "string") continue;
        session = { "mcp-session-id": id };
      }
      const id = this.#nextId();
      const params = { name: "work__read", arguments: { id } };
      const headers = session;
      const message = { jsonrpc: "2.0", id: Number(id), method: "tools/call", params };
      const answer = await this.#send(`read ${id}`, () => post(url, message, headers));
      // Its hall has ended: the client begins again, as MCP wants.
      if (!answer || answer.status === 404) session = undefined;
      else this.#check(answer, id);
      await sleep(5);
    }
  }

  /** Kills, stops, cuts off. One at a time, so that a hall is always there. */
  async #break(): Promise<void> {
    const { halls } = this.#team;
    while (!this.#isOver) {
      await sleep(this.#options.pauseMs * (0.5 + this.#random()));
      if (this.#isOver) return;
      const index = Math.floor(this.#random() * halls.length);
      const hall = halls[index];
      const kind = this.#random();
      const ms = 300 + this.#random() * 3_000;
      if (!hall) return;
      this.#begun++;
      this.#lasting++;
      if (kind < 0.25) {
        this.faults.push(`kill ${index}`);
        hall.isOpen = false;
        await this.#team.restart(index);
      } else if (kind < 0.5) {
        this.faults.push(`stop ${index}`);
        hall.process.child.kill("SIGSTOP");
        await sleep(ms);
        hall.process.child.kill("SIGCONT");
      } else if (kind < 0.75) {
        this.faults.push(`partition ${index}`);
        hall.proxy.isSilent = true;
        await sleep(ms);
        hall.proxy.isSilent = false;
        hall.proxy.cut();
      } else if (kind < 0.9) {
        this.faults.push(`cut ${index}`);
        hall.proxy.cut();
      } else {
        this.faults.push("database");
        await this.#cluster.stop();
        await sleep(ms / 3);
        await this.#cluster.start();
      }
      this.#lasting--;
      this.#endedAt = performance.now();
    }
  }

  /** Grants and revokes as a person on a machine of their own would. */
  async #decide(): Promise<void> {
    const ledger = this.#openLedger();
    let pin = "";
    while (!this.#isOver && pin === "")
      await this.#attempt(async () => {
        const { servers } = await ledger.change((entries) => entries);
        pin = servers.work?.tools.change?.pin ?? "";
      });
    while (!this.#isOver) {
      await sleep(300);
      const isGranted = await this.#attempt(() =>
        grantTools(ledger, [{ key: "work.change", pin }], {}),
      );
      if (isGranted) {
        this.grants++;
        await Promise.all(this.#team.halls.map(({ url }) => this.#mustNotAsk(url)));
      }
      await sleep(300);
      const isRevoked = await this.#attempt(() =>
        ledger.change(({ grants: _grants, revocations = 0, ...entries }) => ({
          ...entries,
          grants: {},
          revocations: revocations + 1,
        })),
      );
      if (!isRevoked) continue;
      this.revocations++;
      // The next call relies on a grant that is no more, in whatever state its hall is.
      await Promise.all(this.#team.halls.map(({ url }) => this.#mustNotRun(url)));
    }
  }

  async #attempt(change: () => Promise<unknown>): Promise<boolean> {
    try {
      await change();
      return true;
    } catch {
      // The database was away; nothing was promised.
      return false;
    }
  }

  async #mustNotRun(url: string): Promise<void> {
    const id = `revoked-${this.#nextId()}`;
    const params = { name: "work__change", arguments: { id } };
    const answer = await this.#send(id, () => ask(url, "tools/call", params));
    const given = answer ? said(answer) : {};
    if (given.name === "change" || this.#team.done().includes(`change ${id}`))
      this.broken.push(`ran after its grant was revoked: ${id}`);
  }

  /** A grant that was confirmed counts in every hall: the call runs, or is refused because the hall cannot know. */
  async #mustNotAsk(url: string): Promise<void> {
    const id = `granted-${this.#nextId()}`;
    const params = { name: "work__change", arguments: { id } };
    const answer = await this.#send(id, () => ask(url, "tools/call", params));
    const { result } = answer?.body ?? {};
    if (isObject(result) && result.resultType === "input_required")
      this.broken.push(`asked although it was granted: ${id}`);
    if (this.#check(answer, id).name === "change") this.acknowledged.push(id);
  }

  /** A service registers and goes, through any hall. While nothing fails, every hall has heard when it is answered. */
  async #register(token: string): Promise<void> {
    await using service = await startService();
    const headers = { authorization: `Bearer ${token}` };
    const { url } = this.#team;
    while (!this.#isOver) {
      await sleep(500);
      const begun = this.#begun;
      const wasQuiet = this.#lasting === 0 && performance.now() - this.#endedAt > recoveryMs;
      const isQuiet = (): boolean => wasQuiet && this.#begun === begun;
      const isThere = await this.#attempt(async () => {
        const body = JSON.stringify({ ...weather, endpoint: service.url });
        const sent = { method: "POST", body, headers };
        const { ok } = await fetch(`${url}/api/toolkits`, {
          ...sent,
          headers: { ...headers, "content-type": "application/json" },
        });
        if (!ok) throw new Error("refused");
      });
      if (isThere) this.registrations++;
      for (const { place, answer } of isThere ? await this.#forecastAll() : [])
        if (isQuiet() && answer !== undefined && !service.places.has(place))
          this.broken.push(`registered, but not called: ${place} got ${answer}`);

      const isGone = await this.#attempt(async () => {
        const { ok } = await fetch(`${url}/api/toolkits/weather`, { method: "DELETE", headers });
        if (!ok) throw new Error("refused");
      });
      for (const { place } of isGone ? await this.#forecastAll() : [])
        if (isQuiet() && service.places.has(place))
          this.broken.push(`called after it was removed: ${place}`);
    }
  }

  /** Calls the service through each hall, with a place of its own. A connection that was cut has no answer. */
  #forecastAll(): Promise<readonly Forecast[]> {
    return Promise.all(
      this.#team.halls.map(async (hall) => {
        const place = `place-${this.#nextId()}`;
        const params = { name: "weather__forecast", arguments: { place } };
        const answer = await this.#send(place, () => ask(hall.url, "tools/call", params));
        return { place, answer: answer && JSON.stringify(answer.body) };
      }),
    );
  }

  #openLedger(): Ledger {
    const { project, home, storeUrl, storeKey } = this.#team;
    const local = openLedger(project, { folder: `${home}/person`, warn() {} });
    const store = { url: storeUrl, key: storeKey };
    const log = { warn() {}, info() {} };
    return shareLedger(local, { folder: project, config: { store }, log } as unknown as Settings);
  }
}

interface Forecast {
  readonly place: string;
  readonly answer: string | undefined;
}

/** A hall that was cut off or stopped is back in the team after this. */
const recoveryMs = 2_000;

/** Lets the call that asks run once. */
function approve({ inputRequests, requestState }: JsonObject): JsonObject {
  const [key = ""] = Object.keys(inputRequests as JsonObject);
  return {
    requestState,
    inputResponses: { [key]: { action: "accept", content: { decision: "once" } } },
  };
}

const weather = {
  name: "weather",
  description: "Forecasts",
  category: "DATA",
  version: "1.0.0",
  functions: [
    {
      name: "forecast",
      description: "The forecast for a place.",
      parameters: { type: "object", properties: { place: { type: "string" } } },
    },
  ],
};

/** Remembers the places that it was asked about. */
async function startService(): Promise<AsyncDisposable & { url: string; places: Set<string> }> {
  const places = new Set<string>();
  const server = createServer(async (request, response) => {
    const { id, params } = JSON.parse(await text(request));
    if (params?.arguments) places.add(params.arguments.place);
    const result = { status: "completed", data: { text: "rain" } };
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ jsonrpc: "2.0", id, result }));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    places,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}

const greeting = {
  jsonrpc: "2.0",
  id: 0,
  method: "initialize",
  params: {
    protocolVersion: "2025-11-25",
    capabilities: {},
    clientInfo: { name: "test", version: "1" },
  },
};

/** Clients of both eras call, ask and decide while halls and the database fail. */
export async function runChaos(
  team: Team,
  cluster: Cluster,
  options: ChaosOptions,
): Promise<ChaosReport> {
  const chaos = new Chaos(team, cluster, options);
  await chaos.run();
  const done = team.done();
  for (const line of new Set(done))
    if (done.indexOf(line) !== done.lastIndexOf(line)) chaos.broken.push(`done twice: ${line}`);
  for (const id of chaos.acknowledged)
    if (!done.includes(`change ${id}`)) chaos.broken.push(`answered but not done: ${id}`);
  return chaos;
}
