import { isObject, type JsonObject } from "../../base/json.ts";
import { ConfigError, fieldOf, type Problem } from "../../config/error.ts";
import { findServerProblems } from "../../config/servers.ts";
import { validateTree } from "../../config/validate.ts";
import { expandVariables } from "../../config/variables.ts";
import { type Client, mapAt, type Place, type ServerEntry } from "./client.ts";
import { clients } from "./clients.ts";
import { type Document, expandStar, parseDocument, readDocument } from "./document.ts";
import { draftServer } from "./entry.ts";
import { isHall } from "./hall.ts";
import { createKeeper, type FoundSecret, hideSecrets, type Keep } from "./inline-secrets.ts";
import { locatePlace, type Machine, shorten } from "./machine.ts";
import { type ImportedServer, type Merged, mergeSightings, type Sighting } from "./merge.ts";
import { rewriteReferences } from "./references.ts";

export interface ImportOptions {
  readonly machine: Machine;
  /** Which clients' files are read. Default: all. */
  readonly from?: readonly Client[];
  /** Only this file of theirs. */
  readonly file?: string;
  /** What our config has already. */
  readonly existing?: JsonObject;
  /** The file this process runs: an entry that runs it is a hall. */
  readonly ownScript?: string;
}

/** What other clients have. Nothing of it is written anywhere yet. */
export interface Findings {
  readonly servers: readonly ImportedServer[];
  readonly known: Merged["known"];
  /** What was left out and why, each beginning with its place. */
  readonly warnings: readonly string[];
  /** The files that were there. */
  readonly files: readonly FoundFile[];
  /** Secrets that stood in entries; their values are for masking and for handing on, never for writing or printing. */
  readonly secrets: readonly FoundSecret[];
}

export interface FoundFile {
  readonly client: string;
  readonly scope: Place["scope"];
  readonly file: string;
  readonly serverCount: number;
  /** The hall stands in it already. */
  readonly hasHall: boolean;
}

/** Reads every client's files. A file that cannot be read is a warning; the rest is read all the same. */
export async function findServers({
  machine,
  from = clients,
  file: only,
  existing = {},
  ownScript,
}: ImportOptions): Promise<Findings> {
  const keeper = createKeeper(machine.env);
  const sightings: Sighting[] = [];
  const warnings: string[] = [];
  const files: FoundFile[] = [];

  for (const client of from) {
    for (const place of client.places) {
      for (const file of await filesOf(place, machine)) {
        if (only !== undefined && file !== only) continue;
        const document = await readDocument(file).catch((error: unknown) => {
          if (!(error instanceof ConfigError)) throw error;
          warnings.push(
            `${shorten(error.message, machine)}; the file of ${client.name} was left out`,
          );
        });
        if (document) await readFile(client, place, document);
      }
    }
  }
  return { ...mergeSightings(sightings, existing), warnings, files, secrets: keeper.found() };

  async function readFile(client: Client, place: Place, document: Document): Promise<void> {
    let serverCount = 0;
    let hasHall = false;
    for (const { entries, elsewhere } of client.listsIn?.(document.tree, place, machine) ?? [
      mapAt(document.tree, place.at),
    ]) {
      for (const entry of entries) {
        const location = document.locate(entry.path);
        const found = await readEntry(
          client,
          entry,
          keeper.keepAt(entry.name, shortPlace(location)),
        );
        if (found === "hall") hasHall = true;
        else if (typeof found === "string")
          warnings.push(`${shortPlace(location)}: ${entry.name}: ${found}`);
        else {
          serverCount++;
          for (const note of found.notes)
            warnings.push(`${shortPlace(location)}: ${entry.name}: ${note}`);
          const { id, name } = client;
          sightings.push({
            name: entry.name,
            server: found.server,
            client: { id, name },
            place: shortPlace(location),
            ...(elsewhere === undefined ? {} : { elsewhere }),
          });
        }
      }
    }
    if (serverCount > 0 || hasHall)
      files.push({
        client: client.id,
        scope: place.scope,
        file: document.file,
        serverCount,
        hasHall,
      });
  }

  function shortPlace(location: string): string {
    return shorten(location, machine);
  }

  async function readEntry(
    client: Client,
    { name, value }: ServerEntry,
    keep: Keep,
  ): Promise<{ server: JsonObject; notes: string[] } | string> {
    if (!isObject(value)) return "is not an object; left out";
    const rewritten = rewriteReferences(value, client.references, machine);
    const { server, leftOut } = draftServer(rewritten.value as JsonObject, client.meanings);
    if (isHall(name, server, ownScript)) return "hall";
    if (rewritten.unknown.length > 0)
      return `uses ${[...new Set(rewritten.unknown)].join(", ")}, which only ${client.name} knows; left out, add it by hand`;
    if (server.command === undefined && server.url === undefined)
      return `has neither a command nor a url here (an extension of ${client.name}?); left out`;
    const checked = await checkServer(server, machine);
    if (typeof checked === "string") return `${checked}; left out, add it by hand`;
    return {
      server: hideSecrets(name, checked.server, keep),
      notes: [...checked.notes, ...notesOn(leftOut, client)],
    };
  }
}

function notesOn(leftOut: readonly string[], client: Client): string[] {
  const others = leftOut.filter((key) => key !== "envFile");
  return [
    ...(leftOut.includes("envFile")
      ? [
          "has an envFile, which is not read here; set its variables before the hall starts, and name them in env",
        ]
      : []),
    ...(others.length > 0 ? [`without ${others.join(", ")}, which only ${client.name} knows`] : []),
  ];
}

/** Holds an entry against our own rules: one that they refuse would make the whole config unusable. */
async function checkServer(
  server: JsonObject,
  machine: Machine,
): Promise<{ server: JsonObject; notes: string[] } | string> {
  const problem = await findProblem(server, machine);
  if (!problem) return { server, notes: [] };
  if (
    problem.path.at(-1) === "url" &&
    problem.text.startsWith("points into a private network") &&
    server.allowPrivate === undefined
  ) {
    const checked = await checkServer({ ...server, allowPrivate: true }, machine);
    return typeof checked === "string"
      ? checked
      : { ...checked, notes: ["points into a private network: allowPrivate is set"] };
  }
  const field = fieldOf(problem.path.slice(2));
  return `${field ? `${field}: ` : ""}${problem.text}`;
}

async function findProblem(
  server: JsonObject,
  { env, folder }: Machine,
): Promise<Problem | undefined> {
  const tree = { mcpServers: { server } };
  // A variable that is not set yet will be: any word will do for now.
  const names = Array.from(
    JSON.stringify(server).matchAll(/\$\{(?:env:)?([A-Za-z_]\w*)/g),
    ([, name = ""]) => name,
  );
  const expanded = expandVariables(tree, {
    ...Object.fromEntries(names.map((name) => [name, "variable"])),
    ...env,
  });
  const result = await validateTree(expanded.tree);
  const [problem] = [
    ...expanded.problems,
    ...findServerProblems(expanded.tree, folder),
    ...("problems" in result ? result.problems : []),
  ];
  return problem;
}

async function filesOf({ path }: Place, machine: Machine): Promise<string[]> {
  const file = locatePlace(path, machine);
  return file === undefined ? [] : expandStar(file);
}

/** The variables an entry names and that have no value yet: a person must set them. */
export function findUnset(server: JsonObject, env: NodeJS.ProcessEnv): string[] {
  const names = Array.from(
    JSON.stringify(server).matchAll(/(?<!\$)\$\{(?:env:)?([A-Za-z_]\w*)\}/g),
    ([, name = ""]) => name,
  );
  return [...new Set(names)].filter((name) => env[name] === undefined);
}

/** The secrets in a text that is, or was, a file of this client: for masking. */
export async function findSecretsIn(
  client: Client,
  file: string,
  text: string,
  machine: Machine,
): Promise<readonly FoundSecret[]> {
  const keeper = createKeeper({});
  const document = await parseDocument(file, text);
  for (const place of client.places) {
    for (const { entries } of client.listsIn?.(document.tree, place, machine) ?? [
      mapAt(document.tree, place.at),
    ]) {
      for (const { name, value } of entries)
        if (isObject(value))
          hideSecrets(name, draftServer(value, client.meanings).server, keeper.keepAt(name, file));
    }
  }
  return keeper.found();
}
