import { afterAll, beforeAll, expect, test } from "vitest";
import { openDoor } from "../servers/door.ts";
import { buildLoadHall, greetMany, report, startLoadHall } from "../servers/load.ts";
import { residentMegabytes } from "../servers/process.ts";

let built: Awaited<ReturnType<typeof buildLoadHall>>;
beforeAll(async () => {
  built = await buildLoadHall();
});
afterAll(() => built.remove());

test("a hundred thousand handshakes that lead nowhere cost less than 50 MB", {
  timeout: 180_000,
}, async () => {
  await using hall = await startLoadHall(built.script);
  // A hall in use: what any traffic costs is not counted.
  await greetMany(hall, 500);
  const before = await hall.restingMegabytes();
  let most = 0;
  const watch = setInterval(() => {
    most = Math.max(most, residentMegabytes(hall.process.pid));
  }, 50);
  const since = performance.now();
  await greetMany(hall, 100_000);
  const seconds = (performance.now() - since) / 1_000;
  clearInterval(watch);
  const cost = (await hall.restingMegabytes()) - before;
  report("a hundred thousand handshakes", {
    seconds,
    mostMegabytes: most - before,
    megabytes: cost,
  });
  expect(cost).toBeLessThan(50);
});

test("a body that is never finished: 408 after half a minute, and the line is closed", {
  timeout: 120_000,
}, async () => {
  await using door = await openDoor({ toolkits: [] });
  const dialled = door.dial();
  dialled.write(
    'POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"jsonrpc"',
  );
  const dribble = setInterval(() => dialled.write(" "), 1_000);
  await dialled.closed;
  clearInterval(dribble);
  expect(dialled.received).toMatch(/^HTTP\/1\.1 408 /);
});
