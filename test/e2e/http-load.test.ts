import { afterAll, beforeAll, expect, test } from "vitest";
import { modern } from "../servers/client.ts";
import { modernHeaders } from "../servers/door-clients.ts";
import {
  buildLoadHall,
  dial,
  greetMany,
  type LoadHall,
  report,
  startLoadHall,
  writePost,
} from "../servers/load.ts";
import { residentMegabytes } from "../servers/process.ts";

/** The cost of a thousand bad clients: time for healthy ones, memory for the hall. Each hall is its own process. */
let built: Awaited<ReturnType<typeof buildLoadHall>>;
beforeAll(async () => {
  built = await buildLoadHall();
});
afterAll(() => built.remove());

const still = { still: "here" };
/** As in src/server/http/listener.ts. */
const headersMsMax = 10_000;

/** Calls one after the other, each answered. */
async function callMany(hall: LoadHall, count: number): Promise<void> {
  for (let n = 0; n < count; n++)
    expect(await hall.call("echo.echo", { n })).toBe(JSON.stringify({ n }));
}

test("a thousand connections that send their headers slowly do not keep others from being served", async () => {
  await using hall = await startLoadHall(built.script);
  const startedAt = performance.now();
  const slow = await Promise.all(Array.from({ length: 1_000 }, () => dial(hall)));
  let early = 0;
  for (const socket of slow)
    socket
      .on("error", () => {})
      .once("close", () => {
        // A busy machine may need longer for the calls than the hall waits for headers.
        if (performance.now() - startedAt < headersMsMax) early++;
      })
      .write("POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ");
  let turn = 0;
  const dribble = setInterval(() => {
    for (let n = 0; n < 20; n++) slow[turn++ % slow.length]?.write("x");
  }, 20);
  await callMany(hall, 300);
  clearInterval(dribble);
  expect(early).toBe(0);
});

test("a thousand connections that are never used again cost less than 10 MB", async () => {
  await using hall = await startLoadHall(built.script);
  await greetMany(hall, 500);
  const before = await hall.restingMegabytes();
  await greetMany(hall, 1_000);
  const cost = (await hall.restingMegabytes()) - before;
  report("a thousand idle connections", { megabytes: cost, kilobytesEach: cost * 1.024 });
  expect(cost).toBeLessThan(10);
});

// More than a hall keeps; test/long has a hundred thousand.
test("three thousand abandoned handshakes cost less than 50 MB", async () => {
  await using hall = await startLoadHall(built.script);
  // A hall in use: what any traffic costs is not counted.
  await callMany(hall, 1_000);
  await greetMany(hall, 500);
  const before = await hall.restingMegabytes();
  expect(new Set(await greetMany(hall, 3_000)).size).toBe(3_000);
  const cost = (await hall.restingMegabytes()) - before;
  report("three thousand handshakes", { megabytes: cost });
  expect(cost).toBeLessThan(50);
  expect(await hall.call("echo.echo", still)).toBe(JSON.stringify(still));
});

/**
 * Opens streams that are acknowledged and then never read again: half of them as legacy clients,
 * half as modern ones.
 */
async function openStalled(hall: LoadHall, count: number, uri: string): Promise<void> {
  const ids = await greetMany(hall, count / 2);
  const wanted = { notifications: { toolsListChanged: true, resourceSubscriptions: [uri] } };
  const listen = { jsonrpc: "2.0", id: 1, method: "subscriptions/listen", params: modern(wanted) };
  const subscribe = { jsonrpc: "2.0", id: 2, method: "resources/subscribe", params: { uri } };
  async function stall(request: string): Promise<void> {
    const socket = await dial(hall);
    socket.on("error", () => {});
    await new Promise<void>((resolve) => {
      socket.once("data", () => resolve());
      socket.write(request);
    });
    socket.pause();
  }
  for (let n = 0; n < ids.length; n += 50) {
    await Promise.all(
      ids
        .slice(n, n + 50)
        .flatMap((id) => [
          stall(
            `${writePost(subscribe, { "Mcp-Session-Id": id })}GET /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: text/event-stream\r\nMcp-Session-Id: ${id}\r\n\r\n`,
          ),
          stall(writePost(listen, modernHeaders(listen))),
        ]),
    );
  }
}

test("a thousand unread streams cost less than 64 MB while everything changes repeatedly", async () => {
  await using hall = await startLoadHall(built.script);
  const uri = "page://a/resource/with/a/name/of/usual/length.txt";
  await greetMany(hall, 500);
  const before = await hall.restingMegabytes();
  await openStalled(hall, 1_000, uri);
  const opened = await hall.restingMegabytes();
  let most = 0;
  for (let n = 0; n < 5; n++) {
    await hall.call("load.change");
    await hall.call("load.touch", { times: 60, uri });
    most = Math.max(most, residentMegabytes(hall.process.pid));
  }
  const after = await hall.restingMegabytes();
  report("a thousand stalled readers", {
    openedMegabytes: opened - before,
    mostMegabytes: most - before,
    megabytes: after - before,
  });
  expect(after - before).toBeLessThan(64);
  expect(await hall.call("echo.echo", still)).toBe(JSON.stringify(still));
});

test("unread streams buffer a bounded part of their events, however many there are", async () => {
  await using hall = await startLoadHall(built.script);
  const uri = `page://${"x".repeat(8_000)}`;
  await greetMany(hall, 500);
  const before = await hall.restingMegabytes();
  await openStalled(hall, 40, uri);
  // Ten megabytes for each: more than any socket takes.
  for (let n = 0; n < 13; n++) await hall.call("load.touch", { times: 100, uri });
  const cost = (await hall.restingMegabytes()) - before;
  report("forty stalled readers of ten megabytes each", { megabytes: cost });
  expect(cost).toBeLessThan(32);
});
