import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL("..", import.meta.url));

/**
 * Bundles a file that imports from src/, the way scripts/build.mjs does, into the ignored results.
 * Gives where it is.
 */
export async function bundle(name) {
  await build({
    absWorkingDir: root,
    entryPoints: { [name]: `bench/servers/${name}.mjs` },
    outdir: `bench/results/${name}`,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node20.19",
    banner: {
      js: 'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);',
    },
    external: ["@cedar-policy/cedar-wasm/nodejs"],
    logLevel: "warning",
  });
  return `${root}bench/results/${name}/${name}.mjs`;
}
