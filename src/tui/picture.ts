import { Worker } from "node:worker_threads";
import { findWorker } from "../base/worker.ts";
import type { Cell, Line } from "./parts/line.ts";

/** An image small enough to be shown in characters: RGBA bytes, row by row. */
export interface Picture {
  readonly width: number;
  readonly height: number;
  readonly pixels: Uint8Array;
}

export type Extent = Pick<Picture, "width" | "height">;

const bytesMax = 32 * 1024 * 1024;
const decodeMsMax = 5_000;

/** Larger images would cost the decoder several hundred megabytes. */
export const pixelsMax = 4096 * 4096;

/** As many pixels as a large terminal can show: two per character. */
const largest: Extent = { width: 160, height: 120 };

/**
 * Decodes a PNG or JPEG in a worker thread, which is ended when it takes too long. Undefined for
 * other formats and for images that are damaged or too large. Never throws.
 */
export async function readPicture(
  bytes: Uint8Array,
  file: URL = findWorker("picture-worker", new URL("./picture-worker.ts", import.meta.url)),
): Promise<Picture | undefined> {
  if (!isDecodable(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))) return undefined;
  const worker = new Worker(file, {
    workerData: { picture: bytes },
    resourceLimits: { maxOldGenerationSizeMb: 512 },
    env: {},
    execArgv: [],
    // Its output is kept off the screen.
    stdout: true,
    stderr: true,
  });
  try {
    return await new Promise<Picture | undefined>((resolve) => {
      setTimeout(resolve, decodeMsMax, undefined).unref();
      worker.once("message", resolve);
      // The file is saved anyway, so the user can open it elsewhere.
      worker.once("error", () => resolve(undefined));
      worker.once("exit", () => resolve(undefined));
    });
  } finally {
    await worker.terminate();
  }
}

/** True if the header names a size within the limit, checked before pixels take any memory. */
export function isDecodable(bytes: Buffer): boolean {
  if (bytes.length > bytesMax) return false;
  const { width, height } = readSize(bytes) ?? { width: 0, height: 0 };
  return width * height >= 1 && width * height <= pixelsMax;
}

function readSize(bytes: Buffer): Extent | undefined {
  if (isPng(bytes)) {
    if (bytes.length < 24) return undefined;
    return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
  }
  for (const { marker, body } of jpegSegments(bytes)) {
    if (marker >= 0xc0 && marker <= 0xc2 && body.length >= 5)
      return { width: body.readUInt16BE(3), height: body.readUInt16BE(1) };
  }
  return undefined;
}

const pngSignature = Buffer.from("89504e470d0a1a0a", "hex");

export function isPng(bytes: Buffer): boolean {
  return bytes.subarray(0, pngSignature.length).equals(pngSignature);
}

/** The segments of a JPEG before its first scan; none for other files. */
export function* jpegSegments(
  bytes: Buffer,
): Generator<{ readonly marker: number; readonly body: Buffer }> {
  if (bytes[0] !== 0xff || bytes[1] !== 0xd8) return;
  let at = 2;
  while (at + 4 <= bytes.length && bytes[at] === 0xff) {
    const marker = bytes[at + 1] ?? 0;
    const length = bytes.readUInt16BE(at + 2);
    if (marker === 0xda || length < 2) return;
    yield { marker, body: bytes.subarray(at + 4, at + 2 + length) };
    at += 2 + length;
  }
}

/** The same shape, at most that large, and never larger than it was. */
export function fitInto({ width, height }: Extent, within: Extent = largest): Extent {
  const scale = Math.min(1, within.width / width, within.height / height);
  return {
    width: Math.max(1, Math.round(width * scale)),
    height: Math.max(1, Math.round(height * scale)),
  };
}

/** Source pixels per target pixel and direction that make a mean good enough. */
const samplesAcross = 3;

/** Each pixel of the result is the mean of source pixels, weighted by alpha. */
export function shrink(from: Picture, { width, height }: Extent): Picture {
  if (from.width === width && from.height === height) return from;
  const ratio = Math.min(from.width / width, from.height / height);
  const step = Math.max(1, Math.floor(ratio / samplesAcross));
  // Sums of red, green and blue times alpha, of alpha, and the count.
  const sums = new Float64Array(width * height * 5);
  const add = (at: number, value: number): void => {
    sums[at] = (sums[at] ?? 0) + value;
  };
  for (let y = 0; y < from.height; y += step) {
    const row = Math.floor((y * height) / from.height) * width;
    for (let x = 0; x < from.width; x += step) {
      const at = (row + Math.floor((x * width) / from.width)) * 5;
      const [red, green, blue, alpha] = colourAt(from, x, y);
      add(at, red * alpha);
      add(at + 1, green * alpha);
      add(at + 2, blue * alpha);
      add(at + 3, alpha);
      add(at + 4, 1);
    }
  }

  const pixels = new Uint8Array(width * height * 4);
  for (let pixel = 0; pixel < width * height; pixel++) {
    const [red = 0, green = 0, blue = 0, alpha = 0, count = 0] = sums.subarray(pixel * 5);
    if (alpha > 0) pixels.set([red / alpha, green / alpha, blue / alpha, alpha / count], pixel * 4);
  }
  return { width, height, pixels };
}

type Colour = readonly [red: number, green: number, blue: number, alpha: number];

function colourAt({ width, pixels }: Picture, x: number, y: number): Colour {
  const at = (y * width + x) * 4;
  return [pixels[at] ?? 0, pixels[at + 1] ?? 0, pixels[at + 2] ?? 0, pixels[at + 3] ?? 0];
}

export interface ImageSize {
  readonly columns: number;
  readonly rows: number;
}

/**
 * A picture in characters, at most that large. A character is about twice as high as it is wide, so
 * it shows two pixels: as half blocks in two colours, or without colours as a letter that is denser
 * the brighter they are.
 */
export function imageLines(picture: Picture, { columns, rows }: ImageSize): readonly Line[] {
  const last = drawn.get(picture);
  if (last?.columns === columns && last.rows === rows) return last.lines;
  const lines = drawLines(picture, { columns, rows });
  drawn.set(picture, { columns, rows, lines });
  return lines;
}

// Frames are drawn many times a second; the size of the pane rarely changes.
const drawn = new WeakMap<Picture, ImageSize & { readonly lines: readonly Line[] }>();

function drawLines(picture: Picture, { columns, rows }: ImageSize): readonly Line[] {
  const shown = shrink(
    picture,
    fitInto(picture, { width: Math.max(1, columns), height: Math.max(1, rows) * 2 }),
  );
  return Array.from({ length: Math.ceil(shown.height / 2) }, (_row, row): Line => {
    const cells = Array.from(
      { length: shown.width },
      (_cell, x): Cell => ({
        upper: pixelOf(shown, x, row * 2),
        lower: pixelOf(shown, x, row * 2 + 1),
      }),
    );
    return [{ text: inLetters(cells), cells }];
  });
}

const letters = " .:-=+*#%@";

function inLetters(cells: readonly Cell[]): string {
  return cells
    .map(({ upper, lower }) => (brightnessOf(upper) + brightnessOf(lower)) / 2)
    .map((light) => letters[Math.min(letters.length - 1, Math.floor(light * letters.length))])
    .join("");
}

/** Perceived brightness, from 0 to 1. */
function brightnessOf(pixel: number | undefined): number {
  if (pixel === undefined) return 0;
  return (0.299 * (pixel >> 16) + 0.587 * ((pixel >> 8) & 255) + 0.114 * (pixel & 255)) / 255;
}

/** 0xrrggbb; undefined where transparent. */
function pixelOf(picture: Picture, x: number, y: number): number | undefined {
  if (y >= picture.height) return undefined;
  const [red, green, blue, alpha] = colourAt(picture, x, y);
  return alpha < 128 ? undefined : (red << 16) | (green << 8) | blue;
}
