import type { IncomingMessage } from "node:http";
import { HallError } from "../../base/errors.ts";
import { isObject, type JsonObject } from "../../base/json.ts";
import { isMarked, namedBy } from "../../client/headers.ts";
import type { Registry } from "../../registry/registry.ts";
import { metaKeys } from "../client-request.ts";
import { headerValues } from "./guard.ts";

/**
 * A modern POST repeats parts of its body in headers, so that proxies can route without parsing.
 * Both must agree: otherwise a proxy would check one request while we run another.
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
  // `readEnvelope` reports a body without a version.
  if (version !== undefined) requireEqual(request, "mcp-protocol-version", version);
  requireEqual(request, "mcp-method", method);
  const named = Object.hasOwn(namedBy, method) ? namedBy[method] : undefined;
  if (named) requireEqual(request, "mcp-name", params?.[named], decode);
  if (method === "tools/call") checkParameters(request, params, registry);
}

/** Compares arguments that a tool's schema marks with `x-mcp-header` with their `Mcp-Param-…` headers. */
function checkParameters(
  request: IncomingMessage,
  params: JsonObject | undefined,
  registry: Registry,
): void {
  const target = typeof params?.name === "string" ? registry.findTool(params.name) : undefined;
  if (target && isMarked(target.tool.inputSchema))
    checkProperties(request, target.tool.inputSchema, params?.arguments);
}

/** Covers nested properties, but not items of arrays. */
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
  const problem = given === undefined ? "missing header" : "header differs from the body";
  throw new HallError("HEADER_MISMATCH", `${problem}: ${header}`, {
    details: { header },
  });
}

function oneHeader(request: IncomingMessage, name: string): string | undefined {
  const joined = request.headers[name];
  // Node joins repeated headers of this kind with a comma.
  if (typeof joined === "string" && !joined.includes(",")) return joined.trim();
  const values = headerValues(request, name);
  if (values.length > 1)
    throw new HallError("HEADER_MISMATCH", `duplicate header: ${name}`, {
      details: { header: name },
    });
  return values[0]?.trim();
}

const encoded = /^=\?base64\?(.*)\?=$/;

/** Integers are compared as numbers: `42.0` equals 42. */
function decodeNumber(value: string): string | null {
  const text = decode(value);
  return text !== null && /^-?\d+(\.0+)?$/.test(text) ? String(Number(text)) : text;
}

/** Values that are unsafe in a header are sent as canonical base64; others as they are. */
function decode(value: string): string | null {
  const body = encoded.exec(value)?.[1];
  if (body === undefined) return value;
  const bytes = Buffer.from(body, "base64");
  return bytes.toString("base64") === body ? bytes.toString("utf8") : null;
}
