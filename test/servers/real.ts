import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

/** The program of a server from npm. */
export function binOf(name: string): string {
  const require = createRequire(import.meta.url);
  const folder = dirname(require.resolve(`${name}/package.json`));
  const { bin } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as {
    bin: string | Record<string, string>;
  };
  return join(folder, (typeof bin === "string" ? bin : Object.values(bin)[0]) ?? "");
}
