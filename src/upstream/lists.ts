import { HallError, messageOf } from "../base/errors.ts";
import { isObject, type JsonObject } from "../base/json.ts";
import type { Scope } from "../base/scope.ts";
import { escapePattern } from "../base/text.ts";
import type { ServerConnection } from "../client/connection.ts";
import type { ServerConfig } from "../config/schema.ts";
import type { ListKind, Prompt, Resource, Tool } from "../tool.ts";
import { definitionOf } from "../trust/pin.ts";

/** Everything an upstream offers, read page by page. */
export interface Offer {
  readonly tools: readonly Tool[];
  readonly resources: readonly Resource[];
  readonly templates: readonly JsonObject[];
  readonly prompts: readonly Prompt[];
  /** Tools that it lists and that cannot be used. Absent if there are none. */
  readonly skipped?: readonly SkippedTool[];
}

export interface SkippedTool {
  readonly name: string;
  readonly reason: string;
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
  /** Reports a tool that cannot be used. */
  skipped?(tool: SkippedTool): void;
  /** Reports skipped definitions and declared lists that fail. */
  warn(message: string): void;
}

/** How each list is read, and what makes an item usable. */
const lists = {
  tools: { method: "tools/list", field: "tools", read: readTool },
  resources: { method: "resources/list", field: "resources", read: readResource },
  templates: { method: "resources/templates/list", field: "resourceTemplates", read: readTemplate },
  prompts: { method: "prompts/list", field: "prompts", read: readPrompt },
} as const;

export async function readOffer(line: ServerConnection, options: ReadOptions): Promise<Offer> {
  const { capabilities } = line.handshake;
  const [tools, resources, templates, prompts] = await Promise.all([
    capabilities.tools ? readTools(line, options) : { tools: [] },
    capabilities.resources ? optional(readList(line, "resources", options), options) : [],
    capabilities.resources ? optional(readList(line, "templates", options), options) : [],
    capabilities.prompts ? optional(readList(line, "prompts", options), options) : [],
  ]);
  return { ...tools, resources, templates, prompts };
}

async function readTools(
  line: ServerConnection,
  options: ReadOptions,
): Promise<Pick<Offer, "tools" | "skipped">> {
  const skipped: SkippedTool[] = [];
  const tools = await readList(line, "tools", {
    ...options,
    skipped: (tool) => skipped.push(tool),
  });
  return skipped.length > 0 ? { tools, skipped } : { tools };
}

/** The lists that one change notification concerns. */
export async function readChanged(
  kind: ListKind,
  line: ServerConnection,
  options: ReadOptions,
): Promise<Partial<Offer>> {
  if (kind === "tools") return { skipped: [], ...(await readTools(line, options)) };
  if (kind === "prompts") return { prompts: await readList(line, kind, options) };
  const [resources, templates] = await Promise.all([
    readList(line, "resources", options),
    optional(readList(line, "templates", options), options),
  ]);
  return { resources, templates };
}

/** Skips invalid definitions. */
export async function readList<K extends keyof typeof lists>(
  line: ServerConnection,
  kind: K,
  options: ReadOptions,
): Promise<Offer[K]> {
  const { method, field, read } = lists[kind];
  const items = await readPages(line, method, field, options);
  const names = new Set<unknown>();
  return items.flatMap((item) => {
    const usable = isObject(item) ? read(item, options) : undefined;
    const name = kind === "tools" || kind === "prompts" ? usable?.name : undefined;
    const isRepeated = name !== undefined && names.has(name);
    names.add(name);
    if (usable !== undefined && !isRepeated) return [usable];
    const fault = isRepeated ? "a repeated" : "an invalid";
    options.warn(`skipped ${fault} definition: ${JSON.stringify(item)?.slice(0, 200)}`);
    if (kind === "tools")
      options.skipped?.({
        name: nameOf(item),
        reason: isRepeated ? "listed twice" : faultOf(item),
      });
    return [];
  }) as unknown as Offer[K];
}

function readTool(item: JsonObject, { isUsable = () => true }: ReadOptions): Tool | undefined {
  if (typeof item.name !== "string" || !isObject(item.inputSchema)) return undefined;
  const tool = definitionOf(item) as unknown as Tool;
  if (!isUsable(tool)) return undefined;
  return isObject(tool.outputSchema)
    ? { ...tool, outputSchema: withoutOldDraft(tool.outputSchema) }
    : tool;
}

function nameOf(item: unknown): string {
  return isObject(item) && typeof item.name === "string" ? item.name.slice(0, 100) : "(no name)";
}

function faultOf(item: unknown): string {
  if (!isObject(item) || typeof item.name !== "string") return "it has no name";
  return isObject(item.inputSchema)
    ? "its input schema cannot be used over HTTP"
    : "it has no input schema";
}

function readResource(item: JsonObject): JsonObject | undefined {
  return typeof item.uri === "string" && typeof item.name === "string" ? item : undefined;
}

function readTemplate(item: JsonObject): JsonObject | undefined {
  return typeof item.uriTemplate === "string" ? item : undefined;
}

function readPrompt(item: JsonObject): JsonObject | undefined {
  return typeof item.name === "string" ? item : undefined;
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
  warn(`${method} has too many pages; using the first ${items.length} items`);
  return items;
}

/** Some servers declare lists that fail without their backend; the tools still work. */
async function optional<T>(
  reading: Promise<readonly T[]>,
  { scope, warn }: ReadOptions,
): Promise<readonly T[]> {
  try {
    return await reading;
  } catch (error) {
    if (scope.cancelReason) throw error;
    warn(messageOf(error));
    return [];
  }
}

/** `include` and `exclude` are names with `*` for any run of characters. */
export function createToolFilter(filter: ServerConfig["tools"]): (name: string) => boolean {
  const include = filter?.include?.map(globToExpression);
  const exclude = filter?.exclude?.map(globToExpression) ?? [];
  return (name) =>
    (include?.some((glob) => glob.test(name)) ?? true) && !exclude.some((glob) => glob.test(name));
}

/** The refusal of a tool that the config leaves out. */
export function disabledTool(fullName: string): HallError {
  return new HallError("UNAVAILABLE", `the tool "${fullName}" is disabled in the config`, {
    next: [{ do: "run-command", command: `tools enable ${fullName}` }],
  });
}

export function globToExpression(glob: string): RegExp {
  return new RegExp(`^${glob.split("*").map(escapePattern).join("[^]*")}$`);
}

/** True if a URI can come from a template: its fixed parts appear in order. */
export function matchesTemplate(uri: string, template: string): boolean {
  const parts = template.split(/\{[^{}]*\}/);
  const first = parts[0] ?? "";
  const last = parts.at(-1) ?? "";
  if (parts.length === 1) return uri === template;
  if (!uri.startsWith(first) || !uri.endsWith(last) || uri.length < first.length + last.length)
    return false;
  let at = first.length;
  for (const part of parts.slice(1, -1)) {
    const found = uri.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return at <= uri.length - last.length;
}

/**
 * Removes `$schema: draft-07` from an output schema that means the same in 2020-12. Many servers declare
 * it, and strict clients then refuse to call the tool. The declaration stays if a keyword would change its
 * meaning. Input schemas are not changed.
 */
export function withoutOldDraft(schema: JsonObject): JsonObject {
  const { $schema, ...rest } = schema;
  return typeof $schema === "string" && oldDraft.test($schema) && meansTheSame(rest, 0)
    ? rest
    : schema;
}

const oldDraft = /^https?:\/\/json-schema\.org\/draft-07\/schema#?$/;
const depthMax = 64;

/** Keywords that exist in one draft only or differ between them. */
const changed = new Set(
  `additionalItems dependencies $anchor $dynamicAnchor $dynamicRef $recursiveAnchor $recursiveRef
  dependentRequired dependentSchemas maxContains minContains prefixItems unevaluatedItems
  unevaluatedProperties`.split(/\s+/),
);
/** Allowed next to `$ref`: draft-07 ignores siblings, 2020-12 does not. */
const besideReference = new Set(
  `$ref $comment title description default examples deprecated readOnly writeOnly definitions
  $defs`.split(/\s+/),
);
// Keywords whose value contains schemas: one, a list, or an object of them.
const ofOne = "items contains additionalProperties propertyNames not if then else".split(" ");
const ofMany = ["allOf", "anyOf", "oneOf"];
const ofNamed = ["properties", "patternProperties", "definitions", "$defs"];

function meansTheSame(schema: unknown, depth: number): boolean {
  if (!isObject(schema)) return typeof schema === "boolean";
  const keys = Object.keys(schema);
  if (
    depth > depthMax ||
    keys.some((key) => changed.has(key)) ||
    "$id" in schema ||
    Array.isArray(schema.items)
  )
    return false;
  if ("$ref" in schema && !keys.every((key) => besideReference.has(key))) return false;
  return partsOf(schema).every((part) => meansTheSame(part, depth + 1));
}

function partsOf(schema: JsonObject): readonly unknown[] {
  return [
    ...ofOne.flatMap((key) => (key in schema ? [schema[key]] : [])),
    ...ofMany.flatMap((key) => (Array.isArray(schema[key]) ? schema[key] : [])),
    ...ofNamed.flatMap((key) => (isObject(schema[key]) ? Object.values(schema[key]) : [])),
  ];
}
