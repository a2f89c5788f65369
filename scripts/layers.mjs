// The folder-import table as lint rules: each layer may import only those before it in this list.
// Writes biome.layers.json, which biome.json extends; `--check` fails when the file is out of date.
import { readFileSync, writeFileSync } from "node:fs";

const layers = [
  "base",
  "net",
  "wire",
  "tool.ts",
  "client",
  "config",
  "store",
  "trust",
  "upstream",
  "registry",
  "gateway",
  "ranking",
  "lisp",
  "toolkits",
  "agents",
  "workflow",
  "server",
  "hall",
  "author",
  "index.ts",
  "tui",
  "cli",
];

// Folders inside a layer that have the name of another: an import of them looks the same, and is right.
const inner = {};

const isFile = (layer) => layer.endsWith(".ts");
const inside = (layer) => (isFile(layer) ? `src/${layer}` : `src/${layer}/**`);
const imports = (layer) =>
  isFile(layer)
    ? [`./${layer}`, `../${layer}`, `../../${layer}`]
    : [`./${layer}/**`, `../${layer}/**`, `../../${layer}/**`];

const overrides = layers.map((layer, index) => ({
  includes: [inside(layer)],
  linter: {
    rules: {
      style: {
        noRestrictedImports: {
          level: "error",
          options: {
            patterns: [
              {
                group: layers
                  .slice(index + 1)
                  .filter((other) => !inner[layer]?.includes(other))
                  .flatMap(imports),
                message: `src/${layer} may import only the folders before it in scripts/layers.mjs.`,
              },
            ],
          },
        },
      },
    },
  },
}));

const target = new URL("../biome.layers.json", import.meta.url);
const text = `${JSON.stringify({ overrides: overrides.slice(0, -1) }, null, 2)}\n`;
if (process.argv.includes("--check")) {
  if (readFileSync(target, "utf8") !== text) {
    console.error("biome.layers.json is out of date: run `npm run format`.");
    process.exitCode = 1;
  }
} else writeFileSync(target, text);
