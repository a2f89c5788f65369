import { createHall, createMemoryPair } from "../dist/index.js";
import { p99Row, row, short } from "./figures.mjs";
import { openClient } from "./http.mjs";
import { echoCall, start } from "./processes.mjs";
import {
  createEchoToolkit,
  createEchoTools,
  echoArguments,
  echoTool,
} from "./servers/echo-tool.mjs";

/** The targets row by row. These are times, not ratios: what is promised is absolute. */
export default { name: "slo", run };

const manyTools = 1_000;

async function run() {
  return [
    ...(await measureRegistry()),
    ...(await measureStdio()),
    ...(await measureHttp()),
    await measureValidation(),
  ];
}

async function measureRegistry() {
  const nameOf = (i) => `added_${i}`;
  // With the first lookup, so that work put off until then counts too.
  const add = (hall, i) =>
    timeAsync(async () => {
      await hall.registry.add(
        createEchoToolkit({ id: nameOf(i), tools: [{ ...echoTool, name: nameOf(i) }] }),
      );
      hall.registry.getTool(nameOf(i));
    });

  const alone = await repeat(500, async (i) => {
    const hall = await createHall({ toolkits: [] });
    const ms = await add(hall, i);
    await hall.close();
    return ms;
  });

  const hall = await createHall({
    toolkits: [createEchoToolkit({ tools: createEchoTools(manyTools) })],
  });
  const listed = await repeat(5_000, () => time(() => hall.registry.tools()));
  const found = await repeat(5_000, (i) =>
    time(() => hall.registry.getTool(`echo_${1 + (i % (manyTools - 1))}`)),
  );
  const crowded = await repeat(200, (i) => add(hall, i));
  if (hall.registry.tools().length !== manyTools + warmUps + 200)
    throw new Error("not every tool was registered");
  await hall.close();

  return [
    p99Row("registration until found, one tool, empty hall", alone, { below: 1 }),
    p99Row(`registration until found, one tool beside ${short(manyTools)}`, crowded, { below: 1 }),
    p99Row(`list of ${short(manyTools)} tools, in process`, listed, { below: 5 }),
    p99Row(`schema lookup among ${short(manyTools)} tools`, found, { below: 1 }),
  ];
}

async function measureStdio() {
  const many = start("hall", { args: [String(manyTools)] });
  await many.initialize();
  const list = () => ({
    method: "tools/list",
    params: {},
    accept: ({ tools }) => tools.length === manyTools && tools[0].inputSchema.type === "object",
  });
  await many.sequence(warmUps, list);
  const lists = await many.sequence(300, list);
  await many.stop();

  const one = start("hall");
  await one.initialize();
  await one.sequence(2_000, echoCall);
  const calls = await one.sequence(5_000, echoCall);
  await one.pipeline(10_000, 64, echoCall);
  const count = 20_000;
  const perSecond = (count / (await one.pipeline(count, 64, echoCall))) * 1_000;
  await one.stop();

  return [
    p99Row(`list of ${short(manyTools)} tools, over stdio`, lists, { below: 5 }),
    p99Row("stdio dispatch", calls, { below: 10 }),
    row(
      "stdio throughput",
      perSecond,
      "calls/s",
      { atLeast: 1_000 },
      `${short(count)} calls, 64 in flight`,
    ),
  ];
}

async function measureHttp() {
  const client = await openClient("hall");
  const { http, calls } = client;
  await http.flood(calls("modern", 5_000));
  const times = await http.sequence(calls("modern", 5_000));
  const count = 10_000;
  const perSecond = (count / (await http.flood(calls("modern", count)))) * 1_000;
  await client.stop();
  return [
    p99Row("HTTP dispatch", times, { below: 100 }, "modern POST of 1 KB"),
    row(
      "HTTP throughput",
      perSecond,
      "calls/s",
      { atLeast: 100 },
      `${short(count)} calls on 20 connections`,
    ),
  ];
}

/**
 * A whole warm call through the gateway, validation included: an upper bound. Made from inside a
 * tool, which has the context a call needs.
 */
async function measureValidation() {
  let measure;
  const outer = { name: "outer", inputSchema: { type: "object" } };
  const hall = await createHall({
    toolkits: [
      createEchoToolkit(),
      createEchoToolkit({ id: "outer", tools: [outer], run: (_args, context) => measure(context) }),
    ],
  });
  const caller = { connection: "bench", client: "bench" };
  const times = await new Promise((resolve, reject) => {
    measure = async (context) => {
      const call = (i) =>
        hall.gateway.call(
          { id: `bench_${i}`, name: "echo", arguments: echoArguments(i), caller },
          context,
        );
      await repeat(20_000, (i) => timeAsync(() => call(i))).then(resolve, reject);
      return { content: [] };
    };
    const [ours, theirs] = createMemoryPair();
    hall.server.accept(theirs);
    const ignore = () => {};
    ours.start({ frame: ignore, oversize: ignore, drained: ignore, ended: ignore, closed: ignore });
    const clientInfo = { name: "bench", version: "1.0.0" };
    const messages = [
      {
        id: 1,
        method: "initialize",
        params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo },
      },
      { method: "notifications/initialized" },
      { id: 2, method: "tools/call", params: { name: "outer" } },
    ];
    for (const message of messages) ours.send(JSON.stringify({ jsonrpc: "2.0", ...message }));
  });
  await hall.close();
  return p99Row("validation", times, { below: 1 }, "the whole call in process, so an upper bound");
}

const warmUps = 100;

/** The results of `count` turns, after some that do not count. */
async function repeat(count, turn) {
  const results = [];
  for (let i = 0; i < warmUps + count; i++) {
    const result = await turn(i);
    if (i >= warmUps) results.push(result);
  }
  return results;
}

function time(work) {
  const began = performance.now();
  work();
  return performance.now() - began;
}

async function timeAsync(work) {
  const began = performance.now();
  await work();
  return performance.now() - began;
}
