// Writes until no more fits, and says what happened then.
import { setTimeout as sleep } from "node:timers/promises";
import type { HallError } from "../../src/base/errors.ts";
import { openDatabase } from "../../src/store/sqlite.ts";
import { createWrittenStore } from "../../src/store/written-store.ts";
import { callRow } from "./rows.ts";

const [path = "", worker = ""] = process.argv.slice(2);
const store = createWrittenStore({
  location: { path },
  log: { warn() {}, error() {} } as never,
  worker: new URL(worker),
});
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
