import { HallError } from "../../base/errors.ts";
import type { JsonObject } from "../../base/json.ts";
import { findNear } from "../../base/near.ts";
import { shortenLine, visible, visibleLines } from "../../base/text.ts";
import type { AnswerQuestion } from "../../client/client.ts";
import { connectHall, type HallClient } from "../../hall/hall-client.ts";
import { loadSettings, type Settings } from "../../hall/settings.ts";
import type { ToldTool } from "../../toolkits/find/answer.ts";
import { print, table } from "../print.ts";
import { getServer } from "../servers.ts";

export interface ListOptions {
  readonly json?: boolean;
}

/** Runs work on a line to the project's hall and closes it. What there is to say is said by the work: to end servers may take them seconds. */
export async function withHall(
  work: (client: HallClient, settings: Settings) => Promise<void>,
  answer?: AnswerQuestion,
): Promise<void> {
  const settings = await loadSettings({}, "error");
  const client = await connectHall({ folder: process.cwd(), settings, answer });
  try {
    await work(client, settings);
  } finally {
    await client.close();
  }
}

/** All tools, or those that fit a task: the answer `find_tools` gives a model. */
export async function runTools(query: readonly string[], options: ListOptions): Promise<void> {
  if (query.length === 0) await listAll(options);
  else await findFor(query.join(" "), options);
}

async function listAll(options: ListOptions): Promise<void> {
  await withHall(async (client) => {
    const tools = await client.list("tools/list", "tools");
    const rows = tools.map(({ name, description }) => [
      String(name),
      shortenLine(String(description ?? ""), descriptionMax),
    ]);
    print(tools, {
      json: options.json,
      text: () => (rows.length > 0 ? table(["tool", "what it does"], rows) : "there are no tools"),
    });
  });
}

const descriptionMax = 120;

const foundMax = 10;

async function findFor(task: string, options: ListOptions): Promise<void> {
  await withHall(async (client) => {
    const result = await client.request("tools/call", {
      name: "find_tools",
      arguments: { task, limit: foundMax },
    });
    if (result.isError)
      throw new HallError("VALIDATION", "that cannot be looked for", {
        hint: "Say in a few words what a tool should do.",
      });
    print(result.structuredContent, {
      json: options.json,
      text: () => describeFound(result.structuredContent as unknown as FoundTools),
    });
  });
}

function describeFound({ fits, total, tools, notes = [] }: FoundTools): string {
  const rows = tools.map(({ name, matched, description, asks, unavailable }) => [
    name,
    unavailable === undefined ? (asks === undefined ? "" : "asks") : "down",
    matched.join(", "),
    shortenLine(description, descriptionMax),
  ]);
  const head = fits
    ? `the best of ${total} tools:`
    : `nothing fits well; the nearest of ${total} tools:`;
  const found =
    rows.length > 0
      ? `${head}\n\n${table(["tool", "", "matched", "what it does"], rows)}`
      : `no tool matches; there are ${total}`;
  return [found, ...notes.map(visible)].join("\n");
}

interface FoundTools {
  readonly fits: boolean;
  readonly total: number;
  readonly tools: readonly ToldTool[];
  readonly notes?: readonly string[];
}

export async function runToolShow(name: string, options: ListOptions): Promise<void> {
  await withHall(async (client, settings) => {
    const tool = await getTool(name, client, settings);
    print(tool, {
      json: options.json,
      text: () =>
        `${visible(String(tool.name))}\n\n${visibleLines(String(tool.description ?? ""))}\n\ninput: ${JSON.stringify(tool.inputSchema, null, 2)}`,
    });
  });
}

/** Throws NOT_FOUND with near names, UNAVAILABLE where its server cannot be used. Understands the names that calls understand. */
export async function getTool(
  name: string,
  client: HallClient,
  { loaded }: Settings,
): Promise<JsonObject> {
  const tools = await client.list("tools/list", "tools", "tools,agents");
  const exact = tools.find((tool) => tool.name === name || tool.name === name.replace("__", "."));
  const bare = tools.filter((tool) => String(tool.name).split(".").slice(1).join(".") === name);
  const found = exact ?? (bare.length === 1 ? bare[0] : undefined);
  if (found) return found;
  const [server = ""] = name.replace("__", ".").split(".", 1);
  if (Object.hasOwn(loaded.unusable, server)) getServer(server, loaded);
  const choices =
    bare.length > 1
      ? bare.map((tool) => String(tool.name))
      : findNear(
          name,
          tools.map((tool) => String(tool.name)),
        );
  throw new HallError(
    "NOT_FOUND",
    `there is no tool "${name}"${choices.length > 0 ? `; did you mean ${choices.join(", ")}?` : ""}`,
    {
      hint: describeAbsence(name, tools),
    },
  );
}

/** A server that is down, or was never approved, has no tools to be found: then the tool is not what is wrong. */
function describeAbsence(name: string, tools: readonly JsonObject[]): string {
  const [server = "", ...rest] = name.replace("__", ".").split(".");
  const isOffering = tools.some((tool) => String(tool.name).startsWith(`${server}.`));
  if (rest.length === 0 || isOffering) return "See `guildhall tools`.";
  return `No tool of ${server} is known. If it is one of your servers, \`guildhall build\` starts it and says what it offers, or why it does not.`;
}

export async function runResources(options: ListOptions): Promise<void> {
  await withHall(async (client) => {
    const [resources, templates] = await Promise.all([
      client.list("resources/list", "resources"),
      client.list("resources/templates/list", "resourceTemplates"),
    ]);
    const rows = [
      ...resources.map(({ uri, name }) => [String(uri), String(name ?? "")]),
      ...templates.map(({ uriTemplate, name }) => [String(uriTemplate), String(name ?? "")]),
    ];
    print(
      { resources, templates },
      {
        json: options.json,
        text: () =>
          rows.length > 0 ? table(["resource", "name"], rows) : "no server offers resources",
      },
    );
  });
}

export async function runPrompts(options: ListOptions): Promise<void> {
  await withHall(async (client) => {
    const prompts = await client.list("prompts/list", "prompts");
    const rows = prompts.map(({ name, description }) => [String(name), String(description ?? "")]);
    print(prompts, {
      json: options.json,
      text: () =>
        rows.length > 0 ? table(["prompt", "what it does"], rows) : "no server offers prompts",
    });
  });
}
