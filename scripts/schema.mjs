// Writes guildhall.schema.json (for editors), src/config/outline.json (for the check of a config) and the
// tables of docs/config.md from src/config/schema.ts. `--check` fails when one of them is out of date.
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL("..", import.meta.url));
const { createEditorSchema, createOutline } = await loadSource("src/config/editor-schema.ts");
const schema = createEditorSchema();
const docs = `${root}docs/config.md`;

const isCheck = process.argv.includes("--check");
put(`${root}guildhall.schema.json`, () => `${JSON.stringify(schema, null, 2)}\n`);
put(`${root}src/config/outline.json`, () => `${JSON.stringify(createTable())}\n`);
put(docs, (text) =>
  text.replace(
    /(<!-- fields of (\S+) -->\n).*?(?=<!-- end -->)/gs,
    (_, start, name) => `${start}\n${table(name)}\n`,
  ),
);

/** The table that a hall checks its config with: the schema without descriptions. */
function createTable() {
  const { $schema: _, ...table } = createOutline();
  const text = JSON.stringify(table, (key, value) =>
    key === "description" && typeof value === "string" ? undefined : value,
  );
  return JSON.parse(text);
}

function put(file, write) {
  const before = read(file);
  const after = write(before);
  if (after === before) return;
  if (!isCheck) return writeFileSync(file, after);
  console.error(`${file.slice(root.length)} is out of date: run \`npm run format\`.`);
  process.exitCode = 1;
}

function read(file) {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

/**
 * `config` is the whole schema, `stdio`, `remote` and `openapi` are the kinds of server, anything
 * else is a section.
 */
function table(name) {
  const [stdio, remote, openapi] = schema.properties.mcpServers.additionalProperties.anyOf;
  const part = { config: schema, stdio, remote, openapi }[name] ?? schema.properties[name];
  const rows = Object.entries(part.properties).filter(([, field]) => !isForeign(field));
  const lines = rows.flatMap(([key, field]) => row(key, field, part.required?.includes(key)));
  return ["| field | type | default | meaning |", "|---|---|---|---|", ...lines, ""].join("\n");
}

function row(key, field, isRequired) {
  const inner = Object.entries(field.properties ?? {}).flatMap(([name, value]) =>
    row(`${key}.${name}`, value),
  );
  const initial = field.properties ? "" : defaultOf(field, isRequired);
  return [`| \`${key}\` | ${typeOf(field)} | ${initial} | ${field.description} |`, ...inner];
}

function defaultOf(field, isRequired) {
  if (isRequired) return "required";
  return field.default === undefined ? "–" : `\`${JSON.stringify(field.default)}\``;
}

function typeOf({ type, enum: choices, const: only, minimum, maximum, items, anyOf }) {
  if (anyOf) return anyOf.map(typeOf).join(" or ");
  if (choices) return choices.map((choice) => `\`${choice}\``).join(", ");
  if (only) return `\`${only}\``;
  if (minimum !== undefined) return `${minimum}–${maximum}`;
  if (items) return "list of strings";
  return { string: "string", boolean: "boolean", object: "object" }[type];
}

function isForeign({ deprecated }) {
  return deprecated === true;
}

/** TypeScript for any Node: bundled on the fly. */
async function loadSource(file) {
  const options = {
    absWorkingDir: root,
    entryPoints: [file],
    bundle: true,
    format: "esm",
    platform: "node",
    write: false,
    logLevel: "warning",
  };
  const { outputFiles } = await build(options);
  return import(
    `data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString("base64")}`
  );
}
