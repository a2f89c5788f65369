import { EventEmitter } from "node:events";
import type { ServerResponse } from "node:http";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { EventStream } from "../../src/net/event-stream.ts";

const options = { keepAliveMs: 60_000, bufferBytesMax: 100, stalledMsMax: 1_000 };

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("a reader that is slow but reads keeps its stream, one that does not read is cut", () => {
  const reader = new Reader();
  const stream = new EventStream(reader as unknown as ServerResponse, options);
  stream.send({ data: "x".repeat(150) });
  reader.read(100);
  vi.advanceTimersByTime(options.stalledMsMax);
  expect(reader.destroyed).toBe(false);

  stream.send({ data: "x".repeat(150) });
  expect(stream.send({ data: "only a hint" }, true)).toBe(false);
  vi.advanceTimersByTime(options.stalledMsMax - 1);
  expect(reader.destroyed).toBe(false);
  vi.advanceTimersByTime(1);
  expect(reader.destroyed).toBe(true);
  expect(stream.send({ data: "too late" })).toBe(false);
});

/** A response whose reader takes as much as the test says; it drains only when all is taken, as Node's does. */
class Reader extends EventEmitter {
  writableLength = 0;
  destroyed = false;

  writeHead(): void {}
  flushHeaders(): void {}

  write(text: string): void {
    this.writableLength += text.length;
  }

  read(bytes: number): void {
    this.writableLength = Math.max(0, this.writableLength - bytes);
    if (this.writableLength === 0) this.emit("drain");
  }

  destroy(): void {
    this.destroyed = true;
    this.emit("close");
  }
}
