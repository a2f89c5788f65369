import { spawn } from "node:child_process";
import fc from "fast-check";
import { expect, test } from "vitest";
import { createLineReader, createStdioChannel } from "../../src/wire/stdio.ts";
import { until } from "../servers/until.ts";

test("any way of cutting the bytes gives the same lines", () => {
  fc.assert(
    fc.property(
      fc.array(piece, { maxLength: 14 }),
      fc.array(fc.nat(400), { maxLength: 12 }),
      fc.integer({ min: 1, max: 24 }),
      (pieces, cuts, lineBytesMax) => {
        const bytes = Buffer.concat(pieces);
        const expected = linesOf(bytes, lineBytesMax);
        expect(read(cutAt(bytes, cuts), lineBytesMax)).toEqual(expected);
      },
    ),
    { numRuns: 8_000 },
  );
});

test("bytes that come one at a time give the same lines as bytes that come at once", () => {
  fc.assert(
    fc.property(
      fc.array(piece, { maxLength: 10 }),
      fc.integer({ min: 1, max: 24 }),
      (pieces, lineBytesMax) => {
        const bytes = Buffer.concat(pieces);
        const single = Array.from(bytes, (_, at) => bytes.subarray(at, at + 1));
        expect(read(single, lineBytesMax)).toEqual(read([bytes], lineBytesMax));
      },
    ),
    { numRuns: 5_000 },
  );
});

test("an empty chunk changes nothing", () => {
  expect(
    read(
      [Buffer.alloc(0), Buffer.from("a"), Buffer.alloc(0), Buffer.from("b\n"), Buffer.alloc(0)],
      10,
    ),
  ).toEqual(["line 6162"]);
});

test("a line of exactly the limit is read, one byte more is oversize, and the next line is read again", () => {
  expect(read([Buffer.from("1234\n12345\n1234\n")], 4)).toEqual([
    "line 31323334",
    "oversize",
    "line 31323334",
  ]);
});

test("an oversize line is reported once, with its edges, when it is over", () => {
  const events: string[] = [];
  const take = createLineReader(100, {
    line: (bytes) => events.push(bytes.toString()),
    oversize: (edges) => events.push(`oversize ${edges.slice(0, 6)} ${edges.slice(-6)}`),
  });
  take(Buffer.from(`begins${"x".repeat(100)}`));
  for (let i = 0; i < 1_000; i++) take(Buffer.alloc(1_000, "x"));
  expect(events).toEqual([]);
  take(Buffer.from("x ends.\nnext\n"));
  expect(events).toEqual(["oversize begins  ends.", "next"]);
});

test("a line of only spaces, tabs and carriage returns is nothing", () => {
  expect(read([Buffer.from("\n\r\n \t\r\n\n  \nx\r\n")], 10)).toEqual(["line 780d"]);
});

test("bytes that are not UTF-8 reach the reader of the line unchanged", () => {
  expect(
    read(
      [Buffer.from([0xff, 0xfe]), Buffer.from([0x80, 0x0a, 0xc3]), Buffer.from([0x28, 0x0a])],
      10,
    ),
  ).toEqual(["line fffe80", "line c328"]);
});

/** Stretches of bytes that between them make short, long, blank, CRLF-ended and undecodable lines. */
const piece: fc.Arbitrary<Buffer> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .constantFrom("\n", "\r\n", "\n\n", " ", "\t", "\r")
      .map((text) => Buffer.from(text)),
  },
  {
    weight: 3,
    arbitrary: fc.string({ unit: "binary", maxLength: 8 }).map((text) => Buffer.from(text)),
  },
  { weight: 2, arbitrary: fc.uint8Array({ maxLength: 12 }).map((bytes) => Buffer.from(bytes)) },
  {
    weight: 1,
    arbitrary: fc.integer({ min: 15, max: 60 }).map((length) => Buffer.alloc(length, "x")),
  },
  {
    weight: 1,
    arbitrary: fc.integer({ min: 1, max: 40 }).map((length) => Buffer.alloc(length, " ")),
  },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom([0xff], [0xc3], [0xe2, 0x82], [0xf0, 0x9f, 0x91])
      .map((bytes) => Buffer.from(bytes)),
  },
);

/** The plain definition: cut at newlines, look at each piece. */
function linesOf(bytes: Buffer, lineBytesMax: number): string[] {
  const parts: Buffer[] = [];
  let start = 0;
  for (let at = bytes.indexOf(0x0a); at !== -1; at = bytes.indexOf(0x0a, start)) {
    parts.push(bytes.subarray(start, at));
    start = at + 1;
  }
  return parts.flatMap((part) => {
    if (part.length > lineBytesMax) return ["oversize"];
    return part.every((byte) => byte === 0x20 || byte === 0x09 || byte === 0x0d)
      ? []
      : [`line ${part.toString("hex")}`];
  });
}

/** Lines are written down only at the end, so that one that changes after it was handed over is noticed. */
function read(chunks: readonly Buffer[], lineBytesMax: number): string[] {
  const events: (Buffer | "oversize")[] = [];
  const take = createLineReader(lineBytesMax, {
    line: (bytes) => events.push(bytes),
    oversize: () => events.push("oversize"),
  });
  for (const chunk of chunks) take(chunk);
  return events.map((event) => (event === "oversize" ? event : `line ${event.toString("hex")}`));
}

function cutAt(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const places = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b);
  return [0, ...places].map((place, index) => bytes.subarray(place, places[index] ?? bytes.length));
}

test("of a process that floods its output, less than two full reads are handled before others have their turn", async () => {
  const flood = spawn("yes", { stdio: ["pipe", "pipe", "ignore"] });
  let lines = 0;
  let most = 0;
  createStdioChannel(flood.stdout, flood.stdin, { messageBytesMax: 1_000 }).start({
    frame: () => void lines++,
    oversize() {},
    drained() {},
    ended() {},
    closed() {},
  });
  while (lines < 1_000_000) {
    const before = lines;
    await new Promise((resolve) => setImmediate(resolve));
    most = Math.max(most, lines - before);
  }
  flood.kill("SIGKILL");
  // Each line has two bytes.
  expect(most).toBeLessThanOrEqual(65_536);
});

test("a line that is held stays held while it gives way to others", async () => {
  const flood = spawn("yes", { stdio: ["pipe", "pipe", "ignore"] });
  let lines = 0;
  const channel = createStdioChannel(flood.stdout, flood.stdin, { messageBytesMax: 1_000 });
  const frame = (): void => {
    lines++;
    channel.pause();
  };
  channel.start({ frame, oversize() {}, drained() {}, ended() {}, closed() {} });
  await until(() => lines > 0, "the first read");
  const held = lines;
  for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
  expect(lines).toBe(held);
  channel.resume();
  await until(() => lines > held, "the next read");
  flood.kill("SIGKILL");
});
