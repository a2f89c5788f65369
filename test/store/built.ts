import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL("../..", import.meta.url));

export interface Built {
  file(name: string): string;
  readonly worker: URL;
  remove(): void;
}

/** Bundles the store's worker and other programs of a test into node_modules, where they can import packages. */
export async function buildStore(entries: Readonly<Record<string, string>> = {}): Promise<Built> {
  const cache = join(root, "node_modules", ".cache");
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, "guildhall-store-"));
  await build({
    absWorkingDir: root,
    entryPoints: { "store-worker": "src/store/store-worker.ts", ...entries },
    outdir: folder,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20.19",
    packages: "external",
    logLevel: "error",
  });
  const file = (name: string): string => join(folder, `${name}.mjs`);
  return {
    file,
    worker: pathToFileURL(file("store-worker")),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
