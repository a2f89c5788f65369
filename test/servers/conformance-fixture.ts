/**
 * The conformance fixtures on the SDK, as an HTTP server that speaks both protocol families: sessions for clients that
 * greet, single requests for clients of 2026. Its tools are those of `conformance.ts`; the ones that run as tasks are
 * here, because the SDK does not know tasks.
 */
import { randomBytes, randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import {
  createMcpHandler,
  createRequestStateCodec,
  isLegacyRequest,
  MissingRequiredClientCapabilityError,
  ProtocolError,
  Server,
  type ServerContext,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import { HallError } from "../../src/base/errors.ts";
import { isObject, type JsonObject } from "../../src/base/json.ts";
import { Scope } from "../../src/base/scope.ts";
import type { CallContext, LogLevel, Outcome, Questions, Toolkit } from "../../src/tool.ts";
import { createConformanceToolkit } from "./conformance.ts";
import { elicit, readField } from "./conformance-tools.ts";
import { serveWeb } from "./web-server.ts";

const tasksExtension = "io.modelcontextprotocol/tasks";
const codec = createRequestStateCodec<Answers>({ key: randomBytes(32) });
type Answers = Readonly<Record<string, JsonObject>>;
/** Any params and any result, for methods that the SDK does not know. */
const anything = {
  "~standard": { version: 1, vendor: "fixture", validate: (value: unknown) => ({ value }) },
} as never;

export interface Fixture {
  readonly url: string;
  close(): Promise<void>;
}

export async function startFixture(): Promise<Fixture> {
  const toolkit = createConformanceToolkit();
  const tasks = new FixtureTasks();
  const sessions = new Map<string, WebStandardStreamableHTTPServerTransport>();
  const modern = createMcpHandler(() => createServing(toolkit, tasks, "modern"), {
    legacy: "reject",
  });
  toolkit.onChange?.((kind) => {
    if (kind === "tools") modern.notify.toolsChanged();
    else modern.notify.promptsChanged();
  });
  await toolkit.resources?.watch?.("test://watched-resource", () =>
    modern.notify.resourceUpdated("test://watched-resource"),
  );

  async function serveSession(request: Request): Promise<Response> {
    const known = sessions.get(request.headers.get("mcp-session-id") ?? "");
    if (known) return known.handleRequest(request);
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (id) => void sessions.set(id, transport),
      onsessionclosed: (id) => void sessions.delete(id),
    });
    await createServing(toolkit, tasks, "legacy").connect(transport);
    return transport.handleRequest(request);
  }

  const { http, url } = await serveWeb(async (request) => {
    if (!isLocal(request)) return new Response(null, { status: 403 });
    return (await isLegacyRequest(request)) ? serveSession(request) : modern.fetch(request);
  });
  return {
    url,
    async close() {
      await modern.close();
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}

/** Requests of web pages elsewhere are refused, under whatever name they reach us. */
function isLocal({ url, headers }: Request): boolean {
  return [url, headers.get("origin") ?? url].every((from) =>
    ["127.0.0.1", "localhost"].includes(new URL(from).hostname),
  );
}

function createServing(toolkit: Toolkit, tasks: FixtureTasks, era: "legacy" | "modern"): Server {
  const isModern = era === "modern";
  const server = new Server(
    { name: "conformance-fixture", version: "1" },
    {
      capabilities: {
        tools: { listChanged: true },
        resources: { subscribe: true, listChanged: true },
        prompts: { listChanged: true },
        completions: {},
        logging: {},
        ...(isModern ? { extensions: { [tasksExtension]: {} } } : {}),
      },
      requestState: { verify: codec.verify },
    },
  );
  server.setRequestHandler("tools/list", async () => ({
    tools: [...(await toolkit.list()), ...(isModern ? taskTools : [])] as never,
  }));
  server.setRequestHandler("tools/call", (async (
    {
      params: { name, arguments: args = {} },
    }: { params: { name: string; arguments?: JsonObject } },
    context: ServerContext,
  ) => {
    const taskTool = isModern ? tasks.find(name) : undefined;
    if (taskTool) return answering(context, (ask) => tasks.call(name, args, context, ask));
    const tool = (await toolkit.list()).find((found) => found.name === name);
    if (!tool) throw new ProtocolError(-32602, `Unknown tool: ${name}`);
    return answering(context, (ask) => toolkit.call(tool, args, contextFor(context, ask)));
  }) as never);
  server.setRequestHandler("resources/list", async () => ({
    resources: (await toolkit.resources?.list()) as never,
  }));
  server.setRequestHandler("resources/templates/list", async () => ({
    resourceTemplates: (await toolkit.resources?.templates()) as never,
  }));
  server.setRequestHandler("resources/read", (async (
    { params: { uri } }: { params: { uri: string } },
    context: ServerContext,
  ) => {
    try {
      return await toolkit.resources?.read(uri, contextFor(context, noAsk));
    } catch {
      throw new ProtocolError(isModern ? -32602 : -32002, `Resource not found: ${uri}`, { uri });
    }
  }) as never);
  server.setRequestHandler("prompts/list", async () => ({
    prompts: (await toolkit.prompts?.list()) as never,
  }));
  server.setRequestHandler("prompts/get", (async (
    {
      params: { name, arguments: args = {} },
    }: {
      params: { name: string; arguments?: Record<string, string> };
    },
    context: ServerContext,
  ) =>
    answering(context, async (ask) =>
      toolkit.prompts?.get(name, args, contextFor(context, ask)),
    )) as never);
  server.setRequestHandler("completion/complete", (async ({ params }: { params: JsonObject }) =>
    toolkit.complete?.(
      params.ref as JsonObject,
      params.argument as JsonObject,
      {} as CallContext,
      params,
    )) as never);
  if (isModern) tasks.serve(server);
  else serveSession(server, toolkit);
  return server;
}

/** Only for sessions: subscriptions and announcements of changed lists. */
function serveSession(server: Server, toolkit: Toolkit): void {
  const stops = new Map<string, () => void>();
  server.setRequestHandler("resources/subscribe", async ({ params: { uri } }) => {
    const stop = await toolkit.resources?.watch?.(uri, () => {
      void server.sendResourceUpdated({ uri }).catch(() => {});
    });
    if (stop) stops.set(uri, stop);
    return {};
  });
  server.setRequestHandler("resources/unsubscribe", async ({ params: { uri } }) => {
    stops.get(uri)?.();
    return {};
  });
  const leave = toolkit.onChange?.((kind) => {
    const told = kind === "tools" ? server.sendToolListChanged() : server.sendPromptListChanged();
    // A session without a stream cannot be told.
    void told.catch(() => {});
  });
  server.onclose = () => {
    leave?.();
    for (const stop of stops.values()) stop();
  };
}

type Ask = CallContext["ask"];
const noAsk: Ask = () => Promise.reject(new Error("nothing to ask here"));

/** Work that asks: by pushing in the older family, by returning in the newer one, which starts it again. */
async function answering(
  context: ServerContext,
  work: (ask: Ask) => Promise<unknown>,
): Promise<unknown> {
  const { mcpReq } = context;
  const before = mcpReq.envelope ? (mcpReq.requestState<Answers>() ?? {}) : {};
  const answers = { ...before, ...(mcpReq.inputResponses as Answers | undefined) };
  try {
    return await work((questions) =>
      mcpReq.envelope ? takeAnswers(questions, answers, context) : push(questions, context),
    );
  } catch (error) {
    if (error instanceof InputNeeded)
      return {
        resultType: "input_required",
        inputRequests: error.questions,
        requestState: await codec.mint(answers, context),
      };
    if (error instanceof HallError && error.code === "MISSING_CAPABILITY")
      throw new MissingRequiredClientCapabilityError(
        error.details as never,
        error.message as never,
      );
    if (error instanceof HallError && error.code === "EXECUTION")
      return { content: [{ type: "text", text: error.message }], isError: true };
    throw error;
  }
}

type McpRequest = ServerContext["mcpReq"];

function envelopeOf({ envelope }: McpRequest): JsonObject {
  return (envelope ?? {}) as JsonObject;
}

function capabilitiesOf(request: McpRequest): JsonObject {
  const declared = envelopeOf(request)["io.modelcontextprotocol/clientCapabilities"];
  return isObject(declared) ? declared : {};
}

function declaresTasks(request: McpRequest): boolean {
  const { extensions } = capabilitiesOf(request);
  return isObject(extensions) && isObject(extensions[tasksExtension]);
}

class InputNeeded extends Error {
  readonly questions: Questions;

  constructor(questions: Questions) {
    super("input needed");
    this.questions = questions;
  }
}

async function takeAnswers(
  questions: Questions,
  answers: Answers,
  { mcpReq }: ServerContext,
): Promise<Answers> {
  const declared = capabilitiesOf(mcpReq);
  const missing = Object.values(questions)
    .map(({ method }) => method.split("/")[0] ?? "")
    .filter((capability) => !isObject(declared[capability]));
  if (missing.length > 0)
    throw new HallError("MISSING_CAPABILITY", `the client lacks ${missing.join(", ")}`, {
      details: {
        requiredCapabilities: Object.fromEntries(missing.map((capability) => [capability, {}])),
      },
    });
  const open = Object.entries(questions).filter(([key]) => !Object.hasOwn(answers, key));
  if (open.length > 0) throw new InputNeeded(Object.fromEntries(open));
  return answers;
}

async function push(questions: Questions, { mcpReq }: ServerContext): Promise<Answers> {
  const asked = Object.entries(questions).map(async ([key, { method, params }]) => {
    const answer = await mcpReq.send({ method, params } as never, anything);
    return [key, answer as JsonObject] as const;
  });
  return Object.fromEntries(await Promise.all(asked));
}

function contextFor({ mcpReq }: ServerContext, ask: Ask): CallContext {
  const scope = new Scope();
  mcpReq.signal.addEventListener("abort", () =>
    scope.cancel(new HallError("CANCELLED", "cancelled")),
  );
  const progressToken = mcpReq._meta?.progressToken;
  return {
    scope,
    ask,
    progress(progress) {
      if (progressToken === undefined) return;
      const params = { progressToken, ...progress };
      void mcpReq.notify({ method: "notifications/progress", params } as never);
    },
    log(level: LogLevel, data, logger) {
      if (mcpReq.envelope && !envelopeOf(mcpReq)["io.modelcontextprotocol/logLevel"]) return;
      void mcpReq.log(level, data, logger);
    },
  };
}

type TaskWork = (ask: Ask) => Promise<Outcome>;

interface FixtureTask {
  readonly id: string;
  readonly createdAt: string;
  status: string;
  result?: Outcome;
  error?: { readonly code: number; readonly message: string };
  questions: Record<string, unknown>;
  answers: Record<string, JsonObject>;
  answered: () => void;
}

const say = (text: string, more: Partial<Outcome> = {}): Outcome => ({
  content: [{ type: "text", text }],
  ...more,
});
const schemaOf = (properties: JsonObject): JsonObject => ({ type: "object", properties });
const confirm = elicit("Are you sure?", { confirm: { type: "boolean" } });
const askName = elicit("What is your name?", { name: { type: "string" } });

const taskTools = [
  { name: "greet", inputSchema: schemaOf({ name: { type: "string" } }) },
  {
    name: "slow_compute",
    inputSchema: schemaOf({ seconds: { type: "number" }, label: { type: "string" } }),
  },
  { name: "failing_job", inputSchema: schemaOf({}) },
  { name: "protocol_error_job", inputSchema: schemaOf({}) },
  { name: "confirm_delete", inputSchema: schemaOf({ filename: { type: "string" } }) },
  { name: "multi_input", inputSchema: schemaOf({}) },
  { name: "test_tool_with_task", inputSchema: schemaOf({}) },
].map((tool) => ({
  ...tool,
  description: `For the tasks extension: ${tool.name}`,
  annotations: { readOnlyHint: true },
}));

/** The tools that run as tasks, and `greet`, which does not. */
class FixtureTasks {
  readonly #tasks = new Map<string, FixtureTask>();

  find(name: string): boolean {
    return taskTools.some((tool) => tool.name === name);
  }

  async call(
    name: string,
    args: JsonObject,
    { mcpReq }: ServerContext,
    ask: Ask,
  ): Promise<unknown> {
    if (name === "greet") return say(`Hello, ${args.name}!`);
    const takesTasks = declaresTasks(mcpReq);
    const work = this.#workOf(name, args);
    if (!takesTasks) {
      if (name === "slow_compute") return work(noAsk);
      // The suite calls the first tool of the list in scenarios that are not about tasks.
      if (name === "confirm_delete") return say("Nobody was asked, so nothing was deleted.");
      throw new HallError("MISSING_CAPABILITY", "tasks are required", {
        details: { requiredCapabilities: { extensions: { [tasksExtension]: {} } } },
      });
    }
    if (name === "test_tool_with_task") {
      const { user_name } = await ask({ user_name: askName });
      return this.#start(async () => say(`Hello, ${readField(user_name, "name")}!`));
    }
    return this.#start(work);
  }

  #workOf(name: string, { seconds, filename }: JsonObject): TaskWork {
    switch (name) {
      case "slow_compute":
        return async () => {
          await sleep(Number(seconds) * 1_000, undefined, { ref: false });
          return say(`Computed for ${seconds} s.`);
        };
      case "failing_job":
        return async () => say("It failed.", { isError: true });
      case "protocol_error_job":
        return () => Promise.reject(new ProtocolError(-32603, "It broke."));
      case "confirm_delete":
        return async (ask) => {
          const answers = await ask({ confirm });
          return say(`Deleted ${filename}: ${readField(answers.confirm, "confirm")}`);
        };
      default:
        return async (ask) => {
          await ask({ first: askName, second: confirm });
          return say("Both were answered.");
        };
    }
  }

  #start(work: TaskWork): JsonObject {
    const task: FixtureTask = {
      id: randomUUID(),
      createdAt: new Date().toISOString(),
      status: "working",
      questions: {},
      answers: {},
      answered: () => {},
    };
    this.#tasks.set(task.id, task);
    const end = (change: Partial<FixtureTask>): void => {
      if (task.status !== "cancelled") Object.assign(task, change);
    };
    work((questions) => this.#ask(task, questions)).then(
      (result) => end({ status: "completed", result }),
      ({ code, message }: ProtocolError) => end({ status: "failed", error: { code, message } }),
    );
    return { resultType: "task", ...describe(task) };
  }

  async #ask(task: FixtureTask, questions: Questions): Promise<Answers> {
    Object.assign(task, { status: "input_required", questions: { ...questions } });
    while (Object.keys(task.questions).length > 0)
      await new Promise<void>((resolve) => {
        task.answered = resolve;
      });
    task.status = "working";
    return task.answers;
  }

  serve(server: Server): void {
    const get = (taskId: unknown, context: ServerContext): FixtureTask => {
      if (!declaresTasks(context.mcpReq))
        throw new MissingRequiredClientCapabilityError({
          requiredCapabilities: { extensions: { [tasksExtension]: {} } },
        } as never);
      const task = this.#tasks.get(String(taskId));
      if (!task) throw new ProtocolError(-32602, "Unknown task");
      return task;
    };
    const handle = (
      method: string,
      work: (params: JsonObject, context: ServerContext) => JsonObject,
    ): void => {
      const handler = async (params: JsonObject, context: ServerContext): Promise<JsonObject> =>
        work(params, context);
      server.setRequestHandler(
        method as never,
        { params: anything, result: anything } as never,
        handler as never,
      );
    };
    handle("tasks/get", ({ taskId }, context) => {
      const task = get(taskId, context);
      return {
        ...describe(task),
        ...(task.status === "completed" ? { result: task.result } : {}),
        ...(task.status === "failed" ? { error: task.error } : {}),
        ...(task.status === "input_required" ? { inputRequests: task.questions } : {}),
      };
    });
    handle("tasks/update", ({ taskId, inputResponses }, context) => {
      const task = get(taskId, context);
      const given = context.mcpReq.inputResponses ?? inputResponses ?? {};
      for (const [key, answer] of Object.entries(given)) {
        if (!Object.hasOwn(task.questions, key)) continue;
        delete task.questions[key];
        task.answers[key] = answer as JsonObject;
      }
      task.answered();
      return {};
    });
    handle("tasks/cancel", ({ taskId }, context) => {
      const task = get(taskId, context);
      if (task.status === "working" || task.status === "input_required") task.status = "cancelled";
      return {};
    });
  }
}

function describe({ id, status, createdAt }: FixtureTask): JsonObject {
  return {
    taskId: id,
    status,
    createdAt,
    lastUpdatedAt: new Date().toISOString(),
    ttlMs: 600_000,
    pollIntervalMs: 50,
  };
}
