// Writes until no more fits, and says what happened then.
import { setTimeout as sleep } from "node:timers/promises";
import type { HallError } from "../../src/base/errors.ts";
import { openStore } from "../../src/store/open-store.ts";
import { openDatabase } from "../../src/store/sqlite.ts";
import { callRow } from "./rows.ts";

const [path = "", worker = ""] = process.argv.slice(2);
const store = openStore(
  { path, worker: new URL(worker) },
  { log: { warn() {}, error() {} } as never },
);
const kept = { arguments: JSON.stringify({ text: "x".repeat(2_000) }), result: null };
for (let i = 0; i < 100_000 && store.state().problem === undefined; i++) {
  store.calls.add(callRow({ id: `call_${i}`, kept }));
  if (i % 20 === 0) await sleep(1);
}
const { problem } = store.state();
const refused = await store.calls.begin(callRow({ id: "call_begun" })).then(
  () => "nothing",
  (error: HallError) => error.code,
);
await store.close();
const database = await openDatabase(path);
console.log(
  JSON.stringify({
    problem,
    refused,
    check: database.prepare("PRAGMA quick_check").get()?.quick_check,
  }),
);
database.close();
