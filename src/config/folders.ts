import { realpathSync } from "node:fs";
import { resolve, sep } from "node:path";
import type { JsonObject } from "../base/json.ts";
import type { Path, Problem } from "./error.ts";
import { fieldAt } from "./layer.ts";

/** Fields that give callers access to folders. */
const openingFields: readonly Path[] = [
  ["documents", "roots"],
  ["search", "folders"],
  ["workflow", "roots"],
];

/**
 * A project's config can only open folders inside the project: a cloned repository must not open the
 * rest of the machine. `isOfProject` is true if the project's file set the field.
 */
export function findFolderProblems(
  tree: JsonObject,
  folder: string,
  isOfProject: (path: Path) => boolean,
): Problem[] {
  const problems: Problem[] = [];
  for (const field of openingFields.filter(isOfProject)) {
    const paths = fieldAt(tree, field);
    for (const [index, path] of (Array.isArray(paths) ? paths : []).entries()) {
      if (typeof path !== "string" || isInside(realOf(resolve(folder, path)), realOf(folder)))
        continue;
      problems.push({
        path: [...field, index],
        text: "is outside the project; expected a folder inside; other folders belong in the user's own config file",
      });
    }
  }
  return problems;
}

export function isInside(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : `${folder}${sep}`);
}

/** Resolves links; a path that does not exist yet is used as written. */
export function realOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const parent = resolve(path, "..");
    return parent === path
      ? path
      : resolve(realOf(parent), path.slice(parent.length).replace(/^[/\\]+/, ""));
  }
}
