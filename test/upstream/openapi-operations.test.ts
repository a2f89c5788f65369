import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { dump } from "js-yaml";
import { expect, onTestFinished, test, vi } from "vitest";
import { isObject, type JsonObject } from "../../src/base/json.ts";
import { Scope } from "../../src/base/scope.ts";
import { compile } from "../../src/gateway/compiler.ts";
import { readDocument } from "../../src/upstream/openapi/reader.ts";
import { fitTo } from "../../src/upstream/openapi/schema.ts";
import { clinic, documentOf, readOne, readText } from "../servers/api-document.ts";

/** Operations of an OpenAPI document as tools. */
const ok = { "204": { description: "ok" } };

test("sixty operations become sixty tools with valid names and schemas, from JSON and YAML alike", async () => {
  const api = await readText(JSON.stringify(clinic()));
  expect(api).toMatchObject({
    title: "Clinic",
    version: "2.0.0",
    baseUrl: "https://eu.example.com/v2",
  });
  expect(api.operations).toHaveLength(60);
  expect(api.skipped).toEqual([]);
  expect(await readText(dump(clinic()))).toEqual(api);

  const tools = api.operations.map(({ tool }) => tool);
  expect(new Set(tools.map(({ name }) => name)).size).toBe(60);
  for (const [at, { name, inputSchema, outputSchema }] of tools.entries()) {
    expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
    const warn = (message: string): never => expect.fail(message);
    compile(inputSchema, warn);
    // Those of the next resources have the same form.
    if (outputSchema && at < 10) compile(outputSchema, warn);
  }
});

test("names come from the operationId, else from method and path, and are unique and short", async () => {
  const long = `a${"b".repeat(80)}`;
  const { operations } = await readText(
    documentOf({
      "/pets/{id}": {
        get: { responses: ok },
        delete: { operationId: "pets/delete one!", responses: ok },
      },
      "/a": {
        get: { operationId: "same", responses: ok },
        put: { operationId: "same", responses: ok },
      },
      "/b": {
        get: { operationId: `${long}1`, responses: ok },
        put: { operationId: `${long}2`, responses: ok },
      },
      "/c": { get: { operationId: "Größe", responses: ok } },
    }),
  );
  const names = operations.map(({ tool }) => tool.name);
  expect(names.slice(0, 4)).toEqual(["get_pets_id", "pets_delete_one", "same", "same_2"]);
  expect(names[4]).toMatch(/^ab{54}_[0-9a-f]{8}$/);
  expect(names[5]).not.toBe(names[4]);
  expect(names[6]).toBe("Gr_e");
});

test("parameters and body fields are one flat schema: conflicts renamed, defaults kept, deprecated marked", async () => {
  const { tool, parameters, body } = await readOne(
    {
      operationId: "update",
      parameters: [
        { name: "id", in: "query", schema: { type: "string" } },
        { name: "X-Trace", in: "header", schema: { type: "string" }, deprecated: true },
        {
          name: "filter[name]",
          in: "query",
          description: "By name",
          schema: { type: "string", default: "x" },
        },
        { name: "Authorization", in: "header", schema: { type: "string" } },
      ],
      requestBody: {
        required: true,
        content: {
          "application/json": {
            schema: {
              allOf: [
                { type: "object", required: ["id"], properties: { id: { type: "integer" } } },
                {
                  type: "object",
                  properties: {
                    made: { type: "string", readOnly: true },
                    size: { type: "number" },
                  },
                },
              ],
            },
          },
        },
      },
      responses: ok,
    },
    {},
    ["put", "/things/{id}"],
  );
  expect(tool.inputSchema).toEqual({
    type: "object",
    properties: {
      id: { type: "string" },
      "X-Trace": { type: "string", deprecated: true },
      filter_name: { type: "string", description: "By name", default: "x" },
      path_id: { type: "string" },
      body_id: { type: "integer" },
      size: { type: "number" },
    },
    required: ["path_id", "body_id"],
    additionalProperties: false,
  });
  expect(parameters.map(({ argument, name, in: place }) => `${argument}=${place}:${name}`)).toEqual(
    ["id=query:id", "X-Trace=header:X-Trace", "filter_name=query:filter[name]", "path_id=path:id"],
  );
  expect(body?.content).toEqual([
    { argument: "body_id", name: "id" },
    { argument: "size", name: "size" },
  ]);
});

test.each([
  ["get", { readOnlyHint: true, idempotentHint: true, openWorldHint: true }],
  ["head", { readOnlyHint: true, idempotentHint: true, openWorldHint: true }],
  ["post", { readOnlyHint: false, idempotentHint: false, openWorldHint: true }],
  ["put", { readOnlyHint: false, idempotentHint: true, openWorldHint: true }],
  ["patch", { readOnlyHint: false, idempotentHint: false, openWorldHint: true }],
  [
    "delete",
    { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: true },
  ],
])("%s says what it does by its method", async (method, annotations) => {
  const { tool } = await readOne({ responses: ok }, {}, [method, "/things"]);
  expect(tool.annotations).toEqual(annotations);
});

test("a description is short, says that it is deprecated, and how to get another page", async () => {
  const { tool } = await readOne({
    summary: "List things",
    description: `${"All of them. ".repeat(60)}\n\nA second paragraph.`,
    deprecated: true,
    parameters: [
      { name: "page[token]", in: "query", schema: {} },
      { name: "cursor", in: "query", schema: {} },
    ],
    responses: ok,
  });
  expect(tool.description).toMatch(/^Deprecated\. List things\. All of them\./);
  expect(tool.description).toMatch(/… Returns one page; `cursor` selects another\.$/);
  expect(tool.description?.length).toBeLessThan(480);
});

const tree = {
  type: "object",
  properties: {
    name: { type: "string" },
    children: { type: "array", items: { $ref: "#/components/schemas/tree" } },
  },
};

test("shared and recursive schemas are in $defs, others where they are used", async () => {
  const schemas = {
    tree,
    pair: {
      type: "object",
      properties: {
        left: { $ref: "#/components/schemas/tree" },
        once: { $ref: "#/components/schemas/once" },
      },
    },
    once: { type: "object", properties: { deep: { type: "boolean" } } },
  };
  const { tool } = await readOne(
    {
      requestBody: {
        content: { "application/json": { schema: { $ref: "#/components/schemas/pair" } } },
      },
      responses: ok,
    },
    { components: { schemas } },
    ["post", "/things"],
  );
  const { properties, $defs } = tool.inputSchema as Record<string, JsonObject>;
  expect(properties).toEqual({
    left: { $ref: "#/$defs/tree" },
    once: { type: "object", properties: { deep: { type: "boolean" } } },
  });
  expect(Object.keys($defs ?? {})).toEqual(["tree"]);
  const check = compile(tool.inputSchema, () => {});
  expect(await check({ left: { name: "a", children: [{ name: "b" }] } })).toEqual([]);
  expect(await check({ left: { children: [{ name: 1 }] } })).not.toEqual([]);
});

test("rules of OpenAPI 3.0 become those of JSON Schema, and invalid ones are left out", async () => {
  const { tool } = await readOne({
    parameters: [
      {
        name: "a",
        in: "query",
        schema: { type: "integer", minimum: 1, exclusiveMinimum: true, maximum: "9" },
      },
      { name: "b", in: "query", schema: { type: "string", nullable: true, enum: ["x"] } },
      { name: "c", in: "query", schema: { type: "string", pattern: "([", minLength: -1 } },
      { name: "d", in: "query", schema: { type: "file", example: 1 } },
      { name: "e", in: "query", schema: { type: ["string", "null"], const: "y" } },
    ],
    responses: ok,
  });
  expect(tool.inputSchema.properties).toEqual({
    a: { type: "integer", exclusiveMinimum: 1 },
    b: { type: ["string", "null"], enum: ["x", null] },
    c: { type: "string" },
    d: {},
    e: { type: ["string", "null"], const: "y" },
  });
});

test("an output schema describes without rules that an API might break, and any answer is made to fit", async () => {
  const schema = {
    type: "object",
    required: ["id"],
    properties: {
      id: { type: "integer" },
      tags: { type: "array", items: { type: "string", enum: ["a"] } },
      tree: { $ref: "#/components/schemas/tree" },
    },
  };
  const { tool } = await readOne(
    { responses: { "200": { description: "ok", content: { "application/json": { schema } } } } },
    { components: { schemas: { tree } } },
  );
  const { outputSchema = {} } = tool;
  expect(outputSchema).toMatchObject({
    type: "object",
    properties: {
      id: { type: ["integer", "null"] },
      tags: { type: ["array", "null"], items: { type: ["string", "null"] } },
    },
  });
  expect(outputSchema).not.toHaveProperty("required");
  const check = compile(outputSchema, () => {});
  for (const answer of [
    { id: "7", tags: [1, "z"], more: { x: 1 } },
    { tree: { children: [3, { name: false }] } },
    {},
  ]) {
    const fitted = fitTo(outputSchema, answer, outputSchema);
    expect(await check(fitted)).toEqual([]);
  }
  expect(fitTo(outputSchema, { id: "7", tags: [1, "z"], more: { x: 1 } }, outputSchema)).toEqual({
    id: null,
    tags: [null, "z"],
    more: { x: 1 },
  });
});

test("a huge schema keeps its outer levels and still compiles", async () => {
  const level = (depth: number): JsonObject =>
    depth === 0
      ? { type: "string", description: "x".repeat(200) }
      : {
          type: "object",
          properties: Object.fromEntries(
            Array.from({ length: 8 }, (_, at) => [`p${at}`, level(depth - 1)]),
          ),
        };
  const { tool } = await readOne(
    { requestBody: { content: { "application/json": { schema: level(5) } } }, responses: ok },
    {},
    ["post", "/things"],
  );
  expect(JSON.stringify(tool.inputSchema).length).toBeLessThan(33_000);
  expect(Object.keys(tool.inputSchema.properties as object)).toHaveLength(8);
  compile(tool.inputSchema, () => {});
});

test("include and exclude choose operations by name, request or tag", async () => {
  const text = documentOf({
    "/pets": {
      get: { operationId: "list", tags: ["pets"], responses: ok },
      post: { operationId: "create", tags: ["pets"], responses: ok },
    },
    "/admin": { delete: { operationId: "wipe", tags: ["admin"], responses: ok } },
  });
  const names = async (include: string[], exclude: string[] = []): Promise<string[]> =>
    (await readText(text, { include, exclude })).operations.map(({ tool }) => tool.name);
  expect(await names(["pets"])).toEqual(["list", "create"]);
  expect(await names(["GET *", "wipe"])).toEqual(["list", "wipe"]);
  expect(await names([], ["admin", "POST /pets"])).toEqual(["list"]);
});

test("schemes and requirements are read, and those that we do not know are left out", async () => {
  const securitySchemes = {
    key: { type: "apiKey", in: "query", name: "k" },
    basic: { type: "http", scheme: "Basic" },
    token: { type: "http", scheme: "bearer" },
    login: {
      type: "oauth2",
      flows: {
        authorizationCode: {
          authorizationUrl: "https://a.example/in",
          tokenUrl: "https://a.example/t",
          scopes: { read: "" },
        },
      },
    },
    digest: { type: "http", scheme: "digest" },
  };
  const api = await readText(
    documentOf(
      {
        "/a": {
          get: { operationId: "a", responses: ok },
          put: { operationId: "b", security: [], responses: ok },
        },
      },
      { components: { securitySchemes }, security: [{ key: [], basic: [] }, { digest: [] }, {}] },
    ),
  );
  expect(api.schemes).toEqual({
    key: { kind: "apiKey", in: "query", name: "k" },
    basic: { kind: "basic" },
    token: { kind: "bearer" },
    login: {
      kind: "oauth2",
      authorizationUrl: "https://a.example/in",
      tokenUrl: "https://a.example/t",
      scope: "read",
    },
  });
  expect(api.operations.map(({ security }) => security)).toEqual([[["key", "basic"], []], []]);
  expect(api.operations.every(({ tool }) => isObject(tool._meta))).toBe(true);
});

test("a document of the project is read through no link", async () => {
  const project = mkdtempSync(join(tmpdir(), "guildhall-project-"));
  const cwd = vi.spyOn(process, "cwd").mockReturnValue(project);
  onTestFinished(() => {
    cwd.mockRestore();
    rmSync(project, { recursive: true });
  });
  writeFileSync(join(project, "api.json"), "{}");
  symlinkSync("api.json", join(project, "link.json"));
  const openapi = join(project, "link.json");
  const config = { openapi, allowPrivate: false, include: [], exclude: [] };
  await expect(readDocument(config, new Scope())).rejects.toMatchObject({ code: "DENIED" });
});
