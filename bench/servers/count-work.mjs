// Loaded into a hall with --import. Each SIGUSR2 adds a line to the file COUNT_FILE: promises made so far, and bytes
// allocated since the line before, as V8 samples them, including what was collected again. Counting promises makes them
// slower and sampling makes allocation slower, so COUNT chooses one: `promises` or `bytes`.
import { createHook } from "node:async_hooks";
import { appendFileSync } from "node:fs";
import { Session } from "node:inspector";

const tell = (value) => appendFileSync(process.env.COUNT_FILE, `${value}\n`);

if (process.env.COUNT === "promises") {
  let promises = 0;
  const init = (_id, type) => {
    if (type === "PROMISE") promises++;
  };
  createHook({ init }).enable();
  process.on("SIGUSR2", () => tell(promises));
}

if (process.env.COUNT === "bytes") {
  const session = new Session();
  session.connect();
  const sample = () =>
    session.post("HeapProfiler.startSampling", {
      samplingInterval: 4096,
      includeObjectsCollectedByMajorGC: true,
      includeObjectsCollectedByMinorGC: true,
    });
  const sizeOf = ({ selfSize, children }) =>
    children.reduce((size, child) => size + sizeOf(child), selfSize);
  sample();
  process.on("SIGUSR2", () =>
    session.post("HeapProfiler.stopSampling", (_error, { profile }) => {
      sample();
      tell(sizeOf(profile.head));
    }),
  );
}
