// Preloaded into a process: at SIGUSR2 the longest time its event loop stood still since the last one goes, in ms, as a line to GUILDHALL_BENCH_DELAYS.
import { appendFileSync } from "node:fs";
import { monitorEventLoopDelay } from "node:perf_hooks";

const resolutionMs = 1;
const delay = monitorEventLoopDelay({ resolution: resolutionMs });
delay.enable();
process.on("SIGUSR2", () => {
  appendFileSync(process.env.GUILDHALL_BENCH_DELAYS, `${delay.max / 1e6 - resolutionMs}\n`);
  delay.reset();
});
