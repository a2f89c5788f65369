import { promisify } from "node:util";
import { crc32, deflate } from "node:zlib";

/** Three bytes a pixel, row after row. */
export interface Raster {
  readonly width: number;
  readonly height: number;
  readonly pixels: Uint8ClampedArray;
}

/** A PNG of 8-bit RGB. The filtering gives up the thread row by row (see runInSlices); the deflating has threads of its own. */
export function* filterRows({ width, height, pixels }: Raster): Generator<void, Uint8Array> {
  const stride = width * 3;
  const filtered = new Uint8Array((stride + 1) * height);
  for (let y = 0; y < height; y++) {
    const start = y * stride;
    const out = y * (stride + 1);
    const isUp =
      y > 0 && differences(pixels, start, stride, stride) < differences(pixels, start, stride, 3);
    filtered[out] = isUp ? 2 : 1;
    const back = isUp ? stride : 3;
    for (let i = 0; i < stride; i++) {
      const before = isUp || i >= 3 ? (pixels[start + i - back] ?? 0) : 0;
      filtered[out + 1 + i] = (pixels[start + i] ?? 0) - before;
    }
    yield;
  }
  return filtered;
}

export async function encodePng({ width, height }: Raster, filtered: Uint8Array): Promise<Buffer> {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  // Eight bits, colour type RGB; compression, filter and interlace have one value each.
  header.set([8, 2, 0, 0, 0], 8);
  const data = await promisify(deflate)(filtered, { level: 6 });
  return Buffer.concat([
    signature,
    chunk("IHDR", header),
    chunk("IDAT", data),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/** How much is left of a row when each byte is said by its distance to an earlier one; every eighth byte tells enough. */
function differences(
  pixels: Uint8ClampedArray,
  start: number,
  length: number,
  back: number,
): number {
  let sum = 0;
  for (let i = 3; i < length; i += 8)
    sum += Math.abs((pixels[start + i] ?? 0) - (pixels[start + i - back] ?? 0));
  return sum;
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  check.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, check]);
}
