import { setImmediate as nextTurn } from "node:timers/promises";
import fc from "fast-check";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Channel } from "../../src/wire/channel.ts";
import { until } from "../servers/until.ts";

/** Both ends of one line. `close` frees whatever the transport holds, however the test left it. */
export interface Line {
  readonly near: Channel;
  readonly far: Channel;
  close(): Promise<void>;
}

/** The promises of every transport to a Peer. Frames are JSON texts, never blank and without a raw newline. */
export function channelContract(name: string, open: () => Promise<Line>): void {
  async function openLine(): Promise<Line> {
    const line = await open();
    onTestFinished(() => line.close());
    return line;
  }

  describe(`${name}, as a channel`, () => {
    test("frames arrive whole and in order, both ways at once", async () => {
      const { near, far } = await openLine();
      const atNear = listen(near);
      const atFar = listen(far);
      const numbers = Array.from({ length: 300 }, (_, n) => n);
      for (const n of numbers) {
        near.send(`{"to":"far","n":${n}}`);
        far.send(`{"to":"near","n":${n}}`);
        if (n % 50 === 0) await nextTurn();
      }
      await until(() => atFar.frames.length >= 300 && atNear.frames.length >= 300);
      expect(atFar.frames).toEqual(numbers.map((n) => `{"to":"far","n":${n}}`));
      expect(atNear.frames).toEqual(numbers.map((n) => `{"to":"near","n":${n}}`));
    });

    test("frames sent before the other side starts are not lost", async () => {
      const { near, far } = await openLine();
      listen(near);
      near.send('"one"');
      near.send('"two"');
      await settled();
      const atFar = listen(far);
      near.send('"three"');
      await until(() => atFar.frames.length >= 3);
      expect(atFar.frames).toEqual(['"one"', '"two"', '"three"']);
    });

    test("frames sent by a side that has not started are not lost", async () => {
      const { near, far } = await openLine();
      const atFar = listen(far);
      near.send('"early"');
      await until(() => atFar.frames.length >= 1);
      expect(atFar.frames).toEqual(['"early"']);
    });

    test("a line that closed before the other side starts still delivers its frames, and only then its end", async () => {
      const { near, far } = await openLine();
      listen(near);
      near.send('"one"');
      near.send('"two"');
      const closing = near.close();
      await settled();
      const atFar = listen(far);
      await until(() => atFar.endedCount > 0 && atFar.frames.length >= 2);
      await closing;
      await settled();
      expect(atFar.events.slice(0, 3)).toEqual(['frame "one"', 'frame "two"', "ended"]);
    });

    test("a paused side receives nothing until it resumes, and then everything in order", async () => {
      const { near, far } = await openLine();
      listen(near);
      const atFar = listen(far);
      near.send('"before"');
      await until(() => atFar.frames.length === 1);
      far.pause();
      near.send('"one"');
      near.send('"two"');
      await settled();
      expect(atFar.frames).toEqual(['"before"']);
      far.resume();
      near.send('"three"');
      await until(() => atFar.frames.length >= 4);
      expect(atFar.frames).toEqual(['"before"', '"one"', '"two"', '"three"']);
    });

    test("a side that is paused still sends", async () => {
      const { near, far } = await openLine();
      const atNear = listen(near);
      listen(far);
      far.pause();
      far.send('"from the paused side"');
      await until(() => atNear.frames.length >= 1);
      expect(atNear.frames).toEqual(['"from the paused side"']);
    });

    test("a paused side receives the frames before the end of a line that closed meanwhile", async () => {
      const { near, far } = await openLine();
      listen(near);
      const atFar = listen(far);
      far.pause();
      near.send('"last words"');
      await settled();
      void near.close();
      await settled();
      far.resume();
      await until(() => atFar.endedCount > 0 && atFar.frames.length > 0);
      await settled();
      expect(atFar.events.slice(0, 2)).toEqual(['frame "last words"', "ended"]);
    });

    test("frames with any Unicode survive", async () => {
      const { near, far } = await openLine();
      listen(near);
      const atFar = listen(far);
      const frames = fc
        .sample(fc.string({ unit: "binary", maxLength: 60 }), { numRuns: 400, seed: 1 })
        .map((text) => JSON.stringify(text));
      frames.push(JSON.stringify("\u2028\u2029\u0085\ufeff\u0000\ud800 \u{10ffff} e\u0301 👩‍👩‍👧"));
      for (const frame of frames) near.send(frame);
      await until(() => atFar.frames.length >= frames.length);
      expect(atFar.frames).toEqual(frames);
    });

    test("a frame of one megabyte arrives whole, with characters of any length", async () => {
      const { near, far } = await openLine();
      listen(near);
      const atFar = listen(far);
      const ascii = JSON.stringify("a".repeat(1_000_000));
      const wide = JSON.stringify("x".concat("€👍".repeat(150_000)));
      near.send(ascii);
      near.send(wide);
      await until(() => atFar.frames.length >= 2);
      expect(atFar.frames[0] === ascii).toBe(true);
      expect(atFar.frames[1] === wide).toBe(true);
    });

    test("queuedBytes goes up while the far side does not read, and comes back to zero when it does", async () => {
      const { near, far } = await openLine();
      const atNear = listen(near);
      const atFar = listen(far);
      expect(near.queuedBytes).toBe(0);
      far.pause();
      const frames = manyBigFrames();
      for (const frame of frames) near.send(frame);
      expect(near.queuedBytes).toBeGreaterThan(totalLength(frames) / 2);
      await settled();
      expect(near.queuedBytes).toBeGreaterThan(1_000_000);
      expect(atNear.drainedCount).toBe(0);
      far.resume();
      await until(
        () =>
          atFar.frames.length >= frames.length && near.queuedBytes === 0 && atNear.drainedCount > 0,
      );
      expect(atFar.frames.map(label)).toEqual(frames.map(label));
    });

    test("close writes the queue before it ends, however slowly it is read", async () => {
      const { near, far } = await openLine();
      const atNear = listen(near);
      const atFar = listen(far);
      far.pause();
      const frames = manyBigFrames();
      for (const frame of frames) near.send(frame);
      const closing = near.close();
      await settled();
      far.resume();
      await closing;
      await until(() => atFar.endedCount > 0);
      expect(atFar.frames.map(label)).toEqual(frames.map(label));
      expect(atFar.events.indexOf("ended")).toBe(frames.length);
      expect(atNear.closedCount).toBe(1);
    });

    test("a close with nothing queued is reported once on each side, and closed comes last", async () => {
      const { near, far } = await openLine();
      const atNear = listen(near);
      const atFar = listen(far);
      await near.close();
      await until(() => atFar.endedCount > 0);
      await far.close();
      await until(() => atNear.closedCount > 0 && atFar.closedCount > 0);
      await settled();
      for (const log of [atNear, atFar]) {
        expect(log.closedCount).toBe(1);
        expect(log.endedCount).toBeLessThanOrEqual(1);
        expect(log.events.at(-1)).toBe("closed");
      }
      expect(atFar.endedCount).toBe(1);
    });

    test("close can be called again, at once, later, and after the other side closed", async () => {
      const { near, far } = await openLine();
      const atNear = listen(near);
      const atFar = listen(far);
      await Promise.all([near.close(), near.close()]);
      await near.close();
      await far.close();
      await near.close({ now: true });
      await far.close({ now: true });
      await settled();
      expect(atNear.closedCount).toBe(1);
      expect(atFar.closedCount).toBe(1);
    });

    test("close with now does not wait for a side that does not read", async () => {
      const { near, far } = await openLine();
      const atNear = listen(near);
      listen(far);
      far.pause();
      for (const frame of manyBigFrames()) near.send(frame);
      await settled();
      await near.close({ now: true });
      await until(() => atNear.closedCount > 0);
      expect(atNear.events.at(-1)).toBe("closed");
    });

    test("a close that waits for a slow reader is cut short by close with now", async () => {
      const { near, far } = await openLine();
      const atNear = listen(near);
      listen(far);
      far.pause();
      for (const frame of manyBigFrames()) near.send(frame);
      await settled();
      const patient = near.close();
      await settled();
      await near.close({ now: true });
      await patient;
      expect(atNear.closedCount).toBe(1);
    });

    test("a line closed with now is reported on the other side as its end, once", async () => {
      const { near, far } = await openLine();
      listen(near);
      const atFar = listen(far);
      await near.close({ now: true });
      await until(() => atFar.endedCount > 0);
      await settled();
      expect(atFar.endedCount).toBe(1);
    });

    test("nothing is reported after closed, even when frames were on their way", async () => {
      const { near, far } = await openLine();
      const atNear = listen(near);
      listen(far);
      for (let n = 0; n < 20; n++) far.send(`{"n":${n}}`);
      await near.close({ now: true });
      for (let n = 0; n < 20; n++) far.send(`{"late":${n}}`);
      await settled();
      await far.close();
      await settled();
      expect(atNear.closedCount).toBe(1);
      expect(atNear.events.at(-1)).toBe("closed");
    });

    test("a side that keeps sending after the other closed neither throws nor reports its end twice", async () => {
      const { near, far } = await openLine();
      listen(near);
      const atFar = listen(far);
      await near.close();
      await until(() => atFar.endedCount > 0);
      for (let n = 0; n < 5; n++) {
        far.send(JSON.stringify("x".repeat(100_000)));
        await nextTurn();
      }
      await far.close({ now: true });
      await settled();
      expect(atFar.endedCount).toBe(1);
      expect(atFar.closedCount).toBe(1);
      expect(atFar.events.at(-1)).toBe("closed");
    });

    test("frames sent after close are dropped without an error", async () => {
      const { near, far } = await openLine();
      const atNear = listen(near);
      const atFar = listen(far);
      near.send('"first"');
      await near.close();
      expect(() => near.send('"too late"')).not.toThrow();
      await until(() => atFar.endedCount > 0);
      await settled();
      expect(atFar.frames).toEqual(['"first"']);
      expect(atNear.closedCount).toBe(1);
    });
  });
}

interface Log {
  readonly frames: readonly string[];
  /** All events, in order. */
  readonly events: readonly string[];
  readonly endedCount: number;
  readonly closedCount: number;
  readonly drainedCount: number;
}

/** Starts a channel and records its events. `drained` is counted apart: its time differs between transports. */
function listen(channel: Channel): Log {
  const log = {
    frames: [] as string[],
    events: [] as string[],
    endedCount: 0,
    closedCount: 0,
    drainedCount: 0,
  };
  channel.start({
    frame: (bytes) => {
      const text = bytes.toString("utf8");
      log.frames.push(text);
      log.events.push(`frame ${text.slice(0, 40)}`);
    },
    oversize: () => log.events.push("oversize"),
    drained: () => {
      log.drainedCount++;
    },
    ended: () => {
      log.endedCount++;
      log.events.push("ended");
    },
    closed: () => {
      log.closedCount++;
      log.events.push("closed");
    },
  });
  return log;
}

/** Eight megabytes: more than any socket buffer holds. */
function manyBigFrames(): string[] {
  return Array.from({ length: 32 }, (_, n) => `{"n":${n},"filler":"${"x".repeat(256 * 1024)}"}`);
}

function label(frame: string): string {
  return `${frame.slice(0, 12)} ${frame.length}`;
}

function totalLength(frames: readonly string[]): number {
  return frames.reduce((total, frame) => total + frame.length, 0);
}

/** Both ends live in this process: turns of the event loop, not time, carry frames from one to the other. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 50; turn++) await nextTurn();
}
