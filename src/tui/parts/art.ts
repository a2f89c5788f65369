import type { Picture } from "../picture/picture.ts";
import { type Colour, createShrinker, type Extent, fitInto } from "../picture/shrinker.ts";
import type { Cell } from "./easel.ts";
import type { Line, Span } from "./line.tsx";

export interface ArtOptions {
  readonly columns: number;
  readonly rows: number;
  readonly hasColours: boolean;
}

/**
 * A picture in characters, no larger than that. A character is about twice as high as it is wide, so each shows two pixels: as a half block
 * in two colours, or, without colours, as a letter that covers more the brighter they are. What is transparent stays blank.
 */
export function artLines(picture: Picture, options: ArtOptions): readonly Line[] {
  const last = drawn.get(picture);
  if (
    last &&
    last.columns === options.columns &&
    last.rows === options.rows &&
    last.hasColours === options.hasColours
  )
    return last.lines;
  const lines = drawLines(picture, options);
  drawn.set(picture, { ...options, lines });
  return lines;
}

/** As it was drawn last: frames come many times a second, and the pane is as it was. */
const drawn = new WeakMap<Picture, ArtOptions & { readonly lines: readonly Line[] }>();

function drawLines(picture: Picture, { columns, rows, hasColours }: ArtOptions): readonly Line[] {
  const shown = resize(
    picture,
    fitInto(picture, { width: Math.max(1, columns), height: Math.max(1, rows) * 2 }),
  );
  const spanOf = hasColours ? inColours : inLetters;
  return Array.from({ length: Math.ceil(shown.height / 2) }, (_row, row): Line => {
    const cells = Array.from(
      { length: shown.width },
      (_cell, x): Cell => ({
        upper: pixelOf(shown, x, row * 2),
        lower: pixelOf(shown, x, row * 2 + 1),
      }),
    );
    return [spanOf(cells)];
  });
}

function inColours(cells: readonly Cell[]): Span {
  return { text: "", cells };
}

const letters = " .:-=+*#%@";

function inLetters(cells: readonly Cell[]): Span {
  const brightness = cells.map(
    ({ upper, lower }) => (brightnessOf(upper) + brightnessOf(lower)) / 2,
  );
  return {
    text: brightness
      .map((light) => letters[Math.min(letters.length - 1, Math.floor(light * letters.length))])
      .join(""),
  };
}

/** From 0 to 1, as the eye weighs colours. */
function brightnessOf(pixel: number | undefined): number {
  if (pixel === undefined) return 0;
  return (0.299 * (pixel >> 16) + 0.587 * ((pixel >> 8) & 255) + 0.114 * (pixel & 255)) / 255;
}

function resize(picture: Picture, to: Extent): Picture {
  if (picture.width === to.width && picture.height === to.height) return picture;
  const shrinker = createShrinker(picture, to);
  for (let y = 0; y < picture.height; y++)
    for (let x = 0; x < picture.width; x++) shrinker.add(x, y, colourAt(picture, x, y));
  return shrinker.finish();
}

function colourAt({ width, pixels }: Picture, x: number, y: number): Colour {
  const at = (y * width + x) * 4;
  return [pixels[at] ?? 0, pixels[at + 1] ?? 0, pixels[at + 2] ?? 0, pixels[at + 3] ?? 0];
}

/** 0xrrggbb; undefined where there is nothing. */
function pixelOf(picture: Picture, x: number, y: number): number | undefined {
  if (y >= picture.height) return undefined;
  const [red, green, blue, alpha] = colourAt(picture, x, y);
  return alpha < 128 ? undefined : (red << 16) | (green << 8) | blue;
}
