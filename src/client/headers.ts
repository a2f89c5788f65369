import { isObject, type JsonObject } from "../base/json.ts";
import type { Outgoing } from "../wire/channel.ts";

/** Headers that repeat parts of a modern request, so that proxies can route it without parsing. */
export function standardHeaders(
  message: Outgoing,
  inputSchema: (tool: string) => JsonObject | undefined,
): Record<string, string> {
  const params = isObject(message.params) ? message.params : {};
  const version = isObject(params._meta)
    ? params._meta["io.modelcontextprotocol/protocolVersion"]
    : undefined;
  if (typeof version !== "string" || typeof message.method !== "string") return {};
  const name = namedBy[message.method];
  return {
    "mcp-protocol-version": version,
    "mcp-method": message.method,
    ...(name !== undefined && typeof params[name] === "string"
      ? { "mcp-name": encode(params[name]) }
      : {}),
    ...(message.method === "tools/call" ? parameterHeaders(params, inputSchema) : {}),
  };
}

/** The parameter that `Mcp-Name` repeats. */
export const namedBy: Readonly<Record<string, string>> = {
  "tools/call": "name",
  "prompts/get": "name",
  "resources/read": "uri",
  "tasks/get": "taskId",
  "tasks/update": "taskId",
  "tasks/cancel": "taskId",
};

function parameterHeaders(
  params: JsonObject,
  inputSchema: (tool: string) => JsonObject | undefined,
): Record<string, string> {
  const schema = typeof params.name === "string" ? inputSchema(params.name) : undefined;
  return schema ? Object.fromEntries(mirror(schema, params.arguments, 0)) : {};
}

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
