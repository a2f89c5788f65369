import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { row, short } from "./figures.mjs";
import { memoryOf } from "./listeners.mjs";
import { pathOf, processes } from "./processes.mjs";
import { childrenOf, createProject } from "./projects.mjs";
import { connect, hello, kinds } from "./soak-clients.mjs";

/**
 * One hall with good and bad servers and eight clients of four kinds, killed several times and then
 * left running: what is lost, doubled, crossed, left over, or grows. `--rounds` is the number of kills.
 */
export default { name: "soak", run };

const modes = ["healthy", "crashing", "hanging", "garbage", "slow", "changing"];
const clientsOfKind = 2;
const inFlight = 4;
const lifeMs = 10_000;
const lastLifeMs = 60_000;
/** In the last life a client leaves and comes back this often, and pings measure the delay of the hall. */
const visitMs = 7_000;
const pingEveryMs = 20;
/** The longest answer is that of a server that hangs. */
const timeoutMs = 3_000;
const answerMsMax = 20_000;

async function run({ rounds: kills = 5 } = {}) {
  const project = createProject({});
  const file = join(project.folder, "written.txt");
  const command = (mode) => ({
    command: process.execPath,
    args: [pathOf("servers/soak-server.mjs"), mode, file],
  });
  const servers = Object.fromEntries(modes.map((mode) => [mode, command(mode)]));
  const config = {
    expose: "tools",
    timeoutSeconds: timeoutMs / 1_000,
    mcpServers: servers,
  };
  writeFileSync(join(project.folder, "guildhall.json"), JSON.stringify(config));
  try {
    project.command("build", "--yes");
    project.command("trust", "healthy.write");
    const soak = new Soak(project);
    for (let life = 0; life < kills; life++) await soak.live(lifeMs, "kill");
    await soak.live(lastLifeMs, "stop");
    project.command("audit", "verify");
    return soak.rows(kills, compareWritten(project.folder, file, soak.confirmed));
  } finally {
    project.remove();
  }
}

class Soak {
  counts = { sent: 0, right: 0, failed: 0, cancelled: 0, withHall: 0, listed: 0, left: 0 };
  faults = { lost: 0, double: 0, crossed: 0, stray: 0, orphans: 0 };
  /** Nonces of writes whose clients were told that they succeeded. */
  confirmed = [];
  longestMs = 0;
  memory = [];
  /** Open files and threads of the hall. */
  handles = [];
  threads = [];
  pingMs = [];
  errorsLogged = 0;
  readyMs = [];
  #project;
  #nonce = 0;

  constructor(project) {
    this.#project = project;
  }

  /** Starts the hall, works with it, and ends it. */
  async live(ms, end) {
    const { folder, env } = this.#project;
    const startedAt = performance.now();
    const [cli] = processes.cli;
    const args = [cli, "serve", "--port", "0", "--json", "--log-level", "error"];
    const child = spawn(process.execPath, args, {
      cwd: folder,
      env,
      stdio: ["ignore", "pipe", "pipe"],
    });
    createInterface({ input: child.stderr }).on("line", (text) => {
      this.errorsLogged++;
      console.error(text);
    });
    const [line] = await once(createInterface({ input: child.stdout }), "line");
    this.readyMs.push(performance.now() - startedAt);
    const hall = { folder, env, port: Number(new URL(JSON.parse(line).url).port) };

    const clients = kinds.flatMap((kind) =>
      Array.from({ length: clientsOfKind }, () => new Client(kind, hall, this)),
    );
    const isOver = sleep(ms).then(() => {
      for (const client of clients) client.isEnding = true;
    });
    const isLast = end === "stop";
    const work = clients.map((client) => client.work(isLast ? visitMs : ms));
    if (isLast) await Promise.all([this.#watch(child.pid, ms), this.#ping(hall, ms)]);
    await isOver;
    const children = childrenOf(child.pid);
    if (isLast) await Promise.all(work);
    else for (const client of clients) client.hallEnds();
    const exited = once(child, "exit");
    child.kill(end === "stop" ? "SIGTERM" : "SIGKILL");
    await exited;
    await Promise.all(work);
    for (const client of clients) client.close();
    await this.#countOrphans(children);
  }

  async #watch(pid, ms) {
    const until = performance.now() + ms;
    await sleep(5_000);
    while (performance.now() < until - 1_000) {
      this.memory.push(memoryOf(pid));
      this.handles.push(readdirSync(`/proc/${pid}/fd`).length);
      this.threads.push(readdirSync(`/proc/${pid}/task`).length);
      await sleep(1_000);
    }
  }

  /** The delay of a ping over WebSocket, beside all other work. */
  async #ping(hall, ms) {
    const until = performance.now() + ms - 1_000;
    let answered = () => {};
    const line = await connect("WebSocket", hall, { heard: () => answered(), lost() {} });
    const ask = async (id, method, params = {}) => {
      const answer = new Promise((resolve) => {
        answered = resolve;
      });
      line.send({ jsonrpc: "2.0", id, method, params });
      await answer;
    };
    await ask(0, "initialize", hello);
    for (let id = 1; performance.now() < until; id++) {
      const startedAt = performance.now();
      await ask(id, "ping");
      this.pingMs.push(performance.now() - startedAt);
      await sleep(pingEveryMs);
    }
    line.close();
  }

  async #countOrphans(children) {
    const left = () => children.filter((pid) => existsSync(`/proc/${pid}`)).length;
    for (let tries = 0; tries < 50 && left() > 0; tries++) await sleep(100);
    this.faults.orphans += left();
  }

  nextCall() {
    const nonce = `n${++this.#nonce}`;
    const mode = modes[this.#nonce % modes.length];
    const tool = mode === "healthy" && this.#nonce % 2 === 0 ? "write" : "echo";
    return { nonce, params: { name: `${mode}.${tool}`, arguments: argumentsOf(nonce) }, tool };
  }

  rows(kills, { written, unrecorded, unwritten }) {
    const { sent, right, failed, cancelled, withHall, listed, left } = this.counts;
    const { lost, double, crossed, stray, orphans } = this.faults;
    const [first, last] = [this.memory.slice(0, 5), this.memory.slice(-5)].map(
      (values) => values.reduce((sum, mb) => sum + mb, 0) / values.length,
    );
    const pings = this.pingMs.toSorted((one, other) => one - other);
    const ping = (share) => pings[Math.floor((pings.length - 1) * share)];
    const range = (values) => `${Math.min(...values)} to ${Math.max(...values)}`;
    const none = { atMost: 0 };
    return [
      row("requests", sent, "", {}, `${short(right)} right, ${short(failed)} clear errors`),
      row("cancelled by clients", cancelled, "", {}, `${short(listed)} other requests were lists`),
      row("clients that left and came back", left, ""),
      row("ended with a killed hall", withHall, "", {}, `${kills} kills`),
      row("answers lost", lost, "", none),
      row("answers doubled", double, "", none),
      row("answers crossed", crossed, "", none),
      row("answers that nobody asked for", stray, "", none),
      row("destructive calls that ran without a record", unrecorded, "", none, `of ${written}`),
      row("destructive calls confirmed that did not run", unwritten, "", none),
      row("processes left after a kill or a stop", orphans, "", none),
      row("longest answer", this.longestMs, "ms", { below: answerMsMax }),
      row("ready again after a kill", Math.max(...this.readyMs), "ms", {}, "the longest"),
      row("memory at the end ÷ after 5 s", last / first, "×", { atMost: 1.5 }, `${short(last)} MB`),
      row("open files at the end", this.handles.at(-1), "", {}, range(this.handles)),
      row("threads at the end", this.threads.at(-1), "", {}, range(this.threads)),
      row("ping over WebSocket, median", ping(0.5), "ms"),
      row("ping over WebSocket, p99", ping(0.99), "ms", {}, `at most ${short(ping(1))} ms`),
      row("errors in the log", this.errorsLogged, "", none),
    ];
  }
}

/** One client: four requests at a time, each answer checked. */
class Client {
  isEnding = false;
  #kind;
  #hall;
  #soak;
  #line;
  #open = new Map();
  #lastId = 0;
  #isHallEnding = false;

  constructor(kind, hall, soak) {
    this.#kind = kind;
    this.#hall = hall;
    this.#soak = soak;
  }

  /** Calls until the hall ends or the time is over, and leaves after each visit. */
  async work(visitMs) {
    for (let visits = 0; !this.isEnding; visits++) {
      if (visits > 0) {
        this.#line.close();
        this.#soak.counts.left++;
      }
      await this.#visit(performance.now() + visitMs);
    }
  }

  async #visit(until) {
    const open = new Map();
    this.#open = open;
    this.#line = await connect(this.#kind, this.#hall, {
      heard: (message) => this.#heard(message, open),
      lost: () => this.#lost(),
    });
    await this.#request("initialize", hello, () => {});
    this.#line.send({ jsonrpc: "2.0", method: "notifications/initialized" });
    const loop = async () => {
      while (!this.isEnding && performance.now() < until) await this.#call();
    };
    await Promise.all(Array.from({ length: inFlight }, loop));
  }

  hallEnds() {
    this.#isHallEnding = true;
  }

  close() {
    this.#line.close();
  }

  async #call() {
    const { counts, faults, confirmed } = this.#soak;
    const { nonce, params, tool } = this.#soak.nextCall();
    counts.sent++;
    if (counts.sent % 20 === 0) {
      counts.listed++;
      await this.#request("tools/list", {}, ({ result }) => {
        if (!Array.isArray(result?.tools)) counts.failed++;
      });
    }
    const isCancelled = counts.sent % 33 === 0;
    const answered = this.#request("tools/call", params, ({ result, error }) => {
      const said = result?.structuredContent?.nonce;
      if (error || result?.isError) counts.failed++;
      else if (said !== nonce || result.content[0].text !== params.arguments.text) faults.crossed++;
      else {
        counts.right++;
        if (tool === "write") confirmed.push(nonce);
      }
    });
    if (isCancelled) this.#cancel();
    await answered;
  }

  /** Resolves when it is answered, cancelled, or its hall has ended. */
  #request(method, params, accept) {
    const id = ++this.#lastId;
    const startedAt = performance.now();
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.#soak.faults.lost++;
        resolve();
      }, answerMsMax);
      const end = () => {
        clearTimeout(timer);
        resolve();
      };
      const answer = (message) => {
        this.#soak.longestMs = Math.max(this.#soak.longestMs, performance.now() - startedAt);
        accept(message);
        end();
      };
      this.#open.set(id, { answer, end, state: "open" });
      this.#line.send({ jsonrpc: "2.0", id, method, params });
    });
  }

  /** Withdraws the last request. An answer that crosses it is allowed, once. */
  #cancel() {
    const request = this.#open.get(this.#lastId);
    if (request.state !== "open") return;
    request.state = "cancelled";
    this.#soak.counts.cancelled++;
    const params = { requestId: this.#lastId };
    this.#line.send({ jsonrpc: "2.0", method: "notifications/cancelled", params });
    request.end();
  }

  #heard({ id, method, ...message }, open) {
    if (method !== undefined || id === undefined) return;
    const request = open.get(id);
    if (!request) this.#soak.faults.stray++;
    else if (request.state === "answered") this.#soak.faults.double++;
    else if (request.state === "open") {
      request.state = "answered";
      request.answer(message);
    } else request.state = "answered";
  }

  /** The hall is gone, and its answers with it. Before that, it would be a fault: the request stays open. */
  #lost() {
    if (!this.#isHallEnding) return;
    this.isEnding = true;
    for (const request of this.#open.values())
      if (request.state === "open") {
        request.state = "gone";
        this.#soak.counts.withHall++;
        request.end();
      }
  }
}

/** Compares the calls that the server ran with the rows of the hall and the answers of the clients. */
function compareWritten(folder, file, confirmed) {
  const written = new Set(readFileSync(file, "utf8").split("\n").filter(Boolean));
  const { DatabaseSync } =
    process.getBuiltinModule("node:sqlite") ??
    createRequire(import.meta.url)("@photostructure/sqlite");
  const database = new DatabaseSync(join(folder, ".guildhall", "state.db"));
  const rows = database.prepare("SELECT digest FROM calls WHERE tool = 'healthy.write'").all();
  database.close();
  const recorded = new Set(rows.map(({ digest }) => digest));
  return {
    written: written.size,
    unrecorded: [...written].filter((nonce) => !recorded.has(digestOf(nonce))).length,
    unwritten: confirmed.filter((nonce) => !written.has(nonce)).length,
  };
}

/** As the hall computes it: the hash of the arguments with sorted keys. */
function digestOf(nonce) {
  return createHash("sha256")
    .update(JSON.stringify(argumentsOf(nonce)))
    .digest("base64url");
}

function argumentsOf(nonce) {
  return { nonce, text: "x".repeat(Number(nonce.slice(1)) % 50 === 0 ? 50_000 : 20) };
}
