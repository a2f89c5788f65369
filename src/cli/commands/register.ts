import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { extname, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { connectHall, dialHall } from "../../author/hall-line.ts";
import { joinHall, type Registered } from "../../author/register.ts";
import { HallError, messageOf } from "../../base/errors.ts";
import { importFile } from "../../base/import-file.ts";
import { isObject, type JsonObject } from "../../base/json.ts";
import { createHallChannel, greetHall } from "../../hall/admin-client.ts";
import { socketPath } from "../../hall/socket.ts";
import { isToolkit } from "../../registry/module-exports.ts";
import { readRegistration } from "../../registry/registration.ts";
import { readTokenFile } from "../../server/http/tokens.ts";
import type { Toolkit } from "../../tool.ts";
import type { Channel } from "../../wire/channel.ts";
import type { JsonOption } from "../declaration.ts";
import { onStopSignals } from "../exit.ts";
import { print } from "../print.ts";

interface HallFlags extends JsonOption {
  readonly url?: string;
  readonly tokenFile?: string;
}

interface RegisterFlags extends HallFlags {
  readonly replace?: boolean;
}

/** A JSON file is registered once; the toolkits of a module are served until the process is stopped. */
export async function runRegister(file: string, flags: RegisterFlags): Promise<void> {
  if (extname(file) === ".json") await registerDocument(await readDocument(file), flags);
  else await serveModule(await loadToolkits(file), flags);
}

export async function runUnregister(name: string, flags: HallFlags): Promise<void> {
  const answer = await askOnce("tools/unregister", { tool_name: name }, flags);
  print(answer, `${answer.tool_id} is no longer registered`, flags);
}

async function registerDocument(document: JsonObject, flags: RegisterFlags): Promise<void> {
  const params = readRegistration(document);
  const replace = flags.replace ? { replace: true } : {};
  const answer = await askOnce("tools/register", { ...params, ...replace }, flags);
  const hasEndpoint = isObject(params.tool) && params.tool.endpoint !== undefined;
  const note = hasEndpoint
    ? ""
    : "\nIt has no endpoint, so its calls fail until its service registers itself or an endpoint is given.";
  print(answer, `registered as ${answer.tool_id}${note}`, flags);
}

async function askOnce(method: string, params: JsonObject, flags: HallFlags): Promise<JsonObject> {
  const line = connectHall(await openChannel(flags));
  try {
    return await line.ask(method, params);
  } finally {
    await line.close();
  }
}

async function serveModule(toolkits: readonly Toolkit[], flags: RegisterFlags): Promise<void> {
  const warn = (message: string): void => void process.stderr.write(`guildhall: ${message}\n`);
  const { replace = false } = flags;
  const joined: Registered[] = [];
  try {
    for (const toolkit of toolkits)
      joined.push(await joinHall(toolkit, () => openChannel(flags), { replace, warn }));
    const ids = joined.map(({ toolId }) => toolId);
    const text = `registered as ${ids.join(", ")}; serving until Ctrl+C`;
    print({ registered: ids }, text, flags);
    await new Promise<void>((stop) => {
      onStopSignals(stop, stop);
    });
  } finally {
    await Promise.all(joined.map((one) => one.close()));
  }
}

/** A connection to the hall at the address, else to the one running in this folder. */
async function openChannel({ url, tokenFile }: HallFlags): Promise<Channel> {
  if (url !== undefined)
    return dialHall(url, tokenFile === undefined ? undefined : await readTokenFile(tokenFile));
  const socket = await greetHall(await socketPath(process.cwd()), "mcp");
  if (socket) return createHallChannel(socket);
  throw new HallError("UNAVAILABLE", "no hall is running in this project", {
    hint: "Start one, or name another with --url.",
    next: [{ do: "run-command", command: "serve" }],
  });
}

async function readDocument(file: string): Promise<JsonObject> {
  const text = await readFile(file, "utf8").catch((cause: NodeJS.ErrnoException) => {
    throw new HallError("NOT_FOUND", `cannot read "${file}" (${cause.code})`, {
      cause,
      hint: "Check the path.",
    });
  });
  try {
    const document: unknown = JSON.parse(text);
    if (isObject(document)) return document;
  } catch (cause) {
    throw new HallError("INVALID_PARAMS", `${file} is invalid JSON: ${messageOf(cause)}`, {
      cause,
    });
  }
  throw new HallError(
    "INVALID_PARAMS",
    `${file} must be one JSON object: a tool with name, description and functions`,
  );
}

async function loadToolkits(file: string): Promise<readonly Toolkit[]> {
  if (!existsSync(file))
    throw new HallError("NOT_FOUND", `cannot read "${file}"`, {
      hint: "Check the path.",
    });
  const exported = await importFile(pathToFileURL(resolve(file)).href).catch((cause: unknown) => {
    const message = messageOf(cause);
    throw new HallError("EXECUTION", `cannot load ${file}: ${message}`, {
      cause,
      hint: adviseAuthor(message),
    });
  });
  const found = [...new Set(Object.values(exported))].filter(isToolkit);
  if (found.length > 0) return found;
  throw new HallError("INVALID_PARAMS", `${file} exports no toolkit`, {
    hint: "Export one made with toolkit(…), or give a JSON file.",
  });
}

/** The next step after Node's reason for not loading a module. */
function adviseAuthor(reason: string): string {
  const [, missing] = /^Cannot find package '([^']+)'/.exec(reason) ?? [];
  if (missing === "guildhall")
    return "Install it beside the file, from its folder or archive: npm install /path/to/guildhall";
  if (missing !== undefined) return `Install it beside the file: npm install ${missing}`;
  return /import statement|Unexpected token 'export'/.test(reason)
    ? "Make the file a module: npm pkg set type=module, or name it .mjs."
    : "Correct the file.";
}
