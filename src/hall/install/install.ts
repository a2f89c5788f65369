import { hash } from "node:crypto";
import { rm, rmdir } from "node:fs/promises";
import { HallError } from "../../base/errors.ts";
import { isObject, type JsonObject } from "../../base/json.ts";
import { ConfigError, type Path } from "../../config/error.ts";
import { decode } from "../../config/files.ts";
import { fieldAt } from "../../config/layer.ts";
import { type ClientFile, type ImportedClient, keysOf, mapAt } from "../import/clients.ts";
import {
  type ConfigDocument,
  type ImportPlaces,
  parseDocument,
  readBytes,
  resolvePath,
} from "../import/document.ts";
import { isHall, translateEntry } from "../import/entry.ts";
import { editDocument } from "./edit.ts";
import { type InstallRecord, type Records, writeThrough } from "./records.ts";

/** A planned change to a client's file. */
export interface InstallPlan {
  readonly client: ImportedClient;
  readonly scope: ClientFile["scope"];
  readonly file: string;
  /** The folder of the project that the file belongs to. */
  readonly project: string | undefined;
  /** Undefined if there is no file. */
  readonly before: Buffer | undefined;
  /** The same bytes if there is nothing to do; undefined to remove the file. */
  readonly after: Buffer | undefined;
  readonly name: string;
  readonly moved: readonly string[];
  /** True if the file becomes byte for byte what it was before `install`. */
  readonly isRestored: boolean;
}

export interface InstallTarget {
  readonly client: ImportedClient;
  readonly machine: ImportPlaces;
  /** Default: the project's file, if the client has one. */
  readonly scope?: ClientFile["scope"] | undefined;
  readonly ownScript?: string | undefined;
}

/**
 * Adds the hall to a client's file and removes the servers named in `move`. Throws ConfigError for
 * an unreadable file.
 */
export async function planInstall(
  target: InstallTarget,
  command: readonly [string, ...string[]],
  move: readonly string[] = [],
): Promise<InstallPlan> {
  const { client, ownScript } = target;
  const { file, scope, project, at: usual } = await findTarget(target);
  const { before, document } = await read(file, project);
  const at = client.mapIn?.(document.tree) ?? usual;
  const entries = mapAt(document.tree, at).entries;
  const hall = entries.find(({ name, value }) => isHallEntry(client, name, value, ownScript))?.name;
  if (hall === undefined && entries.some(({ name }) => name === "guildhall")) {
    throw new HallError(
      "CONFLICT",
      `${document.locate([...at, "guildhall"])}: another server is named "guildhall"`,
      { hint: "Rename that server, then install again." },
    );
  }
  const name = hall ?? "guildhall";
  const [program, ...args] = command;
  const entry = client.entryFor?.(command) ?? { command: program, args };
  const isThere = sameEntry(fieldAt(document.tree, [...at, name]), entry);
  const moved = move.filter((server) => entries.some((each) => each.name === server));
  const text = await editDocument(document, {
    at,
    remove: moved,
    put: isThere ? {} : { [name]: entry },
  });
  const after = Buffer.from(text);
  return { client, scope, file, project, before, after, name, moved, isRestored: false };
}

/** Restores the previous bytes if the file was not changed since, else removes only what `install` added. */
export async function planUninstall(target: InstallTarget, records: Records): Promise<InstallPlan> {
  const { client, ownScript } = target;
  const { file, scope, project, at: usual } = await findTarget(target);
  const record = (await records.all()).find((each) => each.file === file);
  const { before, document } = await read(file, project);
  const untouched: InstallPlan = {
    client,
    scope,
    file,
    project,
    before,
    after: before,
    name: record?.name ?? "guildhall",
    moved: [],
    isRestored: false,
  };
  if (before && record?.left === hashOf(before)) {
    const after = record.backup === null ? undefined : await readBackup(record.backup);
    return { ...untouched, after, moved: record.moved, isRestored: true };
  }
  const at = client.mapIn?.(document.tree) ?? usual;
  const halls = mapAt(document.tree, at).entries.filter(({ name, value }) =>
    isHallEntry(client, name, value, ownScript),
  );
  const old = record?.backup
    ? await parseDocument(file, decode(await readBackup(record.backup), record.backup))
    : undefined;
  const present = mapAt(document.tree, at).entries.map(({ name }) => name);
  const missing = (record?.moved ?? []).filter((name) => !present.includes(name));
  const put = old ? pick(old, client.mapIn?.(old.tree) ?? usual, missing) : {};
  if (halls.length === 0 && Object.keys(put).length === 0) return untouched;
  const text = await editDocument(document, { at, remove: halls.map(({ name }) => name), put });
  return { ...untouched, after: Buffer.from(text), moved: Object.keys(put) };
}

/** Makes a backup first, and returns its path. */
export async function applyInstall(plan: InstallPlan, records: Records): Promise<string | null> {
  const { client, scope, file, project, before, after, name, moved } = plan;
  if (after === undefined) throw new Error("an install never removes a file");
  const earlier = (await records.all()).find((record) => record.file === file);
  await refuseChanged(plan);
  const isOurs = earlier !== undefined && before !== undefined && earlier.left === hashOf(before);
  let backup = isOurs ? earlier.backup : null;
  if (before !== undefined && !isOurs) backup = await records.backUp(client.id, file, before);
  const folders = await writeThrough(file, after, project);
  await records.save({
    client: client.id,
    scope,
    file,
    name,
    moved: [...new Set([...(earlier?.moved ?? []), ...moved])],
    // A file that was changed between two installs cannot be restored to the state before the first.
    backup: earlier ? earlier.backup : backup,
    left: earlier && !isOurs ? null : hashOf(after),
    folders: [...(earlier?.folders ?? []), ...folders],
  });
  return backup;
}

/** Returns the path of the backup that is kept if the file could not be restored completely. */
export async function applyUninstall(plan: InstallPlan, records: Records): Promise<string | null> {
  const { client, file, project, before, after, isRestored } = plan;
  const record = (await records.all()).find((each) => each.file === file);
  await refuseChanged(plan);
  const backup =
    isRestored || before === undefined ? null : await records.backUp(client.id, file, before);
  if (after === undefined) await removeFile(file, record);
  else if (before === undefined || !after.equals(before)) await writeThrough(file, after, project);
  if (record) await records.remove(file);
  if (isRestored && record?.backup) await rm(record.backup, { force: true });
  return backup;
}

function isHallEntry(
  client: ImportedClient,
  name: string,
  value: unknown,
  ownScript: string | undefined,
): boolean {
  return isObject(value) && isHall(name, translateEntry(value, keysOf(client)).server, ownScript);
}

/** The wanted scope, else the project's if the client has a file for it. */
export function scopeOf({ client, scope }: InstallTarget): ClientFile["scope"] {
  const hasProjectFile = client.files.some((file) => file.scope === "project" && !file.isReadOnly);
  return scope ?? (hasProjectFile ? "project" : "user");
}

/** The first existing file of the scope, else the first. */
async function findTarget(target: InstallTarget): Promise<{
  readonly file: string;
  readonly scope: ClientFile["scope"];
  readonly project: string | undefined;
  readonly at: Path;
}> {
  const { client, machine } = target;
  const wanted = scopeOf(target);
  const project = wanted === "project" ? machine.folder : undefined;
  const candidates = client.files.flatMap((place) => {
    const file =
      place.scope === wanted && !place.isReadOnly ? resolvePath(place.path, machine) : undefined;
    // In a folder of files the hall gets its own.
    return file === undefined || /\.ya?ml$/.test(file)
      ? []
      : [{ file: file.replace("*", "guildhall.json"), scope: wanted, project, at: place.at }];
  });
  const [first] = candidates;
  if (!first) {
    throw new HallError(
      "INVALID_PARAMS",
      `${client.name} has no ${wanted} config file on this system`,
      { hint: `Leave out --${wanted}.` },
    );
  }
  for (const candidate of candidates)
    if ((await readBytes(candidate.file, project)) !== undefined) return candidate;
  return first;
}

async function read(
  file: string,
  project: string | undefined,
): Promise<{ readonly before: Buffer | undefined; readonly document: ConfigDocument }> {
  const before = await readBytes(file, project);
  return {
    before,
    document: await parseDocument(file, before === undefined ? "" : decode(before, file)),
  };
}

async function readBackup(backup: string): Promise<Buffer> {
  const bytes = await readBytes(backup);
  if (!bytes)
    throw new ConfigError(
      `${backup}: the backup is missing; remove the hall from the client's file by hand`,
    );
  return bytes;
}

function pick(
  { tree }: ConfigDocument,
  at: Path,
  names: readonly string[],
): Record<string, JsonObject> {
  const map = fieldAt(tree, at);
  return Object.fromEntries(
    names.flatMap((name) => (isObject(map) && isObject(map[name]) ? [[name, map[name]]] : [])),
  );
}

/** The client may have written the file in the meantime. */
async function refuseChanged({ file, project, before }: InstallPlan): Promise<void> {
  const now = await readBytes(file, project);
  if (now === undefined ? before === undefined : before?.equals(now)) return;
  throw new HallError("CONFLICT", `"${file}" was changed in the meantime`, {
    hint: "Close the client, then try again.",
  });
}

async function removeFile(file: string, record: InstallRecord | undefined): Promise<void> {
  await rm(file, { force: true });
  // Folders that were created for it are removed if they are empty.
  for (const folder of [...(record?.folders ?? [])].reverse()) await rmdir(folder).catch(() => {});
}

function sameEntry(value: unknown, entry: JsonObject): boolean {
  return (
    isObject(value) &&
    Object.entries(entry).every(
      ([key, each]) => JSON.stringify(value[key]) === JSON.stringify(each),
    )
  );
}

function hashOf(bytes: Uint8Array): string {
  return hash("sha256", bytes, "hex");
}
