import { isObject, type JsonObject, sortKeys } from "../../base/json.ts";
import { serverNamePattern } from "../../config/configured-servers.ts";

/** A server in the file of one client. */
export interface Sighting {
  readonly name: string;
  readonly server: JsonObject;
  readonly client: { readonly id: string; readonly name: string };
  /** "file:line:column" of its entry. */
  readonly place: string;
  /** Whose file that is. */
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

export interface Merged {
  readonly servers: readonly ImportedServer[];
  /** Servers that our config already has, with their names there. */
  readonly known: readonly { readonly name: string; readonly sighting: Sighting }[];
}

/**
 * Merges the same server from several clients into one, and renames different servers with the same name. A server with the
 * same program and arguments, or the same URL, as one in our config is already known, whatever else differs.
 */
export function mergeSightings(sightings: readonly Sighting[], existing: JsonObject): Merged {
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
