import { Worker } from "node:worker_threads";
import { type ErrorCode, HallError } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { findWorker } from "../base/worker.ts";
import { type PackedValue, packCall } from "./call-row.ts";
import type { FromWriter, Place, Read, ToWriter, Write, WriterOptions } from "./protocol.ts";
import type { CallRow } from "./store.ts";

/**
 * The hall's end of the writer: gathers rows into batches, so that one of many calls costs its thread microseconds, and
 * keeps each until the writer has confirmed it. The thread starts with the first row and keeps no process alive.
 */
export interface WriterThread {
  add(row: CallRow): void;
  /** Resolves when it is durable. */
  write(write: Write): Promise<void>;
  /** Sees everything added before. */
  read<T>(read: Read): Promise<T>;
  flush(): Promise<void>;
  readonly isFull: boolean;
  onFull(listener: (isFull: boolean) => void): () => void;
  state(): {
    readonly problem: string | undefined;
    readonly waiting: number;
    readonly lost: number;
  };
  close(): Promise<void>;
}

export interface ThreadOptions extends WriterOptions {
  readonly log: Pick<Log, "warn" | "error">;
  /** What the place is called in the log: a path, or an address without its password. */
  readonly name: string;
  /** The built worker. Default: beside this module, or beside the bundle it is in. */
  readonly worker?: URL | undefined;
  /** Rows that may wait before nothing new should be read. Default 16,384. */
  readonly fullAt?: number | undefined;
}

interface Batch {
  readonly number: number;
  readonly values: PackedValue[];
  rows: number;
  characters: number;
}

interface Asked {
  readonly message: Extract<ToWriter, { kind: "write" | "read" }>;
  resolve(value: unknown): void;
  reject(error: Error): void;
}

const batchRows = 256;
/** Rows nobody waits for are gathered this long: waking the writer for every call costs the calls more than the rows. */
const batchMs = 25;
/** Batches the writer has at once: what it cannot write waits here, not there and here. */
const postedMax = 32;
/** While the writer fails, calls go on and rows wait up to this; past it they are counted as lost. */
const heldTimes = 4;
const charactersFull = 32 * 1024 * 1024;
const durableMsMax = 2_000;
const closeMsMax = 10_000;
const restartMs = 1_000;
const writerEnded = "the writer ended";

export function createWriterThread({
  place,
  name,
  retention,
  isReader = false,
  log,
  worker: file = findWorker("store-worker", new URL("./store-worker.ts", import.meta.url)),
  fullAt = 16_384,
}: ThreadOptions): WriterThread {
  const sealed: Batch[] = [];
  const posted: Batch[] = [];
  const asked = new Map<number, Asked>();
  const listeners = new Set<(isFull: boolean) => void>();
  let filling: Batch = createBatch(1);
  let sealTimer: NodeJS.Timeout | undefined;
  let worker: Worker | undefined;
  let restartTimer: NodeJS.Timeout | undefined;
  let rows = 0;
  let characters = 0;
  let lost = 0;
  let lastId = 0;
  let problem: string | undefined;
  let isPressed = false;
  let isClosing = false;
  let closing: Promise<void> | undefined;
  let closed = (): void => {};
  const waitingForPosted: (() => void)[] = [];

  const hint = hintFor(place);

  const isFull = (): boolean => isPressed && problem === undefined;

  function add(row: CallRow): void {
    if (
      problem !== undefined &&
      (rows >= fullAt * heldTimes || characters >= charactersFull * heldTimes)
    ) {
      lost++;
      return;
    }
    const { kept } = row;
    const size =
      row.arguments.length + (kept ? kept.arguments.length + (kept.result?.length ?? 0) : 0);
    packCall(row, filling.values);
    filling.rows++;
    filling.characters += size;
    rows++;
    characters += size;
    if (filling.rows >= batchRows) seal();
    else sealTimer ??= setTimeout(seal, batchMs).unref();
    if (!isPressed && (rows >= fullAt || characters >= charactersFull)) press(true);
  }

  function seal(): void {
    clearTimeout(sealTimer);
    sealTimer = undefined;
    if (filling.rows > 0) {
      sealed.push(filling);
      filling = createBatch(filling.number + 1);
    }
    pump();
  }

  function pump(countMax = postedMax): void {
    while (sealed.length > 0 && posted.length < countMax) {
      const batch = sealed.shift() as Batch;
      posted.push(batch);
      post({ kind: "calls", batch: batch.number, values: batch.values });
    }
    if (sealed.length === 0) for (const resolve of waitingForPosted.splice(0)) resolve();
  }

  function post(message: ToWriter): void {
    // A thread that is being started again takes everything unconfirmed at once.
    if (worker) worker.postMessage(message);
    else if (!restartTimer) start();
  }

  /** Hands over everything that is not confirmed: what was on its way to a writer that ended is on its way again. */
  function start(): void {
    restartTimer = undefined;
    const started = new Worker(file, {
      workerData: { place, retention, isReader } satisfies WriterOptions,
      env: {},
      execArgv: [],
      stdout: true,
      stderr: true,
    });
    worker = started;
    started.stdout.resume();
    started.stderr.resume();
    started.on("message", hear);
    started.on("error", (err) => log.error({ err }, "the store's writer failed"));
    started.on("exit", () => ended(started));
    for (const { number, values } of posted)
      started.postMessage({ kind: "calls", batch: number, values } satisfies ToWriter);
    for (const { message } of asked.values()) started.postMessage(message);
    hold();
  }

  function ended(which: Worker): void {
    if (worker !== which) return;
    worker = undefined;
    if (isClosing) {
      closed();
      return;
    }
    setProblem(writerEnded);
    restartTimer = setTimeout(start, restartMs);
    if (asked.size === 0) restartTimer.unref();
  }

  /** Whoever waits for an answer keeps the process alive; rows do not. */
  function hold(): void {
    if (asked.size > 0 || isClosing) worker?.ref();
    else worker?.unref();
  }

  function hear(message: FromWriter): void {
    switch (message.kind) {
      case "kept":
        if (problem === writerEnded) setProblem(undefined);
        confirm(message.batch);
        return;
      case "answer":
        settle(message.id)?.resolve(message.value);
        return;
      case "refused":
        settle(message.id)?.reject(refusal(message.code, message.message, hint));
        return;
      case "problem":
        setProblem(message.message ?? undefined);
        return;
      case "notice":
        log.error({ store: name }, message.message);
        return;
      case "closed":
        closed();
    }
  }

  function confirm(number: number): void {
    while (posted[0] && posted[0].number <= number) {
      const batch = posted.shift() as Batch;
      rows -= batch.rows;
      characters -= batch.characters;
    }
    pump();
    if (isPressed && rows <= fullAt / 2 && characters <= charactersFull / 2) press(false);
  }

  function settle(id: number): Asked | undefined {
    const found = asked.get(id);
    asked.delete(id);
    hold();
    return found;
  }

  function press(isNow: boolean): void {
    const before = isFull();
    isPressed = isNow;
    if (isFull() !== before) for (const listener of listeners) listener(isFull());
  }

  function setProblem(now: string | undefined): void {
    const [before, wasFull] = [problem, isFull()];
    problem = now;
    if (isFull() !== wasFull) for (const listener of listeners) listener(isFull());
    if (now !== undefined && before === undefined) {
      log.error(
        { store: name, problem: now },
        "the store cannot be written: calls go on, those that must be recorded first are refused",
      );
    }
    if (now === undefined && before !== undefined) recovered(before);
  }

  function recovered(reason: string): void {
    log.warn({ store: name, lost }, "the store can be written again");
    if (lost === 0) return;
    const entry = {
      kind: "gap",
      subject: "calls",
      caller: "guildhall",
      reason: `${lost} calls were not recorded: ${reason}`,
    };
    lost = 0;
    // Should it fail again, the log has said it.
    write({ what: "append", entry, at: Date.now() }).catch(() => {});
  }

  function ask<T>(message: Asked["message"]): Promise<T> {
    if (isClosing) return Promise.reject(refusal("UNAVAILABLE", "the store is closed", hint));
    return new Promise<T>((resolve, reject) => {
      asked.set(message.id, { message, resolve: resolve as (value: unknown) => void, reject });
      post(message);
      hold();
    });
  }

  function write(write: Write): Promise<void> {
    // What was added before is written before.
    seal();
    return ask({ kind: "write", id: ++lastId, write, giveUpAt: Date.now() + durableMsMax });
  }

  /** Everything added so far is with the writer; not while it fails, for that may take for ever. */
  async function handedOver(): Promise<void> {
    seal();
    if (sealed.length > 0 && problem === undefined)
      await new Promise<void>((resolve) => waitingForPosted.push(resolve));
  }

  async function close(): Promise<void> {
    clearTimeout(restartTimer);
    restartTimer = undefined;
    isClosing = true;
    if (!worker && rows === 0 && asked.size === 0) return;
    seal();
    pump(Number.POSITIVE_INFINITY);
    if (!worker) start();
    const done = new Promise<void>((resolve) => {
      closed = resolve;
    });
    const timer = setTimeout(closed, closeMsMax);
    post({ kind: "close" });
    hold();
    await done;
    clearTimeout(timer);
    for (const { reject } of asked.values())
      reject(refusal("UNAVAILABLE", "the store is closed", hint));
    asked.clear();
    const last = worker;
    worker = undefined;
    await last?.terminate();
    if (rows > 0)
      log.error(
        { store: name, rows, problem },
        "calls were not recorded: the store could not be written before the end",
      );
  }

  return {
    add,
    write,
    async read<T>(read: Read) {
      await handedOver();
      return ask<T>({ kind: "read", id: ++lastId, read });
    },
    async flush() {
      await handedOver();
      await write({ what: "flush" });
    },
    get isFull() {
      return isFull();
    },
    onFull(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    state: () => ({ problem, waiting: rows, lost }),
    close() {
      closing ??= close();
      return closing;
    },
  };
}

function createBatch(number: number): Batch {
  return { number, values: [], rows: 0, characters: 0 };
}

function refusal(code: ErrorCode, message: string, hint: string): HallError {
  return new HallError(code, message, { hint });
}

/** What whoever is refused can do about it. */
function hintFor(place: Place): string {
  const look = "See `guildhall status` for what is wrong with the store";
  return "url" in place
    ? `${look}; rows are written again by themselves once the database takes them.`
    : `${look}; free space or remove the lock.`;
}
