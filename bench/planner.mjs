import { spawn } from "node:child_process";
import { once } from "node:events";
import { createHall, createMemoryPair } from "../dist/index.js";
import { median, percentile, row, short } from "./figures.mjs";
import { pathOf } from "./processes.mjs";

/** The cost of an agent's turn without the model's own time: prompt, provider, tool call, steps, trace. */
export default { name: "planner", run };

const turns = 8;
const silent = {
  level: "silent",
  child: () => silent,
  info() {},
  warn() {},
  error() {},
  debug() {},
};

async function run({ rounds = 40 } = {}) {
  const model = spawn(process.execPath, [pathOf("servers/model.mjs"), String(turns)], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const [line] = await once(model.stdout, "data");
  const url = `http://127.0.0.1:${JSON.parse(line.toString()).port}/v1`;
  try {
    return await measure(url, rounds);
  } finally {
    model.stdin.end();
  }
}

async function measure(url, rounds) {
  const hall = await createHall({
    log: silent,
    toolkits: [echo],
    agents: {
      files: [
        {
          name: "echo_agent",
          description: "Specialized agent for echoes.",
          tools: ["echo.*"],
          instructions: "Echo.",
        },
      ],
    },
    planner: { kind: "model", model: "openai-compatible/bench", baseUrl: url },
  });
  const ask = connect(hall);
  const first = await timed(() => ask());
  for (let i = 0; i < 10; i++) await ask();
  const ours = [];
  const bare = [];
  for (let i = 0; i < rounds; i++) {
    ours.push((await timed(() => ask())) / turns);
    bare.push(await timed(() => fetchTurn(url)));
  }
  await hall.close();
  const overhead = median(ours) - median(bare);
  const note = `p50 of ${rounds} runs of ${turns} turns; p95 ${short(percentile(ours, 0.95))} ms; a bare request ${short(median(bare))} ms of it`;
  return [
    row(
      "one turn of an agent, without the model's time, request included",
      median(ours),
      "ms",
      { below: 15 },
      note,
    ),
    row("the same, above a bare request of the same size", overhead, "ms", { below: 15 }),
    row("the first run of a hall, packages loaded for it", first, "ms", {}, `${turns} turns`),
  ];
}

async function timed(work) {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

const echo = {
  id: "echo",
  list: async () => [
    {
      name: "echo",
      description: "Gives back a text",
      inputSchema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
    },
  ],
  call: async (_tool, { text }) => ({ content: [{ type: "text", text }] }),
  health: async () => ({ state: "available" }),
  close: async () => {},
};

function connect(hall) {
  const [near, far] = createMemoryPair();
  hall.server.accept(far);
  const waiting = new Map();
  let id = 0;
  near.start({
    frame: (bytes) => {
      const message = JSON.parse(bytes.toString());
      waiting.get(message.id)?.(message);
    },
    oversize() {},
    drained() {},
    ended() {},
    closed() {},
  });
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": { name: "bench", version: "1" },
  };
  return async () => {
    const own = ++id;
    const answered = new Promise((resolve) => waiting.set(own, resolve));
    near.send(
      JSON.stringify({
        jsonrpc: "2.0",
        id: own,
        method: "tools/call",
        params: { name: "echo_agent", arguments: { task: "Echo hello" }, _meta },
      }),
    );
    const { result } = await answered;
    waiting.delete(own);
    const { stopped_because: stopped, steps } = result.structuredContent;
    if (stopped !== "done" || steps.length !== turns - 1)
      throw new Error(`the run ended with ${stopped} after ${steps.length} steps`);
  };
}

/** A request as long as the run's in the middle of it. */
async function fetchTurn(url) {
  const messages = [
    { role: "system", content: "x".repeat(1_500) },
    { role: "user", content: "Echo hello" },
    ...Array.from({ length: 4 }, () => ({ role: "tool", content: "x".repeat(80) })),
  ];
  const response = await fetch(`${url}/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "bench", messages, stream: true }),
  });
  await response.text();
}
