import { STATUS_CODES } from "node:http";
import { HallError } from "../../base/errors.ts";
import { isObject, type JsonObject, parseJson } from "../../base/json.ts";
import { formatBytes } from "../../base/text.ts";
import type { Fetched } from "../../net/public-fetch.ts";
import type { Outcome } from "../../tool.ts";
import { isJson, type Operation } from "./operation.ts";
import { fitTo } from "./schema.ts";

/** A response with its body. */
export interface ApiAnswer extends Fetched {
  readonly status: number;
  readonly headers: Headers;
}

const errorTextMax = 10_000;

/**
 * A result as a tool gives it: text and structure for JSON, media and files as they are, errors
 * with status and body.
 */
export function toOutcome(operation: Operation, answer: ApiAnswer, textBytesMax: number): Outcome {
  const { status, bytes, contentType } = answer;
  if (status >= 300) return failure(answer);
  const { outputSchema } = operation.tool;
  const structured = (value: unknown): Pick<Outcome, "structuredContent"> =>
    outputSchema === undefined ? {} : { structuredContent: structure(outputSchema, value) };
  if (bytes.length === 0)
    return { content: [text(describeEmpty(operation, answer))], ...structured(undefined) };
  const media = mediaOf(contentType, answer, operation);
  if (media) return { content: [media], ...structured(undefined) };
  if (bytes.length > textBytesMax)
    throw new HallError(
      "TOO_LARGE",
      `the response exceeds the limit of ${formatBytes(textBytesMax)} for text`,
      { hint: "Ask for less: a page, fewer fields or a narrower search." },
    );
  const body = textOf(answer);
  const value = isJson(contentType) ? parseJson(body) : undefined;
  const more = describeMore(operation, answer, value);
  return {
    content: [text(body), ...(more === undefined ? [] : [text(more)])],
    ...structured(value),
  };
}

function failure(answer: ApiAnswer): Outcome {
  const { status, headers } = answer;
  const body = isText(answer.contentType) ? textOf(answer) : "";
  const location = headers.get("location");
  const lines = [
    `HTTP ${status} ${STATUS_CODES[status] ?? ""}`.trim(),
    ...(location === null ? [] : [`location: ${location}`]),
    ...(body === "" ? [] : [body.slice(0, errorTextMax)]),
    ...(body.length > errorTextMax ? [`(${body.length - errorTextMax} more characters)`] : []),
  ];
  return {
    content: [text(lines.join("\n"))],
    isError: true,
    _meta: { "guildhall/status": status },
  };
}

function text(value: string): JsonObject {
  return { type: "text", text: value };
}

function describeEmpty({ method }: Operation, { status, headers }: ApiAnswer): string {
  const named = method === "HEAD" ? [...headers.keys()] : ["location"];
  const lines = named
    .filter((name) => headers.has(name) && name !== "set-cookie")
    .map((name) => `${name}: ${headers.get(name)}`);
  return [`HTTP ${status} ${STATUS_CODES[status] ?? ""}`.trim(), ...lines].join("\n");
}

function structure(schema: JsonObject, value: unknown): unknown {
  const properties = isObject(schema.properties) ? schema.properties : {};
  const isWrapped = !isObject(value) && "result" in properties;
  const fitted = fitTo(schema, isWrapped ? { result: value ?? null } : value, schema);
  return isObject(fitted) ? fitted : {};
}

/** An image, a sound or another file; undefined for text. */
function mediaOf(
  contentType: string,
  { bytes, url }: ApiAnswer,
  { tool }: Operation,
): JsonObject | undefined {
  const mimeType = (contentType.split(";")[0] ?? "").trim().toLowerCase();
  if (isText(contentType)) return undefined;
  const [kind] = mimeType.split("/");
  const data = bytes.toString("base64");
  if (kind === "image" || kind === "audio") return { type: kind, data, mimeType };
  // Without the query, which may hold a key.
  const uri = `${url.origin}${url.pathname}`;
  return {
    type: "resource",
    resource: {
      uri,
      name: tool.name,
      mimeType: mimeType === "" ? "application/octet-stream" : mimeType,
      blob: data,
    },
  };
}

function isText(contentType: string): boolean {
  return (
    contentType === "" ||
    isJson(contentType) ||
    /^text\/|^application\/(x-)?(ndjson|yaml|xml|javascript|graphql|x-www-form-urlencoded)|\+(xml|yaml)\b|json-seq/i.test(
      contentType,
    )
  );
}

function textOf({ bytes, contentType }: ApiAnswer): string {
  const [, charset = "utf-8"] = /charset="?([\w-]+)/i.exec(contentType) ?? [];
  try {
    return new TextDecoder(charset).decode(bytes);
  } catch {
    return bytes.toString("utf8");
  }
}

const cursorNames = /^next(_?(cursor|token|page|page_?token|offset))?$|^(end_?)?cursor$/i;

/** How to get the next page, which is never fetched unasked. */
function describeMore(
  { parameters }: Operation,
  { headers, url }: ApiAnswer,
  value: unknown,
): string | undefined {
  const next = /<([^>]*)>\s*;[^,]*\brel="?next"?/i.exec(headers.get("link") ?? "")?.[1];
  const queries = parameters.filter(({ in: place }) => place === "query");
  if (next !== undefined && URL.canParse(next, url.href)) {
    const { searchParams } = new URL(next, url);
    const args = queries.flatMap(({ name, argument }) => {
      const given = searchParams.get(name);
      return given === null || given === url.searchParams.get(name) ? [] : [[argument, given]];
    });
    if (args.length > 0)
      return `There are more results. For the next page, call again with ${JSON.stringify(Object.fromEntries(args))}.`;
    return "There are more results than this page.";
  }
  if (!isObject(value)) return undefined;
  const places = [value, value.meta, value.pagination, value.paging, value.response_metadata];
  for (const place of places.filter(isObject)) {
    const found = Object.entries(place).find(
      ([key, cursor]) =>
        cursorNames.test(key) &&
        ((typeof cursor === "string" && cursor !== "") || typeof cursor === "number"),
    );
    if (found) return `There are more results: "${found[0]}" of the answer selects the next page.`;
    if (place.has_more === true || place.hasMore === true)
      return "There are more results than this page.";
  }
  return undefined;
}
