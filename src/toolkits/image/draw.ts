/** Draws a prompt as a PNG. The work is cut into slices, so that a hall that draws still answers. */
import type { Scope } from "../../base/scope.ts";
import { runInSlices } from "../../base/slices.ts";
import { type Colour, mixColours } from "./colours.ts";
import { cellNoise, cloudNoise, valueNoise } from "./noise.ts";
import { encodePng, filterRows, type Raster } from "./png.ts";
import { composeScene, type Scene } from "./scene.ts";
import type { Shape } from "./shapes.ts";

type Style = "realistic" | "artistic" | "cartoon" | "abstract";

interface DrawOptions {
  readonly prompt: string;
  readonly style: Style;
  /** Width and height in pixels. */
  readonly size: number;
  readonly scope: Scope;
}

interface Drawing {
  readonly png: Buffer;
  readonly elements: readonly string[];
}

export async function drawImage({ prompt, style, size, scope }: DrawOptions): Promise<Drawing> {
  const scene = composeScene(prompt);
  const raster = await runInSlices(renderScene(scene, style, size), scope);
  const finished = await runInSlices(finishers[style](raster, scene), scope);
  const png = await encodePng(finished, await runInSlices(filterRows(finished), scope));
  return { png, elements: scene.elements };
}

function* renderScene(scene: Scene, style: Style, size: number): Generator<void, Raster> {
  const raster = { width: size, height: size, pixels: new Uint8ClampedArray(size * size * 3) };
  const look = { isFlat: style === "cartoon", outline: style === "cartoon" ? 0.0035 : 0 };
  for (let row = 0; row < size; row++) {
    const y = (row + 0.5) / size;
    const floor = scene.shapes.findLastIndex(
      ({ solidFrom = 2, alpha }) => solidFrom < y && alpha === 1,
    );
    if (floor < 0) paintSky(raster, row, scene, look.isFlat);
    for (let index = Math.max(0, floor); index < scene.shapes.length; index++) {
      const shape = scene.shapes[index];
      if (shape) paintShape(raster, row, y, shape, look);
    }
    yield;
  }
  return raster;
}

function paintSky(
  { width, pixels }: Raster,
  row: number,
  { palette, clouds, seed }: Scene,
  isFlat: boolean,
): void {
  const y = (row + 0.5) / width;
  const steps = isFlat ? Math.round(Math.min(1, y * 1.5) * 5) / 5 : Math.min(1, y * 1.5);
  const [red, green, blue] = mixColours(palette.skyTop, palette.skyBottom, steps);
  const cloud = mixColours(palette.skyBottom, palette.isDark ? palette.far : [255, 252, 248], 0.6);
  for (let column = 0; column < width; column++) {
    const x = (column + 0.5) / width;
    const noise = clouds === 0 ? 0 : cloudNoise(x * 3.2 + 7, y * 7.5, seed + 21);
    const density =
      clouds === 0 ? 0 : Math.min(1, Math.max(0, (noise - (1 - clouds) * 0.78) * 3.4));
    const cover = isFlat ? (density > 0.35 ? 0.85 : 0) : density * 0.85;
    const at = (row * width + column) * 3;
    pixels[at] = red + (cloud[0] - red) * cover;
    pixels[at + 1] = green + (cloud[1] - green) * cover;
    pixels[at + 2] = blue + (cloud[2] - blue) * cover;
  }
}

interface Look {
  readonly isFlat: boolean;
  /** Half the width of the line around things; 0 for none. */
  readonly outline: number;
}

const ink: Colour = [28, 26, 36];

function paintShape(
  { width, pixels }: Raster,
  row: number,
  y: number,
  shape: Shape,
  { isFlat, outline }: Look,
): void {
  const { from, to, alpha, softness, isOutlined } = shape;
  const edge = isOutlined ? outline : 0;
  const margin = Math.max(softness * 2, edge) + 1 / width;
  if (y < shape.top - margin || y > shape.bottom + margin) return;
  const first = Math.max(0, Math.floor((shape.left - margin) * width));
  const last = Math.min(width - 1, Math.ceil((shape.right + margin) * width));
  for (let column = first; column <= last; column++) {
    const x = (column + 0.5) / width;
    const distance = shape.distance(x, y);
    if (distance > margin) continue;
    const cover =
      alpha *
      (softness > 0
        ? fade(distance, softness)
        : Math.min(1, Math.max(0, 0.5 - (distance - edge) * width)));
    if (cover <= 0) continue;
    const blend = isFlat ? 0.3 : Math.min(1, Math.max(0, shape.blend(x, y)));
    const line = edge > 0 ? Math.min(1, Math.max(0, 0.5 + (distance + edge) * width)) : 0;
    const at = (row * width + column) * 3;
    pixels[at] = layOver(pixels[at] ?? 0, from[0] + (to[0] - from[0]) * blend, ink[0], line, cover);
    pixels[at + 1] = layOver(
      pixels[at + 1] ?? 0,
      from[1] + (to[1] - from[1]) * blend,
      ink[1],
      line,
      cover,
    );
    pixels[at + 2] = layOver(
      pixels[at + 2] ?? 0,
      from[2] + (to[2] - from[2]) * blend,
      ink[2],
      line,
      cover,
    );
  }
}

/** One channel of a pixel: the colour, drawn over by the line, laid over what is below. */
function layOver(
  below: number,
  colour: number,
  black: number,
  line: number,
  cover: number,
): number {
  return below + (colour + (black - colour) * line - below) * cover;
}

/** A glow: full inside, gone at twice its softness. */
function fade(distance: number, softness: number): number {
  if (distance <= 0) return 1;
  const left = Math.max(0, 1 - distance / (softness * 2));
  return left * left;
}

type Finish = (raster: Raster, scene: Scene) => Generator<void, Raster>;

const finishers: Readonly<Record<Style, Finish>> = {
  realistic: finishRealistic,
  artistic: finishArtistic,
  cartoon: finishCartoon,
  abstract: finishAbstract,
};

/** Darker towards the corners, as a lens makes it. */
function* finishRealistic(raster: Raster): Generator<void, Raster> {
  const { width, height, pixels } = raster;
  for (let row = 0; row < height; row++) {
    for (let column = 0; column < width; column++) {
      const [dx, dy] = [column / width - 0.5, row / height - 0.5];
      const light = 1 - Math.max(0, dx * dx + dy * dy - 0.12) * 0.75;
      const at = (row * width + column) * 3;
      for (let channel = at; channel < at + 3; channel++)
        pixels[channel] = (pixels[channel] ?? 0) * light;
    }
    yield;
  }
  return raster;
}

// biome-ignore lint/correctness/useYield: the outlines were drawn with the shapes; nothing is left to do.
function* finishCartoon(raster: Raster): Generator<void, Raster> {
  return raster;
}

/** Strokes of a brush: each takes the colour under its middle, a little lighter or darker than it was. */
function* finishArtistic(raster: Raster, { seed }: Scene): Generator<void, Raster> {
  const { width, height, pixels } = raster;
  const painted = new Uint8ClampedArray(pixels.length);
  const grid = 92;
  const findCell = createCells(grid, seed);
  for (let row = 0; row < height; row++) {
    for (let column = 0; column < width; column++) {
      const [x, y] = [column / width, row / height];
      const turn = valueNoise(x * 3, y * 3, seed + 5) * Math.PI;
      const [along, across] = [
        x * Math.cos(turn) + y * Math.sin(turn),
        y * Math.cos(turn) - x * Math.sin(turn),
      ];
      const bristle = valueNoise(along * 60, across * 420, seed + 6) - 0.5;
      const cell = findCell(x * grid, y * grid);
      const from = sampleIndex(cell.x / grid, cell.y / grid, raster);
      const lighter = (cell.tone - 0.5) * 34 + bristle * 26;
      const at = (row * width + column) * 3;
      for (let channel = 0; channel < 3; channel++)
        painted[at + channel] = (pixels[from + channel] ?? 0) + lighter;
    }
    yield;
  }
  return { ...raster, pixels: painted };
}

/** Facets of glass with dark lead between them, coloured by what lies behind and by the palette. */
function* finishAbstract(raster: Raster, { seed, palette }: Scene): Generator<void, Raster> {
  const { width, height, pixels } = raster;
  const painted = new Uint8ClampedArray(pixels.length);
  const grid = 13;
  const findCell = createCells(grid, seed);
  for (let row = 0; row < height; row++) {
    for (let column = 0; column < width; column++) {
      const cell = findCell((column / width) * grid, (row / height) * grid);
      const from = sampleIndex(cell.x / grid, cell.y / grid, raster);
      const accent =
        palette.accents[Math.floor(cell.tone * 97) % palette.accents.length] ?? palette.light;
      const amount = cell.tone > 0.78 ? 0.45 : 0.08;
      const light = (0.9 + 0.25 * cell.tone) * (0.35 + 0.65 * Math.min(1, cell.border * 9));
      const at = (row * width + column) * 3;
      for (let channel = 0; channel < 3; channel++) {
        const below = pixels[from + channel] ?? 0;
        painted[at + channel] = (below + ((accent[channel] ?? 0) - below) * amount) * light;
      }
    }
    yield;
  }
  return { ...raster, pixels: painted };
}

interface Cell {
  /** Where its middle is. */
  x: number;
  y: number;
  /** A number of its own, from 0 to 1. */
  tone: number;
  /** How far the next cell is. */
  border: number;
}

/** Points scattered one to a cell of a grid, and which is nearest. The answer is one object, reused: a million would be most of the work. */
function createCells(grid: number, seed: number): (x: number, y: number) => Cell {
  const stride = grid + 2;
  const axis = (salt: number) =>
    Float64Array.from({ length: stride * stride }, (_, index) =>
      cellNoise(index % stride, Math.floor(index / stride), seed + salt),
    );
  const [acrosses, downs, tones] = [axis(31), axis(32), axis(33)];
  const cell: Cell = { x: 0, y: 0, tone: 0, border: 0 };
  return (x, y) => {
    let nearest = 9;
    let second = 9;
    for (let row = Math.floor(y) - 1; row <= y + 1; row++) {
      for (let column = Math.floor(x) - 1; column <= x + 1; column++) {
        const index = (row + 1) * stride + column + 1;
        const pointX = column + (acrosses[index] ?? 0.5);
        const pointY = row + (downs[index] ?? 0.5);
        const distance = (pointX - x) * (pointX - x) + (pointY - y) * (pointY - y);
        if (distance < nearest) {
          second = nearest;
          nearest = distance;
          cell.x = pointX;
          cell.y = pointY;
          cell.tone = tones[index] ?? 0.5;
        } else if (distance < second) second = distance;
      }
    }
    cell.border = Math.sqrt(second) - Math.sqrt(nearest);
    return cell;
  };
}

function sampleIndex(x: number, y: number, { width, height }: Raster): number {
  const column = Math.min(width - 1, Math.max(0, Math.floor(x * width)));
  const row = Math.min(height - 1, Math.max(0, Math.floor(y * height)));
  return (row * width + column) * 3;
}
