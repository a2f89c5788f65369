import type { Picture } from "./picture.ts";

export type Extent = Pick<Picture, "width" | "height">;

/** As many pixels as a large terminal could show: half a character each. */
const largest: Extent = { width: 160, height: 120 };
/** Photographs have less; what claims more has something else in mind. */
const pixelsMax = 48_000_000;

/** What a picture of an image of that size measures. Throws for images that nobody should read. */
export function pictureExtent(image: Extent): Extent {
  const pixels = image.width * image.height;
  if (pixels < 1 || pixels > pixelsMax) throw new RangeError(`${pixels} pixels`);
  return fitInto(image, largest);
}

/** The same shape, no larger than that, and never larger than it was. */
export function fitInto({ width, height }: Extent, within: Extent): Extent {
  const scale = Math.min(1, within.width / width, within.height / height);
  return {
    width: Math.max(1, Math.round(width * scale)),
    height: Math.max(1, Math.round(height * scale)),
  };
}

/** Red, green, blue, alpha; each from 0 to 255. */
export type Colour = readonly [number, number, number, number];

/** Makes a small picture of a large one as its pixels come, in any order: each small pixel is the mean of those it stands for. */
export interface Shrinker {
  /** Every so many pixels across and down are enough to be given. */
  readonly step: number;
  add(x: number, y: number, colour: Colour): void;
  finish(): Picture;
}

/** Means are good enough with so many pixels across. */
const samplesAcross = 3;

export function createShrinker(from: Extent, { width, height }: Extent): Shrinker {
  // Red, green, blue (each by alpha), alpha, and how many.
  const sums = new Float64Array(width * height * 5);
  return {
    step: Math.max(
      1,
      Math.floor(Math.min(from.width / width, from.height / height) / samplesAcross),
    ),
    add(x, y, [red, green, blue, alpha]) {
      const at =
        (Math.floor((y * height) / from.height) * width + Math.floor((x * width) / from.width)) * 5;
      sums[at] = (sums[at] ?? 0) + red * alpha;
      sums[at + 1] = (sums[at + 1] ?? 0) + green * alpha;
      sums[at + 2] = (sums[at + 2] ?? 0) + blue * alpha;
      sums[at + 3] = (sums[at + 3] ?? 0) + alpha;
      sums[at + 4] = (sums[at + 4] ?? 0) + 1;
    },
    finish() {
      const pixels = new Uint8Array(width * height * 4);
      for (let pixel = 0; pixel < width * height; pixel++) {
        const [red = 0, green = 0, blue = 0, alpha = 0, count = 0] = sums.subarray(
          pixel * 5,
          pixel * 5 + 5,
        );
        if (alpha > 0)
          pixels.set([red / alpha, green / alpha, blue / alpha, alpha / count], pixel * 4);
      }
      return { width, height, pixels };
    },
  };
}
