import { HallError, messageOf } from "../../base/errors.ts";
import { isObject, type JsonObject, parseObject } from "../../base/json.ts";

/** An OpenAPI document whose references are followed on demand, within the document only. */
export interface OpenApiDocument {
  readonly root: JsonObject;
  /** The object itself, or the one that its `$ref` names. Throws VALIDATION. */
  resolve(value: unknown): JsonObject;
  /** The same, with the last reference on the way. */
  follow(value: unknown): { readonly pointer: string | undefined; readonly found: unknown };
}

const hint = "Correct the document, or bundle it into one file first.";
/** Real documents have a few hundred: those for tests reuse examples. */
const aliasesMax = 10_000;
const depthMax = 200;
const chainMax = 32;

/** Throws VALIDATION for anything but OpenAPI 3.0 and 3.1. */
export async function parseDocument(text: string): Promise<OpenApiDocument> {
  const root = await parse(text);
  if (!isObject(root)) throw fault("is not an object");
  const { openapi, swagger } = root;
  if (typeof openapi !== "string" || !/^3\.[01]\.\d/.test(openapi)) {
    const found = openapi ?? swagger;
    const version = typeof found === "string" ? ` (found ${found.slice(0, 20)})` : "";
    throw fault(`is not OpenAPI 3.0 or 3.1${version}`);
  }
  const follow: OpenApiDocument["follow"] = (value) => {
    let found = value;
    let pointer: string | undefined;
    for (let links = 0; isObject(found) && typeof found.$ref === "string"; links++) {
      if (links === chainMax) throw fault(`has a reference that never ends: "${cut(found.$ref)}"`);
      pointer = found.$ref;
      found = lookUp(root, pointer);
    }
    return { pointer, found };
  };
  return {
    root,
    follow,
    resolve(value) {
      const { found, pointer } = follow(value);
      if (isObject(found)) return found;
      throw fault(
        pointer === undefined
          ? "has a text where an object is expected"
          : `has no object at "${cut(pointer)}"`,
      );
    },
  };
}

async function parse(text: string): Promise<unknown> {
  // YAML has such objects too, and its parser names the place of a mistake.
  const json = parseObject(text);
  if (json) return json;
  const { load } = await import("js-yaml");
  try {
    return load(text, { json: true, maxAliases: aliasesMax, maxDepth: depthMax });
  } catch (error) {
    throw fault(`is neither JSON nor YAML: ${messageOf(error).split("\n")[0]}`);
  }
}

function lookUp(root: JsonObject, reference: string): unknown {
  if (!reference.startsWith("#"))
    throw fault(`refers to another document: "${cut(reference)}"; only "#/…" is followed`);
  let found: unknown = root;
  for (const part of reference.slice(1).split("/").slice(1)) {
    const key = decode(part).replaceAll("~1", "/").replaceAll("~0", "~");
    const isThere = typeof found === "object" && found !== null && Object.hasOwn(found, key);
    if (!isThere) throw fault(`refers to "${cut(reference)}", which it does not have`);
    found = (found as JsonObject)[key];
  }
  return found;
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export function fault(text: string): HallError {
  return new HallError("VALIDATION", `the OpenAPI document ${text}`, { hint });
}

function cut(text: string): string {
  return text.slice(0, 120);
}
