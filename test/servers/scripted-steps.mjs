// A stdio server without an SDK whose tool `do` sends the messages in `arguments.steps`, in order:
// {"sleep":ms}, {"notify":{method,params}}, {"request":{method,params}}, {"error":{…}},
// {"result":{…}}. {"progress":N} reports progress under the call's own token. The answer is what
// was answered to the requests. `later` are steps for the time when the client's roots change.
// Everything that arrives is kept; the tool `heard` returns it.
import { createInterface } from "node:readline";

const heard = [];
const later = [];
const asked = new Map();
let lastAsked = 0;
const send = (message) =>
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const say = (value) => ({ content: [{ type: "text", text: JSON.stringify(value) }] });

async function run(steps, token) {
  const answers = [];
  for (const { sleep, notify, request, progress, error, result } of steps) {
    if (error) throw error;
    if (result) return result;
    if (sleep !== undefined) await new Promise((resolve) => setTimeout(resolve, sleep));
    if (notify) send(notify);
    if (progress !== undefined)
      send({ method: "notifications/progress", params: { progressToken: token, progress } });
    if (request) {
      const id = ++lastAsked;
      send({ id, ...request });
      answers.push(await new Promise((resolve) => asked.set(id, resolve)));
    }
  }
  return say(answers);
}

const schema = { type: "object", properties: { zone: { type: "string" } } };
const reads = { readOnlyHint: true };
const methods = {
  initialize: () => ({
    protocolVersion: "2025-11-25",
    capabilities: {
      tools: { listChanged: true },
      resources: { subscribe: true },
      logging: {},
      extensions: { "example.com/maps": { zoom: 3 } },
    },
    serverInfo: { name: "scripted", version: "1" },
  }),
  ping: () => ({}),
  "logging/setLevel": () => ({}),
  "tools/list": () => ({
    tools: [
      { name: "do", inputSchema: schema, annotations: reads },
      { name: "heard", inputSchema: schema, annotations: reads },
      {
        name: "app",
        inputSchema: schema,
        annotations: reads,
        _meta: { ui: { resourceUri: "ui://app" } },
      },
    ],
  }),
  "tools/call": ({ name, arguments: args = {}, _meta }) => {
    if (name === "heard") return say(heard);
    if (name === "app") return say(args);
    later.push(...(args.later ?? []));
    return run(args.steps ?? [], _meta?.progressToken);
  },
  "resources/list": () => ({ resources: [{ uri: "raw://listed", name: "listed" }] }),
  "resources/templates/list": () => ({ resourceTemplates: [] }),
  "resources/read": ({ uri }) => ({ contents: [{ uri, text: `text of ${uri}` }] }),
  "resources/subscribe": async ({ uri }) => {
    await new Promise((resolve) => setTimeout(resolve, 50));
    if (uri.endsWith("/refused")) throw { code: -32_000, message: "no subscriptions today" };
    return {};
  },
};

createInterface({ input: process.stdin }).on("line", async (line) => {
  const message = JSON.parse(line);
  heard.push(message);
  const { id, method, params, result, error } = message;
  if (method === undefined) {
    asked.get(id)?.(result ?? { error });
    return;
  }
  if (method === "notifications/roots/list_changed") void run(later.splice(0));
  if (id === undefined) return;
  try {
    if (!methods[method]) throw { code: -32_601, message: "Method not found" };
    send({ id, result: await methods[method](params ?? {}) });
  } catch (failure) {
    send({ id, error: failure });
  }
});
