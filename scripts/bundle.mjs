// The scripts of a build: main.cjs, and in lazy/ what a start should not read. `src/cli/scripts.ts` runs
// them (docs/decisions/0023).

import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { build } from "esbuild";

/** Parts of the program: each runs when it is asked for. */
export const parts = {
  cli: "src/cli/main.ts",
  index: "src/index.ts",
  moduleHost: "src/author/module-host.ts",
};

/** Packages in one script share what they depend on. */
const lazy = {
  ajv: ["ajv", "ajv/dist/2020.js", "ajv-formats"],
  chrono: ["chrono-node/en"],
  commander: ["commander"],
  jose: ["jose"],
  lisp: ["./src/lisp/lisp.ts"],
  mcp: ["@modelcontextprotocol/client"],
  "model-amazon-bedrock": ["@ai-sdk/amazon-bedrock"],
  "model-anthropic": ["@ai-sdk/anthropic"],
  "model-google": ["@ai-sdk/google"],
  "model-openai": ["@ai-sdk/openai"],
  "model-openai-compatible": ["@ai-sdk/openai-compatible"],
  models: ["@ai-sdk/provider", "@ai-sdk/provider-utils"],
  pg: ["pg"],
  prompts: ["@clack/prompts"],
  re2js: ["re2js"],
  sucrase: ["sucrase"],
  temporal: ["temporal-polyfill"],
  ws: ["ws"],
  yaml: ["yaml", "js-yaml"],
  zod: ["zod", "zod/mini", "zod/v3", "zod/v4"],
};

/**
 * Bundles the parts and what is lazy into `outdir`, with `plugins` for main.cjs. Returns a digest of
 * the scripts.
 */
export async function bundle(options, { outdir, plugins }) {
  const scripts = await Promise.all([
    bundleScript(
      "main.cjs",
      Object.entries(parts).map(([name, path]) => [name, `./${path}`]),
      [separateLazy(), ...plugins],
    ),
    ...Object.entries(lazy).map(([name, paths]) =>
      bundleScript(
        `lazy/${name}.cjs`,
        paths.map((path) => [path, path]),
        [separateLazy(name)],
      ),
    ),
  ]);
  const digest = createHash("sha256");
  for (const { path, contents } of scripts.flatMap(({ outputFiles }) => outputFiles)) {
    digest.update(contents);
    writeFileSync(path, contents);
  }
  return digest.digest("hex").slice(0, 16);

  /** A script whose exports are functions that load modules. `import()` becomes `require`. */
  function bundleScript(name, modules, plugins) {
    const exports = modules.map(
      ([key, path]) =>
        `exports[${JSON.stringify(key)}] = () => require(${JSON.stringify(path)});\n`,
    );
    return build({
      ...options,
      stdin: {
        contents: exports.join(""),
        resolveDir: options.absWorkingDir,
        sourcefile: name,
      },
      outfile: join(outdir, name),
      plugins,
      write: false,
      format: "cjs",
      supported: { "dynamic-import": false },
      define: { "import.meta.url": "urlOfScript" },
      banner: { js: `(function (${parameters}) {` },
      footer: { js: "})" },
    });
  }

  /** Turns an import of what is in another script of `lazy` into an import of that script. */
  function separateLazy(own) {
    return {
      name: "separate-lazy",
      setup({ onResolve, onLoad }) {
        const scriptOf = new Map(
          Object.entries(lazy).flatMap(([script, names]) => names.map((name) => [name, script])),
        );
        onResolve({ filter: /^/ }, ({ path, resolveDir, kind }) => {
          if (kind === "entry-point" || path.startsWith("./lazy/")) return;
          const name = path.startsWith(".")
            ? `./${relative(options.absWorkingDir, join(resolveDir, path))}`
            : path;
          if (!scriptOf.has(name) || scriptOf.get(name) === own) return;
          return { path: name, namespace: "lazy" };
        });
        onResolve({ filter: /^\.\/lazy\//, namespace: "lazy" }, ({ path }) => ({
          path,
          external: true,
        }));
        onLoad({ filter: /^/, namespace: "lazy" }, ({ path }) => ({
          contents: `module.exports = require("./lazy/${scriptOf.get(path)}.cjs")["${path}"]();`,
        }));
      },
    };
  }
}

const parameters = "exports, require, module, __filename, __dirname, urlOfScript, importOfLoader";
