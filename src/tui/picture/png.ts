import { createInflate } from "node:zlib";
import type { Scope } from "../../base/scope.ts";
import type { Picture } from "./picture.ts";
import { type Colour, createShrinker, pictureExtent, type Shrinker } from "./shrinker.ts";

/**
 * Reads a PNG of any kind, a row at a time: however much its data unfolds to, two rows are in memory, and no more is unfolded than its size
 * asks for. Throws for what is none; one that ends too early is shown as far as it goes.
 */
export async function readPng(bytes: Uint8Array, scope: Scope): Promise<Picture> {
  const chunks = readChunks(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  const { header, data } = chunks;
  const shrinker = createShrinker(header, pictureExtent(header));
  const rows = rowsOf(header, painterOf(chunks, shrinker));
  rows.next();
  const inflate = createInflate();
  try {
    for (const piece of data) inflate.write(piece);
    inflate.end();
    for await (const chunk of inflate) {
      if (scope.cancelled) throw scope.cancelled;
      if (rows.next(chunk as Buffer).done) break;
    }
  } catch (error) {
    if (!isCutShort(error)) throw error;
  } finally {
    inflate.destroy();
  }
  return shrinker.finish();
}

const signature = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];

export function isPng(bytes: Uint8Array): boolean {
  return signature.every((byte, index) => bytes[index] === byte);
}

function isCutShort(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "Z_BUF_ERROR";
}

interface Header {
  readonly width: number;
  readonly height: number;
  /** Bits of a sample. */
  readonly depth: number;
  readonly kind: Kind;
  readonly isInterlaced: boolean;
}

/** 0 grey, 2 red-green-blue, 3 palette, 4 grey with alpha, 6 red-green-blue with alpha. */
type Kind = 0 | 2 | 3 | 4 | 6;

/** Samples of a pixel, and the depths there are, by kind. */
const kinds: Readonly<
  Record<Kind, { readonly samples: number; readonly depths: readonly number[] }>
> = {
  0: { samples: 1, depths: [1, 2, 4, 8, 16] },
  2: { samples: 3, depths: [8, 16] },
  3: { samples: 1, depths: [1, 2, 4, 8] },
  4: { samples: 2, depths: [8, 16] },
  6: { samples: 4, depths: [8, 16] },
};

interface Chunks {
  readonly header: Header;
  readonly palette: Buffer;
  readonly transparent: Buffer;
  readonly data: readonly Buffer[];
}

function readChunks(bytes: Buffer): Chunks {
  const found = new Map<string, Buffer>();
  const data: Buffer[] = [];
  let at = signature.length;
  while (at + 8 <= bytes.length) {
    const length = bytes.readUInt32BE(at);
    const name = bytes.toString("latin1", at + 4, at + 8);
    const body = bytes.subarray(at + 8, at + 8 + length);
    if (name === "IDAT") data.push(body);
    else if (name === "IEND") break;
    else found.set(name, body);
    at += length + 12;
  }
  const none = Buffer.alloc(0);
  return {
    header: readHeader(found.get("IHDR") ?? none),
    palette: found.get("PLTE") ?? none,
    transparent: found.get("tRNS") ?? none,
    data,
  };
}

function readHeader(bytes: Buffer): Header {
  const [depth = 0, kind = 0, compression, filter, interlace] = bytes.subarray(8);
  if (!isKind(kind) || !kinds[kind].depths.includes(depth) || compression !== 0 || filter !== 0)
    throw new RangeError("not a PNG we know");
  return {
    width: bytes.readUInt32BE(0),
    height: bytes.readUInt32BE(4),
    depth,
    kind,
    isInterlaced: interlace === 1,
  };
}

function isKind(value: number): value is Kind {
  return Object.hasOwn(kinds, value);
}

interface Pass {
  readonly x: number;
  readonly y: number;
  readonly stepX: number;
  readonly stepY: number;
}

const interlaced: readonly Pass[] = [
  { x: 0, y: 0, stepX: 8, stepY: 8 },
  { x: 4, y: 0, stepX: 8, stepY: 8 },
  { x: 0, y: 4, stepX: 4, stepY: 8 },
  { x: 2, y: 0, stepX: 4, stepY: 4 },
  { x: 0, y: 2, stepX: 2, stepY: 4 },
  { x: 1, y: 0, stepX: 2, stepY: 2 },
  { x: 0, y: 1, stepX: 1, stepY: 2 },
];
const whole: readonly Pass[] = [{ x: 0, y: 0, stepX: 1, stepY: 1 }];

/** Takes the unfolded bytes as they come, and paints row after row. Done when the image is. */
function* rowsOf(
  { width, height, depth, kind, isInterlaced }: Header,
  paint: Paint,
): Generator<void, void, Buffer> {
  const bitsOfPixel = kinds[kind].samples * depth;
  const back = Math.max(1, bitsOfPixel >> 3);
  let chunk: Buffer = yield;
  let at = 0;
  for (const pass of isInterlaced ? interlaced : whole) {
    const columns = Math.ceil((width - pass.x) / pass.stepX);
    if (columns <= 0) continue;
    const rowBytes = Math.ceil((columns * bitsOfPixel) / 8);
    let [row, previous] = [Buffer.alloc(rowBytes + 1), Buffer.alloc(rowBytes + 1)];
    for (let y = pass.y; y < height; y += pass.stepY) {
      let filled = 0;
      while (filled < row.length) {
        if (at === chunk.length) {
          chunk = yield;
          at = 0;
        }
        const copied = chunk.copy(row, filled, at);
        filled += copied;
        at += copied;
      }
      unfilter(row, previous, back);
      paint(row, y, pass, columns);
      [row, previous] = [previous, row];
    }
  }
}

/** The first byte says how the others are told: by themselves, or by their difference to the left, to the row above, or to both. */
function unfilter(row: Buffer, above: Buffer, back: number): void {
  const filter = row[0] ?? 0;
  if (filter === 0) return;
  if (filter > 4) throw new RangeError(`filter ${filter}`);
  for (let at = 1; at < row.length; at++) {
    const left = at > back ? (row[at - back] ?? 0) : 0;
    const up = above[at] ?? 0;
    const corner = at > back ? (above[at - back] ?? 0) : 0;
    const guess =
      filter === 1
        ? left
        : filter === 2
          ? up
          : filter === 3
            ? (left + up) >> 1
            : paeth(left, up, corner);
    row[at] = (row[at] ?? 0) + guess;
  }
}

function paeth(left: number, up: number, corner: number): number {
  const [byLeft, byUp, byCorner] = [
    Math.abs(up - corner),
    Math.abs(left - corner),
    Math.abs(left + up - 2 * corner),
  ];
  return byLeft <= byUp && byLeft <= byCorner ? left : byUp <= byCorner ? up : corner;
}

/** Draws a row that is unfolded. */
type Paint = (row: Buffer, y: number, pass: Pass, columns: number) => void;

function painterOf(chunks: Chunks, shrinker: Shrinker): Paint {
  const colourOf = colourReader(chunks);
  const { step } = shrinker;
  return (row, y, { x: start, stepX }, columns) => {
    if (y % step !== 0) return;
    for (let column = 0; column < columns; column++) {
      const x = start + column * stepX;
      if (x % step === 0) shrinker.add(x, y, colourOf(row, column));
    }
  };
}

function colourReader({
  header: { depth, kind },
  palette,
  transparent,
}: Chunks): (row: Buffer, column: number) => Colour {
  const read = sampleReader(depth);
  const toByte = 255 / (2 ** Math.min(depth, 8) - 1);
  /** One colour may stand for nothing. */
  const isHidden = (...samples: readonly number[]): boolean =>
    transparent.length >= samples.length * 2 &&
    samples.every((sample, index) => transparent[index * 2 + (depth === 16 ? 0 : 1)] === sample);
  switch (kind) {
    case 0:
      return (row, column) => {
        const sample = read(row, column);
        const grey = sample * toByte;
        return [grey, grey, grey, isHidden(sample) ? 0 : 255];
      };
    case 2:
      return (row, column) => {
        const [red, green, blue] = [
          read(row, column * 3),
          read(row, column * 3 + 1),
          read(row, column * 3 + 2),
        ];
        return [red, green, blue, isHidden(red, green, blue) ? 0 : 255];
      };
    case 3:
      return (row, column) => {
        const index = read(row, column);
        return [
          palette[index * 3] ?? 0,
          palette[index * 3 + 1] ?? 0,
          palette[index * 3 + 2] ?? 0,
          transparent[index] ?? 255,
        ];
      };
    case 4:
      return (row, column) => {
        const grey = read(row, column * 2);
        return [grey, grey, grey, read(row, column * 2 + 1)];
      };
    case 6:
      return (row, column) => [
        read(row, column * 4),
        read(row, column * 4 + 1),
        read(row, column * 4 + 2),
        read(row, column * 4 + 3),
      ];
  }
}

/** Reads a sample of a row: several in a byte, one in a byte, or the upper byte of two. */
function sampleReader(depth: number): (row: Buffer, index: number) => number {
  if (depth === 8) return (row, index) => row[1 + index] ?? 0;
  if (depth === 16) return (row, index) => row[1 + index * 2] ?? 0;
  const mask = 2 ** depth - 1;
  return (row, index) => {
    const bit = index * depth;
    return ((row[1 + (bit >> 3)] ?? 0) >> (8 - depth - (bit & 7))) & mask;
  };
}
