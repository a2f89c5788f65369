import { HallError } from "../base/errors.ts";
import { isObject, type JsonObject } from "../base/json.ts";
import { isListed } from "../gateway/allow-list.ts";
import { type Spelling, spellingFor, spellName } from "../registry/shown-names.ts";
import type { Toolkit } from "../tool.ts";
import { Prepared } from "../wire/message.ts";
import { type ClientRequest, isModernVersion, type Version } from "./client-request.ts";
import { type Face, parseFaces, type ShownTool } from "./faces.ts";
import type { MethodHandler } from "./methods.ts";
import { seenBy } from "./policy.ts";
import { mayRead, mayUse, type Rights } from "./rights.ts";
import type { ServerParts } from "./server.ts";

/** The methods that return a list, one page at a time. */
export const listMethods: Readonly<Record<string, MethodHandler>> = {
  "tools/list": (params, { version, caller, rights }, parts) => {
    const spelling = spellingFor(parts.names, params._meta, caller.client);
    const shown = shownTo({ rights, caller }, spelling, params, parts);
    const { items, ...rest } = takePage(shown, "tools", ({ name }) => name, params, parts);
    const tools = items.map((tool) => writeTool(tool, version)).join(",");
    const cursor = JSON.stringify(rest).slice(1, -1);
    return new Prepared(`{"tools":[${tools}]${cursor === "" ? "" : `,${cursor}`}}`);
  },

  "resources/list": (params, { rights, caller }, parts) => {
    const sorted = seenBy(caller, parts).resources(usableBy(rights));
    const { items, ...rest } = takePage(sorted, "resources", ({ uri }) => uri, params, parts);
    return { resources: items, ...rest };
  },

  "resources/templates/list": (params, { rights, caller }, parts) => {
    const sorted = seenBy(caller, parts).resourceTemplates(usableBy(rights));
    const keyOf = ({ uriTemplate }: JsonObject): string => String(uriTemplate);
    const { items, ...rest } = takePage(sorted, "templates", keyOf, params, parts);
    return { resourceTemplates: items, ...rest };
  },

  "prompts/list": (params, { caller, rights }, parts) => {
    const isComplete = readFaces(params) !== undefined;
    const sorted = seenBy(caller, parts)
      .prompts()
      .filter(({ toolkit }) => isComplete || (toolkit.isListed?.() ?? true))
      .filter(({ toolkit }) => mayUse(rights, toolkit));
    const spelling = spellingFor(parts.names, params._meta, caller.client);
    const { items, ...rest } = takePage(sorted, "prompts", (item) => item.fullName, params, parts);
    const prompts = items.map((item) => ({
      ...item.prompt,
      name: spellName(item, spelling, parts.registry),
    }));
    return { prompts, ...rest };
  },
};

/** Undefined for a caller that may use everything: its lists are kept. */
function usableBy(rights: Rights): ((toolkit: Toolkit) => boolean) | undefined {
  if (rights.tools === undefined && mayRead(rights)) return undefined;
  return (toolkit) => mayUse(rights, toolkit);
}

/** A caller that may call only some tools sees just these, whatever the face. */
function shownTo(
  { rights: { tools }, caller }: Pick<ClientRequest, "rights" | "caller">,
  spelling: Spelling,
  params: JsonObject,
  parts: ServerParts,
): readonly ShownTool[] {
  const shown = parts.shownTools(spelling, tools ? ["tools"] : readFaces(params));
  if (tools === undefined && !parts.policies.isOn) return shown;
  const { findTool } = seenBy(caller, parts);
  return shown.filter(({ name }) => {
    const target = findTool(name);
    return target !== undefined && (tools === undefined || isListed(tools, target.fullName));
  });
}

/** One page of a sorted list. The cursor contains the last key, so it stays valid when the list changes. */
function takePage<T>(
  sorted: readonly T[],
  kind: string,
  keyOf: (item: T) => string,
  { cursor }: JsonObject,
  { seal, pageSize }: ServerParts,
): { readonly items: readonly T[]; readonly nextCursor?: string } {
  let start = 0;
  if (cursor !== undefined) {
    const last = seal.open(cursor, kind);
    if (last === undefined)
      throw new HallError("INVALID_PARAMS", "invalid cursor", {
        hint: "Request the list again without a cursor.",
      });
    start = sorted.findIndex((item) => keyOf(item) > last);
    if (start === -1) start = sorted.length;
  }
  const items = sorted.slice(start, start + pageSize);
  const lastItem = items.at(-1);
  if (start + pageSize >= sorted.length || lastItem === undefined) return { items };
  return { items, nextCursor: seal.close(keyOf(lastItem), kind) };
}

/**
 * Faces that the client requests instead of the default. They change the list, not what may be
 * called. Throws INVALID_PARAMS.
 */
function readFaces({ _meta }: JsonObject): readonly Face[] | undefined {
  const asked = isObject(_meta) ? _meta["guildhall/expose"] : undefined;
  return typeof asked === "string" ? parseFaces(asked) : undefined;
}

const serialized = {
  modern: new WeakMap<ShownTool, string>(),
  legacy: new WeakMap<ShownTool, string>(),
};

/** A tool's definition as JSON, cached because long lists are requested often. */
function writeTool(tool: ShownTool, version: Version): string {
  const isModern = isModernVersion(version);
  const kept = isModern ? serialized.modern : serialized.legacy;
  let text = kept.get(tool);
  if (text === undefined) {
    text = JSON.stringify(isModern ? { ...tool, execution: undefined } : fitTool(tool));
    kept.set(tool, text);
  }
  return text;
}

/**
 * Before 2026 tool schemas, and those of their properties, must be objects, and a client may reject
 * the whole list over one that is not. Other output is the field `result` of an object, as SDKs do it.
 */
export function fitTool(tool: ShownTool): ShownTool {
  const { inputSchema, outputSchema } = tool;
  // Plain calls work as well: the hall waits for the task.
  const { execution } = tool;
  const isRequired = isObject(execution) && execution.taskSupport === "required";
  return {
    ...tool,
    ...(isRequired ? { execution: { ...execution, taskSupport: "optional" } } : {}),
    inputSchema: fitSchema(inputSchema),
    outputSchema: isObject(outputSchema) ? fitSchema(wrapSchema(outputSchema)) : undefined,
  };
}

/** References to definitions stay valid. */
function wrapSchema(schema: JsonObject): JsonObject {
  if (!isWrapped(schema)) return schema;
  const { $schema, $defs, definitions, ...result } = schema;
  return {
    ...($schema === undefined ? {} : { $schema }),
    type: "object",
    properties: { result },
    required: ["result"],
    ...($defs === undefined ? {} : { $defs }),
    ...(definitions === undefined ? {} : { definitions }),
  };
}

/** True if output of this schema is no object, which clients before 2026 cannot take as it is. */
export function isWrapped(outputSchema: unknown): boolean {
  return isObject(outputSchema) && outputSchema.type !== "object";
}

function fitSchema(schema: unknown): unknown {
  if (!isObject(schema) || !isObject(schema.properties)) return schema;
  const properties = Object.entries(schema.properties);
  if (!properties.some(([, property]) => typeof property === "boolean")) return schema;
  const fitted = properties.map(([name, property]) => [
    name,
    typeof property === "boolean" ? schemaOfBoolean(property) : property,
  ]);
  return { ...schema, properties: Object.fromEntries(fitted) };
}

function schemaOfBoolean(allowed: boolean): JsonObject {
  return allowed ? {} : { not: {} };
}
