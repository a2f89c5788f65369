// A hall behind its HTTP listener with one upstream over HTTP, all stages on. Bundled before it
// runs: the listener is no export.

import { version } from "../../src/base/version.ts";
import { validateTree } from "../../src/config/assemble.ts";
import { createHall } from "../../src/hall/hall.ts";
import { listenHttp } from "../../src/server/http/listener.ts";
import { announce } from "./announce.mjs";

const { config } = await validateTree({
  mcpServers: {
    upstream: { type: "http", url: `http://127.0.0.1:${process.argv[2]}/mcp`, prefix: "" },
  },
});
const hall = await createHall({ toolkits: [], servers: config.mcpServers });
await hall.registry.pendingDiscovery();
const listener = await listenHttp({
  server: hall.server,
  log: hall.log,
  version,
  host: "127.0.0.1",
  port: 0,
  token: "a-token-of-the-bench",
});
announce(Number(new URL(listener.url).port));
