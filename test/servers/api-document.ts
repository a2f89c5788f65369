import type { JsonObject } from "../../src/base/json.ts";
import { parseDocument } from "../../src/upstream/openapi/document.ts";
import type { Api, ApiOptions, Operation } from "../../src/upstream/openapi/operation.ts";
import { readApi } from "../../src/upstream/openapi/read-api.ts";

/** OpenAPI documents for tests, read without the worker. */
const baseUrl = "https://api.example.com/v1";

export function documentOf(paths: JsonObject, more: JsonObject = {}): string {
  return JSON.stringify({
    openapi: "3.1.0",
    info: { title: "Test", version: "1.0.0" },
    servers: [{ url: baseUrl }],
    paths,
    ...more,
  });
}

export async function readText(text: string, options: Partial<ApiOptions> = {}): Promise<Api> {
  const usual = { allowPrivate: false, include: [], exclude: [] };
  return readApi(await parseDocument(text), { ...usual, ...options });
}

/** The only operation of a document. */
export async function readOne(
  operation: JsonObject,
  more: JsonObject = {},
  [method, path]: readonly [string, string] = ["get", "/things"],
): Promise<Operation> {
  const { operations } = await readText(documentOf({ [path]: { [method]: operation } }, more));
  const [first] = operations;
  if (!first) throw new Error("the document has no operation");
  return first;
}

const kinds = ["pets", "owners", "visits", "invoices", "products", "orders"];

/** Sixty operations on six resources that refer to each other, in every form that the reader knows. */
export function clinic(): JsonObject {
  const paths = kinds.flatMap((kind) => {
    const schema = { $ref: `#/components/schemas/${kind}` };
    const id = { $ref: "#/components/parameters/id" };
    const one = { "200": { description: "ok", content: { "application/json": { schema } } } };
    const many = {
      "200": {
        description: "ok",
        content: { "application/json": { schema: { type: "array", items: schema } } },
      },
    };
    const body = { required: true, content: { "application/json": { schema } } };
    const page = { name: "page", in: "query", schema: { type: "integer", default: 1 } };
    const done = { "204": { description: "done" } };
    return [
      [
        `/${kind}`,
        {
          get: {
            operationId: `${kind}/list`,
            summary: `List ${kind}`,
            parameters: [page],
            responses: many,
          },
          post: { operationId: `${kind}/create`, requestBody: body, responses: one },
        },
      ],
      [
        `/${kind}/{id}`,
        {
          parameters: [id],
          get: { operationId: `${kind}/get`, responses: one },
          put: { requestBody: body, responses: one },
          patch: {
            operationId: `${kind}/update`,
            requestBody: { ...body, required: false },
            responses: one,
          },
          delete: { operationId: `${kind}/remove`, responses: done },
          head: { responses: done },
        },
      ],
      [
        `/${kind}/{id}/photo`,
        {
          parameters: [id],
          get: { responses: { "200": { description: "ok", content: { "image/png": {} } } } },
          put: { requestBody: { content: { "image/png": {} } }, responses: done },
          post: {
            requestBody: {
              content: {
                "multipart/form-data": {
                  schema: {
                    type: "object",
                    properties: { file: { type: "string", format: "binary" } },
                  },
                },
              },
            },
            responses: done,
          },
        },
      ],
    ];
  });
  const schemas = kinds.map((kind, at) => [
    kind,
    {
      type: "object",
      required: ["name"],
      properties: {
        id: { type: "integer", format: "int64", readOnly: true },
        name: { type: "string", minLength: 1, maxLength: 80 },
        state: { type: "string", enum: ["open", "closed"], default: "open" },
        note: { type: "string", nullable: true },
        parent: { $ref: `#/components/schemas/${kind}` },
        next: { $ref: `#/components/schemas/${kinds[(at + 1) % kinds.length]}` },
        labels: { type: "object", additionalProperties: { type: "string" } },
      },
    },
  ]);
  return {
    openapi: "3.0.3",
    info: { title: "Clinic", version: "2.0.0" },
    servers: [{ url: "https://{region}.example.com/v2", variables: { region: { default: "eu" } } }],
    paths: Object.fromEntries(paths),
    components: {
      schemas: Object.fromEntries(schemas),
      parameters: { id: { name: "id", in: "path", required: true, schema: { type: "integer" } } },
    },
  };
}
