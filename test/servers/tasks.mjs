// A stdio server whose tool `work` runs as a task: `node tasks.mjs legacy` in the form of 2025-11-25, `modern` in that
// of 2026-07-28. With {"asks":true} the task asks for a name; {"ms":N} is how long it takes.
import { createInterface } from "node:readline";

const isModern = process.argv[2] === "modern";
const tasks = new Map();
const asked = new Map();
let lastTask = 0;
let cancelled = 0;
const send = (message) =>
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const say = (text) => ({ content: [{ type: "text", text }] });
const elicitation = {
  method: "elicitation/create",
  params: {
    message: "Name?",
    requestedSchema: { type: "object", properties: { name: { type: "string" } } },
  },
};

function describe({ id, status, result }) {
  const at = new Date().toISOString();
  const common = { taskId: id, status, createdAt: at, lastUpdatedAt: at };
  if (!isModern) return { ...common, ttl: 60_000, pollInterval: 30 };
  return {
    ...common,
    ttlMs: 60_000,
    pollIntervalMs: 30,
    ...(status === "completed" ? { result } : {}),
    ...(status === "input_required" ? { inputRequests: { name: elicitation } } : {}),
  };
}

async function run(task, { asks, ms = 50 }) {
  await new Promise((resolve) => setTimeout(resolve, ms));
  if (task.status === "cancelled") return;
  const answered = asks
    ? new Promise((resolve) => {
        task.answer = resolve;
      })
    : undefined;
  if (asks) task.status = "input_required";
  if (asks && !isModern) {
    asked.set(`q${task.id}`, task.answer);
    send({ id: `q${task.id}`, ...elicitation });
  }
  const name = (await answered)?.content?.name ?? "nobody";
  task.result = say(`done for ${name}`);
  task.status = "completed";
  task.done?.();
}

function start(args) {
  const task = { id: `task-${++lastTask}`, status: "working" };
  tasks.set(task.id, task);
  void run(task, args);
  return task;
}

const tools = [
  {
    name: "work",
    inputSchema: { type: "object" },
    annotations: { readOnlyHint: true },
    ...(isModern ? {} : { execution: { taskSupport: "required" } }),
  },
  { name: "cancelled", inputSchema: { type: "object" }, annotations: { readOnlyHint: true } },
];

const methods = {
  ...(isModern
    ? {
        "server/discover": () => ({
          supportedVersions: ["2026-07-28"],
          capabilities: { tools: {}, extensions: { "io.modelcontextprotocol/tasks": {} } },
        }),
        "tasks/update": ({ taskId, inputResponses }) => {
          tasks.get(taskId).status = "working";
          tasks.get(taskId).answer(inputResponses.name);
          return {};
        },
      }
    : {
        initialize: () => ({
          protocolVersion: "2025-11-25",
          capabilities: { tools: {}, tasks: { requests: { tools: { call: {} } }, cancel: {} } },
          serverInfo: { name: "tasks", version: "1" },
        }),
        "tasks/result": async ({ taskId }) => {
          const task = tasks.get(taskId);
          if (task.status !== "completed")
            await new Promise((resolve) => {
              task.done = resolve;
            });
          return {
            ...task.result,
            _meta: { "io.modelcontextprotocol/related-task": { taskId } },
          };
        },
      }),
  "tools/list": () => ({ tools }),
  "tools/call": ({ name, arguments: args = {}, task, _meta = {} }) => {
    if (name === "cancelled") return say(`${cancelled} cancelled`);
    const { extensions = {} } = _meta["io.modelcontextprotocol/clientCapabilities"] ?? {};
    if (!isModern && !task) throw { code: -32_601, message: "runs as a task only" };
    if (isModern && !extensions["io.modelcontextprotocol/tasks"])
      throw { code: -32_021, message: "runs as a task only" };
    const created = describe(start(args));
    return isModern ? { ...created, resultType: "task" } : { task: created };
  },
  "tasks/get": ({ taskId }) => describe(tasks.get(taskId)),
  "tasks/cancel": ({ taskId }) => {
    cancelled++;
    tasks.get(taskId).status = "cancelled";
    return isModern ? {} : describe(tasks.get(taskId));
  },
};

createInterface({ input: process.stdin }).on("line", async (line) => {
  const { id, method, params = {}, result } = JSON.parse(line);
  if (method === undefined) {
    asked.get(id)?.(result);
    return;
  }
  if (id === undefined) return;
  try {
    if (!methods[method]) throw { code: -32_601, message: "Method not found" };
    const body = await methods[method](params);
    send({ id, result: isModern ? { resultType: "complete", ...body } : body });
  } catch (error) {
    send({ id, error });
  }
});
