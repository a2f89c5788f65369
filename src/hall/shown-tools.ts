import { HallError } from "../base/errors.ts";
import { isObject, type JsonObject } from "../base/json.ts";
import { findNear } from "../base/text.ts";
import { Client } from "../client/client.ts";
import { McpConnection } from "../client/connection.ts";
import { collectServers } from "../config/configured-servers.ts";
import { parseFaces } from "../server/faces.ts";
import { globToExpression } from "../upstream/lists.ts";
import { lockedTools, readLock } from "../upstream/lock.ts";
import { defaultLimits } from "../wire/channel.ts";
import { type ConfigEditOptions, type EditedFile, editConfig, editServer } from "./config-edit.ts";
import { acceptInside, openAlone } from "./project.ts";
import { type Settings, unknownName } from "./settings.ts";

export interface SwitchedTools extends EditedFile {
  readonly server: string;
  /** Full names of the known tools that the pattern means. */
  readonly tools: readonly string[];
}

/** A pattern of tools of one server, as `tools.exclude` writes it. */
interface Meant {
  readonly server: string;
  readonly prefix: string;
  readonly glob: string;
  /** The server's known tools that it matches. */
  readonly tools: readonly string[];
  /** All known tools of the server. */
  readonly known: readonly string[];
}

/** Enables or disables tools in the config: `github.delete_*`, or the name of one tool. Throws NOT_FOUND. */
export async function switchTools(
  settings: Settings,
  pattern: string,
  isOn: boolean,
  options: ConfigEditOptions = {},
): Promise<SwitchedTools> {
  const meant = await readPattern(settings, pattern);
  const { server, prefix, glob, tools } = meant;
  const change = ({ tools: given, ...entry }: JsonObject): JsonObject => {
    const filter = isOn ? include(given, meant) : exclude(given, glob);
    return { ...entry, ...(Object.keys(filter).length > 0 ? { tools: filter } : {}) };
  };
  const edited = await editServer(settings.folder, server, change, options);
  const names = tools.map((tool) => (prefix === "" ? tool : `${prefix}.${tool}`));
  return { server, tools: names, ...edited };
}

function exclude(given: unknown, glob: string): JsonObject {
  const filter = isObject(given) ? given : {};
  const before = listIn(filter.exclude);
  return before.includes(glob) ? filter : { ...filter, exclude: [...before, glob] };
}

/** A wider pattern that keeps the tools out becomes the list of the other tools it means. */
function include(given: unknown, { glob, tools, known }: Meant): JsonObject {
  const { exclude: out, ...filter } = isObject(given) ? given : {};
  const isMeant = globToExpression(glob);
  const left = listIn(out)
    .filter((each) => !isMeant.test(each))
    .flatMap((each) => {
      const isOut = globToExpression(each);
      if (!tools.some((tool) => isOut.test(tool))) return [each];
      return known.filter((tool) => isOut.test(tool) && !isMeant.test(tool));
    });
  const included = listIn(filter.include);
  const isIncluded =
    included.length === 0 ||
    included.some((each) => each === glob || globToExpression(each).test(glob));
  return {
    ...filter,
    ...(isIncluded ? {} : { include: [...included, glob] }),
    ...(left.length > 0 ? { exclude: left } : {}),
  };
}

function listIn(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

async function readPattern({ folder, loaded }: Settings, pattern: string): Promise<Meant> {
  const lock = await readLock(folder, () => {});
  const known = (server: string): readonly string[] => lockedTools(lock, server) ?? [];
  const servers = Object.entries(collectServers(loaded)).map(([server, entry]) => ({
    server,
    prefix: (entry.type === "unusable" ? entry.entry : entry)?.prefix ?? server,
  }));
  const [, named, glob] = /^(.+?)(?:\.|__)(.+)$/s.exec(pattern) ?? [];
  if (named === undefined || glob === undefined) {
    if (servers.some(({ server }) => server === pattern))
      throw new HallError("INVALID_PARAMS", `"${pattern}" is a server`, {
        hint: `Write "${pattern}.*" for all its tools, or disable the server.`,
        next: [{ do: "run-command", command: `disable ${pattern}` }],
      });
    const having = servers.filter(({ server }) => known(server).includes(pattern));
    const [only] = having;
    if (only && having.length === 1)
      return { ...only, glob: pattern, tools: [pattern], known: known(only.server) };
    const all = servers.flatMap(({ server, prefix }) =>
      known(server).map((tool) => `${prefix}.${tool}`),
    );
    const near = having.length > 1 ? having.map(({ prefix }) => `${prefix}.${pattern}`) : [];
    throw unknownName("tool", pattern, near.length > 0 ? near : all.slice(0, 200));
  }
  const found = servers.find(({ prefix, server }) => prefix === named || server === named);
  if (!found)
    throw unknownName(
      "server",
      named,
      servers.map(({ server }) => server),
    );
  const expression = globToExpression(glob);
  const tools = known(found.server).filter((tool) => expression.test(tool));
  if (tools.length === 0 && !glob.includes("*")) {
    const near = findNear(glob, known(found.server));
    throw unknownName(
      "tool",
      pattern,
      near.map((tool) => `${found.prefix}.${tool}`),
    );
  }
  return { ...found, glob, tools, known: known(found.server) };
}

/** The list that clients see of a hall with this config. */
export interface Exposure {
  /** The config's faces, or "default". */
  readonly expose: string;
  /** The names in `tools/list`. */
  readonly tools: readonly string[];
  /** Size of the list as JSON. */
  readonly bytes: number;
  /** Estimated: four bytes each. */
  readonly tokens: number;
}

/** Writes the faces to the config; "default" removes them. Throws INVALID_PARAMS. */
export async function setExposure(folder: string, expose: string): Promise<EditedFile> {
  const faces = expose === "default" ? undefined : parseFaces(expose).join(",");
  return editConfig(folder, ({ expose: _before, ...tree }) =>
    faces === undefined ? tree : { ...tree, expose: faces },
  );
}

/** The list that clients see, and the list of the same tools without a face. */
export interface ExposureChange {
  readonly before: Exposure;
  readonly after: Exposure;
}

/** Lists the tools as a client gets them. No server is started: those that the lock does not have are missing. */
export async function measureExposure(settings: Settings): Promise<ExposureChange> {
  const { folder, config } = settings;
  const project = await openAlone({ folder, settings, mayDiscover: () => false });
  const channel = acceptInside(project);
  const client = new Client(new McpConnection(channel, { limits: defaultLimits }).assumeModern());
  const measure = async (): Promise<Exposure> => {
    const tools = await client.list("tools/list", "tools");
    const bytes = Buffer.byteLength(JSON.stringify(tools));
    return {
      expose: config.expose ?? "default",
      tools: tools.map(({ name }) => String(name)),
      bytes,
      tokens: Math.ceil(bytes / 4),
    };
  };
  try {
    const after = await measure();
    project.hall.server.setFaces(["tools"]);
    return { before: await measure(), after };
  } finally {
    await client.close();
    await project.close();
  }
}
