// Bundles the command line and the library into dist/. Heavy parts become chunks that load when they are used.

import { execFileSync } from "node:child_process";
import { chmodSync, copyFileSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL("..", import.meta.url));
const isQuiet = process.argv.includes("--quiet");
rmSync(`${root}/dist`, { recursive: true, force: true });

const result = await build({
  absWorkingDir: root,
  // A worker is started from a file of its own.
  entryPoints: {
    cli: "src/cli/main.ts",
    index: "src/index.ts",
    "document-worker": "src/toolkits/document/worker.ts",
    "lisp-worker": "src/toolkits/lisp/worker.ts",
    "store-worker": "src/store/store-worker.ts",
  },
  outdir: "dist",
  bundle: true,
  splitting: true,
  format: "esm",
  platform: "node",
  target: "node20.19",
  metafile: true,
  chunkNames: "chunks/[name]-[hash]",
  jsx: "automatic",
  // React's build for development is slower and louder; Ink's developer tools are never wanted, and bring a WebSocket client.
  define: { "process.env.NODE_ENV": '"production"' },
  plugins: [{ name: "no-devtools", setup: ({ onResolve }) => onResolve({ filter: /^\.\/devtools\.js$/ }, () => ({ path: `${root}/scripts/empty.mjs` })) }],
  // Packages written for CommonJS ask for `require`.
  banner: { js: 'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);' },
  logLevel: "warning",
});
chmodSync(`${root}/dist/cli.js`, 0o755);
copyFileSync(`${root}/src/ranking/vectors.bin`, `${root}/dist/vectors.bin`);
if (process.argv.includes("--types")) {
  execFileSync(process.execPath, [`${root}/node_modules/typescript/bin/tsc`, "-p", "tsconfig.types.json"], { cwd: root, stdio: "inherit" });
}
if (!isQuiet) {
  for (const [file, { bytes }] of Object.entries(result.metafile.outputs)) console.log(`${String(Math.round(bytes / 1024)).padStart(6)} KB  ${file}`);
}
