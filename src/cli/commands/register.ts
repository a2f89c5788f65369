import { readFile } from "node:fs/promises";
import { extname, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { dialHall } from "../../author/dial.ts";
import { connectHall } from "../../author/hall-line.ts";
import { joinHall, type Registered } from "../../author/register.ts";
import { HallError } from "../../base/errors.ts";
import { isObject, type JsonObject } from "../../base/json.ts";
import { createHallChannel, greetHall } from "../../hall/admin-client.ts";
import { socketPath } from "../../hall/socket.ts";
import { isToolkit } from "../../registry/modules.ts";
import { readTokenFile } from "../../server/http/tokens.ts";
import type { Toolkit } from "../../tool.ts";
import type { Channel } from "../../wire/channel.ts";
import { print } from "../print.ts";
import { onStopSignals } from "../process.ts";

export interface RegisterFlags {
  readonly url?: string;
  readonly tokenFile?: string;
  readonly replace?: boolean;
  readonly json?: boolean;
}

/** A JSON file is registered once, for the endpoint it names; a module's toolkits are served from here until the process is told to stop. */
export async function runRegister(file: string, flags: RegisterFlags): Promise<void> {
  if (extname(file) === ".json") await registerDocument(await readDocument(file), flags);
  else await serveModule(await loadToolkits(file), flags);
}

export async function runUnregister(name: string, flags: RegisterFlags): Promise<void> {
  const answer = await askOnce("tools/unregister", { tool_name: name }, flags);
  print(answer, { json: flags.json, text: () => `${answer.tool_id} is no longer registered` });
}

async function registerDocument(document: JsonObject, flags: RegisterFlags): Promise<void> {
  const params = "tool" in document ? document : { tool: document };
  const answer = await askOnce(
    "tools/register",
    { ...params, ...(flags.replace ? { replace: true } : {}) },
    flags,
  );
  const hasEndpoint = isObject(params.tool) && params.tool.endpoint !== undefined;
  const advice = hasEndpoint
    ? ""
    : "\nIt names no endpoint, so nobody serves it yet: its service has to register itself, or give an endpoint.";
  print(answer, { json: flags.json, text: () => `registered as ${answer.tool_id}${advice}` });
}

async function askOnce(
  method: string,
  params: JsonObject,
  flags: RegisterFlags,
): Promise<JsonObject> {
  const line = connectHall(await lineTo(flags)());
  try {
    return await line.ask(method, params);
  } finally {
    await line.close();
  }
}

async function serveModule(toolkits: readonly Toolkit[], flags: RegisterFlags): Promise<void> {
  const warn = (message: string): void => void process.stderr.write(`guildhall: ${message}\n`);
  const joined: Registered[] = [];
  try {
    for (const toolkit of toolkits)
      joined.push(
        await joinHall(toolkit, lineTo(flags), { replace: flags.replace ?? false, warn }),
      );
    const ids = joined.map(({ toolId }) => toolId);
    print(
      { registered: ids },
      { json: flags.json, text: () => `registered as ${ids.join(", ")}; serving until Ctrl+C` },
    );
    await new Promise<void>((stop) => {
      onStopSignals(stop, stop);
    });
  } finally {
    await Promise.all(joined.map((one) => one.close()));
  }
}

/** The hall at the address, else the one that runs in this folder. */
function lineTo({ url, tokenFile }: RegisterFlags): () => Promise<Channel> {
  return async () => {
    if (url !== undefined)
      return dialHall(url, tokenFile === undefined ? undefined : await readTokenFile(tokenFile));
    const socket = await greetHall(await socketPath(process.cwd()), "mcp");
    if (socket) return createHallChannel(socket);
    throw new HallError("UNAVAILABLE", "no hall is running in this project", {
      hint: "Start one with `guildhall serve`, or name one with --url.",
    });
  };
}

async function readDocument(file: string): Promise<JsonObject> {
  const text = await readFile(file, "utf8").catch((cause: NodeJS.ErrnoException) => {
    throw new HallError("NOT_FOUND", `${file} cannot be read (${cause.code})`, {
      cause,
      hint: "Check the path.",
    });
  });
  try {
    const document: unknown = JSON.parse(text);
    if (isObject(document)) return document;
  } catch (cause) {
    throw new HallError(
      "INVALID_PARAMS",
      `${file} is not valid JSON (${cause instanceof Error ? cause.message : cause})`,
      { cause },
    );
  }
  throw new HallError(
    "INVALID_PARAMS",
    `${file} must hold one JSON object: a tool with name, description and functions`,
  );
}

async function loadToolkits(file: string): Promise<readonly Toolkit[]> {
  const exported = (await import(pathToFileURL(resolve(file)).href).catch((cause: unknown) => {
    throw new HallError(
      "EXECUTION",
      `${file} cannot be loaded: ${cause instanceof Error ? cause.message : cause}`,
      { cause },
    );
  })) as Record<string, unknown>;
  const found = [...new Set(Object.values(exported))].filter(isToolkit);
  if (found.length > 0) return found;
  throw new HallError("INVALID_PARAMS", `${file} exports no toolkit`, {
    hint: "Export one made with toolkit(…), or give a JSON file.",
  });
}
