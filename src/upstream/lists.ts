import { HallError, messageOf } from "../base/errors.ts";
import { isObject, type JsonObject } from "../base/json.ts";
import type { Scope } from "../base/scope.ts";
import type { ServerConnection } from "../client/connection.ts";
import type { Prompt, Resource, Tool } from "../tool.ts";
import { withoutOldDraft } from "./schema-draft.ts";

/** Everything an upstream offers, read page by page. */
export interface Offer {
  readonly tools: readonly Tool[];
  readonly resources: readonly Resource[];
  readonly templates: readonly JsonObject[];
  readonly prompts: readonly Prompt[];
}

export const emptyOffer: Offer = { tools: [], resources: [], templates: [], prompts: [] };

const pagesMax = 1_000;
const itemsMax = 10_000;
/** Limit for all pages after the first together; each single message has its own limit. */
const charactersMax = 32 * 1024 * 1024;

export interface ReadOptions {
  readonly scope: Scope;
  /** False if a tool cannot be called as defined. Default: all can. */
  isUsable?(tool: Tool): boolean;
  /** Reports skipped definitions and declared lists that fail. */
  warn(message: string): void;
}

export async function readOffer(line: ServerConnection, options: ReadOptions): Promise<Offer> {
  const { capabilities } = line.handshake;
  const [tools, resources, templates, prompts] = await Promise.all([
    capabilities.tools ? readTools(line, options) : [],
    capabilities.resources ? optional(readResources(line, options), options) : [],
    capabilities.resources ? optional(readTemplates(line, options), options) : [],
    capabilities.prompts ? optional(readPrompts(line, options), options) : [],
  ]);
  return { tools, resources, templates, prompts };
}

export async function readTools(
  line: ServerConnection,
  options: ReadOptions,
): Promise<readonly Tool[]> {
  const items = await readPages(line, "tools/list", "tools", options);
  return keep(items, (item) => readTool(item, options), options);
}

function readTool(item: JsonObject, { isUsable = () => true }: ReadOptions): Tool | undefined {
  const tool =
    typeof item.name === "string" && isObject(item.inputSchema)
      ? (item as unknown as Tool)
      : undefined;
  if (!tool || !isUsable(tool)) return undefined;
  return isObject(tool.outputSchema)
    ? { ...tool, outputSchema: withoutOldDraft(tool.outputSchema) }
    : tool;
}

/** Resources and templates share one change notification. */
export async function readAllResources(
  line: ServerConnection,
  options: ReadOptions,
): Promise<Pick<Offer, "resources" | "templates">> {
  const [resources, templates] = await Promise.all([
    readResources(line, options),
    optional(readTemplates(line, options), options),
  ]);
  return { resources, templates };
}

async function readResources(
  line: ServerConnection,
  options: ReadOptions,
): Promise<readonly Resource[]> {
  const items = await readPages(line, "resources/list", "resources", options);
  return keep(
    items,
    (item) =>
      typeof item.uri === "string" && typeof item.name === "string"
        ? (item as unknown as Resource)
        : undefined,
    options,
  );
}

async function readTemplates(
  line: ServerConnection,
  options: ReadOptions,
): Promise<readonly JsonObject[]> {
  const items = await readPages(line, "resources/templates/list", "resourceTemplates", options);
  return keep(items, (item) => (typeof item.uriTemplate === "string" ? item : undefined), options);
}

export async function readPrompts(
  line: ServerConnection,
  options: ReadOptions,
): Promise<readonly Prompt[]> {
  const items = await readPages(line, "prompts/list", "prompts", options);
  return keep(
    items,
    (item) => (typeof item.name === "string" ? (item as unknown as Prompt) : undefined),
    options,
  );
}

/** Follows cursors to the end, or until one repeats. */
async function readPages(
  line: ServerConnection,
  method: string,
  field: string,
  { scope, warn }: ReadOptions,
): Promise<readonly unknown[]> {
  const items: unknown[] = [];
  const seen = new Set<unknown>();
  let cursor: unknown;
  let characters = 0;
  for (
    let page = 0;
    page < pagesMax && items.length < itemsMax && characters < charactersMax;
    page++
  ) {
    const result = await line.request(method, cursor === undefined ? {} : { cursor }, scope);
    const list = result[field];
    if (!Array.isArray(list))
      throw new HallError("BAD_ANSWER", `the answer to ${method} has no "${field}"`);
    const room = itemsMax - items.length;
    items.push(...list.slice(0, room));
    if (page > 0) characters += JSON.stringify(list).length;
    cursor = result.nextCursor;
    if (typeof cursor !== "string" && list.length <= room) return items;
    if (seen.has(cursor)) break;
    seen.add(cursor);
  }
  warn(`${method} does not end; using the first ${items.length} items`);
  return items;
}

/** Skips invalid definitions. */
function keep<T>(
  items: readonly unknown[],
  read: (item: JsonObject) => T | undefined,
  { warn }: ReadOptions,
): readonly T[] {
  return items.flatMap((item) => {
    const usable = isObject(item) ? read(item) : undefined;
    if (usable !== undefined) return [usable];
    warn(`skipped an invalid definition: ${JSON.stringify(item)?.slice(0, 200)}`);
    return [];
  });
}

/** Some servers declare lists that fail without their backend; the tools still work. */
async function optional<T>(
  reading: Promise<readonly T[]>,
  { scope, warn }: ReadOptions,
): Promise<readonly T[]> {
  try {
    return await reading;
  } catch (error) {
    if (scope.cancelled) throw error;
    warn(messageOf(error));
    return [];
  }
}
