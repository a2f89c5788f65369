import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Ajv } from "ajv";
import { build } from "esbuild";
import { parse as parseToml } from "smol-toml";
import { describe, expect, test } from "vitest";
import { createEditorSchema, createOutline, type Outline } from "../../src/config/outline.ts";
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
