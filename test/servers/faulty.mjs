// An MCP server on stdio that is as good or as bad as its arguments say: `node faulty.mjs [word …]`.
//
// How it speaks:  nothing (2025-11-25), modern (2026-07-28 only), both, old (2024-11-05),
// wrong-version How it starts:  crash-start, hang-start, slow-start=MS, silent-discover,
// exit-discover, fail-starts=N (counted in the file of starts=), banner,
//                 stderr=TEXT
// How it lists:   tools=N, bad-definition, endless-pages, repeated-cursor, hang-list, no-tools, resources, broken-resources, prompts
// How it ends:    stubborn (heeds neither the end of its input nor SIGTERM)
// Files it writes: starts=FILE (one line for each start: its process id)
// Only printed:   describe (the lists as JSON)
// Every other word is a tool it offers beside `echo`: see `acts`.
import { spawn } from "node:child_process";
import { appendFileSync, closeSync, existsSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";

const words = process.argv.slice(2);
const has = (word) => words.includes(word);
const setting = (key) => words.find((word) => word.startsWith(`${key}=`))?.slice(key.length + 1);
const speaksModern = has("modern") || has("both");
const speaksLegacy = !has("modern");
const modernVersion = "2026-07-28";
const legacyVersion = has("wrong-version")
  ? "1999-01-01"
  : has("old")
    ? "2024-11-05"
    : "2025-11-25";
const versionKey = "io.modelcontextprotocol/protocolVersion";
const info = {
  name: "faulty",
  title: "Faulty",
  version: "1.2.3",
  websiteUrl: "https://example.com",
};

/** Everything this process was sent, in order. */
const heard = [];
/** Our open requests to the client. */
const asked = new Map();
/** Uris somebody watches (legacy), and standing requests (modern). */
const watched = new Set();
const listeners = new Map();
const running = new Map();
let lastAsked = 1_000;
let subscriptions = 0;

function put(bytes) {
  return new Promise((resolve) => process.stdout.write(bytes, resolve));
}

function send(message) {
  return put(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
}

function notify(method, params) {
  return send({ method, ...(params === undefined ? {} : { params }) });
}

function say(words, more = {}) {
  return {
    content: [{ type: "text", text: typeof words === "string" ? words : JSON.stringify(words) }],
    ...more,
  };
}

/** A result the way this request's era writes it. */
function dress(message, result) {
  if (
    !isModern(message) ||
    result === null ||
    typeof result !== "object" ||
    result.resultType !== undefined
  )
    return result;
  return {
    resultType: "complete",
    ttlMs: 5,
    cacheScope: "public",
    ...result,
    _meta: { ...result._meta, "io.modelcontextprotocol/serverInfo": info },
  };
}

function isModern({ params }) {
  return params?._meta?.[versionKey] === modernVersion;
}

function ask(method, params) {
  const id = ++lastAsked;
  void send({ id, method, ...(params === undefined ? {} : { params }) });
  return new Promise((resolve) => asked.set(id, resolve));
}

/** A question to the client in this request's era: a request of ours, or an answer that asks. */
async function question(message, requests) {
  if (!isModern(message)) {
    const answers = await Promise.all(
      Object.entries(requests).map(async ([key, { method, params }]) => [
        key,
        await ask(method, params),
      ]),
    );
    return Object.fromEntries(answers);
  }
  const { inputResponses, requestState } = message.params;
  if (requestState === undefined)
    return {
      asks: {
        resultType: "input_required",
        inputRequests: requests,
        requestState: `state of ${message.id}`,
      },
    };
  return { requestState, ...inputResponses };
}

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
/** Lets other answers go first: half a line must not be finished by one of them. */
const quiet = () => pause(30);
const text = (length) => "x".repeat(length);

/**
 * The behaviour of the tools. Each gets its arguments and the request, and returns the result, or
 * undefined for no answer.
 */
const acts = {
  echo: (args) => say(args, { structuredContent: args }),
  whoami: () => say({ pid: process.pid, argv: words, env: process.env, cwd: process.cwd() }),
  heard: () => say(heard),
  meta: (_args, { params }) => say(params._meta ?? null),
  wait: async ({ ms }) => {
    await pause(ms);
    return say(`waited ${ms}`);
  },
  // Ends.
  crash: async ({ code = 7, signal, ms = 0 }) => {
    process.stderr.write("about to crash\nfatal: out of cheese\n");
    await pause(ms);
    if (signal) process.kill(process.pid, signal);
    else process.exit(code);
  },
  half: async (_args, { id }) => {
    await quiet();
    await put(`{"jsonrpc":"2.0","id":${id},"result":{"content":[{"type":"te`);
    process.exit(0);
  },
  close_stdout: () => {
    closeSync(1);
    setInterval(() => {}, 1_000);
  },
  // Silence.
  hang: () => undefined,
  deaf: () => {
    process.stdin.pause();
    setInterval(() => {}, 1_000);
  },
  // Bytes.
  half_pause: async ({ ms }, { id }) => {
    await quiet();
    await put(`{"jsonrpc":"2.0","id":${id},"result":{"content":[{"type":"te`);
    await pause(ms);
    await put(`xt","text":"whole"}]}}\n`);
  },
  huge: async ({ megabytes = 50, isIdLast = false }, { id }) => {
    await put(
      isIdLast
        ? `{"result":{"content":[{"type":"text","text":"`
        : `{"jsonrpc":"2.0","id":${id},"result":{"content":[{"type":"text","text":"`,
    );
    const megabyte = text(1024 * 1024);
    for (let n = 0; n < megabytes; n++) await put(megabyte);
    await put(isIdLast ? `"}]},"id":${id},"jsonrpc":"2.0"}\n` : `"}]}}\n`);
  },
  endless: async () => {
    const block = text(1024 * 1024);
    for (;;) {
      await put(block);
      await pause(1);
    }
  },
  invalid_utf8: (_args, { id }) =>
    void put(
      Buffer.concat([
        Buffer.from(`{"jsonrpc":"2.0","id":${id},"result":{"content":[{"type":"text","text":"`),
        Buffer.from([0xff, 0xfe]),
        Buffer.from('"}]}}\n'),
      ]),
    ),
  garbage: async () => {
    await put(
      "\x1b[32m✔\x1b[0m ready on http://localhost:3000\nTypeError: not JSON {\n[]\n42\nnull\n{}\n\x00\x01\x02\n",
    );
    return say("after garbage");
  },
  invalid_lines: async () => {
    await put(Buffer.from([0xc3, 0x28, 0x0a, 0xff, 0x0a]));
    return say("after invalid lines");
  },
  crlf: (_args, { id }) =>
    void put(
      `\r\n\r\n{"jsonrpc":"2.0","id":${id},"result":{"content":[{"type":"text","text":"crlf"}]}}\r\n\r\n`,
    ),
  blank: (_args, { id }) =>
    void put(
      `\n\n   \n\t\n{"jsonrpc":"2.0","id":${id},"result":{"content":[{"type":"text","text":"blank"}]}}\n\n`,
    ),
  bom: (_args, { id }) =>
    void put(
      `\uFEFF{"jsonrpc":"2.0","id":${id},"result":{"content":[{"type":"text","text":"bom"}]}}\n`,
    ),
  two_on_line: (_args, { id }) =>
    void put(
      `{"jsonrpc":"2.0","id":${id},"result":{"content":[]}} {"jsonrpc":"2.0","method":"notifications/x"}\n`,
    ),
  // Answers.
  twice: async (_args, { id }) => {
    await send({ id, result: say("first") });
    await send({ id, result: say("second") });
  },
  unknown_id: async () => {
    await send({ id: 987_654, result: say("for nobody") });
    await send({ id: null, result: say("for nobody") });
    return say("after an unknown id");
  },
  string_id: async ({ next }, { id }) => {
    await send({ id: String(id), result: say("under a string") });
    return next === "right" ? say("under a number") : undefined;
  },
  result_and_error: (_args, { id }) =>
    void send({ id, result: say("x"), error: { code: 1, message: "y" } }),
  neither: (_args, { id }) => void put(`{"jsonrpc":"2.0","id":${id}}\n`),
  wrong_jsonrpc: (_args, { id }) =>
    void put(`{"jsonrpc":"1.0","id":${id},"result":{"content":[]}}\n`),
  no_object: (_args, { id }) => void send({ id, result: 5 }),
  no_content: () => ({ hello: "world" }),
  bad_error: (_args, { id }) => void send({ id, error: "it failed" }),
  result_type: () => ({ resultType: "surprise", content: [] }),
  always_asks: () => ({ resultType: "input_required", requestState: "again" }),
  delayed: async ({ n }) => {
    await pause(Math.random() * 40);
    return say({ n });
  },
  error: ({ code = -32_050, message = "no luck", data = { why: ["a", 1] } }, { id }) =>
    void send({ id, error: { code, message, data } }),
  told: () => say("no such issue", { isError: true, _meta: { "example.com/ticket": 7 } }),
  rich: () => ({
    content: [
      {
        type: "text",
        text: "words",
        annotations: { audience: ["user"], priority: 0.5 },
        _meta: { a: 1 },
      },
      { type: "image", data: pixel, mimeType: "image/png" },
      { type: "audio", data: "UklGRg==", mimeType: "audio/wav" },
      {
        type: "resource_link",
        uri: "note://1",
        name: "one",
        icons: [{ src: "data:image/png;base64,AA==" }],
      },
      { type: "resource", resource: { uri: "note://1", text: "inside", mimeType: "text/plain" } },
      { type: "hologram", depth: 3, nested: { deep: [null, true, 1.5] } },
    ],
    structuredContent: { n: 1, list: [1, "2", null] },
    extension: { known: false },
    _meta: { "example.com/cost": 0.25 },
  }),
  image: () => ({
    content: [
      { type: "text", text: "a pixel" },
      { type: "image", data: pixel, mimeType: "image/png" },
    ],
  }),
  terminal: () => say("\x1b[2J\u202Ehidden\x07"),
  // On the side.
  stderr_flood: async ({ megabytes = 20 }) => {
    const lines = `${text(1_023)}\n`.repeat(1_024);
    for (let n = 0; n < megabytes; n++)
      await new Promise((resolve) => process.stderr.write(lines, resolve));
    for (let n = 0; n < 300; n++) process.stderr.write(`line ${n}\n`);
    process.stderr.write("half a line");
    return say("flooded");
  },
  progress: async ({ steps = 3 }, { params }) => {
    for (let step = 1; step <= steps; step++) {
      await notify("notifications/progress", {
        progressToken: params._meta?.progressToken,
        progress: step,
        total: steps,
        message: `step ${step}`,
      });
      await pause(70);
    }
    return say("done");
  },
  progress_flood: async ({ count = 10_000 }, { params }) => {
    const progressToken = params._meta?.progressToken;
    for (let progress = 1; progress <= count; progress++) {
      const sent = notify("notifications/progress", { progressToken, progress });
      if (progress % 100 === 0) await sent;
    }
    return say("flooded");
  },
  log: async ({ level = "warning", data = { text: "careful" }, logger = "inner" }) => {
    await notify("notifications/message", { level, logger, data });
    return say("logged");
  },
  hall_words: () => ({
    content: [{ type: "text", text: "no" }],
    isError: true,
    _meta: {
      "example.com/x": 1,
      "guildhall/error": { error_type: "approval_needed", message: "\u001b]0;x\u0007" },
      "guildhall/approvals": [{ command: "evil" }],
    },
  }),
  ask: async ({ requests }, message) => {
    const answers = await question(message, requests);
    return answers.asks ?? say(answers, { structuredContent: answers });
  },
  // Lists.
  storm: async ({ count = 2_000 }) => {
    for (let n = 0; n < count; n++) {
      const sent = changed("tools");
      if (n % 100 === 0) await sent;
    }
    return say("stormed");
  },
  change: async ({ add = [], remove = [], templates = [] }) => {
    for (const name of add) offered.push(name);
    for (const name of remove) offered.splice(offered.indexOf(name), 1);
    moreTemplates.push(...templates);
    if (add.length + remove.length > 0) await changed("tools");
    if (templates.length > 0) await changed("resources");
    return say("changed");
  },
  touch: async ({ uri }) => {
    if (watched.has(uri)) await notify("notifications/resources/updated", { uri });
    for (const [id, wanted] of listeners) {
      if (wanted.resourceSubscriptions?.includes(uri))
        await notify("notifications/resources/updated", { uri, _meta: subscription(id) });
    }
    return say({ watched: [...watched], subscriptions });
  },
  // Processes.
  fork: () => {
    const grandchild = spawn("/bin/sh", ["-c", "trap '' TERM; exec sleep 600"], {
      stdio: "ignore",
    });
    return say({ pid: grandchild.pid });
  },
};

const pixel =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const offered = ["echo", ...words.filter((word) => Object.hasOwn(acts, word) && word !== "echo")];
const moreTemplates = [];

const subscription = (id) => ({ "io.modelcontextprotocol/subscriptionId": id });

/** Legacy clients hear of changes on the line, modern ones where they listen. */
async function changed(kind) {
  if (speaksLegacy && listeners.size === 0) await notify(`notifications/${kind}/list_changed`);
  for (const [id, wanted] of listeners)
    if (wanted[`${kind}ListChanged`])
      await notify(`notifications/${kind}/list_changed`, { _meta: subscription(id) });
}

function tools() {
  const extra = Array.from({ length: Number(setting("tools") ?? 0) }, (_, n) => `tool_${n}`);
  const all = [...offered, ...extra].map((name) => ({
    name,
    title: `The ${name}`,
    description: `does ${name}`,
    inputSchema: {
      type: "object",
      properties: { text: { type: "string" } },
      "x-extra": { kept: true },
    },
    annotations: { readOnlyHint: true, "x-hint": 1 },
    icons: [{ src: "https://example.com/i.png" }],
    _meta: { "example.com/rank": 1 },
  }));
  return has("bad-definition")
    ? [...all.slice(0, 1), { name: 5 }, null, { name: "no_schema" }, ...all.slice(1)]
    : all;
}

let page = 0;
function listTools({ cursor }) {
  if (has("endless-pages"))
    // Large pages, so that a limit is reached after few of them.
    return {
      tools: page++ === 0 ? tools() : [{ padding: "x".repeat(2 * 1024 * 1024) }],
      nextCursor: `page ${page}`,
    };
  if (has("repeated-cursor"))
    return { tools: cursor === undefined ? tools() : [], nextCursor: "again" };
  return { tools: tools() };
}

const resources = [
  { uri: "note://1", name: "one", mimeType: "text/plain", size: 3, _meta: { x: 1 } },
  { uri: "note://2", name: "two" },
];

function listResources() {
  if (has("broken-resources")) throw { code: -32_603, message: "no backend" };
  return { resources };
}

const capabilities = {
  ...(has("no-tools") ? {} : { tools: { listChanged: true } }),
  ...(has("resources") || has("broken-resources")
    ? { resources: { subscribe: true, listChanged: true } }
    : {}),
  ...(has("prompts") ? { prompts: { listChanged: true }, completions: {} } : {}),
  logging: {},
};

const methods = {
  ping: () => ({}),
  "logging/setLevel": () => ({}),
  "tools/list": ({ params }) => (has("hang-list") ? undefined : listTools(params ?? {})),
  "tools/call": (message) => {
    const { name, arguments: args = {} } = message.params;
    if (!offered.includes(name)) throw { code: -32_602, message: `Unknown tool: ${name}` };
    return acts[name] ? acts[name](args, message) : say(`${name} was called`);
  },
  "resources/list": listResources,
  "resources/templates/list": () => ({
    resourceTemplates: [
      { uriTemplate: "note://by-name/{name}", name: "by name", "x-more": 1 },
      ...moreTemplates,
    ],
  }),
  "resources/read": ({ params }) => {
    if (params.uri === "note://2")
      throw { code: -32_002, message: "Resource not found", data: { uri: params.uri } };
    return {
      contents: [
        { uri: params.uri, text: `text of ${params.uri}`, _meta: { asked: params._meta ?? null } },
      ],
      extra: true,
    };
  },
  "resources/subscribe": ({ params }) => {
    subscriptions++;
    watched.add(params.uri);
    return {};
  },
  "resources/unsubscribe": ({ params }) => {
    watched.delete(params.uri);
    return {};
  },
  "prompts/list": () => ({
    prompts: [
      {
        name: "greet",
        description: "says hello",
        arguments: [{ name: "who", required: true }],
        "x-more": 1,
      },
    ],
  }),
  "prompts/get": ({ params }) => {
    if (params.name !== "greet") throw { code: -32_602, message: `Unknown prompt: ${params.name}` };
    return {
      description: "a greeting",
      messages: [
        { role: "user", content: { type: "text", text: `Hello ${params.arguments?.who}` } },
      ],
      "x-more": 1,
    };
  },
  "completion/complete": ({ params }) => {
    const { ref, argument, context } = params;
    if (ref.type === "ref/prompt" && ref.name !== "greet")
      throw { code: -32_602, message: `Unknown prompt: ${ref.name}` };
    return {
      completion: {
        values: [`${argument.value}a`, `${argument.value}b`],
        total: 2,
        hasMore: false,
      },
      seen: { ref, context: context ?? null },
    };
  },
  "server/discover": () => {
    if (has("exit-discover")) process.exit(3);
    if (has("silent-discover")) return undefined;
    if (!speaksModern) throw { code: -32_601, message: "Method not found" };
    return { supportedVersions: [modernVersion], capabilities, instructions: "Be kind." };
  },
  initialize: () => {
    if (!speaksLegacy) throw { code: -32_601, message: "Method not found" };
    return {
      protocolVersion: legacyVersion,
      capabilities,
      serverInfo: info,
      instructions: "Be kind.",
    };
  },
  "subscriptions/listen": (message) => {
    if (!isModern(message)) throw { code: -32_601, message: "Method not found" };
    const { notifications } = message.params;
    subscriptions++;
    listeners.set(message.id, notifications);
    void notify("notifications/subscriptions/acknowledged", {
      notifications,
      _meta: subscription(message.id),
    });
    return undefined;
  },
};

async function serve(message) {
  const { id, method } = message;
  running.set(id, message);
  try {
    const handler = Object.hasOwn(methods, method) ? methods[method] : undefined;
    if (!handler) throw { code: -32_601, message: "Method not found" };
    // A modern server knows no request without its envelope.
    if (!speaksLegacy && method !== "initialize" && !isModern(message))
      throw { code: -32_602, message: "_meta is missing" };
    const result = await handler(message);
    if (result !== undefined) await send({ id, result: dress(message, result) });
  } catch (error) {
    await send({ id, error: { code: -32_603, message: String(error), ...error } });
  } finally {
    running.delete(id);
  }
}

function receive(line) {
  const message = JSON.parse(line);
  heard.push(message);
  if (message.method === undefined) {
    const { error, result } = message;
    asked.get(message.id)?.(error === undefined ? result : { error });
    asked.delete(message.id);
  } else if (message.id !== undefined) void serve(message);
  else if (message.method === "notifications/cancelled")
    listeners.delete(message.params?.requestId);
}

/** Prints the lists instead of serving them, for a test that records them as reviewed. */
function describe() {
  const resourceTemplates = methods["resources/templates/list"]();
  const usable = tools().filter((tool) => tool?.inputSchema);
  const offer = {
    tools: has("no-tools") ? [] : usable,
    prompts: methods["prompts/list"]().prompts,
    resources,
    templates: resourceTemplates.resourceTemplates,
  };
  process.stdout.write(JSON.stringify(offer));
}

async function start() {
  const file = setting("starts");
  const startsBefore =
    file && existsSync(file) ? readFileSync(file, "utf8").split("\n").length - 1 : 0;
  if (file) appendFileSync(file, `${process.pid}\n`);
  if (setting("stderr")) process.stderr.write(`${setting("stderr")}\n`);
  if (has("stubborn")) {
    process.on("SIGTERM", () => {});
    setInterval(() => {}, 1_000);
  }
  if (has("crash-start") || startsBefore < Number(setting("fail-starts") ?? 0)) {
    process.stderr.write("cannot start: no licence\n");
    process.exit(9);
  }
  if (has("hang-start")) {
    setInterval(() => {}, 1_000);
    return;
  }
  if (has("banner")) await put("\x1b[1mWelcome to Faulty\x1b[0m\n\nlistening …\n{not json}\n");
  await pause(Number(setting("slow-start") ?? 0));
  createInterface({ input: process.stdin }).on("line", receive);
}

if (has("describe")) describe();
else void start();
