/**
 * The process that runs the modules of a project: an MCP server on stdio that the hall starts. It keeps no
 * state that matters: each request names a module's file and digest, and the process loads that file if it has
 * not yet.
 */
import { Console } from "node:console";
import { HallError } from "../base/errors.ts";
import { isObject, type JsonObject } from "../base/json.ts";
import { version } from "../base/version.ts";
import {
  type ExportedToolkit,
  importToolkits,
  type ModuleRequest,
  type ToolkitOffer,
} from "../registry/module-exports.ts";
import type { CallContext, Outcome, Tool } from "../tool.ts";
import { defaultLimits } from "../wire/channel.ts";
import type { Request } from "../wire/message.ts";
import type { Exchange } from "../wire/requests.ts";
import { createStdioChannel } from "../wire/stdio.ts";
import { connectHall, refuse } from "./hall-line.ts";

const loaded = new Map<string, Promise<readonly ExportedToolkit[]>>();
const followed = new WeakSet<ExportedToolkit>();

// Stdout belongs to the protocol; modules may print.
globalThis.console = new Console(process.stderr, process.stderr);
connectHall(createStdioChannel(process.stdin, process.stdout, defaultLimits), {
  serve,
  lost: () => void closeAll().finally(() => process.exit(0)),
});

function serve(request: Request, exchange: Exchange): unknown {
  const { method, params = {} } = request;
  switch (method) {
    case "initialize":
      return {
        protocolVersion: params.protocolVersion,
        capabilities: { tools: { listChanged: true }, logging: {} },
        serverInfo: { name: "guildhall-modules", version },
      };
    case "ping":
    case "logging/setLevel":
      return {};
    case "tools/list":
      return listAll();
    case "tools/call":
      return run(JSON.parse(String(params.name)) as ModuleRequest, params, exchange);
    default:
      return refuse(request);
  }
}

/** The hall compares this list to notice changes. */
async function listAll(): Promise<JsonObject> {
  const modules = await Promise.allSettled(loaded.values());
  const toolkits = modules.flatMap((module) => (module.status === "fulfilled" ? module.value : []));
  const lists = toolkits.map(async ({ id, list }) =>
    (await list()).map((tool) => ({ ...tool, name: `${id}.${tool.name}` })),
  );
  return { tools: (await Promise.all(lists)).flat() };
}

async function run(
  asked: ModuleRequest,
  params: JsonObject,
  exchange: Exchange,
): Promise<JsonObject | Outcome> {
  const toolkits = await load(asked);
  if (asked.does === "load") {
    for (const toolkit of toolkits) follow(toolkit, exchange);
    return carry({ toolkits: await Promise.all(toolkits.map(describe)) });
  }
  const toolkit = toolkits.find(({ id }) => id === asked.toolkit);
  if (!toolkit) throw new HallError("NOT_FOUND", `no toolkit named "${asked.toolkit}"`);
  const { name = "" } = asked;
  const args = isObject(params.arguments) ? params.arguments : {};
  const context = contextOf(params, exchange);
  switch (asked.does) {
    case "offer":
      return carry({ toolkits: [await describe(toolkit)] });
    case "call":
      return toolkit.call(await findTool(toolkit, name), args, context);
    case "health":
      return carry((await toolkit.health?.()) ?? { state: "available" });
    case "read":
      return carry(await toolkit.resources?.read(name, context));
    case "get":
      return carry(await toolkit.prompts?.get(name, args as Record<string, string>, context));
    case "close":
      await toolkit.close?.();
      return carry({});
  }
}

function load({ file, digest }: ModuleRequest): Promise<readonly ExportedToolkit[]> {
  const key = `${file}?${digest}`;
  const known = loaded.get(key) ?? importToolkits(file, digest);
  loaded.set(key, known);
  return known;
}

async function describe(toolkit: ExportedToolkit): Promise<ToolkitOffer> {
  const { id, prefix, description, category, version, cacheTtlSeconds } = toolkit;
  const { resources, prompts } = toolkit;
  return {
    ...{ id, prefix, description, category, version },
    ...(cacheTtlSeconds === undefined ? {} : { cacheTtlSeconds }),
    tools: await toolkit.list(),
    ...(resources
      ? { resources: await resources.list(), templates: (await resources.templates?.()) ?? [] }
      : {}),
    ...(prompts ? { prompts: await prompts.list() } : {}),
  };
}

async function findTool(toolkit: ExportedToolkit, name: string): Promise<Tool> {
  const found = (await toolkit.list()).find((tool) => tool.name === name);
  if (found) return found;
  throw new HallError("NOT_FOUND", `${toolkit.id} has no tool named "${name}"`);
}

/** Notifies the hall of changes while this process runs. */
function follow(toolkit: ExportedToolkit, exchange: Exchange): void {
  if (!toolkit.onChange || followed.has(toolkit)) return;
  followed.add(toolkit);
  exchange.outlives = true;
  toolkit.onChange(() => exchange.notify("notifications/tools/list_changed", undefined));
}

function carry(value: object | undefined): JsonObject {
  return { content: [], structuredContent: value ?? {} };
}

function contextOf({ _meta }: JsonObject, exchange: Exchange): CallContext {
  const { progressToken, ...meta } = isObject(_meta) ? _meta : {};
  const { scope } = exchange;
  return {
    scope,
    takesProgress: true,
    meta,
    progress: (progress) =>
      exchange.notify("notifications/progress", { progressToken, ...progress }),
    log: (level, data, logger) => exchange.notify("notifications/message", { level, data, logger }),
    async ask(questions, asked = scope) {
      const answers = Object.entries(questions).map(async ([key, { method, params }]) => [
        key,
        await exchange.ask(method, params, { scope: asked }),
      ]);
      return Object.fromEntries(await Promise.all(answers));
    },
  };
}

async function closeAll(): Promise<void> {
  const modules = await Promise.allSettled(loaded.values());
  const toolkits = modules.flatMap((module) => (module.status === "fulfilled" ? module.value : []));
  await Promise.allSettled(toolkits.map(async (toolkit) => toolkit.close?.()));
}
