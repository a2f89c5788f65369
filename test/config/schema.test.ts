import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Ajv } from "ajv";
import { build } from "esbuild";
import * as fc from "fast-check";
import { parse as parseToml } from "smol-toml";
import { describe, expect, test } from "vitest";
import { check, type Issue } from "../../src/config/check.ts";
import { createEditorSchema, createOutline } from "../../src/config/editor-schema.ts";
import { type Outline, outline } from "../../src/config/outline.ts";
import { configSchema } from "../../src/config/schema.ts";
import { foreignKeys } from "../../src/config/servers.ts";
import { makeConfigFolder } from "./folder.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const docs = readFileSync(`${root}docs/config.md`, "utf8");

describe("the schema", () => {
  test("documents every field", () => {
    expect(
      fieldsOf(createOutline()).filter(([, field]) => !field.description?.match(/\.$/)),
    ).toEqual([]);
  });

  test("is what guildhall.schema.json and docs/config.md say", () => {
    expect(JSON.parse(readFileSync(`${root}guildhall.schema.json`, "utf8"))).toEqual(
      createEditorSchema(),
    );
    execFileSync(process.execPath, ["scripts/schema.mjs", "--check"], { cwd: root });
    for (const [key, { description }] of fieldsOf(createOutline())) {
      expect(docs).toContain(`| \`${key.replace(/^mcpServers\./, "")}\` |`);
      expect(docs).toContain(description);
    }
  });

  test("lets an editor accept what the hall accepts, pasted keys included", () => {
    const validate = new Ajv({ strict: false }).compile(createEditorSchema());
    const pasted = Object.fromEntries(Object.keys(foreignKeys).map((key) => [key, "x"]));
    expect(
      validate({
        mcpServers: { a: { command: "a", ...pasted }, b: { url: "https://b.example.com" } },
        listen: { port: 1 },
      }),
    ).toBe(true);
    expect(validate({ mcpServers: { a: { comand: "a" } } })).toBe(false);
    expect(validate({ mcpServers: { "two words": { command: "a" } } })).toBe(false);
    expect(validate({ expos: "tools" })).toBe(false);
  });

  test("accepts the examples of docs/config.md", async () => {
    const [json = "", toml = ""] = Array.from(
      docs.matchAll(/```(?:jsonc?|toml)\n(.*?)```/gs),
      ([, example = ""]) => example,
    );
    const env = { HOME: "/home/a", GITHUB_TOKEN: "ghp_0123456789" };
    using first = makeConfigFolder({ "guildhall.json": json });
    using second = makeConfigFolder({ "guildhall.toml": toml });
    const [{ $schema: _, ...fromJson }, fromToml] = [
      (await first.load({ env })).config,
      (await second.load({ env })).config,
    ];
    expect(fromJson).toEqual(fromToml);
    expect(configSchema.safeParse(parseToml(toml)).success).toBe(true);
  });
});

describe("loading", () => {
  test("is checked without zod exactly as zod checks it", () => {
    fc.assert(
      fc.property(valuesOf(outline), (tree) => {
        const issues: Issue[] = [];
        const checked = check(outline, tree, [], issues);
        const { success, data } = configSchema.safeParse(tree);
        expect(issues.length === 0).toBe(success);
        if (success) expect(checked).toEqual(withWrittenTypes(data, tree));
      }),
      { numRuns: 300 },
    );
  });

  test("leaves zod and the parsers alone until there is something to check", async () => {
    const { metafile } = await build({
      absWorkingDir: root,
      entryPoints: ["src/config/load.ts"],
      bundle: true,
      splitting: true,
      format: "esm",
      platform: "node",
      outdir: "out",
      write: false,
      metafile: true,
      logLevel: "error",
    });
    const loaded = (file: string): string[] => {
      const { inputs = {}, imports = [] } = metafile.outputs[file] ?? {};
      return [
        ...Object.keys(inputs),
        ...imports
          .filter(({ kind }) => kind === "import-statement")
          .flatMap(({ path }) => loaded(path)),
      ];
    };
    expect(loaded("out/load.js")).toContain("src/config/files.ts");
    expect(loaded("out/load.js").filter((file) => file.includes("node_modules"))).toEqual([]);
  });
});

/** Every field by its path, through sections and both kinds of server. */
function fieldsOf(
  { properties = {}, additionalProperties }: Outline,
  above = "",
): [string, Outline][] {
  const kinds = additionalProperties ? (additionalProperties.anyOf ?? []) : [];
  const own = Object.entries(properties).flatMap(([key, field]): [string, Outline][] => [
    [`${above}${key}`, field],
    ...fieldsOf(field, `${above}${key}.`),
  ]);
  return [...own, ...kinds.flatMap((kind) => fieldsOf(kind, above))];
}

/** Values of which most fit the schema, and some do not quite. */
function valuesOf(field: Outline): fc.Arbitrary<unknown> {
  const wrong = fc.constantFrom<unknown>(null, -1, 0.5, "", "x y", true, [], [1], {}, { odd: 1 });
  return fc.oneof({ weight: 60, arbitrary: rightValuesOf(field) }, { weight: 1, arbitrary: wrong });
}

function rightValuesOf(field: Outline): fc.Arbitrary<unknown> {
  const { properties, additionalProperties: others, items, anyOf, type } = field;
  if (anyOf) return fc.oneof(...anyOf.map(valuesOf));
  if (field.enum) return fc.constantFrom(...field.enum);
  if (field.const !== undefined) return fc.constant(field.const);
  if (type === "boolean") return fc.boolean();
  if (type === "integer") {
    const { minimum: min = 0, maximum: max = 9 } = field;
    return fc.integer({ min: min - 1, max: max + 1 }).filter((n) => n % 7 !== 0 || n >= min);
  }
  if (type === "array") return fc.array(valuesOf(items ?? {}), { maxLength: 2 });
  if (properties) {
    const fields: Record<string, fc.Arbitrary<unknown>> = {};
    for (const [key, inner] of Object.entries(properties)) fields[key] = valuesOf(inner);
    return fc.record(fields, { requiredKeys: [...(field.required ?? [])] });
  }
  if (others) {
    const keys = fc.constantFrom("a", "b-c", "anthropic/x", "");
    return fc.dictionary(keys, valuesOf(others), { maxKeys: 2 });
  }
  return fc.constantFrom("a", "b-1", "https://a.example", "postgres://a/b", "anthropic/x");
}

/** zod also translates the names that other clients use for a transport. */
function withWrittenTypes(config: unknown, tree: unknown): unknown {
  const { mcpServers = {}, ...rest } = config as { mcpServers?: Record<string, object> };
  const written = (tree as { mcpServers?: Record<string, { type?: string }> }).mcpServers;
  const servers = Object.entries(mcpServers).map(([name, server]) => {
    const type = written?.[name]?.type;
    return [name, type === undefined ? server : { ...server, type }];
  });
  return { ...rest, mcpServers: Object.fromEntries(servers) };
}
