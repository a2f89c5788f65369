import { isObject, type JsonObject } from "../base/json.ts";

/** What a modern POST repeats of its body, so that proxies can route without parsing. Legacy messages have none. */
export function standardHeaders(message: JsonObject, inputSchema: (tool: string) => JsonObject | undefined): Record<string, string> {
  const params = isObject(message.params) ? message.params : {};
  const version = isObject(params._meta) ? params._meta["io.modelcontextprotocol/protocolVersion"] : undefined;
  if (typeof version !== "string" || typeof message.method !== "string") return {};
  const name = namedBy[message.method];
  return {
    "mcp-protocol-version": version,
    "mcp-method": message.method,
    ...(name !== undefined && typeof params[name] === "string" ? { "mcp-name": encode(params[name]) } : {}),
    ...(message.method === "tools/call" ? parameterHeaders(params, inputSchema) : {}),
  };
}

const namedBy: Readonly<Record<string, string>> = { "tools/call": "name", "prompts/get": "name", "resources/read": "uri" };

function parameterHeaders(params: JsonObject, inputSchema: (tool: string) => JsonObject | undefined): Record<string, string> {
  const schema = typeof params.name === "string" ? inputSchema(params.name) : undefined;
  const properties = isObject(schema?.properties) ? schema.properties : {};
  const args = isObject(params.arguments) ? params.arguments : {};
  return Object.fromEntries(
    Object.entries(properties).flatMap(([field, property]) => {
      const suffix = isObject(property) ? property["x-mcp-header"] : undefined;
      const value = Object.hasOwn(args, field) ? args[field] : undefined;
      if (typeof suffix !== "string" || value === undefined || value === null || typeof value === "object") return [];
      return [[`mcp-param-${suffix.toLowerCase()}`, encode(String(value))]];
    }),
  );
}

/** A value that could not stand in a header, or could be taken for an encoded one, travels as base64. */
function encode(value: string): string {
  const isPlain = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(value) && !/^=\?base64\?.*\?=$/.test(value);
  return isPlain ? value : `=?base64?${Buffer.from(value).toString("base64")}?=`;
}

const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const mirrored = new Set(["string", "integer", "boolean"]);

/** Whether a tool's `x-mcp-header` marks can be honoured; a tool with one that cannot be is not offered over HTTP. */
export function hasValidHeaders(inputSchema: JsonObject): boolean {
  const seen = new Set<string>();
  const check = (schema: unknown, depth: number): boolean => {
    if (!isObject(schema) || depth > 32) return true;
    const mark = schema["x-mcp-header"];
    if (mark !== undefined) {
      if (depth !== 1 || typeof mark !== "string" || !token.test(mark) || seen.has(mark.toLowerCase()) || !mirrored.has(String(schema.type))) return false;
      seen.add(mark.toLowerCase());
    }
    const inner = isObject(schema.properties) ? Object.values(schema.properties) : [];
    return inner.every((property) => check(property, depth + 1)) && (schema.items === undefined || check(schema.items, depth + 2));
  };
  return check(inputSchema, 0);
}
