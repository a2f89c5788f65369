// Measures the store in a process of its own: `store-work TASK FILE COUNT` prints one line of JSON.
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { Meter, recordCalls } from "../../src/gateway/record.ts";
import { Archive } from "../../src/store/archive.ts";
import { packCalls } from "../../src/store/calls.ts";
import { openStore } from "../../src/store/open-store.ts";
import { Seal } from "../../src/store/seal.ts";
import { SqliteEngine } from "../../src/store/sqlite-engine.ts";
import { defaultRetention } from "../../src/store/store.ts";

const [task, path, count] = process.argv.slice(2);
const rows = Number(count);
const worker = new URL("../../../dist/store-worker.js", import.meta.url);
const log = { warn() {}, error: (...what) => console.error(...what) };
/** A file, or the URL of a database. */
const location = path.startsWith("postgres") ? { url: path } : { path };
const sealFolder = path.startsWith("postgres") ? undefined : join(dirname(path), "seals");
const open = () => openStore({ ...location, worker, sealFolder }, { log });

const tasks = { fill, cost, sustain, start, statistics, verify };
console.log(JSON.stringify(await tasks[task]()));

/** A file with this many calls over a month and forty tools, and as many rows of audit. */
async function fill() {
  const seal = new Seal({ folder: sealFolder, place: path, notify: console.error });
  const engine = new SqliteEngine({ path, isReader: false, seal, notify: console.error });
  const archive = new Archive({ engine, seal, writer: "bench", retention: defaultRetention });
  for (let done = 0; done < rows; done += 10_000) {
    const calls = Array.from({ length: 10_000 }, (_, at) => rowOf(done + at));
    const batch = [{ kind: "calls", batch: done, calls: packCalls(calls) }];
    for (let i = done; i < done + 10_000; i++) {
      const subject = `kit_${i % 7}.tool_${i % 40}`;
      const entry = { kind: "blocked", subject, caller: "bench 1", reason: "not trusted" };
      batch.push({ kind: "write", id: i, write: { what: "append", entry, at: Date.now() } });
    }
    await archive.commit(batch);
  }
  await archive.close();
  return {};
}

function rowOf(i) {
  const [id, toolkit] = [`call_${i.toString(36)}`, `kit_${i % 7}`];
  const [at, ms] = [
    Date.now() - 30 * 86_400_000 + Math.floor((i / rows) * 30 * 86_400_000),
    1 + ((i * 7919) % 1_000) / 3,
  ];
  const names = {
    parent: null,
    root: id,
    caller: "bench 1",
    connection: "connection_1",
    person: null,
    token: null,
    face: null,
    toolkit,
    tool: `${toolkit}.tool_${i % 40}`,
    planner: null,
  };
  return {
    id,
    at,
    ...names,
    arguments: '{"title":"It works","number":7}',
    outcome: "ok",
    code: null,
    ms,
    bytesIn: 31,
    bytesOut: 240,
  };
}

/** CPU time of the hall's thread for a call that is recorded, above one that is not. */
async function cost() {
  const store = open();
  await store.flush();
  const plain = await timeCalls((next) => next);
  const recorded = await timeCalls(recordCalls({ store, meter: new Meter() }));
  await store.close();
  return { plain, recorded };
}

async function timeCalls(stage) {
  const outcome = {
    content: [{ type: "text", text: "It works: issue 7 was created" }],
    structuredContent: { number: 7 },
  };
  const call = stage(async () => outcome);
  const target = { toolkit: { id: "kit" }, tool: { name: "tool" }, fullName: "kit.tool" };
  const started = threadMicroseconds();
  for (let i = 0; i < rows; i++) {
    await call(
      {
        id: `call_${i.toString(36)}`,
        name: "kit.tool",
        arguments: { title: "It works", number: 7 },
        caller: { connection: "connection_1", client: "bench 1" },
        target,
      },
      {},
    );
    // As calls come from outside: some, then a look at what else there is.
    if (i % 32 === 0) await turn();
  }
  return (threadMicroseconds() - started) / rows;
}

/** Of the first thread alone, as Linux counts it. */
function threadMicroseconds() {
  return (
    Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, "utf8").split(" ")[0]) / 1_000
  );
}

/** A flush that takes more than 2 s fails, and its rows are written nevertheless. */
async function flushed(store) {
  let isDone = false;
  while (!isDone) {
    isDone = await store.flush().then(
      () => true,
      () => false,
    );
  }
}

/** As many as the writer takes: nothing is added while it is full. */
async function sustain() {
  const store = open();
  await flushed(store);
  const started = performance.now();
  for (let i = 0; i < rows; i++) {
    store.calls.add({ ...rowOf(i), at: Date.now() });
    if (i % 64 === 0) await turn();
    if (store.isFull) await drained(store);
  }
  await flushed(store);
  const seconds = (performance.now() - started) / 1_000;
  await store.close();
  return { perSecond: rows / seconds };
}

function drained(store) {
  return new Promise((resolve) => {
    const leave = store.onFull((isFull) => {
      if (isFull) return;
      leave();
      resolve();
    });
  });
}

/** From nothing to the first row on disk. */
async function start() {
  const started = performance.now();
  const store = open();
  await store.calls.begin(rowOf(1));
  const ms = performance.now() - started;
  await store.close();
  return { ms };
}

async function statistics() {
  const store = open();
  await store.calls.list({ limit: 1 });
  const started = performance.now();
  const { total } = await store.statistics();
  const ms = performance.now() - started;
  await store.close();
  return { ms, calls: total.calls };
}

async function verify() {
  const store = open();
  await store.calls.list({ limit: 1 });
  const started = performance.now();
  const found = await store.audit.verify();
  const ms = performance.now() - started;
  await store.close();
  return { ms, ...found };
}
