import { createHash } from "node:crypto";
import { rm, rmdir } from "node:fs/promises";
import { HallError } from "../../base/errors.ts";
import { isObject, type JsonObject } from "../../base/json.ts";
import { ConfigError, type Path } from "../../config/error.ts";
import { fieldAt } from "../../config/layer.ts";
import { type Client, mapAt, type Place } from "../import/client.ts";
import { type Document, decode, parseDocument, readBytes } from "../import/document.ts";
import { draftServer } from "../import/entry.ts";
import { isHall } from "../import/hall.ts";
import { locatePlace, type Machine } from "../import/machine.ts";
import { editDocument } from "./edit.ts";
import { dropBackup, type InstallRecord, type Records } from "./records.ts";
import { writeThrough } from "./write-through.ts";

/** What is about to be done to a client's file. Nothing has been written yet. */
export interface Plan {
  readonly client: Client;
  readonly scope: Place["scope"];
  readonly file: string;
  /** undefined where there is no file. */
  readonly before: Buffer | undefined;
  /** The same bytes where there is nothing to do; undefined where the file goes. */
  readonly after: Buffer | undefined;
  readonly name: string;
  readonly moved: readonly string[];
  /** Whether the file becomes, byte for byte, what it was before `install`. */
  readonly isRestored: boolean;
}

export interface Target {
  readonly client: Client;
  readonly machine: Machine;
  /** Default: the project's file, for clients that have one. */
  readonly scope?: Place["scope"] | undefined;
  readonly ownScript?: string | undefined;
}

/** How the hall gets into a client's file; `move` names the servers that leave it. Throws ConfigError for a file that cannot be read. */
export async function planInstall(
  target: Target,
  command: readonly [string, ...string[]],
  move: readonly string[] = [],
): Promise<Plan> {
  const { client, ownScript } = target;
  const { file, scope, at: usual } = await findTarget(target);
  const { before, document } = await read(file);
  const at = client.mapIn?.(document.tree) ?? usual;
  const entries = mapAt(document.tree, at).entries;
  const hall = entries.find(({ name, value }) => isHallEntry(client, name, value, ownScript))?.name;
  if (hall === undefined && entries.some(({ name }) => name === "guildhall")) {
    throw new HallError(
      "CONFLICT",
      `${document.locate([...at, "guildhall"])}: there is a server named guildhall that is not a hall`,
      {
        hint: "Rename it there, then install again.",
      },
    );
  }
  const name = hall ?? "guildhall";
  const [program, ...args] = command;
  const entry = client.entryFor?.(command) ?? { command: program, args };
  const isThere = sameEntry(fieldAt(document.tree, [...at, name]), entry);
  const moved = move.filter((server) => entries.some((each) => each.name === server));
  if (isThere && moved.length === 0)
    return { client, scope, file, before, after: before, name, moved, isRestored: false };
  const text = await editDocument(document, {
    at,
    remove: moved,
    put: isThere ? {} : { [name]: entry },
  });
  return { client, scope, file, before, after: Buffer.from(text), name, moved, isRestored: false };
}

/** How the hall gets out again: the bytes from before where nobody else has changed the file, else by taking out only what was put in. */
export async function planUninstall(target: Target, records: Records): Promise<Plan> {
  const { client, ownScript } = target;
  const { file, scope, at: usual } = await findTarget(target);
  const record = (await records.all()).find((each) => each.file === file);
  const { before, document } = await read(file);
  const untouched: Plan = {
    client,
    scope,
    file,
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

/** Writes what an install planned, with a backup first. Returns where the backup is. */
export async function applyInstall(plan: Plan, records: Records): Promise<string | null> {
  const { client, scope, file, before, after, name, moved } = plan;
  if (after === undefined) throw new Error("an install never removes a file");
  const earlier = (await records.all()).find((record) => record.file === file);
  await refuseChanged(plan);
  const isOurs = earlier !== undefined && before !== undefined && earlier.left === hashOf(before);
  const backup =
    before === undefined
      ? null
      : isOurs
        ? earlier.backup
        : await records.backUp(client.id, file, before);
  const folders = await writeThrough(file, after);
  await records.save({
    client: client.id,
    scope,
    file,
    name,
    moved: [...new Set([...(earlier?.moved ?? []), ...moved])],
    // A file that was changed between two installs cannot become what it was before the first.
    backup: earlier ? earlier.backup : backup,
    left: earlier && !isOurs ? null : hashOf(after),
    folders: [...(earlier?.folders ?? []), ...folders],
  });
  return backup;
}

/** Writes what an uninstall planned. Returns the backup that is kept: of a file that could not be restored as a whole. */
export async function applyUninstall(plan: Plan, records: Records): Promise<string | null> {
  const { client, file, before, after, isRestored } = plan;
  const record = (await records.all()).find((each) => each.file === file);
  await refuseChanged(plan);
  const backup =
    isRestored || before === undefined ? null : await records.backUp(client.id, file, before);
  if (after === undefined) await removeFile(file, record);
  else if (before === undefined || !after.equals(before)) await writeThrough(file, after);
  if (record) await records.forget(file);
  if (isRestored && record?.backup) await dropBackup(record.backup);
  return backup;
}

function isHallEntry(
  client: Client,
  name: string,
  value: unknown,
  ownScript: string | undefined,
): boolean {
  return isObject(value) && isHall(name, draftServer(value, client.meanings).server, ownScript);
}

/** The file that is written to: the first of its scope that is there, else the first. */
async function findTarget({
  client,
  machine,
  scope,
}: Target): Promise<{ readonly file: string; readonly scope: Place["scope"]; readonly at: Path }> {
  const wanted =
    scope ??
    (client.places.some((place) => place.scope === "project" && !place.isOld) ? "project" : "user");
  const candidates = client.places.flatMap((place) => {
    const file =
      place.scope === wanted && !place.isOld ? locatePlace(place.path, machine) : undefined;
    // In a folder of blocks the hall has one of its own.
    return file === undefined || /\.ya?ml$/.test(file)
      ? []
      : [{ file: file.replace("*", "guildhall.json"), scope: wanted, at: place.at }];
  });
  const [first] = candidates;
  if (!first) {
    throw new HallError(
      "INVALID_PARAMS",
      `${client.name} has no file for ${wanted === "project" ? "one project" : "a user"} on this system`,
      {
        hint: wanted === "project" ? "Leave --project out." : "Leave --user out.",
      },
    );
  }
  for (const candidate of candidates)
    if ((await readBytes(candidate.file)) !== undefined) return candidate;
  return first;
}

async function read(
  file: string,
): Promise<{ readonly before: Buffer | undefined; readonly document: Document }> {
  const before = await readBytes(file);
  return {
    before,
    document: await parseDocument(file, before === undefined ? "" : decode(before, file)),
  };
}

async function readBackup(backup: string): Promise<Buffer> {
  const bytes = await readBytes(backup);
  if (!bytes)
    throw new ConfigError(
      `${backup}: is gone; expected the backup that \`guildhall install\` made; take the hall out by hand`,
    );
  return bytes;
}

function pick({ tree }: Document, at: Path, names: readonly string[]): Record<string, JsonObject> {
  const map = fieldAt(tree, at);
  return Object.fromEntries(
    names.flatMap((name) => (isObject(map) && isObject(map[name]) ? [[name, map[name]]] : [])),
  );
}

/** The client itself may have written meanwhile. */
async function refuseChanged({ file, before }: Plan): Promise<void> {
  const now = await readBytes(file);
  if (now === undefined ? before === undefined : before?.equals(now)) return;
  throw new HallError("CONFLICT", `${file} was changed while this ran`, {
    hint: "Close the client, then try again.",
  });
}

async function removeFile(file: string, record: InstallRecord | undefined): Promise<void> {
  await rm(file, { force: true });
  // Folders that were made for it go with it, unless somebody else uses them now.
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
  return createHash("sha256").update(bytes).digest("hex");
}
