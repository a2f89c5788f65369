import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { bundle } from "./bundle.mjs";
import { median, row, short } from "./figures.mjs";

/** The cost of recording a call, and of opening and reading a file with a million rows. */
export default { name: "store", run };

const rows = 1_000_000;

async function run({ rounds = 5 } = {}) {
  const program = await bundle("store-work");
  const folder = mkdtempSync(join(tmpdir(), "guildhall-bench-store-"));
  const path = (name) => join(folder, `${name}.db`);
  const work = async (name, place, count) =>
    JSON.parse(
      (await promisify(execFile)(process.execPath, [program, name, place, String(count)])).stdout,
    );
  const task = (name, file, count = 0) => work(name, path(file), count);
  const times = async (name, file, count) => {
    const found = [];
    for (let round = 0; round < rounds; round++) found.push(await task(name, file, count));
    return found;
  };
  try {
    const costs = await times("cost", "cost", 100_000);
    const sustained = await times("sustain", "sustain", 100_000);
    await task("start", "empty");
    await task("fill", "full", rows);
    const starts = { empty: [], full: [] };
    for (let round = 0; round < rounds; round++)
      for (const file of ["empty", "full"]) starts[file].push((await task("start", file)).ms);
    const statistics = await times("statistics", "full");
    const verified = await times("verify", "full");
    if (statistics[0].calls < rows || verified[0].rows < rows) throw new Error("rows are missing");
    const megabytes = statSync(path("full")).size / 1024 / 1024;
    const [plain, recorded] = [
      median(costs.map((cost) => cost.plain)),
      median(costs.map((cost) => cost.recorded)),
    ];
    const what = `${short(rows)} calls`;
    return [
      row(
        "the hall's thread, for recording one call",
        median(costs.map((cost) => cost.recorded - cost.plain)),
        "µs",
        { atMost: 4 },
        `${short(recorded)} with, ${short(plain)} without`,
      ),
      row(
        "calls recorded, durable, without end",
        median(sustained.map(({ perSecond }) => perSecond)),
        "calls/s",
        { atLeast: 20_000 },
        "synchronous FULL",
      ),
      row(
        `start to the first durable row, ${what}, above none`,
        median(starts.full) - median(starts.empty),
        "ms",
        { below: 100 },
        `${short(median(starts.full))} and ${short(median(starts.empty))} ms; the file has ${short(megabytes)} MB`,
      ),
      row(
        `stats over ${what}`,
        median(statistics.map(({ ms }) => ms)),
        "ms",
        { below: 300 },
        "a month, 280 tools",
      ),
      row(
        `audit verify over ${short(rows)} rows`,
        median(verified.map(({ ms }) => ms)) / 1_000,
        "s",
        { below: 10 },
      ),
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
