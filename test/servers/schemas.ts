/**
 * The official schemas of every protocol version, as judges of what the hall sends. They come from
 * packages of the lane beside this folder.
 */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Ajv } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { isObject, type JsonObject } from "../../src/base/json.ts";
import type { Version } from "../../src/server/client-request.ts";

export interface WireSchemas {
  /** What the version calls a message with this method, such as `CallToolRequest`; undefined when it knows none. */
  definitionOf(method: string): string | undefined;
  has(definition: string): boolean;
  /** The members of a union such as `ServerResult`; none when the version has no such union. */
  membersOf(union: string): readonly string[];
  /** What is wrong with a value, in words; empty when it fits. Throws when there is no such definition. */
  faults(definition: string, value: unknown): readonly string[];
}

const lane = fileURLToPath(new URL("../lane24/node_modules/", import.meta.url));
const conformance = `${lane}@modelcontextprotocol/conformance/dist/index.js`;

export async function loadWireSchemas(): Promise<Record<Version, WireSchemas>> {
  return {
    "2024-11-05": await loadZodSchemas(`${lane}sdk-2024-11-05/dist/types.js`),
    ...loadJsonSchemas(readFileSync(conformance, "utf8")),
  };
}

/**
 * The conformance suite carries four schemas as object literals in its bundle, and a table that
 * says which is which.
 */
export function loadJsonSchemas(
  bundle: string,
): Record<Exclude<Version, "2024-11-05">, WireSchemas> {
  const table =
    /;const \w+=\{"2025-03-26":(\w+),"2025-06-18":(\w+),"2025-11-25":(\w+),\[\w+\]:(\w+)\};/.exec(
      bundle,
    );
  const names = table?.slice(1) ?? [];
  const start = bundle.indexOf(`${names[0]}={$schema:`);
  if (!table || start === -1)
    throw new Error(
      `${conformance} no longer has its table of schemas: adapt test/servers/schemas.ts`,
    );
  const literals = bundle.slice(start, table.index);
  const [march, june, november, modern] = new Function(
    `const ${literals}; return [${names}];`,
  )() as JsonObject[];
  return {
    "2025-03-26": fromJsonSchema(march, "definitions", "JSONRPCBatchResponse"),
    "2025-06-18": fromJsonSchema(june, "definitions", "ElicitRequest"),
    "2025-11-25": fromJsonSchema(november, "$defs", "ListTasksResult"),
    "2026-07-28": fromJsonSchema(modern, "$defs", "DiscoverResult"),
  };
}

/** `mark` is a definition that only this version and later ones have. */
function fromJsonSchema(
  schema: JsonObject | undefined,
  key: "definitions" | "$defs",
  mark: string,
): WireSchemas {
  const definitions = schema?.[key];
  if (!schema || !isObject(definitions) || !(mark in definitions))
    throw new Error(`${conformance} has a schema without ${key}.${mark}`);
  const options = { strict: false, allErrors: true };
  const ajv = key === "$defs" ? new Ajv2020(options) : new Ajv(options);
  addFormats.default(ajv);
  ajv.addSchema(schema, "mcp");
  const methods = new Map<unknown, string>();
  for (const [name, definition] of Object.entries(definitions)) {
    const method = (definition as { properties?: { method?: { const?: unknown } } }).properties
      ?.method?.const;
    if (method !== undefined) methods.set(method, name);
  }
  return {
    definitionOf: (method) => methods.get(method),
    has: (name) => Object.hasOwn(definitions, name),
    membersOf(union) {
      const { anyOf = [], $ref } = (definitions[union] ?? {}) as {
        anyOf?: { $ref?: string }[];
        $ref?: string;
      };
      return [...anyOf, { $ref }].flatMap(
        ({ $ref: reference }) => reference?.split("/").at(-1) ?? [],
      );
    },
    faults(name, value) {
      const validate = ajv.getSchema(`mcp#/${key}/${name}`);
      if (!validate) throw new Error(`there is no definition ${name}`);
      return validate(value)
        ? []
        : (validate.errors ?? []).map(
            ({ instancePath, message }) => `${instancePath || "/"} ${message}`,
          );
    },
  };
}

interface ZodSchema {
  readonly shape?: { readonly method?: { readonly value?: unknown } };
  readonly options?: readonly ZodSchema[];
  safeParse(value: unknown): {
    readonly success: boolean;
    readonly error?: { readonly issues: readonly { path: unknown[]; message: string }[] };
  };
}

/** 2024-11-05 has no schema in the suite: the SDK of that time is the judge. */
async function loadZodSchemas(file: string): Promise<WireSchemas> {
  const exported = Object.entries((await import(file)) as Record<string, ZodSchema>).filter(
    ([name]) => name.endsWith("Schema"),
  );
  const schemas = new Map(
    exported.map(([name, schema]) => [name.slice(0, -"Schema".length), schema]),
  );
  const names = new Map([...schemas].map(([name, schema]) => [schema, name]));
  return {
    definitionOf: (method) =>
      [...schemas].find(([, schema]) => schema.shape?.method?.value === method)?.[0],
    has: (name) => schemas.has(name),
    membersOf: (union) =>
      (schemas.get(union)?.options ?? []).flatMap((schema) => names.get(schema) ?? []),
    faults(name, value) {
      const schema = schemas.get(name);
      if (!schema) throw new Error(`there is no definition ${name}`);
      return (schema.safeParse(value).error?.issues ?? []).map(
        ({ path, message }) => `/${path.join("/")} ${message}`,
      );
    },
  };
}
