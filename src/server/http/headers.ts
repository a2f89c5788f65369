import type { IncomingMessage } from "node:http";
import { HallError } from "../../base/errors.ts";
import { isObject, type JsonObject } from "../../base/json.ts";
import type { Registry } from "../../registry/registry.ts";
import { metaKeys } from "../client-request.ts";
import { headerValues } from "./guard.ts";

/**
 * A modern POST repeats parts of its body in headers, so that proxies can route without parsing. They must say the
 * same: a request that is judged by one and run by the other would be a way around every rule.
 */
export interface StandardHeaders {
  readonly method: string;
  readonly params: JsonObject | undefined;
}

/** Throws HEADER_MISMATCH. */
export function checkStandardHeaders(
  request: IncomingMessage,
  { method, params }: StandardHeaders,
  registry: Registry,
): void {
  const meta = isObject(params?._meta) ? params._meta : {};
  const version = meta[metaKeys.version];
  // A body without a version is refused for that, not for its header.
  if (version !== undefined) requireEqual(request, "mcp-protocol-version", version);
  requireEqual(request, "mcp-method", method);
  const named = Object.hasOwn(namedBy, method) ? namedBy[method] : undefined;
  if (named) requireEqual(request, "mcp-name", params?.[named], decode);
  if (method === "tools/call") checkParameters(request, params, registry);
}

const namedBy: Readonly<Record<string, string>> = {
  "tools/call": "name",
  "prompts/get": "name",
  "resources/read": "uri",
};

/** Arguments a tool wants mirrored (`x-mcp-header` in its schema) against their `Mcp-Param-…` headers. */
function checkParameters(
  request: IncomingMessage,
  params: JsonObject | undefined,
  registry: Registry,
): void {
  const target = typeof params?.name === "string" ? registry.findTool(params.name) : undefined;
  if (target) checkProperties(request, target.tool.inputSchema, params?.arguments);
}

/** An annotation counts on any property that is reached by names alone. */
function checkProperties(
  request: IncomingMessage,
  { properties }: JsonObject,
  value: unknown,
): void {
  if (!isObject(properties)) return;
  for (const [field, schema] of Object.entries(properties)) {
    if (!isObject(schema)) continue;
    const part = isObject(value) && Object.hasOwn(value, field) ? value[field] : undefined;
    const suffix = schema["x-mcp-header"];
    if (typeof suffix === "string")
      requireEqual(
        request,
        `mcp-param-${suffix.toLowerCase()}`,
        part,
        typeof part === "number" ? decodeNumber : decode,
      );
    checkProperties(request, schema, part);
  }
}

/** A value that is absent from the body must be absent from the header, and the reverse. */
function requireEqual(
  request: IncomingMessage,
  header: string,
  value: unknown,
  read: (given: string) => string | null = (given) => given,
): void {
  const given = oneHeader(request, header);
  const expected = value === undefined || value === null ? undefined : String(value);
  if ((given === undefined ? undefined : read(given)) === expected) return;
  const problem = given === undefined ? "is missing" : "differs from the body";
  throw new HallError("HEADER_MISMATCH", `the header ${header} ${problem}`, {
    details: { header },
  });
}

function oneHeader(request: IncomingMessage, name: string): string | undefined {
  const values = headerValues(request, name);
  if (values.length > 1)
    throw new HallError("HEADER_MISMATCH", `the header ${name} is there twice`, {
      details: { header: name },
    });
  return values[0]?.trim();
}

const encoded = /^=\?base64\?(.*)\?=$/;

/** Whole numbers are compared as numbers: `42.0` is 42. */
function decodeNumber(value: string): string | null {
  const text = decode(value);
  return text !== null && /^-?\d+(\.0+)?$/.test(text) ? String(Number(text)) : text;
}

/** Values that are not safe in a header travel as base64, written exactly one way; anything else is itself. */
function decode(value: string): string | null {
  const body = encoded.exec(value)?.[1];
  if (body === undefined) return value;
  const bytes = Buffer.from(body, "base64");
  return bytes.toString("base64") === body ? bytes.toString("utf8") : null;
}
