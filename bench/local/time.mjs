/** Milliseconds of the processor since then: beside other work the clock says little. */
export function cpuMs(since) {
  const { user, system } = process.cpuUsage(since);
  return (user + system) / 1_000;
}
