import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { attach } from "../../src/hall/attach.ts";
import type { Channel } from "../../src/wire/channel.ts";
import { defaultLimits } from "../../src/wire/channel.ts";
import { createMemoryPair } from "../../src/wire/memory.ts";
import { createStdioChannel } from "../../src/wire/stdio.ts";
import { until } from "../servers/until.ts";

test("a client that sends more than can be kept for a hall that is not there yet is not read until it is", async () => {
  const input = new PassThrough();
  const frames: string[] = [];
  let arrive = (): void => {};
  const arrived = new Promise<void>((resolve) => {
    arrive = resolve;
  });
  const limits = { ...defaultLimits, writeQueueBytesMax: 1_000 };
  const attached = attach(createStdioChannel(input, new PassThrough(), limits), {
    limits,
    async connect() {
      await arrived;
      const [near, far] = createMemoryPair();
      far.start({
        frame: (bytes) => frames.push(bytes.toString()),
        oversize() {},
        drained() {},
        ended() {},
        closed() {},
      });
      return near;
    },
  });
  const message = (n: number): string =>
    `{"jsonrpc":"2.0","method":"notifications/x","params":{"n":${n},"text":"${"x".repeat(100)}"}}`;
  for (let n = 0; n < 20; n++) input.write(`${message(n)}\n`);
  await until(() => input.isPaused(), "no longer read");
  arrive();
  await until(() => frames.length === 20, "all passed on");
  expect(frames).toEqual(Array.from({ length: 20 }, (_, n) => message(n)));
  input.end();
  await attached;
});

test("a client that is gone is not connected once more", async () => {
  const output = new PassThrough();
  let connected = 0;
  const attached = attach(createStdioChannel(new PassThrough(), output, defaultLimits), {
    limits: defaultLimits,
    async connect() {
      connected++;
      const [near, far] = createMemoryPair();
      far.start({ frame() {}, oversize() {}, drained() {}, ended() {}, closed() {} });
      return near satisfies Channel;
    },
  });
  // It no longer reads, and has not said that it sends no more.
  output.destroy();
  await attached;
  expect(connected).toBe(1);
});

test("requests that no hall can answer any more get the reason", async () => {
  const input = new PassThrough();
  const output = new PassThrough();
  const [near, far] = createMemoryPair();
  const frames: string[] = [];
  far.start({
    frame: (bytes) => frames.push(bytes.toString()),
    oversize() {},
    drained() {},
    ended() {},
    closed() {},
  });
  const halls = [near];
  const attached = attach(createStdioChannel(input, output, defaultLimits), {
    limits: defaultLimits,
    async connect() {
      const hall = halls.pop();
      if (!hall) throw new Error("the config has a mistake");
      return hall;
    },
  });
  let answers = "";
  output.on("data", (bytes: Buffer) => {
    answers += bytes;
  });
  input.write('{"jsonrpc":"2.0","id":1,"method":"tools/list"}\n');
  input.write('{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"x"}}\n');
  await until(() => frames.length === 2, "both reached the hall");
  await far.close();
  await attached;
  const messages = answers
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { id: number; error: { message: string } });
  expect(Object.fromEntries(messages.map(({ id, error }) => [id, error.message]))).toEqual({
    1: "the hall ended, and the next one did not start (the config has a mistake)",
    2: "the hall ended while the tool was running; the call may have taken effect",
  });
});
