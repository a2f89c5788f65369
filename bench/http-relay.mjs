import { ratioRow } from "./figures.mjs";
import { measureHttp, openCalls } from "./http.mjs";
import { openHttp } from "./http-client.mjs";
import { startListener } from "./listeners.mjs";

/**
 * An HTTP client, a hall and an HTTP upstream, each of either era, beside a process that passes
 * requests without a look at them.
 */
export default { name: "http-relay", run };

const connections = 20;
/** The program under test, and the era of the client and of the upstream. */
const lines = {
  "modern bare": ["bare-http-relay", "modern", "modern"],
  "modern to modern": ["http-relay-hall", "modern", "modern"],
  "modern to legacy": ["http-relay-hall", "modern", "legacy"],
  "legacy bare": ["bare-http-relay", "legacy", "legacy"],
  "legacy to legacy": ["http-relay-hall", "legacy", "legacy"],
  "legacy to modern": ["http-relay-hall", "legacy", "modern"],
};

async function run({ rounds = 3 } = {}) {
  const figures = Object.fromEntries(
    Object.keys(lines).map((name) => [name, { p50: [], perSecond: [] }]),
  );
  for (let round = 0; round < rounds; round++) {
    const open = {};
    for (const [name, line] of Object.entries(lines)) open[name] = await openRelay(...line);
    await measureHttp(open, figures);
    for (const { stop } of Object.values(open)) await stop();
  }
  return ["modern", "legacy"].flatMap((era) => {
    const other = era === "modern" ? "legacy" : "modern";
    const [bare, same, cross] = [
      figures[`${era} bare`],
      figures[`${era} to ${era}`],
      figures[`${era} to ${other}`],
    ];
    return [
      ratioRow(
        `${era} calls/s on ${connections} connections, hall ÷ bare relay`,
        same.perSecond,
        bare.perSecond,
        "calls/s",
        { atLeast: 0.6 },
      ),
      ratioRow(`${era} p50, hall ÷ bare relay`, same.p50, bare.p50, "µs"),
      ratioRow(
        `${era} client, calls/s, ${other} upstream ÷ ${era} upstream`,
        cross.perSecond,
        same.perSecond,
        "calls/s",
        { atLeast: 0.85 },
      ),
      ratioRow(
        `${era} client, p50, ${other} upstream ÷ ${era} upstream`,
        cross.p50,
        same.p50,
        "µs",
        { below: 1.15 },
      ),
    ];
  });
}

async function openRelay(front, clientEra, upstreamEra) {
  const upstream = await startListener("upstream-http", { words: [upstreamEra] });
  const relay = await startListener(front, {
    words: [String(upstream.port)],
    isBundled: front === "http-relay-hall",
  });
  const http = await openHttp(relay.port, connections);
  return {
    http,
    calls: await openCalls(http, clientEra),
    async stop() {
      http.close();
      await relay.stop();
      await upstream.stop();
    },
  };
}
