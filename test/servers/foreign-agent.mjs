// An agent for the workflow that is not ours: legacy, with the ways of a language server, and none
// too careful. It sends progress under tokens of its own, chats on stderr, is slow, fails with
// numbers of its own, and ends in the middle of a call when told to. Usage: foreign-agent.mjs
// stdio|http|websocket JOURNAL; every method it hears goes into the journal, one a line.
import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { createInterface } from "node:readline";

const [, , transport = "stdio", journal = "/dev/null"] = process.argv;

const directory = {
  type: "object",
  properties: { spec_directory: { type: "string" } },
  required: ["spec_directory"],
};
const tools = [
  {
    name: "speckit.specify",
    description: "Create or update feature specification",
    inputSchema: directory,
  },
  { name: "speckit.plan", description: "Generate implementation plan", inputSchema: directory },
  { name: "speckit.tasks", description: "Generate tasks", inputSchema: directory },
  { name: "speckit.implement", description: "Implement tasks", inputSchema: directory },
  {
    name: "mumble",
    description: "Tells of progress under a token of its own",
    inputSchema: { type: "object", properties: { token: { type: "string" } } },
  },
  {
    name: "refuse",
    description: "Fails with a number",
    inputSchema: { type: "object", properties: { code: { type: "integer" } }, required: ["code"] },
  },
  {
    name: "regret",
    description: "Says that it failed",
    inputSchema: { type: "object", properties: { words: { type: "string" } } },
  },
  { name: "ask", description: "Asks its user", inputSchema: { type: "object" } },
  {
    name: "visit",
    description: "Sends its user to a page",
    inputSchema: { type: "object", properties: { url: { type: "string" } } },
  },
  {
    name: "gate",
    description: "Wants a page visited before it is called again",
    inputSchema: { type: "object" },
  },
  { name: "lend", description: "Asks the user's model", inputSchema: { type: "object" } },
  {
    name: "paint",
    description: "\u001b[31mA picture\u001b[0m and nasty text",
    inputSchema: { type: "object" },
  },
  {
    name: "chatter",
    description: "Says much on stderr",
    inputSchema: { type: "object", properties: { lines: { type: "integer" } } },
  },
  {
    name: "evaluate-lisp",
    description: "Evaluates",
    inputSchema: { type: "object", properties: { code: { type: "string" } }, required: ["code"] },
  },
  {
    name: "reader_agent",
    description: "Reads for you",
    inputSchema: { type: "object", properties: { task: { type: "string" } }, required: ["task"] },
  },
  { name: "crash", description: "Ends", inputSchema: { type: "object" } },
];

/** One red pixel. */
const redPng =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC";

/** Calls that wait for a cancel, by id, and questions that wait for an answer. */
const stuck = new Map();
const asked = new Map();
let questions = 0;
let isGateOpen = false;

function text(words, more = {}) {
  return { content: [{ type: "text", text: words }], isError: false, ...more };
}

/** The result, or undefined for a call that is answered later or never. `send` writes on the line the call came on. */
async function call(id, { name, arguments: args = {}, _meta = {} }, send) {
  const progress = (progressToken, done, message) =>
    send({
      jsonrpc: "2.0",
      method: "notifications/progress",
      params: { progressToken, progress: done, total: 100, message },
    });
  switch (name) {
    case "speckit.specify": {
      progress(`tool-${id}`, 50, "Analyzing requirements...");
      mkdirSync(args.spec_directory, { recursive: true });
      const file = join(args.spec_directory, "spec.md");
      writeFileSync(file, `# Feature Specification: ${args.feature_description}\n`);
      progress(`tool-${id}`, 100, "Written");
      return text(`Specification created successfully at ${file}`);
    }
    case "speckit.plan": {
      progress(_meta.progressToken, 10, "Reading the repository");
      console.error("plan: warming up \u001b]0;owned\u0007");
      if (transport === "stdio") process.stdout.write("no message at all\n");
      writeFileSync(join(args.spec_directory, "plan.md"), "# Plan\n");
      return text("planned");
    }
    case "speckit.tasks":
      progress(`tool-${id}`, 1, "Thinking for ever");
      stuck.set(id, send);
      return undefined;
    case "mumble":
      progress(args.token ?? `tool-${id}`, 1, `about ${args.token ?? "itself"}`);
      progress(_meta.progressToken, 2, "as agreed");
      stuck.set(id, send);
      return undefined;
    case "speckit.implement":
      return text("exited with code 1", {
        isError: true,
        structuredContent: { stdout: "built\n", stderr: "one test failed\n" },
      });
    case "refuse":
      throw Object.assign(new Error("as you wish"), { code: args.code });
    case "regret":
      return text(args.words, { isError: true });
    case "ask": {
      const schema = {
        type: "object",
        properties: {
          colour: { type: "string", enum: ["red", "blue"] },
          count: { type: "integer", default: 2 },
        },
        required: ["colour"],
      };
      const answer = await ask(
        "elicitation/create",
        { message: "Which \u001b[5mcolour\u001b[0m?", requestedSchema: schema },
        send,
      );
      return text(JSON.stringify(answer));
    }
    case "visit": {
      const answer = await ask(
        "elicitation/create",
        { mode: "url", elicitationId: "e1", message: "Log in\u001b[2J first", url: args.url },
        send,
      );
      if (answer.action === "accept") await new Promise((resolve) => setTimeout(resolve, 1_500));
      return text(JSON.stringify(answer));
    }
    case "gate": {
      if (isGateOpen) return text("come in");
      isGateOpen = true;
      const elicitations = [
        { mode: "url", elicitationId: "e2", message: "Sign here", url: "https://example.org/sign" },
      ];
      throw Object.assign(new Error("a signature is missing"), {
        code: -32042,
        data: { elicitations },
      });
    }
    case "lend": {
      const params = {
        messages: [{ role: "user", content: { type: "text", text: "Say hello." } }],
        maxTokens: 10,
      };
      return text(JSON.stringify(await ask("sampling/createMessage", params, send)));
    }
    case "paint":
      return {
        content: [
          { type: "text", text: "a\u001b]52;c;ZXZpbA==\u0007b\u001b[2Jc" },
          { type: "image", data: Buffer.from("picture").toString("base64"), mimeType: "image/png" },
          { type: "resource", resource: { uri: "red:/", mimeType: "image/png", blob: redPng } },
        ],
      };
    case "chatter":
      for (let line = 1; line <= (args.lines ?? 1); line++) process.stderr.write(`line ${line}\n`);
      return text("said");
    case "evaluate-lisp":
      return {
        content: [
          { type: "text", text: `${args.code} in ${args.session ?? "a new session"}` },
          { type: "text", text: "; session s1", annotations: { audience: ["assistant"] } },
        ],
        structuredContent: { session: "s1", package: "MINE" },
      };
    case "reader_agent":
      progress(_meta.progressToken, 50, "1/2 opening the book");
      return text(`read: ${args.task}`);
    case "crash":
      return process.exit(3);
    default:
      throw Object.assign(new Error(`no tool ${name}`), { code: -32602 });
  }
}

function ask(method, params, send) {
  const id = `q${++questions}`;
  send({ jsonrpc: "2.0", id, method, params });
  return new Promise((resolve) => asked.set(id, resolve));
}

function giveUp(id) {
  const send = stuck.get(id);
  stuck.delete(id);
  send?.({ jsonrpc: "2.0", id, error: { code: -32002, message: "Operation was cancelled" } });
}

async function receive(message, send) {
  const { id, method, params = {} } = message;
  if (method === undefined) {
    asked.get(id)?.(message.result ?? { refused: message.error });
    return;
  }
  appendFileSync(journal, `${method}\n`);
  const answer = (result) => send({ jsonrpc: "2.0", id, result });
  switch (method) {
    case "initialize":
      appendFileSync(journal, `capabilities ${Object.keys(params.capabilities).sort()}\n`);
      answer({
        protocolVersion: "2025-11-25",
        capabilities: { tools: { listChanged: true } },
        serverInfo: { name: "foreign", version: "1" },
      });
      return;
    case "tools/list":
      answer({ tools });
      return;
    case "tools/call":
      try {
        const result = await call(id, params, send);
        if (result) answer(result);
      } catch (error) {
        send({
          jsonrpc: "2.0",
          id,
          error: { code: error.code ?? -32000, message: error.message, data: error.data },
        });
      }
      return;
    case "$/cancelRequest":
      giveUp(params.id);
      return;
    case "shutdown":
      answer(null);
      return;
    case "exit":
      if (transport === "stdio") process.exit(0);
      return;
    default:
      if (id !== undefined)
        send({ jsonrpc: "2.0", id, error: { code: -32601, message: `unknown ${method}` } });
  }
}

function serveStdio() {
  process.stdout.write("a banner that is no message\n");
  createInterface({ input: process.stdin }).on(
    "line",
    (line) =>
      void receive(JSON.parse(line), (message) =>
        process.stdout.write(`${JSON.stringify(message)}\n`),
      ),
  );
}

function serveHttp() {
  const server = createServer(async (request, response) => {
    if (request.method !== "POST")
      return response.writeHead(request.method === "DELETE" ? 200 : 405).end();
    let body = "";
    for await (const piece of request) body += piece;
    const message = JSON.parse(body);
    if (message.id === undefined || message.method === undefined) {
      await receive(message, () => {});
      return response.writeHead(202).end();
    }
    response.writeHead(200, { "content-type": "text/event-stream", "mcp-session-id": "one" });
    await receive(message, (sent) => {
      response.write(`data: ${JSON.stringify(sent)}\n\n`);
      if (sent.id === message.id && sent.method === undefined) response.end();
    });
  });
  server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}/mcp`));
}

async function serveWebSocket() {
  const { WebSocketServer } = await import("ws");
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1", handleProtocols: () => "mcp" });
  server.on("connection", (socket) =>
    socket.on(
      "message",
      (data) => void receive(JSON.parse(data), (message) => socket.send(JSON.stringify(message))),
    ),
  );
  server.on("listening", () => console.log(`ws://127.0.0.1:${server.address().port}`));
}

await { stdio: serveStdio, http: serveHttp, websocket: serveWebSocket }[transport]();
