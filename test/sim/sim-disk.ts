import { EventEmitter } from "node:events";
import fs from "node:fs";
import { createRequire } from "node:module";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { hashOf } from "../../src/base/json.ts";
import { Archive } from "../../src/store/archive.ts";
import type { StoreSettings } from "../../src/store/open-store.ts";
import type { FromWriter, ToWriter, WriterOptions } from "../../src/store/protocol.ts";
import { Seal } from "../../src/store/seal.ts";
import type { Engine, Sql } from "../../src/store/sql.ts";
import { type Database, openDatabase, SqliteSql } from "../../src/store/sqlite.ts";
import { SqliteEngine } from "../../src/store/sqlite-engine.ts";
import { Writer } from "../../src/store/writer.ts";
import type { Network } from "./line.ts";

export interface DiskWitness {
  note(text: string): void;
  /** The machine has failed in the middle of a write. */
  crashed(): void;
}

/**
 * A store on a disk with faults, or in a database that may be away. The hall's own writer runs on it in this thread, so
 * that the seed decides when each row becomes durable.
 */
export class SimDisk {
  readonly settings: StoreSettings;
  isFull = false;
  /** The database cannot be reached: it refuses, or says nothing. */
  away: "no" | "refuses" | "is silent" = "no";
  /** Called before the hall sends something to its writer. */
  sending: (() => void) | undefined;
  /** The next commit succeeds, and its answer is lost. */
  losesAnswer = false;
  /** The machine fails during the next commit: parts of it are on the disk. */
  tearsNext = false;
  readonly #folder: string;
  readonly #path: string;
  readonly #network: Network;
  readonly #witness: DiskWitness;
  #worker: SimWorker | undefined;
  #observer: Observer | undefined;
  #torn: Files | undefined;
  /** Operations that a silent database has not answered. */
  readonly #waiting: (() => void)[] = [];
  #lives = 0;

  constructor(network: Network, witness: DiskWitness, kind: "file" | "database") {
    this.#network = network;
    this.#witness = witness;
    this.#folder = fs.mkdtempSync(join(memoryFolder(), "guildhall-sim-"));
    this.#path = join(this.#folder, ".guildhall", "state.db");
    const location = kind === "file" ? { path: this.#path } : { url: "postgres://sim@127.0.0.1/s" };
    this.settings = { ...location, sealFolder: join(this.#folder, "seal") };
  }

  /** The writer threads of the hall that starts now run here. */
  install(): void {
    const open = (options: WriterOptions): SimWorker => {
      const worker = new SimWorker(this.#network, {
        open: (notify) => this.#open(options, notify),
        sending: () => this.sending?.(),
      });
      this.#worker = worker;
      return worker;
    };
    const Worker = class {
      constructor(_file: URL, { workerData }: { readonly workerData: WriterOptions }) {
        // biome-ignore lint/correctness/noConstructorReturn: stands for the class of Node
        return open(workerData);
      }
    };
    this.#network.time.replace(require("node:worker_threads"), { Worker });
  }

  /** The database can be reached again. */
  comeBack(): void {
    this.away = "no";
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  heal(): void {
    this.comeBack();
    this.isFull = false;
    this.losesAnswer = false;
    this.tearsNext = false;
  }

  /** The process ends in this step: the writer hears and says nothing more. */
  die(): void {
    this.#worker?.die();
  }

  /** Ends the writer as a crash does. The file stays as it is, or with some of the sectors of its last write. */
  async crash(): Promise<void> {
    const bytes = this.#torn ?? this.#snapshot();
    this.#torn = undefined;
    await this.#worker?.kill();
    this.#worker = undefined;
    this.#forgetObserver();
    // New files: a connection that is not closed completely still has the old ones.
    for (const suffix of suffixes) fs.rmSync(this.#path + suffix, { force: true });
    for (const [suffix, content] of Object.entries(bytes))
      fs.writeFileSync(this.#path + suffix, content, { mode: 0o600 });
  }

  remove(): void {
    this.#forgetObserver();
    fs.rmSync(this.#folder, { recursive: true, force: true });
  }

  /** Durable rows about a call with these arguments: the call itself, and the decision that let it run. */
  async findRows(args: unknown): Promise<{ readonly calls: number; readonly decisions: number }> {
    const hash = hashOf(args);
    const calls = await this.#count("calls WHERE digest = ?", hash);
    const decisions = await this.#count(
      "audit WHERE kind IN ('approved', 'destructive call') AND details LIKE ?",
      `%${hash}%`,
    );
    return { calls, decisions };
  }

  /** Rules that the tables must keep. */
  async findFaults(): Promise<readonly string[]> {
    const double = await this.#count("(SELECT id FROM calls GROUP BY id HAVING count(*) > 1)");
    const running = await this.#count("calls WHERE outcome = 'running'");
    return [
      ...(double > 0 ? [`${double} calls have two rows`] : []),
      ...(running > 0 ? [`${running} calls are recorded as running`] : []),
    ];
  }

  async #count(what: string, ...values: string[]): Promise<number> {
    this.#observer ??= await this.#observe();
    const [row] = await this.#observer.sql.query(`SELECT count(*) AS n FROM ${what}`, values);
    return Number(row?.n);
  }

  async #observe(): Promise<Observer> {
    const database = await openDatabase(this.#path);
    return { database, sql: new SqliteSql(database) };
  }

  #forgetObserver(): void {
    this.#observer?.database.close();
    this.#observer = undefined;
  }

  async #open(options: WriterOptions, notify: (message: string) => void): Promise<Archive> {
    const seal = new Seal({ ...options.seal, notify });
    const file = new SqliteEngine({
      path: this.#path,
      isReader: options.isReader,
      seal,
      notify,
    });
    const engine = new FaultyEngine(file, this.#network, {
      refuse: () => this.#refuse(),
      committing: (commit) => this.#commit(commit),
    });
    // A process that is not there: the next hall ends its calls.
    const writer = `${hostname()} 0 life ${++this.#lives}`;
    return new Archive({ engine, seal, writer, retention: options.retention });
  }

  /** Throws what an operation meets now. */
  async #refuse(): Promise<void> {
    const { time } = this.#network;
    while (this.away === "is silent")
      await new Promise<void>((resolve) => this.#waiting.push(time.resumes(resolve)));
    if (this.away === "refuses")
      throw Object.assign(new Error("connect ECONNREFUSED (simulated)"), { errno: -111 });
    if (this.isFull) throw Object.assign(new Error("database or disk is full"), { errcode: 13 });
  }

  /** Runs a commit, unless it is the one during which the machine fails. */
  async #commit(commit: () => Promise<void>): Promise<"answered" | "lost"> {
    if (!this.tearsNext) {
      await commit();
      const isLost = this.losesAnswer;
      this.losesAnswer = false;
      return isLost ? "lost" : "answered";
    }
    const before = this.#snapshot();
    await commit();
    this.tearsNext = false;
    this.#torn = this.#tear(before, this.#snapshot());
    // Not in the writer's thread: nothing that begins there outlives it.
    this.#network.time.afterIn(undefined, 0, () => this.#witness.crashed());
    return new Promise(() => {});
  }

  /**
   * Some of the sectors that the last write has changed are as before: disks write them in any order. Not after a
   * checkpoint: the log was safe on the disk before the file itself changed.
   */
  #tear(before: Files, after: Files): Files {
    const { random } = this.#network;
    if (!before[""]?.equals(after[""] ?? empty)) return after;
    const [old, written] = [before["-wal"] ?? empty, after["-wal"] ?? empty];
    const length = random.isTrue(0.5) ? written.length : old.length + random.below(written.length);
    const torn = Buffer.from(written.subarray(0, Math.max(old.length, length)));
    for (let at = 0; at < torn.length; at += sectorBytes) {
      const end = Math.min(at + sectorBytes, torn.length);
      if (random.isTrue(0.3)) torn.fill(0, at, end).set(old.subarray(at, end), at);
    }
    this.#witness.note(`a write of ${written.length - old.length} bytes is torn`);
    return { ...after, "-wal": torn };
  }

  #snapshot(): Files {
    const files: Record<string, Buffer> = {};
    for (const suffix of ["", "-wal"])
      if (fs.existsSync(this.#path + suffix)) files[suffix] = fs.readFileSync(this.#path + suffix);
    return files;
  }
}

interface Observer {
  readonly database: Database;
  readonly sql: SqliteSql;
}

type Files = Readonly<Record<string, Buffer>>;

const require = createRequire(import.meta.url);
const suffixes = ["", "-wal", "-shm"];
const sectorBytes = 512;
const empty = Buffer.alloc(0);

/** Files that only a test reads need no disk. */
function memoryFolder(): string {
  return fs.existsSync("/dev/shm") ? "/dev/shm" : tmpdir();
}

interface Faults {
  refuse(): Promise<void>;
  committing(commit: () => Promise<void>): Promise<"answered" | "lost">;
}

/** An engine that is slow, fails, and may lose the answer to a commit. */
class FaultyEngine implements Engine {
  readonly #engine: Engine;
  readonly #network: Network;
  readonly #faults: Faults;
  #isDead = false;
  /** Of a commit whose answer was lost. */
  #unknown: (() => void) | undefined;

  constructor(engine: Engine, network: Network, faults: Faults) {
    this.#engine = engine;
    this.#network = network;
    this.#faults = faults;
  }

  async write<T>(work: (sql: Sql) => Promise<T>, onCommitted?: (result: T) => void): Promise<T> {
    await this.#begin();
    this.#unknown?.();
    this.#unknown = undefined;
    let result: { readonly value: T } | undefined;
    const answer = await this.#faults.committing(async () => {
      result = { value: await this.#engine.write(work) };
    });
    const { value } = result as unknown as { readonly value: T };
    if (answer === "lost") {
      this.#unknown = () => onCommitted?.(value);
      throw Object.assign(new Error("the connection was lost (simulated)"), { errno: -104 });
    }
    onCommitted?.(value);
    return value;
  }

  async read<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
    await this.#begin();
    return this.#engine.read(work);
  }

  findExcess(sql: Sql, bytesMax: number): Promise<number | undefined> {
    return this.#engine.findExcess(sql, bytesMax);
  }

  startAnew(): Promise<void> {
    return this.#engine.startAnew();
  }

  cleanUp(now: number): Promise<void> {
    return this.#engine.cleanUp(now);
  }

  isRowError(error: unknown): boolean {
    return this.#engine.isRowError(error);
  }

  close(): Promise<void> {
    this.#isDead = true;
    return this.#engine.close();
  }

  /** Never resolves for a writer that has ended. */
  async #begin(): Promise<void> {
    await this.#network.time.wait(this.#network.random.below(20));
    await this.#faults.refuse();
    if (this.#isDead) await new Promise(() => {});
  }
}

/** Stands for the thread of the writer. Messages are copied, and arrive in order. */
class SimWorker extends EventEmitter {
  readonly stdout = { resume: (): void => {} };
  readonly stderr = { resume: (): void => {} };
  readonly #network: Network;
  #archive: Promise<Archive> | undefined;
  readonly #writer: Promise<Writer>;
  #isDead = false;
  #arrivesAt = 0;

  readonly #sending: () => void;

  constructor(
    network: Network,
    {
      open,
      sending,
    }: { open(notify: (message: string) => void): Promise<Archive>; sending(): void },
  ) {
    super();
    this.#network = network;
    this.#sending = sending;
    this.#writer = new Promise((resolve) => {
      network.time.afterIn(this, 0, () => {
        this.#archive = open((message) => this.#send({ kind: "notice", message }));
        resolve(this.#archive.then((archive) => new Writer(archive, (sent) => this.#send(sent))));
      });
    });
  }

  postMessage(message: ToWriter): void {
    this.#sending();
    const copy = structuredClone(message);
    this.#later(this, () => void this.#writer.then((writer) => writer.receive(copy)));
  }

  ref(): void {}
  unref(): void {}

  async terminate(): Promise<number> {
    await this.kill();
    this.emit("exit", 1);
    return 1;
  }

  /** Nothing of it is heard any more. */
  die(): void {
    this.#isDead = true;
    this.#network.time.endThread(this);
  }

  async kill(): Promise<void> {
    this.die();
    await (await this.#archive)?.close();
  }

  #send(message: FromWriter): void {
    const copy = structuredClone(message);
    this.#later(undefined, () => {
      this.emit("message", copy);
      if (copy.kind === "closed") this.emit("exit", 0);
    });
  }

  #later(thread: object | undefined, run: () => void): void {
    const { time, random } = this.#network;
    this.#arrivesAt = Math.max(this.#arrivesAt + 0.001, time.now + random.below(2));
    time.afterIn(thread, this.#arrivesAt - time.now, () => {
      if (!this.#isDead) run();
    });
  }
}
