import { parentPort, workerData } from "node:worker_threads";
import { inflateSync } from "node:zlib";
import jpeg from "jpeg-js";
import { PNG } from "pngjs";
import {
  fitInto,
  isDecodable,
  isPng,
  jpegSegments,
  type Picture,
  pixelsMax,
  shrink,
} from "./picture.ts";

/** Decodes an image and shrinks it. Throws where it cannot be decoded within the limits. */
export function decodePicture(bytes: Buffer): Picture {
  if (!isDecodable(bytes)) throw new RangeError("not a PNG or JPEG within the limits");
  const decoded = isPng(bytes) ? decodePng(bytes) : decodeJpeg(bytes);
  return shrink(decoded, fitInto(decoded));
}

function decodePng(bytes: Buffer): Picture {
  checkInterlaced(bytes);
  const { width, height, data } = PNG.sync.read(bytes);
  return { width, height, pixels: data };
}

/** pngjs limits how much it inflates by the size of the image, but not for interlaced images. */
function checkInterlaced(bytes: Buffer): void {
  const [width, height] = [bytes.readUInt32BE(16), bytes.readUInt32BE(20)];
  const isInterlaced = bytes[28] === 1;
  if (!isInterlaced) return;
  const data: Buffer[] = [];
  for (let at = 8; at + 8 <= bytes.length; ) {
    const length = bytes.readUInt32BE(at);
    if (bytes.toString("latin1", at + 4, at + 8) === "IDAT")
      data.push(bytes.subarray(at + 8, at + 8 + length));
    at += length + 12;
  }
  // At most 8 bytes per pixel; interlacing adds less than two filter bytes and two of padding a row.
  inflateSync(Buffer.concat(data), { maxOutputLength: height * (width * 8 + 4) + 64 });
}

const memoryMbMax = 512;

function decodeJpeg(bytes: Buffer): Picture {
  const { width, height, data } = jpeg.decode(bytes, {
    useTArray: true,
    tolerantDecoding: true,
    maxResolutionInMP: pixelsMax / 1_000_000,
    maxMemoryUsageInMB: memoryMbMax,
    ...(isRgb(bytes) ? { colorTransform: false } : {}),
  });
  const small = shrink({ width, height, pixels: data }, fitInto({ width, height }));
  return turn(small, readOrientation(bytes));
}

/** Adobe's marker says that the components are red, green and blue; jpeg-js ignores it. */
function isRgb(bytes: Buffer): boolean {
  return [...jpegSegments(bytes)].some(
    ({ marker, body }) =>
      marker === 0xee && body.toString("latin1", 0, 5) === "Adobe" && body[11] === 0,
  );
}

const orientationTag = 0x0112;
const entryBytes = 12;

/** How the camera was held: 1 to 8, as Exif numbers it; 1, which is upright, when unknown. */
function readOrientation(bytes: Buffer): number {
  for (const { marker, body } of jpegSegments(bytes)) {
    if (marker !== 0xe1 || body.length < 14 || body.toString("latin1", 0, 6) !== "Exif\0\0")
      continue;
    const tiff = new DataView(body.buffer, body.byteOffset + 6, body.length - 6);
    const isLittle = tiff.getUint16(0) === 0x4949;
    const start = tiff.getUint32(4, isLittle);
    if (start + 2 > tiff.byteLength) return 1;
    const room = Math.floor((tiff.byteLength - start - 2) / entryBytes);
    const entries = Math.min(tiff.getUint16(start, isLittle), room);
    for (let at = start + 2; at < start + 2 + entries * entryBytes; at += entryBytes) {
      if (tiff.getUint16(at, isLittle) !== orientationTag) continue;
      const value = tiff.getUint16(at + 8, isLittle);
      return value >= 1 && value <= 8 ? value : 1;
    }
  }
  return 1;
}

/** Turns the picture upright. */
function turn(picture: Picture, orientation: number): Picture {
  if (orientation === 1) return picture;
  // From 5 on, rows and columns are swapped.
  const isOnItsSide = orientation > 4;
  const [width, height] = isOnItsSide
    ? [picture.height, picture.width]
    : [picture.width, picture.height];
  const isFromRight = [2, 3, 7, 8].includes(orientation);
  const isFromBelow = [3, 4, 6, 7].includes(orientation);
  const pixels = new Uint8Array(picture.pixels.length);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const [across, down] = isOnItsSide ? [y, x] : [x, y];
      const fromX = isFromRight ? picture.width - 1 - across : across;
      const fromY = isFromBelow ? picture.height - 1 - down : down;
      const from = (fromY * picture.width + fromX) * 4;
      pixels.set(picture.pixels.subarray(from, from + 4), (y * width + x) * 4);
    }
  }
  return { width, height, pixels };
}

const { picture } = (workerData ?? {}) as { readonly picture?: Uint8Array };
if (parentPort && picture) parentPort.postMessage(decodePicture(Buffer.from(picture)));
