import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import { median, ratioRow, row, short } from "./figures.mjs";
import { programs } from "./lisp/programs.mjs";
import { timeSbcl } from "./lisp/sbcl.mjs";
import { inTurns, pathOf } from "./processes.mjs";

/** Our Lisp beside a naive walker, SBCL, and the Lisps and Schemes of npm; and beside itself without its counters. */
export default { name: "lisp", run };

/** Timed here only, so no dependencies of ours: installed into a folder that is gone afterwards. */
const others = {
  biwascheme: "biwascheme@0.8.3",
  lips: "@jcubic/lips@0.20.3",
  jscl: "jscl@0.9.0-alpha.0",
};

async function run({ rounds = 5 } = {}) {
  const folder = mkdtempSync(join(tmpdir(), "guildhall-bench-lisp-"));
  try {
    const counted = await bundleLisp("counted", []);
    const uncounted = await bundleLisp("uncounted", [withoutCounters]);
    const installed = install(folder);
    const contestants = {
      ours: () => time("ours", counted),
      uncounted: () => time("ours", uncounted),
      naive: () => time("naive", folder),
      sbcl: () => timeSbcl(),
      "ours, small": () => time("ours", counted, "small"),
      ...Object.fromEntries(installed.map((name) => [name, () => time(name, folder, "small")])),
    };
    const measured = Object.fromEntries(Object.keys(contestants).map((name) => [name, []]));
    await inTurns(rounds, Object.keys(contestants), async (name) =>
      measured[name].push(contestants[name]()),
    );
    return rowsOf(measured, installed);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function rowsOf(measured, installed) {
  const of = (name, program) => measured[name].map((times) => times?.[program]);
  const rows = [];
  for (const { name, onlySbcl, atMost } of programs) {
    if (measured.sbcl[0] !== undefined)
      rows.push(
        ratioRow(`${name}: ours ÷ SBCL`, of("ours", name), of("sbcl", name), "ms", {
          atMost: atMost ?? (onlySbcl ? 8 : 40),
        }),
      );
    if (onlySbcl) continue;
    rows.push(
      ratioRow(`${name}: naive walker ÷ ours`, of("naive", name), of("ours", name), "ms", {
        atLeast: 5,
      }),
    );
    for (const other of installed)
      rows.push(otherRow(name, other, of(other, name), of("ours, small", name)));
  }
  const costs = programs.map(
    ({ name }) => median(of("ours", name)) / median(of("uncounted", name)),
  );
  const each = programs.map(({ name }, index) => `${name} ${short(costs[index])}`).join(", ");
  rows.push(
    row(
      "with budgets ÷ without, geometric mean",
      Math.exp(costs.reduce((sum, cost) => sum + Math.log(cost), 0) / costs.length),
      "×",
      { below: 1.2 },
      each,
    ),
  );
  return rows;
}

/** Not every engine can run every program; that is said, not judged. */
function otherRow(program, other, theirs, ours) {
  const figure = `${program} (small): ${other} ÷ ours`;
  const failed = theirs.find((time) => typeof time !== "number");
  if (failed !== undefined)
    return row(figure, undefined, "×", {}, `${other} does not run it: ${failed.error}`);
  return ratioRow(figure, theirs, ours, "ms", other === "jscl" ? {} : { atLeast: 1 });
}

function time(engine, folder, sizes = "full") {
  const runnable = programs.filter(
    ({ onlySbcl }) => !onlySbcl || (engine === "ours" && sizes === "full"),
  );
  return Object.fromEntries(
    runnable.map(({ name }) => [name, timeOne(engine, folder, sizes, name)]),
  );
}

function timeOne(...args) {
  return JSON.parse(
    execFileSync(process.execPath, ["--stack-size=4000", pathOf("lisp/time.mjs"), ...args], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "inherit"],
    }),
  );
}

function install(folder) {
  try {
    execFileSync(
      "npm",
      [
        "install",
        "--prefix",
        folder,
        "--ignore-scripts",
        "--no-audit",
        "--no-fund",
        "--loglevel=error",
        ...Object.values(others),
      ],
      {
        stdio: "ignore",
      },
    );
    return Object.keys(others);
  } catch {
    // Without a registry the rest is still worth measuring; the rows of these are missing then.
    return [];
  }
}

async function bundleLisp(name, plugins) {
  const outfile = pathOf(`results/lisp/${name}.mjs`);
  await build({
    entryPoints: [pathOf("../src/lisp/lisp.ts")],
    outfile,
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20.19",
    plugins,
    logLevel: "warning",
  });
  return outfile;
}

/** The run-time code of the budgets, as written in the source. The bench fails if a pattern no longer matches. */
const counters = [
  [/if \(--m\.fuel < 0\) m\.refuel\(\);/g, ""],
  [/--m\.fuel < 0/g, "false"],
  [/if \(depth > m\.depthMax\) exceed\(m, "DEPTH"\);/g, ""],
  [/if \(--this\.cellsLeft < 0\) exceed\(this, "CELL"\);/g, ""],
  [/this\.cellsLeft -= cells;/g, "return;"],
  [/this\.fuel -= steps;/g, "return;"],
];

/** Takes the counters out of the source while it is bundled. */
const withoutCounters = {
  name: "without-counters",
  setup({ onLoad, onEnd }) {
    const found = counters.map(() => 0);
    onLoad({ filter: /src\/lisp\/.*\.ts$/ }, async ({ path }) => {
      let contents = await readFile(path, "utf8");
      counters.forEach(([pattern, instead], index) => {
        found[index] += contents.match(pattern)?.length ?? 0;
        contents = contents.replace(pattern, instead);
      });
      return { contents, loader: "ts" };
    });
    onEnd(() => {
      const missing = counters.find((_, index) => found[index] === 0);
      if (missing !== undefined) throw new Error(`no counter ${missing[0]} in src/lisp any more`);
    });
  },
};
