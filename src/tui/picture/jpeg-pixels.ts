import type { Component, Frame } from "./jpeg-frame.ts";
import type { Picture } from "./picture.ts";
import { type Colour, createShrinker, fitInto, pictureExtent } from "./shrinker.ts";

/** How the components of a JPEG say a colour. Inverted: Adobe's programs write how much light is left, not how much ink there is. */
export type ColourModel = "grey" | "ycc" | "rgb" | "cmyk" | "inverted cmyk" | "inverted ycck";

/** What the scans have left, as a picture. Yields after each row. */
export function* paintFrame(
  frame: Frame,
  quantizations: readonly Uint16Array[],
  model: ColourModel,
): Generator<void, Picture> {
  const side = frame.isCoarse ? 1 : 8;
  const planes: Plane[] = [];
  for (const component of frame.components)
    planes.push(yield* planeOf(component, quantizations[component.quantization], side));
  const extent = {
    width: Math.ceil((frame.width * side) / 8),
    height: Math.ceil((frame.height * side) / 8),
  };
  const most = {
    across: Math.max(...frame.components.map(({ across }) => across)),
    down: Math.max(...frame.components.map(({ down }) => down)),
  };
  const shrinker = createShrinker(extent, fitInto(pictureExtent(frame), extent));
  const told = planes.map(() => 0);
  for (let y = 0; y < extent.height; y += shrinker.step) {
    for (let x = 0; x < extent.width; x += shrinker.step) {
      for (const [index, { across, down, stride, samples: all }] of planes.entries()) {
        told[index] =
          all[
            Math.floor((y * down) / most.down) * stride + Math.floor((x * across) / most.across)
          ] ?? 0;
      }
      shrinker.add(x, y, colourOf(told, model));
    }
    yield;
  }
  return shrinker.finish();
}

interface Plane extends Pick<Component, "across" | "down"> {
  readonly stride: number;
  readonly samples: Uint8ClampedArray;
}

/** A component as one sample a pixel, or, coarse, one a block. */
function* planeOf(
  { across, down, stride: blocks, coefficients }: Component,
  quantization: Uint16Array | undefined,
  side: 1 | 8,
): Generator<void, Plane> {
  if (!quantization) throw new RangeError("a table that was never told");
  const stride = blocks * side;
  const plane = { across, down, stride, samples: new Uint8ClampedArray(coefficients.length) };
  if (side === 1) {
    for (let block = 0; block < coefficients.length; block++)
      plane.samples[block] = ((coefficients[block] ?? 0) * (quantization[0] ?? 0)) / 8 + 128;
    return plane;
  }
  for (let block = 0; block * 64 < coefficients.length; block++) {
    const corner = Math.floor(block / blocks) * 8 * stride + (block % blocks) * 8;
    const pixels = transform(coefficients.subarray(block * 64, block * 64 + 64), quantization);
    for (let row = 0; row < 8; row++)
      plane.samples.set(pixels.subarray(row * 8, row * 8 + 8), corner + row * stride);
    if (block % blocks === blocks - 1) yield;
  }
  return plane;
}

const rows = new Float64Array(64);
const samples = new Float64Array(64);

/** Cosines of the transform, with its factors: by frequency, then by place. */
const cosines = Float64Array.from({ length: 64 }, (_, index) => {
  const [frequency, place] = [index >> 3, index & 7];
  return (
    (frequency === 0 ? Math.SQRT1_2 : 1) *
    0.5 *
    Math.cos(((2 * place + 1) * frequency * Math.PI) / 16)
  );
});

/** From waves to samples: the rows, then the columns. What it gives holds until it is called again: a block is soon done with. */
function transform(coefficients: Int16Array, factors: Uint16Array): Float64Array {
  rows.fill(0);
  samples.fill(128);
  for (let at = 0; at < 64; at++) {
    const wave = (coefficients[at] ?? 0) * (factors[at] ?? 0);
    if (wave === 0) continue;
    const [row, frequency] = [at & 56, (at & 7) * 8];
    for (let x = 0; x < 8; x++)
      rows[row + x] = (rows[row + x] ?? 0) + wave * (cosines[frequency + x] ?? 0);
  }
  for (let frequency = 0; frequency < 8; frequency++) {
    for (let x = 0; x < 8; x++) {
      const wave = rows[frequency * 8 + x] ?? 0;
      if (wave === 0) continue;
      for (let y = 0; y < 8; y++)
        samples[y * 8 + x] = (samples[y * 8 + x] ?? 0) + wave * (cosines[frequency * 8 + y] ?? 0);
    }
  }
  return samples;
}

function colourOf(
  [first = 0, second = 0, third = 0, fourth = 0]: readonly number[],
  model: ColourModel,
): Colour {
  switch (model) {
    case "grey":
      return [first, first, first, 255];
    case "rgb":
      return [first, second, third, 255];
    case "ycc":
      return [...fromYcc(first, second, third), 255];
    case "cmyk":
      return onBlack([255 - first, 255 - second, 255 - third], 255 - fourth);
    case "inverted cmyk":
      return onBlack([first, second, third], fourth);
    case "inverted ycck":
      return onBlack(fromYcc(first, second, third), fourth);
  }
}

type Light = readonly [number, number, number];

/** From brightness and two differences. */
function fromYcc(light: number, blueness: number, redness: number): Light {
  const [blue, red] = [blueness - 128, redness - 128];
  return [
    byte(light + 1.402 * red),
    byte(light - 0.344136 * blue - 0.714136 * red),
    byte(light + 1.772 * blue),
  ];
}

function byte(value: number): number {
  return Math.min(255, Math.max(0, value));
}

/** Black ink takes its share of every light. */
function onBlack([red, green, blue]: Light, left: number): Colour {
  return [(red * left) / 255, (green * left) / 255, (blue * left) / 255, 255];
}
