import { crc32, deflateSync } from "node:zlib";

/** An image by its samples: `rows[y][x]` has one number for each sample of a pixel, as its depth and kind want. */
export interface PngSource {
  readonly width: number;
  readonly height: number;
  readonly depth: number;
  /** As the format numbers them: 0 grey, 2 red-green-blue, 3 palette, 4 and 6 with alpha. */
  readonly kind: number;
  readonly rows: readonly (readonly (readonly number[])[])[];
  readonly isInterlaced?: boolean;
  /** The filter of each row, one after the other. */
  readonly filters?: readonly number[];
  readonly palette?: readonly number[];
  readonly transparent?: readonly number[];
}

/** A PNG of every kind there is; for tests, which know what must come out. */
export function writePng({
  width,
  height,
  depth,
  kind,
  rows,
  isInterlaced = false,
  filters = [0],
  palette,
  transparent,
}: PngSource): Buffer {
  const passes = isInterlaced ? interlaced : [[0, 0, 1, 1] as const];
  const lines: Buffer[] = [];
  for (const [startX, startY, stepX, stepY] of passes) {
    let above: Buffer | undefined;
    for (let y = startY; y < height; y += stepY) {
      const pixels = (rows[y] ?? []).filter((_, x) => x >= startX && (x - startX) % stepX === 0);
      if (pixels.length === 0) break;
      const packed = pack(pixels.flat(), depth);
      const back = Math.max(1, ((pixels[0]?.length ?? 1) * depth) >> 3);
      lines.push(
        filterRow(
          packed,
          above ?? Buffer.alloc(packed.length),
          back,
          filters[lines.length % filters.length] ?? 0,
        ),
      );
      above = packed;
    }
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([depth, kind, 0, 0, isInterlaced ? 1 : 0], 8);
  return pngOf([
    ["IHDR", header],
    ...(palette ? [["PLTE", Buffer.from(palette)] as const] : []),
    ...(transparent ? [["tRNS", Buffer.from(transparent)] as const] : []),
    ["IDAT", deflateSync(Buffer.concat(lines))],
    ["IEND", Buffer.alloc(0)],
  ]);
}

export function pngOf(chunks: readonly (readonly [string, Buffer])[]): Buffer {
  const parts = chunks.map(([name, body]) => {
    const content = Buffer.concat([Buffer.from(name, "latin1"), body]);
    return Buffer.concat([numberOf(body.length), content, numberOf(crc32(content))]);
  });
  return Buffer.concat([Buffer.from("89504e470d0a1a0a", "hex"), ...parts]);
}

function numberOf(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

const interlaced: readonly (readonly [number, number, number, number])[] = [
  [0, 0, 8, 8],
  [4, 0, 8, 8],
  [0, 4, 4, 8],
  [2, 0, 4, 4],
  [0, 2, 2, 4],
  [1, 0, 2, 2],
  [0, 1, 1, 2],
];

function pack(samples: readonly number[], depth: number): Buffer {
  if (depth === 8) return Buffer.from(samples);
  if (depth === 16) return Buffer.from(samples.flatMap((sample) => [sample >> 8, sample & 255]));
  const bits = samples.map((sample) => sample.toString(2).padStart(depth, "0")).join("");
  return Buffer.from(
    (bits.match(/.{1,8}/g) ?? []).map((byte) => Number.parseInt(byte.padEnd(8, "0"), 2)),
  );
}

function filterRow(row: Buffer, above: Buffer, back: number, filter: number): Buffer {
  const told = row.map((byte, at) => {
    const [left, up, corner] = [
      at >= back ? (row[at - back] ?? 0) : 0,
      above[at] ?? 0,
      at >= back ? (above[at - back] ?? 0) : 0,
    ];
    const near = left + up - corner;
    const paeth = [left, up, corner].reduce((best, one) =>
      Math.abs(near - one) < Math.abs(near - best) ? one : best,
    );
    return byte - ([0, left, up, (left + up) >> 1, paeth][filter] ?? 0);
  });
  return Buffer.concat([Buffer.from([filter]), told]);
}
