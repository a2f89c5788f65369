import { HallError } from "../base/errors.ts";
import type { JsonObject } from "../base/json.ts";
import { findNear } from "../base/text.ts";
import type { AnswerQuestion } from "../client/client.ts";
import type { HallClient } from "../hall/hall-client.ts";
import type { Settings } from "../hall/settings.ts";

/** Runs work as a client of the project's hall. The work prints its result itself, because stopping servers may take seconds. */
export async function withHall(
  work: (client: HallClient, settings: Settings) => Promise<void>,
  answer?: AnswerQuestion,
): Promise<void> {
  const [settings, { connectHall }] = await Promise.all([
    loadProject(),
    import("../hall/hall-client.ts"),
  ]);
  const client = await connectHall({ folder: settings.folder, settings, answer });
  try {
    await work(client, settings);
  } finally {
    await client.close();
  }
}

/** The settings of the project in the working directory, for a command that logs only errors. */
export async function loadProject(): Promise<Settings> {
  const { loadSettings } = await import("../hall/settings.ts");
  return loadSettings({}, "error");
}

/** A tool by any name that a call accepts. Throws NOT_FOUND with near names, UNAVAILABLE if its server has an invalid entry. */
export async function getTool(
  name: string,
  client: HallClient,
  { loaded }: Settings,
): Promise<JsonObject> {
  const tools = await client.list("tools/list", "tools", "tools,agents");
  const dotted = name.replace("__", ".");
  const exact = tools.find((tool) => tool.name === name || tool.name === dotted);
  const short = tools.filter((tool) => String(tool.name).split(".").slice(1).join(".") === name);
  const found = exact ?? (short.length === 1 ? short[0] : undefined);
  if (found) return found;

  const [server = ""] = dotted.split(".", 1);
  if (Object.hasOwn(loaded.unusable, server)) {
    const { getServer } = await import("../hall/settings.ts");
    getServer(server, loaded);
  }
  const names = tools.map((tool) => String(tool.name));
  const near = short.length > 1 ? short.map((tool) => String(tool.name)) : findNear(name, names);
  const question = near.length > 0 ? `; did you mean ${near.join(", ")}?` : "";
  // The tools of a server that is down, or not approved, are not listed at all.
  const isServerListed = names.some((each) => each.startsWith(`${server}.`));
  const isOfUnknownServer = dotted.includes(".") && !isServerListed;
  throw new HallError("NOT_FOUND", `unknown tool "${name}"${question}`, {
    hint: isOfUnknownServer
      ? `No tools of ${server} are known. If it is one of your servers, build shows what it offers or why it fails.`
      : undefined,
    next: [{ do: "run-command", command: isOfUnknownServer ? "build" : "tools" }],
  });
}
