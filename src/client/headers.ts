import { isObject, type JsonObject } from "../base/json.ts";
import type { Outgoing } from "../wire/channel.ts";

/** Adds headers that repeat parts of a modern request, so that proxies can route it without parsing. */
export function addStandardHeaders(
  headers: Record<string, string>,
  { method, params }: Outgoing,
  inputSchema: (tool: string) => JsonObject | undefined,
): void {
  if (!isObject(params) || !isObject(params._meta) || typeof method !== "string") return;
  const version = params._meta["io.modelcontextprotocol/protocolVersion"];
  if (typeof version !== "string") return;
  headers["mcp-protocol-version"] = version;
  headers["mcp-method"] = method;
  const name = namedBy[method];
  if (name !== undefined && typeof params[name] === "string")
    headers["mcp-name"] = encode(params[name]);
  if (method !== "tools/call" || typeof params.name !== "string") return;
  const schema = inputSchema(params.name);
  if (schema && isMarked(schema))
    for (const [header, value] of mirror(schema, params.arguments, 0)) headers[header] = value;
}

/** True if a schema may mark arguments with `x-mcp-header`. Known schemas are not searched again. */
export function isMarked(schema: JsonObject): boolean {
  const known = marked.get(schema);
  if (known !== undefined) return known;
  const isFound = JSON.stringify(schema).includes('"x-mcp-header"');
  marked.set(schema, isFound);
  return isFound;
}

const marked = new WeakMap<JsonObject, boolean>();

/** The parameter that `Mcp-Name` repeats. */
export const namedBy: Readonly<Record<string, string>> = {
  "tools/call": "name",
  "prompts/get": "name",
  "resources/read": "uri",
  "tasks/get": "taskId",
  "tasks/update": "taskId",
  "tasks/cancel": "taskId",
};

/** Properties marked `x-mcp-header`, reached by property names alone. Absent values are left out. */
function mirror({ properties }: JsonObject, value: unknown, depth: number): [string, string][] {
  if (!isObject(properties) || !isObject(value) || depth > depthMax) return [];
  return Object.entries(properties).flatMap(([field, property]) => {
    const part = Object.hasOwn(value, field) ? value[field] : undefined;
    if (!isObject(property) || part === undefined || part === null) return [];
    const suffix = property["x-mcp-header"];
    const own: [string, string][] =
      typeof suffix === "string" && typeof part !== "object"
        ? [[`mcp-param-${suffix.toLowerCase()}`, encode(String(part))]]
        : [];
    return [...own, ...mirror(property, part, depth + 1)];
  });
}

/** Values that are not valid in a header, or look encoded already, are sent as base64. */
function encode(value: string): string {
  const isPlain =
    /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(value) && !/^=\?base64\?.*\?=$/.test(value);
  return isPlain ? value : `=?base64?${Buffer.from(value).toString("base64")}?=`;
}

const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
// Not numbers: they have more than one spelling. The conformance suite requires them to be refused
// (http-invalid-tool-headers).
const mirrored = new Set(["string", "integer", "boolean"]);
const values = new Set(["const", "default", "enum", "examples"]);
const depthMax = 32;

/** False if a tool's `x-mcp-header` marks are invalid; such a tool is not offered over HTTP. */
export function hasValidHeaders(inputSchema: JsonObject): boolean {
  const seen = new Set<string>();

  function isValid({ "x-mcp-header": mark, type }: JsonObject): boolean {
    if (mark === undefined) return true;
    if (
      typeof mark !== "string" ||
      !token.test(mark) ||
      seen.has(mark.toLowerCase()) ||
      !mirrored.has(String(type))
    )
      return false;
    seen.add(mark.toLowerCase());
    return true;
  }

  /** `isNamed`: every step so far was the name of a property. */
  function check(schema: unknown, isNamed: boolean, depth: number): boolean {
    if (Array.isArray(schema)) return schema.every((part) => check(part, false, depth + 1));
    if (!isObject(schema) || depth > depthMax) return true;
    if ("x-mcp-header" in schema && !(isNamed && depth > 0 && isValid(schema))) return false;
    return Object.entries(schema).every(([key, part]) => {
      if (values.has(key)) return true;
      if (key !== "properties" || !isObject(part)) return check(part, false, depth + 1);
      return Object.values(part).every((property) => check(property, isNamed, depth + 1));
    });
  }

  return check(inputSchema, true, 0);
}
