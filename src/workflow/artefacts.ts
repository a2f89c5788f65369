import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { lstat, mkdir, open, realpath, rename, rm } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { mergeTexts } from "../base/diff.ts";
import { HallError } from "../base/errors.ts";
import { isObject } from "../base/json.ts";
import { formatBytes } from "../base/text.ts";

/** A document a step wants to write; the path is relative to the feature's folder. */
export interface Draft {
  readonly path: string;
  readonly text: string;
}

export interface WrittenFile {
  readonly path: string;
  readonly change: "created" | "updated" | "merged" | "replaced" | "unchanged";
}

export interface WriteOptions {
  readonly place: FeaturePlace;
  readonly memory: ArtefactMemory;
  /** Replaces files with hand edits that cannot be merged. */
  readonly force: boolean;
  /** Texts without content of their own, such as a copied template. */
  readonly blanks?: readonly string[];
}

/** The texts the workflow wrote last, by file. Differences from them are hand edits and are kept. */
export interface ArtefactMemory {
  read(): Promise<Readonly<Record<string, string>>>;
  write(texts: Readonly<Record<string, string>>): Promise<void>;
}

/** Writes all documents, or none if one of them has hand edits that cannot be merged. */
export async function writeArtefacts(
  drafts: readonly Draft[],
  { place, memory, force, blanks = [] }: WriteOptions,
): Promise<readonly WrittenFile[]> {
  const remembered = await memory.read();
  const plans = await Promise.all(
    drafts.map(async (draft) => {
      const file = join(place.path, draft.path);
      const mine = await readInside(place, file);
      const versions = { mine, base: remembered[draft.path], next: draft.text };
      return { ...draft, file, ...resolveText(versions, force, blanks) };
    }),
  );
  const conflicts = plans.flatMap(({ path, conflict }) =>
    conflict === undefined ? [] : [`${path}: ${conflict}`],
  );
  if (conflicts.length > 0) {
    throw new HallError(
      "EXECUTION",
      `nothing was written because of hand edits: ${conflicts.join("; ")}`,
      {
        hint: "Merge the edits by hand, or repeat the step with force to replace the files.",
        details: { conflicts },
      },
    );
  }
  for (const { file, after, change } of plans) {
    if (change !== "unchanged") await writeInside(place, file, after);
  }
  await memory.write({
    ...remembered,
    ...Object.fromEntries(drafts.map(({ path, text }) => [path, text])),
  });
  return plans.map(({ path, change }) => ({ path, change }));
}

interface Resolved {
  readonly after: string;
  readonly change: WrittenFile["change"];
  readonly conflict?: string;
}

interface Versions {
  /** The text in the file. */
  readonly mine: string | undefined;
  /** The text we wrote last. */
  readonly base: string | undefined;
  readonly next: string;
}

function resolveText(
  { mine, base, next }: Versions,
  force: boolean,
  blanks: readonly string[],
): Resolved {
  if (mine === undefined) return { after: next, change: "created" };
  const plain = mine.replaceAll("\r\n", "\n");
  const back = (text: string): string => (mine === plain ? text : text.replaceAll("\n", "\r\n"));
  if (plain === next) return { after: mine, change: "unchanged" };
  if (plain === base || plain.trim() === "" || blanks.includes(plain))
    return { after: back(next), change: "updated" };
  if (force) return { after: back(next), change: "replaced" };

  const kept = { after: mine, change: "unchanged" } as const;
  if (base === undefined) return { ...kept, conflict: "the workflow did not write this file" };
  if (base === next) return kept;
  const { text, conflicts } = mergeTexts(base, plain, next);
  const [first] = conflicts;
  if (first)
    return { ...kept, conflict: `line ${first.line} was edited and would be changed by this step` };
  return text === plain ? kept : { after: back(text), change: "merged" };
}

/** A copied template that nobody has filled in may be overwritten. */
export async function readTemplate(place: FeaturePlace, name: string): Promise<readonly string[]> {
  const file = join(place.project, ".specify", "templates", `${name}-template.md`);
  const text = await readInside(place, file);
  return text === undefined ? [] : [text.replaceAll("\r\n", "\n")];
}

const fileBytesMax = 2 * 1024 * 1024;

/** The text of a file; undefined if it does not exist. Links are not followed. */
export async function readInside(
  place: Pick<FeaturePlace, "root">,
  file: string,
): Promise<string | undefined> {
  await checkInside(place, file);
  const handle = await open(
    file,
    constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK,
  ).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  if (!handle) return undefined;
  try {
    const { size } = await handle.stat();
    if (size > fileBytesMax)
      throw new HallError(
        "TOO_LARGE",
        `"${file}" exceeds the limit of ${formatBytes(fileBytesMax)}`,
      );
    return await handle.readFile("utf8");
  } finally {
    await handle.close();
  }
}

/** Replaces a file of the project. */
export async function writeInside(
  place: Pick<FeaturePlace, "root">,
  file: string,
  text: string,
): Promise<void> {
  await checkInside(place, file);
  await replaceFile(file, text);
}

/** Replaces a file atomically; a full disk leaves the old one. */
async function replaceFile(file: string, text: string): Promise<void> {
  const folder = dirname(file);
  await mkdir(folder, { recursive: true });
  const beside = join(
    await realpath(folder),
    `.${basename(file)}.${randomBytes(6).toString("hex")}`,
  );
  try {
    const handle = await open(beside, "wx", 0o666);
    try {
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(beside, file);
  } catch (error) {
    await rm(beside, { force: true });
    throw explainDisk(error, file);
  }
}

/** Turns errors of a full or read-only disk into HallErrors. */
export function explainDisk(error: unknown, file: string): unknown {
  const { code = "" } = error as NodeJS.ErrnoException;
  if (["ENOSPC", "EDQUOT", "EFBIG"].includes(code))
    return new HallError("EXECUTION", `no space left to write "${file}"; it is unchanged`, {
      cause: error,
      hint: "Free some disk space, then repeat the step.",
    });
  if (["EACCES", "EPERM", "EROFS"].includes(code))
    return new HallError("EXECUTION", `no permission to write "${file}"`, {
      cause: error,
      hint: "Check the file permissions, then repeat the step.",
    });
  return error;
}

/** Kept in the project's `.guildhall` folder, so that it travels with the files. */
export function openArtefactMemory(file: string): ArtefactMemory {
  return {
    async read() {
      const text = await readInside({ root: dirname(file) }, file).catch(() => undefined);
      try {
        const value: unknown = JSON.parse(text ?? "{}");
        const files = isObject(value) && isObject(value.files) ? value.files : {};
        return Object.fromEntries(
          Object.entries(files).filter(
            (entry): entry is [string, string] => typeof entry[1] === "string",
          ),
        );
      } catch {
        // Unreadable: everything in the files then counts as a hand edit.
        return {};
      }
    },
    write: (files) => replaceFile(file, `${JSON.stringify({ version: 1, files }, null, 2)}\n`),
  };
}

/** A path inside a folder that the workflow may use. `..` and links are refused. */
export interface FeaturePlace {
  /** The real path of the allowed folder. */
  readonly root: string;
  readonly path: string;
  /** The folder that contains `.specify` and `specs`. */
  readonly project: string;
}

/** Throws VALIDATION if it is not a path to a folder, DENIED if it is outside the roots. */
export async function findPlace(given: string, roots: readonly string[]): Promise<FeaturePlace> {
  if (given.trim() === "" || given.includes("\0"))
    throw new HallError("VALIDATION", "spec_directory must be the path of a folder");
  if (given.split(/[/\\]/).includes("..")) throw outside(given, 'it contains ".."', roots);
  const [first = "."] = roots;
  const wanted = isAbsolute(given) ? resolve(given) : resolve(first, given);
  for (const root of roots) {
    const real = await realpath(root).catch(() => resolve(root));
    const base = [resolve(root), real].find(
      (candidate) =>
        wanted === candidate || wanted.startsWith(candidate === sep ? sep : `${candidate}${sep}`),
    );
    if (base === undefined) continue;
    const path = join(real, relative(base, wanted));
    await refuseLinks(real, path, given, roots);
    return { root: real, path, project: await findProject(real, path) };
  }
  throw outside(given, "it is outside the allowed folders", roots);
}

/** Refuses a file outside the root or behind a link, before it is read or written. */
export async function checkInside(
  { root }: Pick<FeaturePlace, "root">,
  path: string,
): Promise<void> {
  if (path !== root && !path.startsWith(`${root}${sep}`))
    throw outside(path, "it is outside the allowed folders", [root]);
  await refuseLinks(root, path, path, [root]);
}

/** Checks each part of the path; parts that do not exist yet cannot be links. */
async function refuseLinks(
  root: string,
  path: string,
  given: string,
  roots: readonly string[],
): Promise<void> {
  let at = root;
  const parts = relative(root, path)
    .split(sep)
    .filter((part) => part !== "");
  for (const [index, part] of parts.entries()) {
    at = join(at, part);
    const found = await lstat(at).catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return undefined;
      throw error.code === "ENOTDIR" ? notFolder(dirname(at)) : error;
    });
    if (!found) return;
    if (found.isSymbolicLink()) throw outside(given, `${at} is a link`, roots);
    if (index < parts.length - 1 && !found.isDirectory()) throw notFolder(at);
  }
}

function notFolder(path: string): HallError {
  return new HallError("VALIDATION", `spec_directory: "${path}" is a file, not a folder`);
}

function outside(given: string, why: string, roots: readonly string[]): HallError {
  return new HallError("DENIED", `the workflow may not use "${given.slice(0, 300)}": ${why}`, {
    hint: `Allowed folders: ${roots.join(", ")}. The user can add others.`,
    next: [{ do: "edit-config", field: "workflow.roots" }],
  });
}

/** The nearest parent with `.specify`; without one, the parent of `specs`. */
async function findProject(root: string, path: string): Promise<string> {
  for (let at = path; at.startsWith(root); at = dirname(at)) {
    const found = await lstat(join(at, ".specify")).catch(() => undefined);
    if (found?.isDirectory()) return at;
    if (at === root) break;
  }
  for (let at = path; at !== root && at.startsWith(root); at = dirname(at))
    if (basename(at) === "specs") return dirname(at);
  return root;
}
