// A process that writes until it is killed, or for some rounds, and says what was acknowledged: one line of JSON each.
import { writeSync } from "node:fs";
import { openAt } from "./open-at.ts";
import { callRow } from "./rows.ts";

const [place = "", worker = "", name = "", rounds = "Infinity"] = process.argv.slice(2);
const say = (what: string): void => void writeSync(1, `${what}\n`);
const store = openAt(place, new URL(worker), (message) => say(`! ${message}`));

/** Writes and acknowledges running calls, audit rows, documents, and all calls up to a flush. */
for (let i = 0; i < Number(rounds); i++) {
  const begun = `${name}-begun-${i}`;
  const added = Array.from({ length: 20 }, (_, index) => `${name}-added-${i}-${index}`);
  for (const id of added) store.calls.add(callRow({ id, at: Date.now() }));
  await Promise.all([
    store.calls.begin(callRow({ id: begun, outcome: "running" })).then(() => say(`call ${begun}`)),
    store.audit
      .append({ kind: "approved", subject: begun, caller: name, reason: "because" })
      .then(() => say(`audit ${begun}`)),
  ]);
  store.calls.add(callRow({ id: begun, outcome: "ok" }));
  if (i % 3 === 0) {
    await store.flush();
    for (const id of added) say(`call ${id}`);
  }
}
await store.close();
