import { spawn } from "node:child_process";
import { once } from "node:events";
import { PassThrough } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, onTestFinished, test, vi } from "vitest";
import { errorTable, HallError } from "../../src/base/errors.ts";
import type { Channel, Receiver } from "../../src/wire/channel.ts";
import { defaultLimits, type Limits } from "../../src/wire/channel.ts";
import { Peer, type PeerOptions } from "../../src/wire/peer.ts";
import { createStdioChannel } from "../../src/wire/stdio.ts";
import { until } from "../servers/until.ts";

test("lines may end with CRLF, may be blank, and may arrive many in one chunk or one in many", async () => {
  const { input, events } = open();
  input.write('{"a":1}\r\n\r\n\n  \n{"b":2}\n{"c"');
  input.write(':"€');
  input.write(Buffer.from([0xe2]));
  input.write(Buffer.from([0x82, 0xac, 0x0a]));
  await until(() => events.length >= 3);
  expect(events.map((event) => event.trim())).toEqual(['{"a":1}', '{"b":2}', '{"c":"€€']);
});

test("a line over the limit is reported once and the next one is read", async () => {
  const { input, events } = open({ messageBytesMax: 100 });
  for (let i = 0; i < 50; i++) input.write("x".repeat(50));
  input.write('\n"next"\n');
  await until(() => events.length >= 2);
  expect(events).toEqual(["oversize", '"next"']);
});

test("all frames of one turn leave in one write", async () => {
  const { channel, output } = open();
  const writes: string[] = [];
  output.on("data", (chunk: Buffer) => writes.push(chunk.toString()));
  channel.send('"one"');
  channel.send('"two"');
  await until(() => writes.length > 0);
  expect(writes).toEqual(['"one"\n"two"\n']);
});

test("a broken output is reported as closed, and sending on it is harmless", async () => {
  const { channel, output, events } = open();
  output.destroy(new Error("EPIPE"));
  await until(() => events.length > 0);
  channel.send('"nobody reads this"');
  await channel.close();
  expect(events).toEqual(["closed"]);
});

test("a broken input is reported as its end, once, and answers can still be written", async () => {
  const { channel, input, output, events } = open();
  input.destroy(new Error("EIO"));
  await until(() => events.length > 0);
  channel.send('"still here"');
  await until(() => output.readableLength > 0);
  expect(events).toEqual(["ended"]);
  expect(String(output.read())).toBe('"still here"\n');
});

test("queuedBytes counts bytes, not characters", () => {
  const { channel } = open();
  const frame = JSON.stringify("€".repeat(1_000));
  const count = 100;
  for (let i = 0; i < count; i++) channel.send(frame);
  // Short frames of one turn are counted in characters until they are written together.
  expect(channel.queuedBytes).toBeGreaterThan(0.5 * count * Buffer.byteLength(frame));
});

test("long frames and short ones leave in the order they were sent", async () => {
  const { channel, output } = open();
  const frames = [
    '"one"',
    JSON.stringify("€".repeat(100_000)),
    '"two"',
    '"three"',
    JSON.stringify("x".repeat(100_000)),
    '"four"',
  ];
  for (const frame of frames) channel.send(frame);
  expect(channel.queuedBytes).toBe(
    frames.reduce((sum, frame) => sum + Buffer.byteLength(frame) + 1, 0),
  );
  const chunks: Buffer[] = [];
  output.on("data", (chunk: Buffer) => chunks.push(chunk));
  await channel.close();
  expect(Buffer.concat(chunks).toString()).toBe(`${frames.join("\n")}\n`);
});

test("output of a child during close is not reported after closed", async () => {
  const child = spawn(process.execPath, [
    "-e",
    'process.stdin.resume().on("end", () => { console.log(\'"last words"\'); console.log(\'"and more"\'); })',
  ]);
  onTestFinished(() => void child.kill("SIGKILL"));
  const channel = createStdioChannel(child.stdout, child.stdin, defaultLimits);
  const events = record(channel);
  await channel.close();
  await once(child, "close");
  expect(events.filter((event) => event === "closed")).toHaveLength(1);
  expect(events.at(-1)).toBe("closed");
});

test("frames of the chunk being read are not reported after closed either", async () => {
  const input = new PassThrough();
  const channel = createStdioChannel(input, new PassThrough(), defaultLimits);
  const events: string[] = [];
  channel.start({
    ...receiver(events),
    frame: (bytes) => {
      events.push(bytes.toString());
      void channel.close({ now: true });
    },
  });
  input.write("1\n2\n3\n");
  await until(() => events.includes("closed"));
  await nextTurn();
  expect(events).toEqual(["1", "closed"]);
});

test("a client that never reads is not read from past the limit, and is closed once the time limit has passed", async () => {
  const { input, peer, closed, served } = serve(
    { writeQueueBytesMax: 50_000, stalledMsMax: 1_000 },
    "x".repeat(20_000),
  );
  for (let id = 1; id <= 50; id++) {
    input.write(request(id));
    await nextTurn();
  }
  expect(peer.isFull).toBe(true);
  expect(served.length).toBeLessThan(20);
  await until(() => closed.mock.calls.length > 0);
  expect(closed).toHaveBeenCalledOnce();
});

test("a client that reads after a pause gets every answer", async () => {
  const { input, output, closed } = serve(
    { writeQueueBytesMax: 50_000, stalledMsMax: 60_000 },
    "x".repeat(20_000),
  );
  for (let id = 1; id <= 50; id++) {
    input.write(request(id));
    await nextTurn();
  }
  const ids: number[] = [];
  let text = "";
  output.on("data", (chunk: Buffer) => {
    text += chunk.toString();
    const lines = text.split("\n");
    text = lines.pop() ?? "";
    for (const line of lines) ids.push((JSON.parse(line) as { id: number }).id);
  });
  await until(() => ids.length >= 50);
  expect(ids).toEqual(Array.from({ length: 50 }, (_, index) => index + 1));
  expect(closed).not.toHaveBeenCalled();
});

test("a client that reads at once is never held back, however small the queue may be", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "setTimeout", "performance"] });
  onTestFinished(() => void vi.useRealTimers());
  const { input, output, served, closed } = serve(
    { writeQueueBytesMax: 1_000, stalledMsMax: 100 },
    "x".repeat(2_000),
  );
  output.resume();
  input.write(request(1));
  while (served.length < 1) await nextTurn();
  input.write(request(2));
  while (served.length < 2) await nextTurn();
  expect(served).toEqual([1, 2]);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(closed).not.toHaveBeenCalled();
});

function open(limits: Partial<Limits> = {}) {
  const input = new PassThrough();
  const output = new PassThrough();
  const channel = createStdioChannel(input, output, { ...defaultLimits, ...limits });
  return { input, output, channel, events: record(channel) };
}

/** Starts the channel and records its events, except `drained`. */
function record(channel: Channel): string[] {
  const events: string[] = [];
  channel.start(receiver(events));
  return events;
}

function receiver(events: string[]): Receiver {
  return {
    frame: (bytes) => events.push(bytes.toString()),
    oversize: () => events.push("oversize"),
    drained: () => {},
    ended: () => events.push("ended"),
    closed: () => events.push("closed"),
  };
}

/** A peer on two streams that answers every request with the same text. */
function serve(limits: Partial<Limits>, answer: string) {
  const input = new PassThrough();
  const output = new PassThrough();
  const served: unknown[] = [];
  const closed = vi.fn();
  const options: PeerOptions = {
    limits: { ...defaultLimits, ...limits },
    handle: ({ id }) => {
      served.push(id);
      return answer;
    },
    notified: () => {},
    explain: (failure) => {
      const error =
        failure instanceof HallError ? failure : new HallError("INTERNAL", String(failure));
      return { error: { code: errorTable[error.code].request, message: error.message } };
    },
    closed,
  };
  const peer = new Peer(createStdioChannel(input, output, options.limits), options);
  onTestFinished(() => {
    output.resume();
    return peer.close();
  });
  return { input, output, peer, served, closed };
}

function request(id: number): string {
  return `{"jsonrpc":"2.0","id":${id},"method":"m"}\n`;
}
