import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";
import { build } from "esbuild";
import { afterAll, beforeAll, expect, test } from "vitest";

/** The chapters of the suite, and how many tests SBCL counts in each with the same loader. */
const chapters: Readonly<Record<string, number>> = {
  characters: 259,
  cons: 1885,
  symbols: 1142,
  conditions: 673,
  structures: 1394,
  sequences: 3287,
  "data-and-control-flow": 1428,
  misc: 740,
  iteration: 841,
  "eval-and-compile": 326,
  "hash-tables": 158,
  strings: 509,
  numbers: 1443,
  arrays: 1356,
  printer: 2372,
  environment: 210,
  objects: 805,
  packages: 500,
  "types-and-classes": 626,
  streams: 800,
  reader: 675,
  pathnames: 214,
  "system-construction": 77,
  files: 87,
};
/** Passed at the last change of the Lisp; fewer is a regression. */
const floor = 20_280;
const suite = process.env.GUILDHALL_ANSI_TEST;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "guildhall-ansi-"));
  await build({
    entryPoints: [fileURLToPath(new URL("../../src/lisp/lisp.ts", import.meta.url))],
    outfile: join(folder, "lisp.mjs"),
    bundle: true,
    format: "esm",
    platform: "node",
  });
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

if (suite) test("the ANSI test suite passes as far as it did", runSuite, 1_800_000);
else
  test("the ANSI test suite needs a checkout", () => {
    console.log(
      "Clone https://gitlab.common-lisp.net/ansi-test/ansi-test and set GUILDHALL_ANSI_TEST to the folder.",
    );
  });

async function runSuite(): Promise<void> {
  const rows: string[] = [];
  let total = 0;
  for (const [chapter, tests] of Object.entries(chapters)) {
    const { passed, failed } = await run(chapter);
    total += passed;
    rows.push(`| ${chapter} | ${tests} | ${passed} | ${share(passed, tests)} |`);
    if (process.env.GUILDHALL_ANSI_FAILURES)
      writeFileSync(
        join(process.env.GUILDHALL_ANSI_FAILURES, `${chapter}.txt`),
        failed.map(([name, why]) => `${name}\t${why}\n`).join(""),
      );
  }
  const all = Object.values(chapters).reduce((sum, tests) => sum + tests, 0);
  console.log(
    ["| chapter | tests | passed | |", "|---|---|---|---|", ...rows].join("\n"),
    `\n| all | ${all} | ${total} | ${share(total, all)} |`,
  );
  expect(total).toBeGreaterThanOrEqual(floor);
}

const share = (passed: number, tests: number): string => `${((passed / tests) * 100).toFixed(1)} %`;

interface ChapterResult {
  readonly passed: number;
  readonly failed: readonly (readonly [name: string, why: string])[];
}

function run(chapter: string): Promise<ChapterResult> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL("ansi-suite.mjs", import.meta.url), {
      workerData: { bundle: pathToFileURL(join(folder, "lisp.mjs")).href, suite, chapter },
      resourceLimits: { stackSizeMb: 64, maxOldGenerationSizeMb: 1500 },
    });
    worker.once("message", resolve);
    worker.once("error", reject);
  });
}
