import { realpath } from "node:fs/promises";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { HallError } from "../base/errors.ts";
import { dataFolder, withFileLock } from "../base/files.ts";
import { isObject, type JsonObject } from "../base/json.ts";
import { Scope } from "../base/scope.ts";
import { plural } from "../base/text.ts";
import { projectFilesOf, readConfigFiles, userFileOf } from "../config/files.ts";
import { findNameProblems } from "../config/servers.ts";
import type { Api, Scheme } from "../upstream/openapi/operation.ts";
import { describeTarget } from "../upstream/source.ts";
import type { ServerEntry } from "./import/clients.ts";
import { type ConfigDocument, parseDocument, shorten, thisMachine } from "./import/document.ts";
import { variable, variableName } from "./import/entry.ts";
import { findUnset, readEntry, validName } from "./import/import.ts";
import { createKeeper } from "./import/inline-secrets.ts";
import { anyClient } from "./import/pasted.ts";
import { addToProjectFile, type Edit, editDocument, readProjectFile } from "./install/edit.ts";
import { writeThrough } from "./install/records.ts";
import { openProjectSecrets } from "./secrets.ts";
import { unknownName } from "./settings.ts";

/** Edits of the config by commands. Comments and everything else in the file stay as they are. */

/** A file of the config. */
interface EditableFile {
  readonly document: ConfigDocument;
  readonly tree: JsonObject;
  /** The folder of a project's file. */
  readonly project: string | undefined;
}

export interface FileEdit {
  /** As shown to people. */
  readonly file: string;
  /** Its text. */
  readonly before: string;
  readonly after: string;
}

export interface EditedFile extends FileEdit {
  readonly isChanged: boolean;
}

export interface ConfigEditOptions {
  /** Write nothing; the result shows what would be written. */
  readonly dryRun?: boolean | undefined;
  /** The text that the file must have: a person has seen the change against it. Throws CONFLICT. */
  readonly seen?: string | undefined;
}

const lockMsMax = 20_000;

/** Commands that edit a config at the same time do so one after the other. */
function withConfigLock<T>(work: () => Promise<T>): Promise<T> {
  return withFileLock(join(dataFolder(), "config.lock"), lockMsMax, work);
}

/** Changes a server's entry where it is written; undefined removes it. Throws NOT_FOUND with near names. */
export function editServer(
  folder: string,
  name: string,
  change: (entry: JsonObject) => JsonObject | undefined,
  options: ConfigEditOptions = {},
): Promise<EditedFile> {
  return withConfigLock(async () => {
    const files = await readFiles(folder);
    const found = files.findLast(({ tree }) => Object.hasOwn(serversIn(tree), name));
    if (!found) {
      const names = files.flatMap(({ tree }) => Object.keys(serversIn(tree)));
      throw unknownName("server", name, names, "See your servers with `guildhall list`.");
    }
    const { [name]: entry, ...others } = serversIn(found.tree);
    const changed = change(isObject(entry) ? entry : {});
    const servers = changed === undefined ? others : { ...serversIn(found.tree), [name]: changed };
    return save(found, { ...found.tree, mcpServers: servers }, folder, options);
  });
}

/** Changes the project's config, else the user's. Throws NOT_FOUND. */
export function editConfig(
  folder: string,
  change: (tree: JsonObject) => JsonObject,
  options: ConfigEditOptions = {},
): Promise<EditedFile> {
  return withConfigLock(async () => {
    const file = (await readFiles(folder)).at(-1);
    if (!file)
      throw new HallError("NOT_FOUND", `no config found for the folder "${folder}"`, {
        next: [{ do: "run-command", command: "init" }],
      });
    return save(file, change(file.tree), folder, options);
  });
}

/** The user's file and the project's, as far as they exist. */
async function readFiles(folder: string): Promise<readonly EditableFile[]> {
  const userFile = userFileOf(process.env);
  const files = await readConfigFiles(userFile, projectFilesOf(folder));
  return Promise.all(
    files.map(async ({ file, text }) => {
      const document = await parseDocument(file, text);
      const tree = isObject(document.tree) ? document.tree : {};
      return { document, tree, project: file === userFile ? undefined : folder };
    }),
  );
}

function serversIn({ mcpServers }: JsonObject): JsonObject {
  return isObject(mcpServers) ? mcpServers : {};
}

async function save(
  { document, tree, project }: EditableFile,
  after: JsonObject,
  folder: string,
  { dryRun = false, seen }: ConfigEditOptions,
): Promise<EditedFile> {
  requireSeen(document.text, seen);
  let edited = document;
  // A table of TOML is written whole.
  const depth = document.format === "toml" ? 2 : Number.POSITIVE_INFINITY;
  for (const edit of findEdits(tree, after, { at: [], depth }))
    edited = await parseDocument(document.file, await editDocument(edited, edit));
  const isChanged = edited.text !== document.text;
  if (isChanged && !dryRun) await writeThrough(document.file, edited.text, project);
  const file = shorten(document.file, thisMachine(folder));
  return { file, isChanged, before: document.text, after: edited.text };
}

/** Throws CONFLICT if a person saw another text than the file has now. */
function requireSeen(text: string, seen: string | undefined): void {
  if (seen === undefined || seen === text) return;
  throw new HallError("CONFLICT", "the file was edited since the change was shown", {
    hint: "Look at the change again.",
  });
}

/** The smallest edits that lead from one tree to the other. */
function findEdits(
  before: JsonObject,
  after: JsonObject,
  { at, depth }: { readonly at: readonly string[]; readonly depth: number },
): readonly Edit[] {
  const remove = Object.keys(before).filter((key) => !Object.hasOwn(after, key));
  const changed = Object.entries(after).flatMap(([key, value]): readonly Edit[] => {
    const old = before[key];
    if (isDeepStrictEqual(old, value)) return [];
    return isObject(old) && isObject(value) && at.length + 1 < depth
      ? findEdits(old, value, { at: [...at, key], depth })
      : [{ at, put: { [key]: value } }];
  });
  return remove.length > 0 ? [{ at, remove }, ...changed] : changed;
}

type NewEntry = Pick<ServerEntry, "name" | "value">;

export interface AddReport extends FileEdit {
  readonly added: readonly {
    readonly name: string;
    readonly target: string;
    readonly notes: readonly string[];
  }[];
  /** Names of the secrets that were taken out of the entries and stored. */
  readonly secrets: readonly string[];
  /** Variables that the entries name and that are set nowhere. */
  readonly variables: readonly string[];
}

/**
 * Adds servers to the project's config, as other clients write them. Secrets are stored apart. Throws CONFLICT for a
 * name that is taken, and VALIDATION for an entry that cannot be used; then nothing is written.
 */
export function addServers(
  folder: string,
  entries: readonly NewEntry[],
  options: ConfigEditOptions = {},
): Promise<AddReport> {
  return withConfigLock(() => addAlone(folder, entries, options));
}

async function addAlone(
  folder: string,
  entries: readonly NewEntry[],
  { dryRun = false, seen }: ConfigEditOptions,
): Promise<AddReport> {
  const machine = thisMachine(await realpath(folder));
  const project = await readProjectFile(machine);
  const before = project.text ?? "";
  requireSeen(before, seen);
  const secrets = await openProjectSecrets(machine.folder);
  const stored = secrets.list().filter(({ scope }) => scope !== "other project");
  // The values of stored secrets are not known here, so their names are not used for others.
  const taken = Object.fromEntries(stored.map(({ name }) => [name, ""]));
  const keeper = createKeeper({ ...machine.env, ...taken });
  const ownScript = process.argv[1];
  const servers = [];
  for (const { name: given, value } of entries) {
    const name = validName(given);
    checkName(name, project.servers);
    const keep = keeper.keepAt(name, shorten(project.file, machine));
    const found = await readEntry(anyClient, { name, value }, { machine, keep, ownScript });
    if (found === "hall")
      throw new HallError("VALIDATION", `"${name}" is a hall, which cannot run behind a hall`, {
        hint: "Add the servers behind it instead.",
      });
    if (typeof found === "string")
      throw new HallError("VALIDATION", `"${name}" cannot be added: ${found}`, {
        hint: "Correct the entry and add it again.",
      });
    const { server, notes } = await completeApi(name, found.server);
    servers.push({ name, server, notes: [...found.notes, ...notes] });
  }
  const after = await addToProjectFile(project, servers);
  if (!dryRun) {
    // Before the entry: a running hall reads it at once.
    for (const { variable, value } of keeper.found()) await secrets.set(variable, value);
    await writeThrough(project.file, after, machine.folder);
  }
  const found = keeper.found().map(({ variable }) => variable);
  const isSet = (name: string): boolean => found.includes(name) || Object.hasOwn(taken, name);
  const unset = servers.flatMap(({ server }) => findUnset(server, machine.env));
  return {
    file: shorten(project.file, machine),
    added: servers.map(({ name, server, notes }) => ({
      name,
      target: describeTarget(server),
      notes,
    })),
    secrets: found,
    variables: [...new Set(unset)].filter((name) => !isSet(name)),
    before,
    after,
  };
}

function checkName(name: string, existing: object): void {
  const taken = Object.keys(existing).find((each) => each.toLowerCase() === name.toLowerCase());
  if (taken !== undefined)
    throw new HallError("CONFLICT", `a server "${taken}" is already configured`, {
      hint: "Choose another name, or remove it first.",
      next: [{ do: "run-command", command: `remove ${taken}` }],
    });
  const [problem] = findNameProblems({ mcpServers: { [name]: {} } });
  if (problem)
    throw new HallError("VALIDATION", `"${name}" ${problem.text}`, {
      hint: "Choose another name.",
    });
}

/**
 * Adds to the entry of an API what its document says about where requests and credentials go. A person approves
 * the entry, so a later version of the document cannot send them elsewhere. Throws VALIDATION for a document that
 * cannot be used.
 */
async function completeApi(
  name: string,
  server: JsonObject,
): Promise<{ readonly server: JsonObject; readonly notes: readonly string[] }> {
  const { openapi, baseUrl, allowPrivate } = server;
  const isWritten = [openapi, baseUrl].every((text) => !String(text).includes("${"));
  if (typeof openapi !== "string" || !isWritten) return { server, notes: [] };
  const { readDocument } = await import("../upstream/openapi/reader.ts");
  const scope = new Scope();
  const api = await readDocument(
    {
      openapi,
      baseUrl: typeof baseUrl === "string" ? baseUrl : undefined,
      allowPrivate: allowPrivate === true,
      include: textsOf(server.include),
      exclude: textsOf(server.exclude),
    },
    scope,
  ).finally(() => scope.close());
  const { auth, oauth } = completeAuth(name, server, api);
  const { auth: _given, ...rest } = server;
  return {
    server: {
      ...rest,
      baseUrl: api.baseUrl,
      ...(auth ? { auth } : {}),
      ...(oauth ? { oauth } : {}),
    },
    notes: [
      `${plural(api.operations.length, "operation")} at ${api.baseUrl}`,
      ...(auth || oauth || server.headers ? [] : describeSchemes(api)),
    ],
  };
}

function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

function completeAuth(
  name: string,
  { auth, oauth }: JsonObject,
  { schemes }: Api,
): { readonly auth?: JsonObject; readonly oauth?: JsonObject } {
  const given = Object.entries(isObject(auth) ? auth : {});
  const unknown = given.find(([scheme]) => !Object.hasOwn(schemes, scheme));
  if (unknown)
    throw new HallError(
      "VALIDATION",
      `the document has no security scheme "${unknown[0]}" (it has ${Object.keys(schemes).join(", ") || "none"})`,
      { hint: "Correct the name, or send the credential with --header." },
    );
  const issued = given.find(([key, value]) => isIssued(schemes[key]) && value === "");
  const found = issued && schemes[issued[0]];
  const values = given
    .filter((each) => each !== issued)
    .map(([key, value]) => [key, value === "" ? variable(variableName(`${name}_${key}`)) : value]);
  return {
    ...(values.length > 0 ? { auth: Object.fromEntries(values) } : {}),
    ...(found && !isObject(oauth) ? { oauth: loginOf(name, found) } : {}),
  };
}

function isIssued(scheme: Scheme | undefined): boolean {
  return scheme?.kind === "oauth2" && scheme.tokenUrl !== undefined;
}

function loginOf(name: string, scheme: Scheme): JsonObject {
  const { authorizationUrl, tokenUrl } = scheme.kind === "oauth2" ? scheme : {};
  return {
    ...(authorizationUrl === undefined ? { grant: "client_credentials" } : { authorizationUrl }),
    tokenUrl,
    clientId: variable(variableName(`${name}_CLIENT_ID`)),
    clientSecret: variable(variableName(`${name}_CLIENT_SECRET`)),
  };
}

function describeSchemes({ schemes, operations }: Api): readonly string[] {
  const used = new Set(operations.flatMap(({ security }) => security.flat()));
  const names = Object.keys(schemes).filter((scheme) => used.has(scheme));
  if (names.length === 0) return [];
  return [`operations need credentials (${names.join(", ")}): add it with --auth ${names[0]}`];
}
