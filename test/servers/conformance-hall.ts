/**
 * A hall that listens and offers what the conformance suite asks for. As a script, with Node 24:
 * `conformance-hall.ts [port]`.
 */
import { realpathSync } from "node:fs";
import { createLog } from "../../src/base/log.ts";
import { version } from "../../src/base/version.ts";
import { createHall } from "../../src/hall/hall.ts";
import { listenHttp } from "../../src/server/http/listener.ts";
import { createConformanceToolkit } from "./conformance.ts";

export interface ConformanceHall {
  /** Where MCP is spoken. */
  readonly url: string;
  close(): Promise<void>;
}

/** Streams of long calls are ended early, so that the suite sees a client come back for its answer. */
const streams = { streamAfterMs: 200, pollAfterMs: 900 };

/** Port 0 takes any free one. */
export async function startConformanceHall(port = 0): Promise<ConformanceHall> {
  const log = createLog({ level: "warn" });
  const hall = await createHall({ toolkits: [createConformanceToolkit()], log });
  const listener = await listenHttp({
    server: hall.server,
    log,
    version,
    host: "127.0.0.1",
    port,
    token: "conformance-token",
    ...streams,
  });
  return {
    url: `${listener.url}/mcp`,
    async close() {
      await listener.close();
      await hall.close();
    },
  };
}

if (process.argv[1] !== undefined && realpathSync(process.argv[1]) === import.meta.filename) {
  const { url } = await startConformanceHall(Number(process.argv[2] ?? 0));
  console.log(url);
}
