import { lstat, realpath } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { diffLines, mergeTexts } from "../base/diff.ts";
import { HallError } from "../base/errors.ts";
import { isObject, parseObject } from "../base/json.ts";
import { readProjectFile, refuseLinks, replaceProjectFile } from "../base/project-files.ts";

/** A document a step wants to write; the path is relative to the feature's folder. */
export interface Draft {
  readonly path: string;
  readonly text: string;
}

/** The file with the texts we wrote last, in the project's `.guildhall` folder, so that it travels with the files. */
export interface Memory {
  /** The hall's folder. */
  readonly root: string;
  readonly file: string;
}

export interface WrittenFile {
  readonly path: string;
  readonly change: "created" | "updated" | "merged" | "replaced" | "unchanged";
}

/**
 * Writes all documents, or none if one of them has hand edits that cannot be merged. `memory` is
 * the file with the texts we wrote last: differences from them are hand edits.
 */
export async function writeArtefacts(
  drafts: readonly Draft[],
  {
    place,
    memory,
    force,
  }: { readonly place: FeaturePlace; readonly memory: Memory; readonly force: boolean },
): Promise<readonly WrittenFile[]> {
  const remembered = await readMemory(memory);
  const plans = await Promise.all(
    drafts.map(async ({ path, text }) => {
      const file = join(place.path, path);
      const template = join(".specify", "templates", `${basename(path, ".md")}-template.md`);
      const resolved = resolveText(
        {
          mine: await readInside(place, file),
          base: remembered[path],
          next: text,
          template: await readInside(place, join(place.project, template)),
        },
        force,
      );
      return { path, file, ...resolved };
    }),
  );
  const conflicts = plans.flatMap(({ path, conflict }) =>
    conflict ? [`${path}: ${conflict}`] : [],
  );
  if (conflicts.length > 0)
    throw new HallError(
      "EXECUTION",
      `nothing was written because of hand edits: ${conflicts.join("; ")}`,
      {
        hint: "Merge the edits by hand, or repeat the step with force to replace the files.",
        details: { conflicts },
      },
    );

  for (const { file, after, change } of plans)
    if (change !== "unchanged") await writeInside(place, file, after);
  const files = { ...remembered };
  for (const { path, text } of drafts) files[path] = text;
  await writeInside(memory, memory.file, `${JSON.stringify({ version: 1, files }, null, 2)}\n`);
  return plans.map(({ path, change }) => ({ path, change }));
}

interface Versions {
  /** The text in the file. */
  readonly mine: string | undefined;
  /** The text we wrote last. */
  readonly base: string | undefined;
  readonly next: string;
  /** spec-kit's template. A file that still equals it may be replaced. */
  readonly template: string | undefined;
}

function resolveText(
  { mine, base, next, template }: Versions,
  force: boolean,
): Pick<WrittenFile, "change"> & { readonly after: string; readonly conflict?: string } {
  if (mine === undefined) return { after: next, change: "created" };
  const plain = mine.replaceAll("\r\n", "\n");
  const back = (text: string): string => (mine === plain ? text : text.replaceAll("\n", "\r\n"));
  if (plain === next) return { after: mine, change: "unchanged" };
  if (plain === base || plain === template?.replaceAll("\r\n", "\n") || plain.trim() === "")
    return { after: back(next), change: "updated" };
  if (force) return { after: back(next), change: "replaced" };

  const kept = { after: mine, change: "unchanged" } as const;
  if (base === undefined) return { ...kept, conflict: "the workflow did not write this file" };
  if (base === next) return kept;
  const { text, conflicts } = mergeTexts(base, plain, next);
  const [first] = conflicts;
  if (first && hasEdits(next, plain, base)) return { after: back(next), change: "updated" };
  if (first)
    return { ...kept, conflict: `line ${first.line} was edited and would be changed by this step` };
  return text === plain ? kept : { after: back(text), change: "merged" };
}

/** True if the text has every line that was added by hand, and none that was removed. */
function hasEdits(text: string, mine: string, base: string): boolean {
  const has = new Set(text.split("\n"));
  const edits = diffLines(base.split("\n"), mine.split("\n"));
  return edits.every(({ sign, line }) => sign === " " || has.has(line) === (sign === "+"));
}

async function readMemory(memory: Memory): Promise<Readonly<Record<string, string>>> {
  const text = await readInside(memory, memory.file).catch(() => undefined);
  // Without it, everything in the files counts as a hand edit.
  const { files } = parseObject(text ?? "") ?? {};
  const entries = Object.entries(isObject(files) ? files : {});
  return Object.fromEntries(
    entries.filter((entry): entry is [string, string] => typeof entry[1] === "string"),
  );
}

/** The text of a file; undefined if it does not exist. Links are not followed. */
export async function readInside(
  { root }: Pick<FeaturePlace, "root">,
  file: string,
): Promise<string | undefined> {
  checkInside({ root }, file);
  return readProjectFile(root, relative(root, file));
}

/** Replaces a file of the project. */
export async function writeInside(
  { root }: Pick<FeaturePlace, "root">,
  file: string,
  text: string,
): Promise<void> {
  checkInside({ root }, file);
  await replaceProjectFile(root, relative(root, file), text).catch((error: unknown) => {
    throw explainDisk(error, file);
  });
}

/** Turns errors of a full or read-only disk into HallErrors. */
export function explainDisk(error: unknown, file: string): unknown {
  const { code = "" } = error as NodeJS.ErrnoException;
  const isFull = ["ENOSPC", "EDQUOT", "EFBIG"].includes(code);
  if (!isFull && !["EACCES", "EPERM", "EROFS"].includes(code)) return error;
  const reason = isFull ? "no space left" : "no permission";
  return new HallError("EXECUTION", `${reason} to write "${file}"; it is unchanged`, {
    cause: error,
    hint: `${isFull ? "Free some disk space" : "Check the file permissions"}, then repeat the step.`,
  });
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
    refuseLinks(real, path);
    return { root: real, path, project: await findProject(real, path) };
  }
  throw outside(given, "it is outside the allowed folders", roots);
}

/** Refuses a file outside the root or behind a link, before it is read or written. */
export function checkInside({ root }: Pick<FeaturePlace, "root">, path: string): void {
  if (path !== root && !path.startsWith(`${root}${sep}`))
    throw outside(path, "it is outside the allowed folders", [root]);
  refuseLinks(root, path);
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
