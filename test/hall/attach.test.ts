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

/** A client that is attached to the first of these halls, then to the next. */
function attachTo(...halls: readonly Channel[]) {
  const input = new PassThrough();
  const output = new PassThrough();
  const waiting = [...halls];
  const ended = attach(createStdioChannel(input, output, defaultLimits), {
    limits: defaultLimits,
    connect: async () => waiting.shift() ?? Promise.reject(new Error("there is no other hall")),
  });
  const answers: string[] = [];
  output.on("data", (bytes: Buffer) => answers.push(...bytes.toString().trim().split("\n")));
  return { input, answers, ended, write: (line: string) => void input.write(`${line}\n`) };
}

function fakeHall() {
  const [near, far] = createMemoryPair();
  const frames: string[] = [];
  const frame = (bytes: Buffer): void => void frames.push(bytes.toString());
  far.start({ frame, oversize() {}, drained() {}, ended() {}, closed() {} });
  return { near, far, frames };
}

const batch =
  '[{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}},{"jsonrpc":"2.0","id":2,"method":"ping"}]';
const hello = '{"jsonrpc":"2.0","id":0,"method":"initialize"}';
const greeting = '{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-03-26"}}';

test("a client that has sent its last batch still gets the answers", async () => {
  const hall = fakeHall();
  const { input, answers, ended, write } = attachTo(hall.near);
  write(hello);
  await until(() => hall.frames.length === 1, "the hall is greeted");
  hall.far.send(greeting);
  await until(() => answers.length === 1, "the client is greeted");
  write(batch);
  input.end();
  await until(() => hall.frames.includes(batch), "the hall has the batch");
  await until(() => hall.frames.length === 3, "the hall knows that it was the last");
  const both = '[{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"2.0","id":2,"result":{}}]';
  hall.far.send(both);
  await ended;
  expect(answers).toEqual([greeting, both]);
});

test("the requests of a batch are answered after their hall was killed, each once", async () => {
  const [hall, next] = [fakeHall(), fakeHall()];
  const { input, answers, ended, write } = attachTo(hall.near, next.near);
  write(hello);
  await until(() => hall.frames.length === 1, "the hall is greeted");
  hall.far.send(greeting);
  await until(() => answers.length === 1, "the client is greeted");
  write(batch);
  await until(() => hall.frames.includes(batch), "the hall has the batch");
  await hall.far.close();
  await until(() => next.frames.length === 2, "the next hall has what may be repeated");
  expect(next.frames[1]).toBe('{"jsonrpc":"2.0","id":2,"method":"ping"}');
  next.far.send('{"jsonrpc":"2.0","id":2,"result":{}}');
  input.end();
  await ended;
  expect(answers.slice(1).map((line) => JSON.parse(line))).toMatchObject([
    { id: 1, error: { message: expect.stringContaining("may have taken effect") } },
    { id: 2, result: {} },
  ]);
});

test("a batch in a version without them is not sent again in parts", async () => {
  const [hall, next] = [fakeHall(), fakeHall()];
  const { input, answers, ended, write } = attachTo(hall.near, next.near);
  write(batch);
  await until(() => hall.frames.length === 1, "the hall has the batch");
  const refusal = '{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"no batches"}}';
  hall.far.send(refusal);
  await hall.far.close();
  input.end();
  await ended;
  expect(next.frames.filter((frame) => frame.includes("ping"))).toEqual([]);
  expect(answers).toEqual([refusal]);
});
