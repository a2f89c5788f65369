// Tells if something that goes into dist/ has changed since the last build.

import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";

/** The last file that a build writes into its folder, dated at the build's start. */
export const stamp = "vectors.bin";

const inputs = ["src", "web", "scripts", "package.json", "package-lock.json"];

/** A folder is newer, too, if a file was removed from it. */
export function isOutdated(root) {
  const stamped = join(root, "dist", stamp);
  if (!existsSync(stamped)) return true;
  const builtAt = statSync(stamped).mtimeMs;
  const isNewer = (path) => statSync(path).mtimeMs > builtAt;
  return inputs
    .map((name) => join(root, name))
    .some(
      (path) =>
        isNewer(path) ||
        (statSync(path).isDirectory() &&
          readdirSync(path, { recursive: true }).some((name) => isNewer(join(path, name)))),
    );
}
