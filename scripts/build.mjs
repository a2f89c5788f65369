// Bundles the command line and the library into dist/. Heavy parts become chunks that load when they are used.
// `--test-cli FOLDER` builds the command line with the toolkits of the tests, into that folder.

import { execFileSync } from "node:child_process";
import { chmodSync, copyFileSync, mkdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { buildWeb } from "./build-web.mjs";
import { gather } from "./gather.mjs";
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

// A worker is started from a file of its own.
const entryPoints = {
  cli: "src/cli/main.ts",
  index: "src/index.ts",
  "document-worker": "src/toolkits/document/worker.ts",
  "lisp-worker": "src/toolkits/programs/lisp/worker.ts",
  "js-worker": "src/toolkits/programs/js/worker.ts",
  "store-worker": "src/store/store-worker.ts",
  "install-network": "src/upstream/sandbox/install-network.ts",
  "module-host": "src/author/module-host.ts",
  "openapi-worker": "src/upstream/openapi/worker.ts",
  "validation-worker": "src/gateway/validation-worker.ts",
};
const options = {
  absWorkingDir: root,
  entryPoints,
  outdir,
  bundle: true,
  splitting: true,
  format: "esm",
  platform: "node",
  target: "node20.19",
  metafile: true,
  chunkNames: "chunks/[name]-[hash]",
  write: false,
  logLevel: "warning",
  // Reads its WebAssembly from beside itself, and is loaded only where there are policies.
  external: ["@cedar-policy/cedar-wasm/nodejs"],
};

// The modules that processes load first, and other users of them.
const { cli: main, index: library, ...workers } = entryPoints;
const starts = {
  cli: [main],
  mcp: ["src/cli/commands/mcp.ts"],
  log: ["src/base/log.ts"],
  config: ["src/config/assemble.ts", "src/config/json.ts"],
  hall: ["src/hall/project.ts", "src/hall/settings.ts"],
};

const testToolkits = {
  name: "test-toolkits",
  setup({ onResolve }) {
    onResolve({ filter: /\/toolkits\/builtin\.ts$/ }, () => ({
      path: `${root}test/servers/builtin.ts`,
    }));
  },
};

const plugins = testCli === 0 ? [] : [testToolkits];
const { inputs } = (await build({ ...options, plugins })).metafile;
const gathering = gather(
  inputs,
  {
    starts,
    // The workers count as one: told apart, what they share would be many small files.
    others: { library: [library], workers: Object.values(workers) },
    main,
    hall: "src/hall/hall.ts",
  },
  root,
);
const result = await build({ ...options, plugins: [...plugins, gathering] });

// Packages written for CommonJS ask for `require`, by way of one file; a banner would make one in
// each file, which costs the start of a hall.
const withRequire =
  'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);\n';
for (const { path, text } of result.outputFiles) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text.includes("typeof require") ? withRequire + text : text);
}
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
  console.log(`${String(Math.round(pageBytes / 1024)).padStart(6)} KB  dist/web, compressed`);
  for (const [file, { bytes }] of Object.entries(result.metafile.outputs))
    console.log(`${String(Math.round(bytes / 1024)).padStart(6)} KB  ${file}`);
}
