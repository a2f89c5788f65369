import { isObject, type JsonObject } from "../base/json.ts";
import { check, type Issue } from "./check.ts";
import { transportAliases, type UnusableServer } from "./configured-servers.ts";
import { createVariablesLayer } from "./environment.ts";
import { ConfigError, fieldOf, type Path, type Problem, shownProblems } from "./error.ts";
import { type ConfigFile, projectFilesOf } from "./files.ts";
import {
  fieldAt,
  type Layer,
  locateField,
  mergeLayers,
  mergeTrees,
  parseConfigFile,
} from "./layer.ts";
import type { LoadedConfig, LoadOptions } from "./load.ts";
import { outline } from "./outline.ts";
import {
  fieldsToApprove,
  findProjectProblems,
  type WrittenConfig,
  withoutKeys,
} from "./project-limits.ts";
import type { Config, ServerConfig } from "./schema.ts";
import { explainUnset, findPersonalProblems, findSecrets, readValues } from "./secrets.ts";
import { builtInNames, findNameProblems, findServerProblems, setForeignAside } from "./servers.ts";
import { expandVariables, namedVariables, readEnvFiles, withWritten } from "./variables.ts";

export interface Sources extends Required<Omit<LoadOptions, "projectFile">> {
  readonly files: readonly ConfigFile[];
}

/** More invalid servers than this point to a broken file. */
const unusableMax = 100;

/** Merges all layers into one checked config. Loads the parsers, so only call it if there is a config. */
export async function assembleConfig({
  folder,
  files,
  env,
  flags,
  store,
  userFile,
}: Sources): Promise<
  Pick<LoadedConfig, "config" | "unusable" | "toApprove" | "warnings" | "secrets"> & {
    /** Files to watch. */
    readonly envFiles: readonly string[];
  }
> {
  const ofFiles: Layer[] = [];
  for (const file of files) {
    const source = projectFilesOf(folder).includes(file.file) ? "project" : "user";
    ofFiles.push({ ...(await parseConfigFile(file)), source });
  }
  const variables = createVariablesLayer(env, mergeLayers(ofFiles));
  const ofFlags: Layer = {
    tree: flags as JsonObject,
    source: "override",
    locate: () => "command line",
  };
  const layers = [...ofFiles, variables, ofFlags];

  const isOfProject = (path: Path): boolean => sourceAt(layers, path) === "project";

  const { tree, foreign } = setForeignAside(mergeLayers(layers));
  const stored = await readValues(tree, { folder, env, store });
  const expanded = expandVariables(tree, stored.values, stored.unreadable);
  const envFiles = await readEnvFiles(expanded.tree, {
    folder,
    userFile,
    sourceAt: (path) => sourceAt(layers, path),
  });
  const checked: WrittenConfig = {
    tree: envFiles.tree,
    folder,
    users: mergeLayers(ofFiles.filter(({ source }) => source === "user")),
    isOfProject: (path) => envFiles.isOfProject(path) || isOfProject(path),
    isInProject: (path) =>
      ofFiles.some(({ tree, source }) => source === "project" && fieldAt(tree, path) !== undefined),
    isOfOverride: (path) => sourceAt(layers, path) === "override",
  };
  const nameProblems = findNameProblems(expanded.tree);
  const { config, problems } = await validateWithout(envFiles.tree, [
    ...(await explainUnset(
      expanded.problems.filter(({ path }) => !isDisabled(expanded.tree, path)),
      stored,
    )),
    ...envFiles.problems,
    ...findPersonalProblems(tree),
    ...nameProblems,
    ...findServerProblems(checked, stored.values),
    ...findProjectProblems(checked),
  ]);

  const ofServers = new Map<string, Problem[]>();
  for (const problem of problems) {
    // An invalid server name concerns the whole config: tools, trust and the lock depend on it.
    const name = nameProblems.includes(problem) ? undefined : serverOf(problem.path);
    if (name === undefined) throw new ConfigError(formatProblems(problems, layers));
    const own = ofServers.get(name);
    if (own) own.push(problem);
    else ofServers.set(name, [problem]);
  }
  if (!config || ofServers.size > unusableMax)
    throw new ConfigError(formatProblems(problems, layers));

  const complete = withWritten(
    withDefaults(config),
    mergeTrees(mergeLayers(ofFiles), namedVariables(variables)),
    {
      isOfProject: (path) => sourceAt(ofFiles, path) === "project",
      envFiles: envFiles.ofServers,
    },
  );
  const unusable = [...ofServers].map(([name, own]): [string, UnusableServer] => {
    // Under a prefix that is not its own, nothing of it is listed.
    const isNamed = !own.some(({ path }) => path[2] === "prefix");
    const entry =
      isNamed && Object.hasOwn(complete.mcpServers, name) ? complete.mcpServers[name] : undefined;
    const unset = own.flatMap((problem) => problem.unset ?? []);
    return [name, { type: "unusable", problems: formatServerProblems(own, layers), unset, entry }];
  });
  return {
    config: withoutKeys(withoutServers(complete, ofServers), isOfProject),
    unusable: Object.fromEntries(unusable),
    // Also where a later layer adds to it: maps are merged.
    toApprove: fieldsToApprove.filter((field) =>
      ofFiles.some(
        ({ tree, source }) => source === "project" && fieldAt(tree, field.split(".")) !== undefined,
      ),
    ),
    warnings: formatProblems([...foreign, ...findPresetProblems(complete)], layers),
    secrets: findSecrets(expanded.tree, variables.tree, [
      ...expanded.secrets,
      ...stored.secrets,
      ...envFiles.secrets,
    ]),
    envFiles: envFiles.files,
  };
}

/** A set of names has no way to name all tools of a server without a prefix. */
function findPresetProblems({ presets, mcpServers }: Config): readonly Problem[] {
  const isUnknown = (name: string): boolean =>
    !Object.hasOwn(mcpServers, name) && !builtInNames.has(name);
  return Object.entries(presets).flatMap(([preset, { servers }]) => {
    const path = ["presets", preset, "servers"];
    const unknown = servers.filter(isUnknown).map((name) => ({
      path,
      text: `names ${name}, which this config does not have; only a module or a registered service can add it`,
    }));
    const bare = servers
      .filter((name) => mcpServers[name]?.prefix === "")
      .map((name) => ({
        path,
        text: `names ${name}, which has no prefix; expected a server with one; list its tools under tools instead`,
      }));
    return [...bare, ...unknown];
  });
}

function withDefaults(config: Config): Config {
  const entries = Object.entries(config.mcpServers);
  const servers = entries.map(([name, server]) => [name, { ...config.defaults, ...server }]);
  return { ...config, mcpServers: Object.fromEntries(servers) };
}

/** The layer that set a field. */
function sourceAt(layers: readonly Layer[], path: Path): Layer["source"] | undefined {
  return layers.findLast(({ tree }) => fieldAt(tree, path) !== undefined)?.source;
}

/** A disabled server needs no values for its variables. */
function isDisabled(tree: JsonObject, path: Path): boolean {
  return serverOf(path) !== undefined && fieldAt(tree, [...path.slice(0, 2), "disabled"]) === true;
}

function formatProblems(problems: readonly Problem[], layers: readonly Layer[]): string[] {
  return firstOfFields(problems).map(
    ({ path, text }) =>
      `${locateField(layers, path)}: ${path.length > 0 ? `${fieldOf(path)}: ` : ""}${text}`,
  );
}

/** The location comes last: lists show only the beginning of a problem. */
function formatServerProblems(problems: readonly Problem[], layers: readonly Layer[]): string[] {
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
  return shownProblems([...first.values()]);
}

type Validated = { readonly config: Config } | { readonly problems: readonly Problem[] };

/** Validates the merged tree. Returns the config with defaults, or the problems. */
export async function validateTree(tree: JsonObject): Promise<Validated> {
  const issues: Issue[] = [];
  const config = check(outline, tree, [], issues) as Config;
  if (issues.length > 0)
    return { problems: (await import("./explain.ts")).explainIssues(issues, tree) };
  return { config: { ...config, mcpServers: withOurTransports(config.mcpServers) } };
}

function withOurTransports(servers: Config["mcpServers"]): Config["mcpServers"] {
  return Object.fromEntries(
    Object.entries(servers).map(([name, server]) => {
      const type = transportAliases[server.type];
      return [name, type === undefined ? server : ({ ...server, type } as ServerConfig)];
    }),
  );
}

/** Validates the tree, and without its invalid servers if nothing else is invalid. Adds to the problems found. */
export async function validateWithout(
  tree: JsonObject,
  found: readonly Problem[],
): Promise<{ readonly config: Config | undefined; readonly problems: readonly Problem[] }> {
  const result = await validateTree(tree);
  if ("config" in result) return { config: result.config, problems: found };
  const names = new Set(result.problems.map(({ path }) => serverOf(path)));
  const rest = names.has(undefined)
    ? undefined
    : await validateTree(withoutServers(tree, names as ReadonlySet<string>));
  return {
    config: rest && "config" in rest ? rest.config : undefined,
    problems: [...found, ...result.problems],
  };
}

/** The server that a field belongs to, if any. */
export function serverOf([section, name]: Path): string | undefined {
  return section === "mcpServers" && name !== undefined ? String(name) : undefined;
}

/** A copy without these servers. */
export function withoutServers<T extends JsonObject | Config>(
  tree: T,
  names: { has(name: string): boolean },
): T {
  const { mcpServers } = tree;
  if (!isObject(mcpServers)) return tree;
  return {
    ...tree,
    mcpServers: Object.fromEntries(Object.entries(mcpServers).filter(([name]) => !names.has(name))),
  };
}
