// A hall with the echo tool behind its HTTP listener, all stages on. Bundled before it runs: the listener is no export.

import { version } from "../../src/base/version.ts";
import { createHall } from "../../src/hall/hall.ts";
import { listenHttp } from "../../src/server/http/listener.ts";
import { announce } from "./announce.mjs";
import { createEchoToolkit } from "./echo-tool.mjs";

const hall = await createHall({ toolkits: [createEchoToolkit()] });
const listener = await listenHttp({
  server: hall.server,
  log: hall.log,
  version,
  host: "127.0.0.1",
  port: 0,
  token: "a-token-of-the-bench",
  open: process.argv[2] === "open",
});
announce(Number(new URL(listener.url).port));
