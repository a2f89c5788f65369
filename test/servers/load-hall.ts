import { setImmediate } from "node:timers/promises";
import { createLog } from "../../src/base/log.ts";
import { createHall } from "../../src/hall/hall.ts";
import { listenHttp } from "../../src/server/http/listener.ts";
import {
  createChangingToolkit,
  createEchoToolkit,
  createLibraryToolkit,
  createToolkit,
  text,
} from "./toolkits.ts";

/** What the process says in its first line. */
export interface LoadHallAddress {
  readonly port: number;
}

/**
 * A hall in a process of its own, for tests that fill it: `load.touch {times, uri}` says that often that a resource has
 * changed, `load.change` that the tools have, `load.collect` collects garbage and tells what is left.
 */
export async function runLoadHall(): Promise<void> {
  const [library, changing] = [createLibraryToolkit(), createChangingToolkit()];
  const load = createToolkit("load", {
    touch: {
      async run({ times, uri }) {
        for (let n = 0; n < Number(times); n++) {
          library.touch(String(uri));
          await setImmediate();
        }
        return text("touched");
      },
    },
    change: {
      run() {
        changing.setTools([`at_${Math.round(performance.now())}`]);
        return text("changed");
      },
    },
    collect: {
      run() {
        // The collection of last resort also gives the memory back, which newer Nodes otherwise put
        // off; 20 does it at once.
        for (let i = 0; i < 3; i++)
          collect?.({ type: "major", execution: "sync", flavor: "last-resort" });
        globalThis.gc?.();
        globalThis.gc?.();
        return text(JSON.stringify(process.memoryUsage()));
      },
    },
  });
  const log = createLog({ level: "warn" });
  const hall = await createHall({ toolkits: [createEchoToolkit(), library, changing, load], log });
  const { url } = await listenHttp({
    server: hall.server,
    log,
    version: "0.0.0-load",
    host: "127.0.0.1",
    port: 0,
    token: "a-token-for-load-tests",
  });
  console.log(JSON.stringify({ port: Number(new URL(url).port) } satisfies LoadHallAddress));
}

const collect = globalThis.gc as
  | ((options: { type: string; execution: string; flavor: string }) => void)
  | undefined;
