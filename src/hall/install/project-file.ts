import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { stringify } from "smol-toml";
import { isObject, type JsonObject } from "../../base/json.ts";
import { ConfigError } from "../../config/error.ts";
import { projectFilesOf, readConfigFiles, userFileOf } from "../../config/files.ts";
import { parseConfigFile } from "../../config/layer.ts";
import { type Machine, parseDocument } from "../import/document.ts";
import type { ImportedServer } from "../import/merge.ts";
import { editDocument } from "./edit.ts";

/** The project's config file. */
export interface ProjectFile {
  readonly file: string;
  /** Undefined if there is no file. */
  readonly text: string | undefined;
  /** The servers in it and in the user's own config. */
  readonly servers: JsonObject;
}

/** Throws ConfigError with file and line for an invalid file, which is never overwritten. */
export async function readProjectFile({ folder, env }: Machine): Promise<ProjectFile> {
  const places = projectFilesOf(folder);
  const userFile = userFileOf(env);
  const files = await readConfigFiles(userFile, places);
  const servers: JsonObject = {};
  for (const { file, text } of files) {
    const { tree, locate } = await parseConfigFile({ file, text });
    const { mcpServers = {} } = tree;
    if (!isObject(mcpServers))
      throw new ConfigError(`${locate(["mcpServers"])}: mcpServers must be an object`);
    Object.assign(servers, mcpServers);
  }
  const own = files.find(({ file }) => file !== userFile);
  return { file: own?.file ?? places[0] ?? "guildhall.json", text: own?.text, servers };
}

/** A server to write, with its origin if another client has it. */
type NewServer = Pick<ImportedServer, "name" | "server"> &
  Partial<Pick<ImportedServer, "sightings" | "notes">>;

/** The text of a new file, or of the existing one with these servers added. */
export async function addToProjectFile(
  { file, text }: ProjectFile,
  servers: readonly NewServer[],
  isNew = text === undefined,
): Promise<string> {
  if (isNew || text === undefined)
    return file.endsWith(".toml") ? newToml(servers) : newJson(file, servers);
  if (servers.length === 0) return text;
  const document = await parseDocument(file, text);
  return editDocument(document, {
    at: ["mcpServers"],
    put: Object.fromEntries(servers.map(({ name, server }) => [name, server])),
  });
}

const schemaFile = "./node_modules/guildhall/guildhall.schema.json";

function newJson(file: string, servers: readonly NewServer[]): string {
  // An editor warns of a schema that is not there.
  const hasSchema = existsSync(join(dirname(file), schemaFile));
  const entries = servers.map((imported, index) => {
    const value = JSON.stringify(imported.server, null, 2).replaceAll("\n", "\n    ");
    return `${commentOf(imported, "    //")}    ${JSON.stringify(imported.name)}: ${value}${index < servers.length - 1 ? "," : ""}\n`;
  });
  const example = `    // "files": { "command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "."] }\n`;
  return `// Guildhall: the servers behind one hall, for every MCP client of this project.
// Comments and trailing commas are allowed; docs/config.md of the package has every field.
{
${hasSchema ? `  "$schema": "${schemaFile}",\n\n` : ""}  // The map every MCP client uses. \${NAME} is a secret (\`guildhall secret set NAME\`) or an environment variable.
  "mcpServers": {
${entries.length > 0 ? entries.join("") : example}  }
}
`;
}

function newToml(servers: readonly NewServer[]): string {
  const tables = servers.map(
    (imported) =>
      `${commentOf(imported, "#")}${stringify({ mcpServers: { [imported.name]: imported.server } }).trim()}\n`,
  );
  return `# Guildhall: the servers behind one hall, for every MCP client of this project.\n# \${NAME} is a secret (\`guildhall secret set NAME\`) or an environment variable.\n\n${tables.join("\n")}`;
}

/** Where a server comes from, without characters that could end the comment. */
function commentOf({ sightings, notes = [] }: NewServer, start: string): string {
  if (!sightings) return "";
  const [{ client, place }] = sightings;
  const text = [`from ${client.name}: ${place.replace(/:\d+:\d+$/, "")}`, ...notes].join("; ");
  return `${start} ${text.replace(/[\p{Cc}\p{Zl}\p{Zp}]/gu, "?")}\n`;
}
