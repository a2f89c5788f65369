// Bundles the command line and the library into dist/: main.cjs, a script in lazy/ for each package
// that a start does not need, and a file for each worker.
// `--test-cli FOLDER` builds the command line with the toolkits of the tests, into that folder.

import { execFileSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { buildWeb } from "./build-web.mjs";
import { bundle, parts } from "./bundle.mjs";
import { isOutdated, stamp } from "./outdated.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const isQuiet = process.argv.includes("--quiet");
const startedAt = new Date();
const testCli = process.argv.indexOf("--test-cli") + 1;
const outdir = testCli === 0 ? `${root}dist` : process.argv[testCli];
if (process.argv.includes("--if-changed")) {
  if (!isOutdated(root)) process.exit();
  console.error("building dist/ …");
}
rmSync(outdir, { recursive: true, force: true });
mkdirSync(`${outdir}/lazy`, { recursive: true });

// A worker is started from a file of its own.
const workers = {
  "document-worker": "src/toolkits/document/worker.ts",
  "lisp-worker": "src/toolkits/programs/lisp/worker.ts",
  "js-worker": "src/toolkits/programs/js/worker.ts",
  "store-worker": "src/store/store-worker.ts",
  "install-network": "src/upstream/sandbox/install-network.ts",
  "openapi-worker": "src/upstream/openapi/worker.ts",
  "validation-worker": "src/gateway/validation-worker.ts",
};

const options = {
  absWorkingDir: root,
  bundle: true,
  platform: "node",
  target: "node20.19",
  logLevel: "warning",
  // Reads its WebAssembly from beside itself, and is loaded only where there are policies.
  external: ["@cedar-policy/cedar-wasm/nodejs"],
};

const testToolkits = {
  name: "test-toolkits",
  setup({ onResolve }) {
    onResolve({ filter: /\/toolkits\/builtin\.ts$/ }, () => ({
      path: `${root}test/servers/builtin.ts`,
    }));
  },
};

const digest = await bundle(options, { outdir, plugins: testCli === 0 ? [] : [testToolkits] });
// Packages written for CommonJS ask for `require`.
const withRequire =
  'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);';
await Promise.all([
  build({
    ...options,
    entryPoints: workers,
    outdir,
    format: "esm",
    banner: { js: withRequire },
  }),
  build({
    ...options,
    entryPoints: { loader: "src/cli/loader.ts" },
    outdir,
    outExtension: { ".js": ".cjs" },
    format: "cjs",
    // `import()` stays as it is: the loader provides it to the scripts.
    define: { buildDigest: JSON.stringify(digest) },
  }),
]);
const { metafile } = await build({
  ...options,
  entryPoints: [parts.index],
  format: "esm",
  packages: "external",
  metafile: true,
  write: false,
  outdir,
});
const names = Object.values(metafile.outputs)[0].exports.join(", ");
const load = (name, line) => `import { ${name} } from "./loader.cjs";\n${line}\n`;
writeFileSync(
  `${outdir}/cli.js`,
  `#!/usr/bin/env node\n${load("startCli", "startCli(import.meta.dirname);")}`,
);
writeFileSync(
  `${outdir}/index.js`,
  load(
    "loadPart",
    `const { ${names} } = loadPart("index", import.meta.dirname);\nexport { ${names} };`,
  ),
);
writeFileSync(
  `${outdir}/module-host.js`,
  load("loadPart", 'loadPart("moduleHost", import.meta.dirname);'),
);
chmodSync(`${outdir}/cli.js`, 0o755);

const pageBytes = await buildWeb(`${outdir}/web`);
copyFileSync(`${root}/src/ranking/vectors.bin`, `${outdir}/${stamp}`);
copyFileSync(
  fileURLToPath(import.meta.resolve("@jitl/quickjs-wasmfile-release-sync/wasm")),
  `${outdir}/quickjs.wasm`,
);
utimesSync(`${outdir}/${stamp}`, startedAt, startedAt);
if (process.argv.includes("--types")) {
  execFileSync(
    process.execPath,
    [`${root}/node_modules/typescript/bin/tsc`, "-p", "tsconfig.types.json"],
    { cwd: root, stdio: "inherit" },
  );
}
if (!isQuiet) {
  const sizeOf = (bytes) => String(Math.round(bytes / 1024)).padStart(6);
  console.log(`${sizeOf(pageBytes)} KB  ${basename(outdir)}/web, compressed`);
  for (const file of readdirSync(outdir, { recursive: true }))
    if (/js$/.test(file) && !file.startsWith("web"))
      console.log(`${sizeOf(statSync(join(outdir, file)).size)} KB  ${file}`);
}
