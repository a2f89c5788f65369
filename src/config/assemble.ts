import { isObject, type JsonObject } from "../base/json.ts";
import { findEndpointProblems } from "./endpoints.ts";
import { createVariablesLayer } from "./environment.ts";
import { ConfigError, fieldOf, type Path, type Problem, tellable } from "./error.ts";
import { type ConfigFile, projectFilesOf } from "./files.ts";
import { findFolderProblems } from "./folders.ts";
import { fieldAt, type Layer, locateField, mergeLayers } from "./layer.ts";
import { type Config, foreignKeys, type PartialConfig } from "./schema.ts";
import { findSecrets } from "./secrets.ts";
import { findServerProblems } from "./servers.ts";
import { findTrustProblems } from "./trust.ts";
import { validateTree } from "./validate.ts";
import { expandVariables } from "./variables.ts";

/** Everything that was found, in the order of layers, made into one checked config. Loads the parsers and zod: only for when something was found. */
export interface Sources {
  readonly folder: string;
  readonly files: readonly ConfigFile[];
  readonly env: NodeJS.ProcessEnv;
  readonly flags: PartialConfig;
  /** Whether the environment sets any field. */
  readonly hasVariables: boolean;
}

export interface Assembled {
  readonly config: Config;
  readonly warnings: readonly string[];
  readonly secrets: readonly string[];
}

export async function assembleConfig({ folder, files, env, flags, hasVariables }: Sources): Promise<Assembled> {
  const layers: Layer[] = [];
  for (const file of files) layers.push(await parseLayer(file));
  const variables = hasVariables ? createVariablesLayer(env, (await import("./outline.ts")).createOutline(), mergeLayers(layers)) : undefined;
  if (variables) layers.push(variables);
  layers.push({ tree: flags as JsonObject, kind: "override", locate: () => "command line" });

  const { tree, foreign } = setForeignAside(mergeLayers(layers));
  const expanded = expandVariables(tree, env);
  const result = await validateTree(expanded.tree);
  const isOfProject = (path: Path): boolean => {
    // The files are the first layers. A list is replaced whole, so the last layer that has it wrote all of it.
    const writer = files[layers.findLastIndex((layer) => fieldAt(layer.tree, path) !== undefined)];
    return writer !== undefined && projectFilesOf(folder).includes(writer.file);
  };
  const problems = [
    ...expanded.problems,
    ...findServerProblems(expanded.tree, folder),
    ...findFolderProblems(expanded.tree, folder, isOfProject),
    ...findEndpointProblems(expanded.tree, isOfProject),
    ...findTrustProblems(
      expanded.tree,
      isOfProject,
      mergeLayers(layers.slice(0, files.length).filter((_, index) => !projectFilesOf(folder).includes(files[index]?.file ?? ""))),
    ),
    ...("problems" in result ? result.problems : []),
  ];
  if (problems.length > 0 || !("config" in result)) throw new ConfigError(tell(problems, layers));
  return {
    config: result.config,
    warnings: tell(foreign, layers),
    secrets: findSecrets(expanded.tree, variables?.tree ?? {}, expanded.secrets),
  };
}

/** Each parser is loaded when a file needs it. */
async function parseLayer(file: ConfigFile): Promise<Layer> {
  if (file.file.endsWith(".toml")) return (await import("./toml.ts")).parseTomlLayer(file);
  return (await import("./json.ts")).parseJsonLayer(file);
}

/** What other clients write into an entry is taken out before the schema sees it. */
function setForeignAside(tree: JsonObject): { readonly tree: JsonObject; readonly foreign: readonly Problem[] } {
  if (!isObject(tree.mcpServers)) return { tree, foreign: [] };
  const foreign: Problem[] = [];
  const servers = Object.entries(tree.mcpServers).map(([name, server]) => {
    if (!isObject(server)) return [name, server];
    const [theirs, rest] = partition(Object.entries(server), ([key]) => Object.hasOwn(foreignKeys, key));
    for (const [key] of theirs) foreign.push({ path: ["mcpServers", name, key], text: `ignored, as it is another client's; ${foreignKeys[key]}` });
    return [name, theirs.length === 0 ? server : Object.fromEntries(rest)];
  });
  return { tree: { ...tree, mcpServers: Object.fromEntries(servers) }, foreign };
}

function partition<T>(items: readonly T[], isWanted: (item: T) => boolean): [T[], T[]] {
  return [items.filter(isWanted), items.filter((item) => !isWanted(item))];
}

/** One line per field: the first problem of a field is its cause, the rest follow from it. */
function tell(problems: readonly Problem[], layers: readonly Layer[]): string[] {
  const first = new Map<string, Problem>();
  for (const problem of problems) {
    const field = fieldOf(problem.path);
    if (!first.has(field)) first.set(field, problem);
  }
  return tellable([...first]).map(([field, { path, text }]) => `${locateField(layers, path)}: ${field ? `${field}: ` : ""}${text}`);
}
