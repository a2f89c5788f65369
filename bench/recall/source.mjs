import { mkdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** Files of src/ as one module, so that Node 20 can load them: `load("ranking/ranker.ts", "ranking/words.ts")`. */
export async function load(...files) {
  const outfile = `${root}bench/results/source/${files.join("+").replaceAll("/", "-")}.mjs`;
  mkdirSync(`${root}bench/results/source`, { recursive: true });
  await build({
    stdin: {
      contents: files.map((file) => `export * from "./${file}";`).join("\n"),
      resolveDir: `${root}src`,
      loader: "ts",
    },
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20.19",
    outfile,
    logLevel: "warning",
  });
  return await import(`${outfile}?at=${Date.now()}`);
}
