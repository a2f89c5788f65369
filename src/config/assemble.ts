import { isObject, type JsonObject } from "../base/json.ts";
import { findEndpointProblems } from "./endpoints.ts";
import { createVariablesLayer } from "./environment.ts";
import { ConfigError, fieldOf, type Path, type Problem, tellable } from "./error.ts";
import { type ConfigFile, projectFilesOf } from "./files.ts";
import { findFolderProblems } from "./folders.ts";
import { foreignKeys } from "./foreign-keys.ts";
import { fieldAt, type Layer, locateField, mergeLayers } from "./layer.ts";
import { findListenProblems } from "./listen.ts";
import type { Config, PartialConfig } from "./schema.ts";
import { findSecrets } from "./secrets.ts";
import { findNameProblems, findServerProblems } from "./servers.ts";
import { findTrustProblems } from "./trust.ts";
import { serverOf, sortProblems, type UnusableServer, withoutServers } from "./unusable.ts";
import { validateTree } from "./validate.ts";
import { expandVariables } from "./variables.ts";
import { withWritten } from "./written.ts";

/** Merges all layers into one checked config. Loads the parsers and zod, so only call it if there is a config. */
export interface Sources {
  readonly folder: string;
  readonly files: readonly ConfigFile[];
  readonly env: NodeJS.ProcessEnv;
  readonly flags: PartialConfig;
  /** True if the environment sets any field. */
  readonly hasVariables: boolean;
}

export interface Assembled {
  /** With the usable servers only. */
  readonly config: Config;
  readonly unusable: Readonly<Record<string, UnusableServer>>;
  readonly warnings: readonly string[];
  readonly secrets: readonly string[];
}

/** More invalid servers than this point to a broken file. */
const unusableMax = 100;

export async function assembleConfig({
  folder,
  files,
  env,
  flags,
  hasVariables,
}: Sources): Promise<Assembled> {
  const layers: Layer[] = [];
  for (const file of files) layers.push(await parseLayer(file));
  const variables = hasVariables
    ? createVariablesLayer(env, (await import("./outline.ts")).createOutline(), mergeLayers(layers))
    : undefined;
  if (variables) layers.push(variables);
  layers.push({ tree: flags as JsonObject, kind: "override", locate: () => "command line" });

  const { tree, foreign } = setForeignAside(mergeLayers(layers));
  const expanded = expandVariables(tree, env);
  const isOfProject = (path: Path): boolean => {
    // The files are the first layers. Lists are replaced as a whole, so the last layer with a list wrote all of it.
    const writer = files[layers.findLastIndex((layer) => fieldAt(layer.tree, path) !== undefined)];
    return writer !== undefined && projectFilesOf(folder).includes(writer.file);
  };
  const nameProblems = findNameProblems(expanded.tree);
  const { config, problems } = await validate(expanded.tree, [
    ...expanded.problems.filter(({ path }) => !isDisabled(expanded.tree, path)),
    ...nameProblems,
    ...findServerProblems(expanded.tree, folder),
    ...findFolderProblems(expanded.tree, folder, isOfProject),
    ...findEndpointProblems(expanded.tree, isOfProject),
    ...findListenProblems(expanded.tree, folder, isOfProject),
    ...findTrustProblems(
      expanded.tree,
      isOfProject,
      mergeLayers(
        layers
          .slice(0, files.length)
          .filter((_, index) => !projectFilesOf(folder).includes(files[index]?.file ?? "")),
      ),
    ),
  ]);
  const { ofServers, ofAll } = sortProblems(problems, nameProblems);
  if (ofAll.length > 0 || ofServers.size > unusableMax || !config)
    throw new ConfigError(tell(problems, layers));
  const unusable = [...ofServers].map(([name, own]): [string, UnusableServer] => {
    const entry = Object.hasOwn(config.mcpServers, name) ? config.mcpServers[name] : undefined;
    return [
      name,
      { type: "unusable", problems: tellOfServer(own, layers), ...(entry ? { entry } : {}) },
    ];
  });
  return {
    config: withWritten(
      withoutServers(config, ofServers),
      mergeLayers(layers.slice(0, files.length)),
    ),
    unusable: Object.fromEntries(unusable),
    warnings: tell(foreign, layers),
    secrets: findSecrets(expanded.tree, variables?.tree ?? {}, expanded.secrets),
  };
}

/** Loads the parser for this file type. */
async function parseLayer(file: ConfigFile): Promise<Layer> {
  if (file.file.endsWith(".toml")) return (await import("./toml.ts")).parseTomlLayer(file);
  return (await import("./json.ts")).parseJsonLayer(file);
}

/** Removes other clients' keys from the entries before validation. */
function setForeignAside(tree: JsonObject): {
  readonly tree: JsonObject;
  readonly foreign: readonly Problem[];
} {
  if (!isObject(tree.mcpServers)) return { tree, foreign: [] };
  const foreign: Problem[] = [];
  const servers = Object.entries(tree.mcpServers).map(([name, server]) => {
    if (!isObject(server)) return [name, server];
    const [theirs, rest] = partition(Object.entries(server), ([key]) =>
      Object.hasOwn(foreignKeys, key),
    );
    for (const [key] of theirs)
      foreign.push({
        path: ["mcpServers", name, key],
        text: `ignored: a setting of another client; ${foreignKeys[key]}`,
      });
    return [name, theirs.length === 0 ? server : Object.fromEntries(rest)];
  });
  return { tree: { ...tree, mcpServers: Object.fromEntries(servers) }, foreign };
}

function partition<T>(items: readonly T[], isWanted: (item: T) => boolean): [T[], T[]] {
  return [items.filter(isWanted), items.filter((item) => !isWanted(item))];
}

/** A disabled server needs no values for its variables. */
function isDisabled(tree: JsonObject, path: Path): boolean {
  return serverOf(path) !== undefined && fieldAt(tree, [...path.slice(0, 2), "disabled"]) === true;
}

const roundsMax = 10;

/** Removes invalid servers until the rest is valid. Each round reports a bounded number of problems, so several may be needed. */
async function validate(
  tree: JsonObject,
  found: readonly Problem[],
): Promise<{ readonly config: Config | undefined; readonly problems: readonly Problem[] }> {
  let rest = tree;
  const problems = [...found];
  for (let round = 0; round < roundsMax; round++) {
    const result = await validateTree(rest);
    if ("config" in result) return { config: result.config, problems };
    problems.push(...result.problems);
    const names = result.problems.map(({ path }) => serverOf(path));
    if (names.length === 0 || names.includes(undefined)) break;
    rest = withoutServers(rest, new Set(names));
  }
  return { config: undefined, problems };
}

function tell(problems: readonly Problem[], layers: readonly Layer[]): string[] {
  return firstOfFields(problems).map(
    ({ path, text }) =>
      `${locateField(layers, path)}: ${path.length > 0 ? `${fieldOf(path)}: ` : ""}${text}`,
  );
}

/** The location comes last: lists show only the beginning of a problem. */
function tellOfServer(problems: readonly Problem[], layers: readonly Layer[]): string[] {
  return firstOfFields(problems).map(
    ({ path, text }) =>
      `${path.length > 2 ? `${fieldOf(path.slice(2))}: ` : ""}${text} (${locateField(layers, path)})`,
  );
}

/** The first problem of a field is the cause; the others follow from it. */
function firstOfFields(problems: readonly Problem[]): readonly Problem[] {
  const first = new Map<string, Problem>();
  for (const problem of problems) {
    const field = fieldOf(problem.path);
    if (!first.has(field)) first.set(field, problem);
  }
  return tellable([...first.values()]);
}
