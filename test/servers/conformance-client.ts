/**
 * What the conformance suite starts as the client under test, as `node FILE URL`; `conformance-client.test.ts` bundles it.
 * The suite starts all its clients at once, and is a single process: on a small machine it could not answer them. So they
 * take turns, and only whose turn it is loads the hall.
 */
import { mkdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";

const atOnceMax = 4;

const turn = await takeTurn(dirname(process.argv[1] ?? ""));
try {
  await (await import("./conformance-driver.ts")).drive();
} finally {
  await rm(turn, { recursive: true, force: true });
}

async function takeTurn(folder: string): Promise<string> {
  for (;;) {
    for (let place = 0; place < atOnceMax; place++) {
      const taken = join(folder, `turn-${place}`);
      const isMine = await mkdir(taken).then(
        () => true,
        () => false,
      );
      if (isMine) return taken;
    }
    await wait(100);
  }
}
