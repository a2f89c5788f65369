import { setTimeout as sleep } from "node:timers/promises";
import { hashOf, isObject, type JsonObject } from "../../src/base/json.ts";
import type { Settings } from "../../src/hall/settings.ts";
import { shareLedger } from "../../src/hall/together/shared-ledger.ts";
import { grantTools, type Ledger, openLedger } from "../../src/trust/ledger.ts";
import type { Cluster } from "../store/cluster.ts";
import { createRandom, Faults } from "./faults.ts";
import { startService } from "./service.ts";
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
  /** In their order, which the seed decides. */
  readonly faults: readonly string[];
  readonly grants: number;
  readonly revocations: number;
  /** Calls whose question was answered, through whichever hall. */
  readonly questions: number;
  /** Calls that were approved by the answer to a question, through whichever hall. */
  readonly approvals: number;
  readonly registrations: number;
  /** The violated rule, in words. */
  readonly broken: readonly string[];
  /** Ids of changes that were answered as done. */
  readonly acknowledged: readonly string[];
}

/** A request that neither gets an answer nor is cut off within this time counts as lost. */
const answerMsMax = 60_000;

class Chaos {
  readonly broken: string[] = [];
  readonly acknowledged: string[] = [];
  readonly faults: readonly string[];
  requests = 0;
  answered = 0;
  cut = 0;
  grants = 0;
  revocations = 0;
  questions = 0;
  approvals = 0;
  registrations = 0;
  #isOver = false;
  #ids = 0;
  readonly #team: Team;
  readonly #options: ChaosOptions;
  readonly #faults: Faults;

  constructor(team: Team, cluster: Cluster, options: ChaosOptions) {
    this.#team = team;
    this.#options = options;
    this.#faults = new Faults(team, cluster);
    this.faults = this.#faults.names;
  }

  async run(): Promise<void> {
    const { clients, seconds, seed } = this.#options;
    // Each client has numbers of its own, so that the seed also repeats what it does.
    const running = Array.from({ length: clients }, (_, index) => {
      const random = createRandom(seed + index + 1);
      return index % 2 === 0 ? this.#modern(random) : this.#legacy(random);
    });
    const { stdout } = await this.#team.run(
      0,
      ...["token", "create", "chaos", "--scope", "register:weather", "--json"],
    );
    const services = this.#register(JSON.parse(stdout).token);
    const faults = this.#faults.run(this.#options);
    const decisions = this.#decide();
    await sleep(seconds * 1_000);
    // On a busy machine, a short run may have seen nothing but failures.
    while (!this.grants || !this.questions || !this.approvals || !this.registrations)
      await sleep(100);
    this.#isOver = true;
    this.#faults.end();
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
      if (answer.answered.length !== 1)
        this.broken.push(`${answer.answered.length} answers with ${answer.status}: ${what}`);
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

  async #modern(random: () => number): Promise<void> {
    const { url } = this.#team;
    const call = (name: string, id: string, more: JsonObject = {}) =>
      this.#send(`${name} ${id}`, () =>
        ask(url, "tools/call", { name: `work__${name}`, arguments: { id }, ...more }),
      );
    while (!this.#isOver) {
      const id = this.#nextId();
      const name = chooseTool(random());
      const first = await call(name, id);
      const asked = first?.body.result;
      const isAsked = isObject(asked) && isObject(asked.inputRequests);
      this.#judge(name, id, isAsked ? await call(name, id, answerAll(asked, id)) : first, isAsked);
      await sleep(5);
    }
  }

  async #legacy(random: () => number): Promise<void> {
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
      const name = chooseTool(random());
      const params = { name: `work__${name}`, arguments: { id } };
      const headers = session;
      const message = { jsonrpc: "2.0", id: Number(id), method: "tools/call", params };
      const ended = new AbortController();
      let isAsked = false;
      const onMessage = (given: JsonObject): void => {
        if (given.method !== "elicitation/create") return;
        isAsked = true;
        void this.#answerQuestion(given, id, headers, ended.signal);
      };
      const answer = await this.#send(`${name} ${id}`, () =>
        post(url, message, headers, { onMessage }),
      );
      ended.abort();
      const [answered = null] = answer?.answered ?? [];
      if (answered !== null && answered !== message.id)
        this.broken.push(`crossed: ${message.id} got the answer to ${answered}`);
      // Its hall has ended: the client begins again, as MCP wants.
      if (!answer || answer.status === 404) session = undefined;
      else this.#judge(name, id, answer, isAsked);
      await sleep(5);
    }
  }

  /** Sends the answer to a question of a legacy session until a hall has taken it, or the call has ended. */
  async #answerQuestion(
    { id, params }: JsonObject,
    call: string,
    headers: Readonly<Record<string, string>>,
    ended: AbortSignal,
  ): Promise<void> {
    const message = { jsonrpc: "2.0", id, result: answerTo(params, call) };
    while (!ended.aborted) {
      const taken = await post(this.#team.url, message, headers).catch(() => undefined);
      if (taken?.status === 202) return;
      await sleep(100);
    }
  }

  /** Checks that a tool's text belongs to this call and to the answer that this client gave. */
  #judge(name: string, id: string, answer: HttpAnswer | undefined, isAsked: boolean): void {
    const given = this.#check(answer, id);
    if (given.id === undefined) return;
    // A hall that has just started refuses a question if several calls of one server may have asked it.
    const wasAnswered = name === "ask" && (isAsked || given.word !== undefined);
    if (wasAnswered && given.word !== `w${id}`)
      this.broken.push(`crossed: ${id} was told ${given.word}`);
    if (wasAnswered) this.questions++;
    if (name === "change") this.acknowledged.push(id);
    if (name === "change" && isAsked) this.approvals++;
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
      const begun = this.faults.length;
      const wasQuiet = this.#faults.isQuietFor(recoveryMs);
      const isQuiet = (): boolean => wasQuiet && this.faults.length === begun;
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
        if (isQuiet() && answer !== undefined && !service.places.includes(place))
          this.broken.push(`registered, but not called: ${place} got ${answer}`);

      const isGone = await this.#attempt(async () => {
        const { ok } = await fetch(`${url}/api/toolkits/weather`, { method: "DELETE", headers });
        if (!ok) throw new Error("refused");
      });
      for (const { place } of isGone ? await this.#forecastAll() : [])
        if (isQuiet() && service.places.includes(place))
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

/** Half of the calls only read; the others ask, or need approval. */
function chooseTool(random: number): "read" | "ask" | "change" {
  if (random < 0.5) return "read";
  return random < 0.8 ? "ask" : "change";
}

/** Approves a call once, or tells a tool the word of its call. */
function answerTo(params: unknown, id: string): JsonObject {
  const isApproval = JSON.stringify(params).includes('"decision"');
  return { action: "accept", content: isApproval ? { decision: "once" } : { word: `w${id}` } };
}

function answerAll({ inputRequests, requestState }: JsonObject, id: string): JsonObject {
  const answers = Object.entries(inputRequests as JsonObject).map(([key, params]) => [
    key,
    answerTo(params, id),
  ]);
  return { requestState, inputResponses: Object.fromEntries(answers) };
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

const greeting = {
  jsonrpc: "2.0",
  id: 0,
  method: "initialize",
  params: {
    protocolVersion: "2025-11-25",
    capabilities: { elicitation: {} },
    clientInfo: { name: "test", version: "1" },
  },
};

/** Clients of both eras call, ask and decide while halls and the database fail. The team needs `fronts`. */
export async function runChaos(
  team: Team,
  cluster: Cluster,
  options: ChaosOptions,
): Promise<ChaosReport> {
  const chaos = new Chaos(team, cluster, options);
  await chaos.run();
  const done = new Set<string>();
  for (const line of team.done())
    if (done.has(line)) chaos.broken.push(`done twice: ${line}`);
    else done.add(line);
  for (const id of chaos.acknowledged)
    if (!done.has(`change ${id}`)) chaos.broken.push(`answered but not done: ${id}`);
  const verified = await team.run(0, "audit", "verify");
  if (verified.code !== 0 || verified.stderr !== "")
    chaos.broken.push(`the audit does not verify: ${verified.stderr}`);
  const { stdout } = await team.run(0, "audit", "--export", "jsonl", "--tool", "work.change");
  // Every change has its row, which was written before the call ran.
  for (const line of done)
    if (
      line.startsWith("change ") &&
      !stdout.includes(hashOf({ id: line.slice("change ".length) }))
    )
      chaos.broken.push(`done without a row: ${line}`);
  return chaos;
}
