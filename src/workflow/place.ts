import { lstat, realpath } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { HallError } from "../base/errors.ts";

/** A path inside a folder the user opened to the workflow. Whatever may lead out of it – `..`, a link on the way – is refused, not followed. */
export interface Place {
  /** The opened folder, by its real name. */
  readonly root: string;
  readonly path: string;
  /** The folder that has, or will have, `.specify`: where `specs` lies. */
  readonly project: string;
}

/** Throws VALIDATION for what is no path, DENIED for one that is not inside. */
export async function findPlace(given: string, roots: readonly string[]): Promise<Place> {
  if (given.trim() === "" || given.includes("\0"))
    throw new HallError("VALIDATION", "spec_directory must name a folder");
  if (given.split(/[/\\]/).includes("..")) throw outside(given, 'it has ".." in it', roots);
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
  throw outside(given, "it lies elsewhere", roots);
}

/** The same for a file of a place, before it is read or written. */
export async function checkInside({ root }: Pick<Place, "root">, path: string): Promise<void> {
  if (path !== root && !path.startsWith(`${root}${sep}`))
    throw outside(path, "it lies elsewhere", [root]);
  await refuseLinks(root, path, path, [root]);
}

/** Every part by itself: what is not there yet cannot lead anywhere. */
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
      throw error.code === "ENOTDIR"
        ? new HallError("VALIDATION", `${dirname(at)} is a file; spec_directory must name a folder`)
        : error;
    });
    if (!found) return;
    if (found.isSymbolicLink()) throw outside(given, `${at} is a link`, roots);
    if (index < parts.length - 1 && !found.isDirectory())
      throw new HallError("VALIDATION", `${at} is a file; spec_directory must name a folder`);
  }
}

function outside(given: string, why: string, roots: readonly string[]): HallError {
  return new HallError(
    "DENIED",
    `${given.slice(0, 300)} is not a folder the workflow may use: ${why}`,
    {
      hint: `It may use ${roots.join(", ")}; a person adds others to \`workflow.roots\` in their config.`,
    },
  );
}

/** The nearest folder above with `.specify`; without one, the folder that `specs` lies in. */
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
