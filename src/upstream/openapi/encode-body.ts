import { randomBytes } from "node:crypto";
import { isObject, type JsonObject } from "../../base/json.ts";
import type { BodyField, Operation, RequestBody } from "./operation.ts";
import { encodeText, plain, refused, writePairs } from "./serialize.ts";

export interface EncodedBody {
  readonly contentType: string;
  readonly bytes: Buffer;
}

/** Undefined if no argument belongs to the body. Throws VALIDATION for bytes that are not base64. */
export function encodeBody(
  { body, parameters }: Pick<Operation, "body" | "parameters">,
  args: JsonObject,
): EncodedBody | undefined {
  if (!body) return undefined;
  if (typeof body.content === "string") {
    const value = args[body.content];
    return value === undefined ? undefined : encodeWhole(body, body.content, value);
  }
  const fields = givenFields(body.content, args);
  if (body.takesOthers) {
    const taken = new Set([...parameters, ...body.content].map(({ argument }) => argument));
    for (const [name, value] of Object.entries(args))
      if (!taken.has(name)) fields.push({ field: { argument: name, name }, value });
  }
  return fields.length === 0 ? undefined : encodeFields(body, fields);
}

interface GivenField {
  readonly field: BodyField;
  readonly value: unknown;
}

function givenFields(fields: readonly BodyField[], args: JsonObject): GivenField[] {
  return fields.flatMap((field) => {
    const value = Object.hasOwn(args, field.argument) ? args[field.argument] : undefined;
    return value === undefined ? [] : [{ field, value }];
  });
}

function encodeWhole(
  { kind, mediaType }: RequestBody,
  argument: string,
  value: unknown,
): EncodedBody {
  if (kind === "binary") return { contentType: mediaType, bytes: decode(argument, value) };
  const isText = kind === "text" && typeof value === "string";
  const bytes = Buffer.from(isText ? value : JSON.stringify(value));
  if (kind !== "form" && kind !== "multipart") return { contentType: mediaType, bytes };
  const fields = Object.entries(isObject(value) ? value : {}).map(([name, item]) => ({
    field: { argument: name, name },
    value: item,
  }));
  return encodeFields({ kind, mediaType, content: [] }, fields);
}

function encodeFields(
  { kind, mediaType }: RequestBody,
  fields: readonly GivenField[],
): EncodedBody {
  if (kind === "multipart") return encodeMultipart(mediaType, fields);
  if (kind === "form") {
    const pairs = fields.flatMap(({ field, value }) => formPairs(field, value));
    return { contentType: mediaType, bytes: Buffer.from(pairs.join("&")) };
  }
  const object = Object.fromEntries(fields.map(({ field, value }) => [field.name, value]));
  return { contentType: mediaType, bytes: Buffer.from(JSON.stringify(object)) };
}

function formPairs({ name, serialization }: BodyField, value: unknown): readonly string[] {
  if (serialization) return writePairs(name, value, serialization);
  const items = Array.isArray(value) ? value : [value];
  return items.map((item) => `${encodeText(name)}=${encodeText(plain(item))}`);
}

/** One part for each value; a list is several parts of the same name. */
function encodeMultipart(mediaType: string, fields: readonly GivenField[]): EncodedBody {
  const boundary = `guildhall-${randomBytes(16).toString("hex")}`;
  const parts = fields.flatMap(({ field, value }) =>
    (Array.isArray(value) ? value : [value]).flatMap((item) => {
      const name = quoted(field.name);
      const isFile = field.isBinary === true;
      const file = isFile ? `; filename="${name}"` : "";
      const head = `--${boundary}\r\ncontent-disposition: form-data; name="${name}"${file}\r\ncontent-type: ${typeOf(field, item)}\r\n\r\n`;
      const bytes = isFile ? decode(field.argument, item) : Buffer.from(plain(item));
      return [Buffer.from(head), bytes, Buffer.from("\r\n")];
    }),
  );
  return {
    contentType: `${mediaType.split(";")[0]}; boundary=${boundary}`,
    bytes: Buffer.concat([...parts, Buffer.from(`--${boundary}--\r\n`)]),
  };
}

function typeOf({ contentType, isBinary }: BodyField, value: unknown): string {
  if (contentType !== undefined) return contentType;
  if (isBinary) return "application/octet-stream";
  return isObject(value) ? "application/json" : "text/plain; charset=utf-8";
}

/** As browsers write names of form fields. */
function quoted(name: string): string {
  return name.replaceAll('"', "%22").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}

function decode(argument: string, value: unknown): Buffer {
  const text = typeof value === "string" ? value.replace(/\s+/g, "") : "?";
  if (!/^[A-Za-z0-9+/_-]*={0,2}$/.test(text)) throw refused(`"${argument}" is not base64`);
  return Buffer.from(text, "base64");
}
