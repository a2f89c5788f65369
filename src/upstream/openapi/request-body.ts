import { isObject, type JsonObject } from "../../base/json.ts";
import type { OpenApiDocument } from "./document.ts";
import type { Names } from "./names.ts";
import {
  type BodyField,
  type BodyKind,
  fieldsOf,
  type Inputs,
  isJson,
  type RequestBody,
  serializationOf,
  textOf,
} from "./operation.ts";
import { isBinary } from "./schema.ts";

const allOfMax = 20;

/** Adds the body's fields to a tool's arguments, or the whole body as one argument. */
export function readBody(
  document: OpenApiDocument,
  given: unknown,
  args: Names,
  inputs: Inputs,
): RequestBody | undefined {
  if (given === undefined) return undefined;
  const request = document.resolve(given);
  const [chosen] = fieldsOf(request.content)
    .map(([mediaType, media]) => ({ mediaType, media, kind: kindOf(mediaType) }))
    .sort((a, b) => preference.indexOf(a.kind) - preference.indexOf(b.kind));
  if (!chosen) return undefined;
  const { kind } = chosen;
  const media = isObject(chosen.media) ? chosen.media : {};
  // `*/*` and `text/*` name no type that could be sent.
  const mediaType = chosen.mediaType.includes("*") ? usual[kind] : chosen.mediaType;
  const isRequired = request.required === true;
  const fields = isSplit(kind) ? objectFields(document, media.schema) : undefined;
  if (!fields) {
    const argument = args.take("body");
    inputs.properties.push([argument, wholeBody(media.schema, request, kind, mediaType)]);
    if (isRequired) inputs.required.push(argument);
    return { mediaType, kind, content: argument };
  }
  const encoding = isObject(media.encoding) ? media.encoding : {};
  const content = fields.properties.map(([name, schema]): BodyField => {
    const argument = args.take(name, "body");
    inputs.properties.push([argument, schema]);
    if (isRequired && fields.required.has(name)) inputs.required.push(argument);
    const resolved = document.follow(schema).found;
    const own = isObject(resolved) ? resolved : {};
    const items = document.follow(own.items).found;
    const bytes = isBinary(own) || (isObject(items) && isBinary(items));
    return { argument, name, ...encodingOf(encoding[name]), ...(bytes ? { isBinary: true } : {}) };
  });
  return {
    mediaType,
    kind,
    content,
    ...(fields.takesOthers ? { takesOthers: true } : {}),
  };
}

const preference: readonly BodyKind[] = ["json", "form", "multipart", "text", "binary"];
const usual: Readonly<Record<BodyKind, string>> = {
  json: "application/json",
  form: "application/x-www-form-urlencoded",
  multipart: "multipart/form-data",
  text: "text/plain",
  binary: "application/octet-stream",
};

function kindOf(mediaType: string): BodyKind {
  const type = mediaType.toLowerCase();
  if (isJson(type) || type === "*/*" || type === "application/*") return "json";
  if (type.startsWith("application/x-www-form-urlencoded")) return "form";
  if (type.startsWith("multipart/")) return "multipart";
  return /^text\/|[/+](xml|yaml|x-yaml|graphql|javascript)\b/.test(type) ? "text" : "binary";
}

function isSplit(kind: BodyKind): boolean {
  return kind === "json" || kind === "form" || kind === "multipart";
}

function wholeBody(
  schema: unknown,
  { description }: JsonObject,
  kind: BodyKind,
  mediaType: string,
): JsonObject {
  const text = textOf(description);
  if (kind === "binary")
    return {
      type: "string",
      format: "binary",
      description: `${text === "" ? "" : `${text} `}The body (${mediaType}) as base64.`,
    };
  if (kind === "text") return { type: "string", description: text || `The body (${mediaType}).` };
  return { ...(isObject(schema) ? schema : {}), ...(text === "" ? {} : { description: text }) };
}

interface ObjectFields {
  readonly properties: readonly (readonly [string, JsonObject])[];
  readonly required: ReadonlySet<string>;
  readonly takesOthers: boolean;
}

/** The fields of an object that may be split into arguments; undefined for anything else. */
function objectFields(document: OpenApiDocument, schema: unknown): ObjectFields | undefined {
  const properties = new Map<string, JsonObject>();
  const required = new Set<string>();
  let left = allOfMax;
  let takesOthers = false;
  const add = (part: unknown): boolean => {
    const { found } = document.follow(part);
    if (!isObject(found) || --left < 0 || isChoice(found)) return false;
    for (const [name, property] of fieldsOf(found.properties)) {
      const own = isObject(property) ? property : {};
      const isGiven = properties.has(name) && Object.keys(own).length === 0;
      if (own.readOnly !== true && !isGiven) properties.set(name, own);
    }
    for (const name of Array.isArray(found.required) ? found.required : []) required.add(name);
    const { additionalProperties: others } = found;
    takesOthers ||= others === true || isObject(others);
    return (Array.isArray(found.allOf) ? found.allOf : []).every(add);
  };
  if (schema === undefined || !add(schema) || properties.size === 0) return undefined;
  return { properties: [...properties], required, takesOthers };
}

/** Its fields depend on each other, or it may be null or no object at all. */
function isChoice({ type, oneOf, anyOf, not, nullable }: JsonObject): boolean {
  const isObjectType = type === undefined || type === "object";
  return (
    !isObjectType || nullable === true || [oneOf, anyOf, not].some((part) => part !== undefined)
  );
}

function encodingOf(encoding: unknown): Pick<BodyField, "contentType" | "serialization"> {
  if (!isObject(encoding)) return {};
  const { contentType, style } = encoding;
  return {
    ...(typeof contentType === "string" && !/[\r\n,*]/.test(contentType) ? { contentType } : {}),
    ...(style === undefined ? {} : { serialization: serializationOf(encoding, "form") }),
  };
}
