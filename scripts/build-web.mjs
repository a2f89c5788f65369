// Bundles the page into dist/web: index.html, and files whose names contain a digest of their contents.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const root = fileURLToPath(new URL("..", import.meta.url));

/** Everything a browser loads for all screens, compressed; fonts are compressed already. */
const bytesMax = 150 * 1024;

/** Throws if the page is larger than it may be. Returns its compressed size in bytes. */
export async function buildWeb(folder) {
  const { outputFiles, metafile } = await build({
    absWorkingDir: root,
    entryPoints: { page: "web/main.ts" },
    outdir: `${folder}/assets`,
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "browser",
    target: "es2022",
    jsx: "automatic",
    jsxImportSource: "preact",
    minify: true,
    metafile: true,
    write: false,
    legalComments: "none",
    loader: { ".svg": "file", ".woff2": "file" },
    publicPath: "/assets",
    entryNames: "[name]-[hash]",
    assetNames: "[name]-[hash]",
    chunkNames: "[name]-[hash]",
    logLevel: "warning",
  });
  mkdirSync(`${folder}/assets`, { recursive: true });
  for (const { path, contents } of outputFiles) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, contents);
  }

  const outputs = Object.entries(metafile.outputs);
  const outputOf = (entry) => outputs.find(([, { entryPoint }]) => entryPoint === entry)[0];
  const assetOf = (extension) => outputs.find(([path]) => path.endsWith(extension))[0];
  const script = outputOf("web/main.ts");
  const html = readFileSync(`${root}web/index.html`, "utf8")
    .replace("%script%", basename(script))
    .replace("%style%", basename(metafile.outputs[script].cssBundle))
    .replace("%icon%", basename(assetOf(".svg")))
    .replace("%font%", basename(assetOf(".woff2")))
    .replace("%preloads%", preloads(outputOf("web/app.tsx"), metafile.outputs).join("\n    "));
  writeFileSync(`${folder}/index.html`, html);

  const bytes = outputFiles
    .map(({ path, contents }) =>
      path.endsWith(".woff2") ? contents.length : gzipSync(contents).length,
    )
    .reduce((sum, size) => sum + size, gzipSync(html).length);
  if (bytes > bytesMax)
    throw new Error(`the page has ${bytes} bytes compressed; the limit is ${bytesMax}`);
  return bytes;
}

/** The browser fetches a script and all it imports at once, not one after the other. */
function preloads(script, outputs) {
  const found = new Set([script]);
  for (const path of found)
    for (const { path: imported, kind } of outputs[path].imports)
      if (kind === "import-statement") found.add(imported);
  return [...found].map((path) => `<link rel="modulepreload" href="/assets/${basename(path)}" />`);
}
