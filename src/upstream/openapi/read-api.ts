import { hashOf, isObject, type JsonObject } from "../../base/json.ts";
import { shortenLine } from "../../base/text.ts";
import { globToExpression } from "../lists.ts";
import type { OpenApiDocument } from "./document.ts";
import { createNames, type Names, nameOperation } from "./names.ts";
import {
  type Api,
  type ApiOptions,
  type ApiParameter,
  fieldsOf,
  type Inputs,
  isJson,
  type Operation,
  type ParameterPlace,
  places,
  type Scheme,
  serializationOf,
  textOf,
} from "./operation.ts";
import { readBody } from "./request-body.ts";
import { convertSchema } from "./schema.ts";
import { readSchemes, readSecurity } from "./security.ts";
import { findServer } from "./server-url.ts";

const methods = ["get", "head", "options", "post", "put", "patch", "delete"];
/** As many as a server may list. */
const operationsMax = 10_000;

/** Every operation of a document as a tool. Throws VALIDATION or DENIED for a document that cannot be used. */
export function readApi(document: OpenApiDocument, options: ApiOptions): Api {
  const { root } = document;
  const info = isObject(root.info) ? root.info : {};
  const baseUrl = options.baseUrl ?? findServer(document, root, options);
  const schemes = readSchemes(document);
  const isWanted = createFilter(options);
  const names = createNames();
  const operations: Operation[] = [];
  const skipped: string[] = [];
  for (const [path, item] of fieldsOf(root.paths)) {
    const shared = document.resolve(item);
    for (const method of methods) {
      const given = shared[method];
      if (!isObject(given) || operations.length >= operationsMax) continue;
      const request = `${method.toUpperCase()} ${path}`;
      if (!path.startsWith("/")) {
        skipped.push(`${request}: its path does not begin with /`);
        continue;
      }
      const name = names.take(nameOperation(textOf(given.operationId), method, path));
      if (!isWanted([name, request, ...tagsOf(given)])) continue;
      operations.push(
        readOperation(document, { name, method, path, given, shared, baseUrl, schemes, options }),
      );
    }
  }
  const version = textOf(info.version).slice(0, 50) || "unknown";
  return {
    title: textOf(info.title).slice(0, 200),
    version,
    baseUrl,
    operations,
    schemes,
    skipped,
  };
}

function createFilter({ include, exclude }: ApiOptions): (texts: readonly string[]) => boolean {
  const [wanted, unwanted] = [include, exclude].map((globs) => globs.map(globToExpression));
  const matches = (globs: readonly RegExp[] = [], texts: readonly string[]): boolean =>
    globs.some((glob) => texts.some((text) => glob.test(text)));
  return (texts) => (include.length === 0 || matches(wanted, texts)) && !matches(unwanted, texts);
}

function tagsOf({ tags }: JsonObject): readonly string[] {
  return Array.isArray(tags) ? tags.filter((tag) => typeof tag === "string") : [];
}

/** Where an operation is written in the document. */
interface OperationSource extends Pick<Operation, "method" | "path" | "baseUrl"> {
  readonly name: string;
  readonly given: JsonObject;
  /** Of all operations of the path. */
  readonly shared: JsonObject;
  readonly schemes: Readonly<Record<string, Scheme>>;
  readonly options: ApiOptions;
}

function readOperation(document: OpenApiDocument, source: OperationSource): Operation {
  const { name, method, path, given, shared, schemes } = source;
  const args = createNames();
  const inputs: Inputs = { properties: [], required: [] };
  const parameters = collectParameters(document, shared, given, path).map((parameter) =>
    readParameter(parameter, args, inputs),
  );
  const body = readBody(document, given.requestBody, args, inputs);
  const { properties, required } = inputs;
  const inputSchema = convertSchema(
    document,
    {
      type: "object",
      properties: Object.fromEntries(properties),
      ...(required.length > 0 ? { required } : {}),
      ...(body?.takesOthers ? {} : { additionalProperties: false }),
    },
    "input",
  );
  const wire = {
    method: method.toUpperCase(),
    baseUrl: findServer(document, given, source.options, shared) || source.baseUrl,
    path,
    parameters,
    ...(body ? { body } : {}),
    security: readSecurity(document, given, schemes),
  };
  const used = wire.security.flat().map((scheme) => [scheme, schemes[scheme]]);
  const outputSchema = readOutput(document, given.responses);
  const title = textOf(given.summary);
  return {
    ...wire,
    tool: {
      name,
      ...(title === "" ? {} : { title: shortenLine(title, 80) }),
      description: describe(given, wire),
      inputSchema,
      ...(outputSchema ? { outputSchema } : {}),
      annotations: annotate(method),
      // A change of where or how a request is sent is a change of the tool: it is reviewed like one.
      _meta: {
        "guildhall/request": `${wire.method} ${wire.baseUrl}${path}`,
        "guildhall/binding": hashOf([wire, used]).slice(0, 16),
      },
    },
  };
}

/** Those of the operation replace those of its path. */
function collectParameters(
  document: OpenApiDocument,
  shared: JsonObject,
  given: JsonObject,
  path: string,
): readonly JsonObject[] {
  const found = new Map<string, JsonObject>();
  for (const list of [shared.parameters, given.parameters])
    for (const item of Array.isArray(list) ? list : []) {
      const parameter = document.resolve(item);
      if (isUsable(parameter)) found.set(`${parameter.in} ${parameter.name}`, parameter);
    }
  // A document may forget one: the path could not be built without it.
  for (const [, name = ""] of path.matchAll(/\{([^{}]+)\}/g))
    if (!found.has(`path ${name}`))
      found.set(`path ${name}`, { in: "path", name, schema: { type: "string" } });
  return [...found.values()];
}

/** Headers that belong to the connection, the body or the credentials. */
const ownHeaders = new Set(
  "accept content-type authorization proxy-authorization host cookie connection content-length transfer-encoding te trailer upgrade expect keep-alive".split(
    " ",
  ),
);

function isUsable({ name, in: place }: JsonObject): boolean {
  if (typeof name !== "string" || name === "" || !places.includes(place as ParameterPlace))
    return false;
  if (place !== "header") return true;
  return /^[!#$%&'*+.^_`|~\w-]+$/.test(name) && !ownHeaders.has(name.toLowerCase());
}

function readParameter(
  parameter: JsonObject,
  args: Names,
  { properties, required }: Inputs,
): ApiParameter {
  const [name, place] = [String(parameter.name), parameter.in as ParameterPlace];
  const [content] = fieldsOf(parameter.content).map(([, media]) => media);
  const schema = isObject(content) ? content.schema : parameter.schema;
  const argument = args.take(name, place);
  properties.push([argument, { ...(isObject(schema) ? schema : {}), ...notesOf(parameter) }]);
  if (place === "path" || parameter.required === true) required.push(argument);
  return {
    argument,
    name,
    in: place,
    ...serializationOf(parameter, place === "path" || place === "header" ? "simple" : "form"),
    ...(content === undefined ? {} : { isJson: true }),
  };
}

function notesOf({ description, deprecated }: JsonObject): JsonObject {
  return {
    ...(typeof description === "string" && description !== "" ? { description } : {}),
    ...(deprecated === true ? { deprecated } : {}),
  };
}

/** The first 2xx response with JSON. */
function readOutput(document: OpenApiDocument, responses: unknown): JsonObject | undefined {
  for (const [status, response] of fieldsOf(responses)) {
    if (!/^2(\d\d|XX)$/i.test(status)) continue;
    for (const [type, media] of fieldsOf(document.resolve(response).content)) {
      const schema = isObject(media) && isObject(media.schema) ? media.schema : undefined;
      if (!schema || !isJson(type)) continue;
      const converted = convertSchema(document, schema, "output");
      // Up to 2025-11-25 structured content is an object.
      if (converted.type === "object") return converted;
      const { $defs, ...result } = converted;
      return {
        type: "object",
        properties: { result },
        ...($defs === undefined ? {} : { $defs }),
      };
    }
  }
  return undefined;
}

function annotate(method: string): JsonObject {
  const reads = method === "get" || method === "head" || method === "options";
  return {
    readOnlyHint: reads,
    ...(method === "delete" ? { destructiveHint: true } : {}),
    idempotentHint: method !== "post" && method !== "patch",
    openWorldHint: true,
  };
}

const pageNames =
  /^(page|page_?number|page_?token|cursor|next_?token|offset|skip|start(ing)?_?(after|at|index)?|after|marker)$/i;

/** Short: a model reads the descriptions of all tools. */
function describe(
  { summary, description, deprecated, operationId }: JsonObject,
  { method, path, parameters }: Pick<Operation, "method" | "path" | "parameters">,
): string {
  const [first = ""] = textOf(description)
    .trim()
    .split(/\n\s*\n/);
  const title = textOf(summary).trim();
  const words = [title, first.startsWith(title) && title !== "" ? first.slice(title.length) : first]
    .map((text) => text.trim().replace(/\s+/g, " "))
    .filter((text) => text !== "")
    .map((text) => (/[.!?:]$/.test(text) ? text : `${text}.`))
    .join(" ");
  const said = shortenLine(words || `${textOf(operationId) || method} ${path}.`, 400);
  const page = parameters.find(({ name, in: place }) => place === "query" && pageNames.test(name));
  return [
    ...(deprecated === true ? ["Deprecated."] : []),
    said,
    ...(page ? [`Returns one page; \`${page.argument}\` selects another.`] : []),
  ].join(" ");
}
