// Preloaded into a process. At SIGUSR2 a line goes to GUILDHALL_BENCH_DELAYS: the longest time the
// event loop stood still since the last one, in ms by the clock, and the most the process worked
// between two of its turns, in ms of the processor. Beside other work only the second says
// something of the process.
import { appendFileSync } from "node:fs";

let most = { clock: 0, processor: 0 };
let before = { at: performance.now(), used: process.cpuUsage() };
const everyMs = 1;
setInterval(() => {
  const { user, system } = process.cpuUsage(before.used);
  most.clock = Math.max(most.clock, performance.now() - before.at - everyMs);
  most.processor = Math.max(most.processor, (user + system) / 1000);
  before = { at: performance.now(), used: process.cpuUsage() };
}, everyMs).unref();

process.on("SIGUSR2", () => {
  appendFileSync(process.env.GUILDHALL_BENCH_DELAYS, `${JSON.stringify(most)}\n`);
  most = { clock: 0, processor: 0 };
});
