import { HallError } from "../base/errors.ts";
import type { JsonObject } from "../base/json.ts";
import { findNear } from "../base/near.ts";
import { connectHall, type HallClient } from "./hall-client.ts";
import { print, table, visible, visibleLines } from "./print.ts";
import { loadSettings } from "./settings.ts";

export interface ListOptions {
  readonly json?: boolean;
}

/** Runs work on a line to the project's hall and closes it. */
export async function withHall<T>(work: (client: HallClient) => Promise<T>): Promise<T> {
  const settings = await loadSettings({}, "error");
  const client = await connectHall({ folder: process.cwd(), settings });
  try {
    return await work(client);
  } finally {
    await client.close();
  }
}

/** The tools whose name or description has every word of the query. */
export async function runTools(query: readonly string[], options: ListOptions): Promise<void> {
  const words = query.map((word) => word.toLowerCase());
  const all = await withHall((client) => client.list("tools/list", "tools"));
  const found = all.filter((tool) => words.every((word) => `${tool.name} ${tool.description ?? ""}`.toLowerCase().includes(word)));
  print(found, {
    json: options.json,
    text: () =>
      found.length > 0
        ? table(
            ["tool", "what it does"],
            found.map(({ name, description }) => [String(name), String(description ?? "")]),
          )
        : `no tool matches; there are ${all.length}`,
  });
}

export async function runToolShow(name: string, options: ListOptions): Promise<void> {
  const tool = await withHall((client) => getTool(client, name));
  print(tool, {
    json: options.json,
    text: () => `${visible(String(tool.name))}\n\n${visibleLines(String(tool.description ?? ""))}\n\ninput: ${JSON.stringify(tool.inputSchema, null, 2)}`,
  });
}

/** Throws NOT_FOUND with near names. Understands the names that calls understand. */
export async function getTool(client: HallClient, name: string): Promise<JsonObject> {
  const tools = await client.list("tools/list", "tools");
  const exact = tools.find((tool) => tool.name === name || tool.name === name.replace("__", "."));
  const bare = tools.filter((tool) => String(tool.name).split(".").slice(1).join(".") === name);
  const found = exact ?? (bare.length === 1 ? bare[0] : undefined);
  if (found) return found;
  const choices =
    bare.length > 1
      ? bare.map((tool) => String(tool.name))
      : findNear(
          name,
          tools.map((tool) => String(tool.name)),
        );
  throw new HallError("NOT_FOUND", `there is no tool "${name}"${choices.length > 0 ? `; did you mean ${choices.join(", ")}?` : ""}`, {
    hint: "See `guildhall tools`.",
  });
}

export async function runResources(options: ListOptions): Promise<void> {
  const [resources, templates] = await withHall((client) =>
    Promise.all([client.list("resources/list", "resources"), client.list("resources/templates/list", "resourceTemplates")]),
  );
  const rows = [
    ...resources.map(({ uri, name }) => [String(uri), String(name ?? "")]),
    ...templates.map(({ uriTemplate, name }) => [String(uriTemplate), String(name ?? "")]),
  ];
  print({ resources, templates }, { json: options.json, text: () => (rows.length > 0 ? table(["resource", "name"], rows) : "no server offers resources") });
}

export async function runPrompts(options: ListOptions): Promise<void> {
  const prompts = await withHall((client) => client.list("prompts/list", "prompts"));
  print(prompts, {
    json: options.json,
    text: () =>
      prompts.length > 0
        ? table(
            ["prompt", "what it does"],
            prompts.map(({ name, description }) => [String(name), String(description ?? "")]),
          )
        : "no server offers prompts",
  });
}
