import { lstat, realpath } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { HallError } from "../base/errors.ts";

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
