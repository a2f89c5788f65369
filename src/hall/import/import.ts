import { resolve } from "node:path";
import { isObject, type JsonObject, sortKeys } from "../../base/json.ts";
import { validateTree } from "../../config/assemble.ts";
import { serverNamePattern } from "../../config/configured-servers.ts";
import { ConfigError, fieldOf, type Problem } from "../../config/error.ts";
import { isInside } from "../../config/project-limits.ts";
import { findServerProblems } from "../../config/servers.ts";
import { expandVariables, variablesIn } from "../../config/variables.ts";
import {
  type ClientFile,
  clients,
  type ImportedClient,
  keysOf,
  listServers,
  type ServerEntry,
  variablesOf,
} from "./clients.ts";
import {
  type ConfigDocument,
  expandStar,
  type ImportPlaces,
  parseDocument,
  readDocument,
  resolvePath,
  shorten,
} from "./document.ts";
import { isHall, rewriteVariables, translateEntry } from "./entry.ts";
import { createKeeper, type FoundSecret, hideSecrets, type Keep } from "./inline-secrets.ts";

interface ImportOptions {
  readonly machine: ImportPlaces;
  /** Default: all clients. */
  readonly from?: readonly ImportedClient[] | undefined;
  /** Only this file. */
  readonly file?: string | undefined;
  /** The servers in our config. */
  readonly existing?: JsonObject | undefined;
  /** The file of this process: an entry that runs it is a hall. */
  readonly ownScript?: string | undefined;
  /** Secrets that the hall has: a name with another value is not used again. */
  readonly stored?: Readonly<Record<string, string>> | undefined;
}

/** The servers of other clients. */
export interface Findings {
  readonly servers: readonly ImportedServer[];
  readonly known: Merged["known"];
  /** Skipped entries and ignored keys; each begins with its location. */
  readonly warnings: readonly string[];
  /** Files with servers or a hall. */
  readonly files: readonly FoundFile[];
  /** Secrets in entries. Their values are for masking and for passing on, never for writing or printing. */
  readonly secrets: readonly FoundSecret[];
}

interface FoundFile {
  readonly client: string;
  readonly hasHall: boolean;
}

/** Reads the files of all clients. A file that cannot be read becomes a warning. */
export async function findServers({
  machine,
  from = clients,
  file: only,
  existing = {},
  ownScript,
  stored = {},
}: ImportOptions): Promise<Findings> {
  const keeper = createKeeper({ ...machine.env, ...stored });
  const sightings: Sighting[] = [];
  const warnings: string[] = [];
  const files: FoundFile[] = [];

  for (const client of from) {
    for (const place of client.files) {
      for (const file of await filesAt(place, machine)) {
        if (only !== undefined && file !== only) continue;
        const project = place.scope === "project" ? machine.folder : undefined;
        const document = await readDocument(file, project).catch((error: unknown) => {
          if (!(error instanceof ConfigError)) throw error;
          warnings.push(`${shorten(error.message, machine)}; skipped the file of ${client.name}`);
        });
        if (document) await readFile(client, place, document);
      }
    }
  }
  return { ...mergeSightings(sightings, existing), warnings, files, secrets: keeper.found() };

  async function readFile(
    client: ImportedClient,
    place: ClientFile,
    document: ConfigDocument,
  ): Promise<void> {
    let hasServers = false;
    let hasHall = false;
    const { id, name: clientName } = client;
    for (const { entries, elsewhere } of listServers(client, document.tree, place, machine)) {
      for (const entry of entries) {
        const { name } = entry;
        const at = shorten(document.locate(entry.path), machine);
        const warn = (text: string): void => void warnings.push(`${at}: ${name}: ${text}`);
        const keep = keeper.keepAt(name, at);
        const found = await readEntry(client, entry, { machine, keep, ownScript });
        if (found === "hall") hasHall = true;
        else if (typeof found === "string") warn(`skipped: ${found}`);
        else {
          hasServers = true;
          found.notes.forEach(warn);
          const { server } = found;
          sightings.push({
            name,
            server,
            client: { id, name: clientName },
            place: at,
            scope: place.scope,
            elsewhere,
          });
        }
      }
    }
    if (hasServers || hasHall) files.push({ client: id, hasHall });
  }
}

interface ReadingOptions {
  readonly machine: ImportPlaces;
  readonly keep: Keep;
  readonly ownScript: string | undefined;
}

/** An entry as our config writes it: "hall" if it starts one, else a text that says why it cannot be used. */
export async function readEntry(
  client: Pick<ImportedClient, "name" | "keys" | "variables">,
  { name, value }: Pick<ServerEntry, "name" | "value">,
  { machine, keep, ownScript }: ReadingOptions,
): Promise<{ readonly server: JsonObject; readonly notes: readonly string[] } | string> {
  if (!isObject(value)) return "not an object";
  const rewritten = rewriteVariables(value, variablesOf(client), machine);
  const { server, unknownKeys } = translateEntry(rewritten.value as JsonObject, keysOf(client));
  if (isHall(name, server, ownScript)) return "hall";
  if (rewritten.unresolved.length > 0)
    return `only ${client.name} can resolve ${[...new Set(rewritten.unresolved)].join(", ")}`;
  if ([server.command, server.url, server.openapi].every((field) => field === undefined))
    return `no command or url (an extension of ${client.name}?)`;
  const { server: usable, notes } = withoutForeignFile(server, machine);
  const checked = await checkServer(usable, machine);
  if (typeof checked === "string") return checked;
  return {
    server: hideSecrets(name, checked.server, keep),
    notes: [...checked.notes, ...notes, ...describeIgnored(unknownKeys, client)],
  };
}

/** A project's config may name only a dotenv file of the project. */
function withoutForeignFile(
  server: JsonObject,
  { folder }: ImportPlaces,
): { readonly server: JsonObject; readonly notes: readonly string[] } {
  const { envFile, ...rest } = server;
  if (typeof envFile !== "string" || isInside(resolve(folder, envFile), folder))
    return { server, notes: [] };
  return { server: rest, notes: [`ignored envFile: "${envFile}" is outside the project`] };
}

function describeIgnored(keys: readonly string[], client: Pick<ImportedClient, "name">): string[] {
  return keys.length > 0 ? [`ignored ${keys.join(", ")}: specific to ${client.name}`] : [];
}

/** Applies our own rules, because one invalid entry would be an error in our config. */
async function checkServer(
  server: JsonObject,
  machine: ImportPlaces,
): Promise<{ server: JsonObject; notes: string[] } | string> {
  const problem = await findProblem(server, machine);
  if (!problem) return { server, notes: [] };
  if (
    ["url", "baseUrl"].includes(String(problem.path.at(-1))) &&
    server.allowPrivate === undefined
  ) {
    const allowed = { ...server, allowPrivate: true };
    if (!(await findProblem(allowed, machine)))
      return { server: allowed, notes: ["allowPrivate was set: the url is in a private network"] };
  }
  const field = fieldOf(problem.path.slice(2));
  return `${field ? `${field}: ` : ""}${problem.text}`;
}

async function findProblem(
  server: JsonObject,
  { env, folder }: ImportPlaces,
): Promise<Problem | undefined> {
  const tree = { mcpServers: { server } };
  // Variables that are not set yet get a placeholder.
  const placeholders = variablesIn(JSON.stringify(server)).map((name) => [name, "variable"]);
  const given = { ...Object.fromEntries(placeholders), ...env };
  const expanded = expandVariables(tree, given);
  const result = await validateTree(expanded.tree);
  const [problem] = [
    ...expanded.problems,
    ...findServerProblems(
      { tree: expanded.tree, folder, users: {}, isOfProject: () => true },
      given,
    ),
    ...("problems" in result ? result.problems : []),
  ];
  return problem;
}

async function filesAt({ path }: ClientFile, machine: ImportPlaces): Promise<string[]> {
  const file = resolvePath(path, machine);
  return file === undefined ? [] : expandStar(file);
}

/** The variables of an entry that are not set. */
export function findUnset(server: JsonObject, env: NodeJS.ProcessEnv): string[] {
  const names = Array.from(
    JSON.stringify(server).matchAll(/(?<!\$)\$\{(?:env:)?([A-Za-z_]\w*)\}/g),
    ([, name = ""]) => name,
  );
  return [...new Set(names)].filter((name) => env[name] === undefined);
}

/** The secrets in the text of a file of this client, for masking. */
export async function findSecretsIn(
  client: ImportedClient,
  file: string,
  text: string,
  machine: ImportPlaces,
): Promise<readonly FoundSecret[]> {
  const keeper = createKeeper({});
  const document = await parseDocument(file, text);
  const lists = client.files.flatMap((place) => listServers(client, document.tree, place, machine));
  for (const { name, value } of lists.flatMap(({ entries }) => entries)) {
    if (!isObject(value)) continue;
    const { server } = translateEntry(value, keysOf(client));
    hideSecrets(name, server, keeper.keepAt(name, file));
  }
  return keeper.found();
}

/** A server in the file of one client. */
interface Sighting {
  readonly name: string;
  readonly server: JsonObject;
  readonly client: { readonly id: string; readonly name: string };
  /** "file:line:column" of its entry. */
  readonly place: string;
  /** `project` or `user`: whose file of the client it is. */
  readonly scope: "project" | "user";
  /** The folder it is for, if it is not this project's. */
  readonly elsewhere?: string | undefined;
}

/** A server that can be imported, and where it was found. */
export interface ImportedServer {
  readonly name: string;
  readonly server: JsonObject;
  readonly sightings: readonly [Sighting, ...Sighting[]];
  readonly notes: readonly string[];
  readonly elsewhere?: string | undefined;
}

interface Merged {
  readonly servers: readonly ImportedServer[];
  /** Servers that our config already has, with their names there. */
  readonly known: readonly { readonly name: string; readonly sighting: Sighting }[];
}

/**
 * Merges the same server from several clients into one, and renames different servers with the same
 * name. A server with the same program and arguments, or the same URL, as one in our config is
 * already known, whatever else differs.
 */
function mergeSightings(sightings: readonly Sighting[], existing: JsonObject): Merged {
  const groups = new Map<string, [Sighting, ...Sighting[]]>();
  for (const sighting of sightings) {
    const key = identityOf(sighting.server);
    const group = groups.get(key);
    if (group) group.push(sighting);
    else groups.set(key, [sighting]);
  }
  const targets = new Map(
    Object.entries(existing).flatMap(([name, server]) =>
      isObject(server) ? [[targetOf(server), name] as const] : [],
    ),
  );
  const taken = new Map(
    Object.keys(existing).map((name) => [name.toLowerCase(), `${name} in your config`]),
  );
  const servers: ImportedServer[] = [];
  const known: Merged["known"][number][] = [];
  for (const group of groups.values()) {
    const [first] = group;
    const name = targets.get(targetOf(first.server));
    if (name === undefined) servers.push(nameServer(group, taken));
    else known.push({ name, sighting: first });
  }
  return { servers, known };
}

function nameServer(
  group: readonly [Sighting, ...Sighting[]],
  taken: Map<string, string>,
): ImportedServer {
  const [first, ...others] = group;
  const notes: string[] = [];
  const wanted = validName(first.name);
  if (wanted !== first.name) notes.push(`was called ${JSON.stringify(first.name)}`);
  const name = freeName(wanted, first.client.id, taken);
  if (name !== wanted) notes.push(`differs from ${taken.get(wanted.toLowerCase())}`);
  taken.set(name.toLowerCase(), `${name} in ${first.client.name}`);
  const also = [...new Set(others.map(({ client }) => client.name))].filter(
    (client) => client !== first.client.name,
  );
  if (also.length > 0) notes.push(`also in ${also.join(", ")}`);
  const elsewhere = group.every((sighting) => sighting.elsewhere !== undefined)
    ? first.elsewhere
    : undefined;
  return {
    name,
    server: first.server,
    sightings: group,
    notes,
    elsewhere,
  };
}

/** A name that our config accepts: "GitHub (work)" becomes GitHub-work, "@acme/files" acme-files. */
export function validName(name: string): string {
  if (serverNamePattern.test(name) && name !== "__proto__") return name;
  const valid = name
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .replace(/[^A-Za-z0-9_-]+/g, "-")
    .replace(/^[-_]+|[-_]+$/g, "")
    .slice(0, 40)
    .replace(/-+$/, "");
  return valid || "server";
}

function freeName(wanted: string, client: string, taken: ReadonlyMap<string, string>): string {
  const isFree = (name: string): boolean => !taken.has(name.toLowerCase());
  if (isFree(wanted)) return wanted;
  const withEnd = (end: string): string => `${wanted.slice(0, 40 - end.length)}${end}`;
  for (let count = 1; ; count++) {
    const name = withEnd(count === 1 ? `-${client}` : `-${client}-${count}`);
    if (isFree(name)) return name;
  }
}

const reaching = "type command args env envFile cwd url headers oauth".split(" ");

/** Two entries are the same server if everything that reaches it is equal. An empty list counts as none. */
function identityOf(server: JsonObject): string {
  const isGiven = (value: unknown): boolean =>
    value !== undefined && Object.keys(Object(value)).length > 0;
  const facts = reaching.map((key) => [key, isGiven(server[key]) ? server[key] : undefined]);
  return JSON.stringify(sortKeys(Object.fromEntries(facts)));
}

/** The program or URL of a server, without the names of variables. */
function targetOf({ command, args, url }: JsonObject): string {
  return JSON.stringify([command ?? null, args ?? [], url ?? null]).replace(
    /\$\{[^{}]*\}/g,
    "$VARIABLE",
  );
}
