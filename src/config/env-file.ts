import { createHash } from "node:crypto";
import { dirname, relative, resolve } from "node:path";
import { parseEnv } from "node:util";
import { messageOf } from "../base/errors.ts";
import { isObject, type JsonObject } from "../base/json.ts";
import { readProjectFile } from "../base/project-files.ts";
import { ConfigError, type Path, type Problem } from "./error.ts";
import { readConfigFile } from "./files.ts";
import type { Layer } from "./layer.ts";
import { isInside, realOf } from "./project-limits.ts";

/** The variables that a server gets from its `envFile`. */
export interface EnvFile {
  /** The variables that its `env` does not set itself. */
  readonly names: readonly string[];
  /** Of a file in the project: a person approves its contents. */
  readonly digest?: string | undefined;
}

export interface EnvFiles {
  /** The servers with the variables of their files in `env`. */
  readonly tree: JsonObject;
  readonly problems: readonly Problem[];
  /** Every file that is named, to watch. */
  readonly files: readonly string[];
  /** Values, to redact in the log. */
  readonly secrets: readonly string[];
  readonly ofServers: ReadonlyMap<string, EnvFile>;
  /** True for a variable that a file of the project sets. */
  isOfProject(path: Path): boolean;
}

interface Sources {
  readonly folder: string;
  readonly userFile: string;
  sourceAt(path: Path): Layer["source"] | undefined;
}

const bytesMax = 256 * 1024;

/** Reads the dotenv files that entries name. Their values are literal: `${NAME}` has no meaning in them. */
export async function readEnvFiles(tree: JsonObject, sources: Sources): Promise<EnvFiles> {
  const problems: Problem[] = [];
  const files: string[] = [];
  const secrets: string[] = [];
  const ofServers = new Map<string, EnvFile>();
  const servers: [string, unknown][] = [];
  for (const [name, server] of Object.entries(isObject(tree.mcpServers) ? tree.mcpServers : {})) {
    servers.push([name, server]);
    if (!isObject(server) || typeof server.envFile !== "string" || server.disabled === true)
      continue;
    const path = ["mcpServers", name, "envFile"];
    const isUsers = sources.sourceAt(path) === "user";
    const file = resolve(isUsers ? dirname(sources.userFile) : sources.folder, server.envFile);
    files.push(file);
    try {
      const isProjects = isInside(realOf(file), realOf(sources.folder));
      if (!isProjects && sources.sourceAt(path) === "project") throw new ConfigError(outside);
      const text = await read(file, isProjects ? sources.folder : undefined);
      const parsed = parseEnv(text);
      const own = isObject(server.env) ? server.env : {};
      servers[servers.length - 1] = [name, { ...server, env: { ...parsed, ...own } }];
      secrets.push(...Object.values(parsed).filter((value) => value !== undefined));
      ofServers.set(name, {
        names: Object.keys(parsed).filter((key) => !Object.hasOwn(own, key)),
        ...(isProjects ? { digest: createHash("sha256").update(text).digest("hex") } : {}),
      });
    } catch (error) {
      problems.push({ path, text: messageOf(error) });
    }
  }
  return {
    tree: servers.length === 0 ? tree : { ...tree, mcpServers: Object.fromEntries(servers) },
    problems,
    files,
    secrets,
    ofServers,
    isOfProject: ([section, name, field, key]) => {
      if (section !== "mcpServers" || field !== "env") return false;
      const found = ofServers.get(String(name));
      return found?.digest !== undefined && found.names.includes(String(key));
    },
  };
}

const outside =
  "is outside the project; expected a file inside; store the values with guildhall secret set instead";

/** Throws ConfigError, DENIED for a link or anything else that is not a regular file, TOO_LARGE. */
async function read(file: string, project: string | undefined): Promise<string> {
  const text =
    project === undefined
      ? (await readConfigFile(file))?.text
      : await readProjectFile(project, relative(project, file), bytesMax);
  if (text === undefined)
    throw new ConfigError(
      `"${file}" was not found; expected a dotenv file; create it or remove envFile`,
    );
  return text;
}
