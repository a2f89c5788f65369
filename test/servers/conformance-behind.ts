/** The conformance fixtures on a server behind a hall, without a prefix: whatever differs from the fixtures themselves is the hall's doing. */
import { createServer, type Server as HttpServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { createLog } from "../../src/base/log.ts";
import { version } from "../../src/base/version.ts";
import { createHall } from "../../src/hall/hall.ts";
import { listenHttp } from "../../src/server/http/listener.ts";
import { type ConformanceHall, startConformanceHall } from "./conformance-hall.ts";
import { until } from "./until.ts";

export async function startConformanceBehind(era: "legacy" | "modern"): Promise<ConformanceHall> {
  const fixture = await startConformanceHall();
  const old = era === "legacy" ? await startOldServer(new URL(fixture.url)) : undefined;
  const url = old ? `http://127.0.0.1:${(old.address() as AddressInfo).port}/mcp` : fixture.url;
  const log = createLog({ level: "silent" });
  const common = {
    start: "lazy",
    idleTimeoutSeconds: 0,
    disabled: false,
    allowPrivate: false,
    tools: { include: ["*"], exclude: [] },
  } as const;
  const hall = await createHall({
    toolkits: [],
    log,
    servers: { fixture: { type: "http", url, headers: {}, prefix: "", ...common } },
  });
  const [upstream] = hall.fleet.all();
  await until(() => hall.registry.tools().length > 0, "the tools of the fixture are listed");
  if (upstream?.handshake()?.era !== era)
    throw new Error(`the fixture was spoken to in the wrong era: ${upstream?.handshake()?.era}`);
  const listener = await listenHttp({
    server: hall.server,
    log,
    version,
    host: "127.0.0.1",
    port: 0,
    token: "conformance-token",
    streamAfterMs: 200,
    pollAfterMs: 900,
  });
  return {
    url: `${listener.url}/mcp`,
    async close() {
      await listener.close();
      await hall.close();
      old?.closeAllConnections();
      old?.close();
      await fixture.close();
    },
  };
}

/** What is in front of the fixture here does what servers of 2025 do: it has never heard of 2026. */
async function startOldServer(target: URL): Promise<HttpServer> {
  const server = createServer((incoming, outgoing) => {
    if (incoming.headers["mcp-protocol-version"] === "2026-07-28") {
      outgoing
        .writeHead(400, { "content-type": "text/plain" })
        .end("Bad Request: unsupported protocol version");
      return;
    }
    const { method, url: path, headers } = incoming;
    const passed = request(
      {
        host: target.hostname,
        port: target.port,
        method,
        path,
        headers: { ...headers, host: target.host },
      },
      (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(outgoing);
      },
    );
    passed.on("error", () => outgoing.destroy());
    outgoing.on("close", () => passed.destroy());
    incoming.pipe(passed);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return server;
}
