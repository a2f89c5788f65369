import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { HallError } from "../base/errors.ts";
import { dataFolder, withFileLock } from "../base/files.ts";
import { isObject, type JsonObject } from "../base/json.ts";
import { projectFilesOf, readConfigFiles, userFileOf } from "../config/files.ts";
import { type Document, parseDocument, shorten, thisMachine } from "./import/document.ts";
import { type Edit, editDocument } from "./install/edit.ts";
import { writeThrough } from "./install/records.ts";
import { unknownName } from "./settings.ts";

/** Edits of the config by commands. Comments and everything else in the file stay as they are. */

/** A file of the config. */
interface EditableFile {
  readonly document: Document;
  readonly tree: JsonObject;
  /** The folder of a project's file. */
  readonly project: string | undefined;
}

export interface EditedFile {
  /** As shown to people. */
  readonly file: string;
  readonly isChanged: boolean;
  readonly before: string;
  readonly after: string;
}

export interface EditOptions {
  /** Write nothing; the result shows what would be written. */
  readonly dryRun?: boolean | undefined;
  /** The text that the file must have: a person has seen the change against it. Throws CONFLICT. */
  readonly seen?: string | undefined;
}

const lockMsMax = 20_000;

/** Commands that edit a config at the same time do so one after the other. */
export function withConfigLock<T>(work: () => Promise<T>): Promise<T> {
  return withFileLock(join(dataFolder(), "config.lock"), lockMsMax, work);
}

/** Changes a server's entry where it is written; undefined removes it. Throws NOT_FOUND with near names. */
export function editServer(
  folder: string,
  name: string,
  change: (entry: JsonObject) => JsonObject | undefined,
  options: EditOptions = {},
): Promise<EditedFile> {
  return withConfigLock(() => editServerAlone(folder, name, change, options));
}

async function editServerAlone(
  folder: string,
  name: string,
  change: (entry: JsonObject) => JsonObject | undefined,
  options: EditOptions,
): Promise<EditedFile> {
  const files = await readFiles(folder);
  const found = files.findLast(({ tree }) => Object.hasOwn(serversIn(tree), name));
  if (!found) {
    const names = files.flatMap(({ tree }) => Object.keys(serversIn(tree)));
    throw unknownName("server", name, names, "See your servers with `guildhall list`.");
  }
  const { [name]: entry, ...others } = serversIn(found.tree);
  const changed = change(isObject(entry) ? entry : {});
  const mcpServers = changed === undefined ? others : { ...serversIn(found.tree), [name]: changed };
  return save(found, { ...found.tree, mcpServers }, folder, options);
}

/** Changes the project's config, else the user's. Throws NOT_FOUND. */
export function editConfig(
  folder: string,
  change: (tree: JsonObject) => JsonObject,
  options: EditOptions = {},
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
  { dryRun = false, seen }: EditOptions,
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
export function requireSeen(text: string, seen: string | undefined): void {
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
