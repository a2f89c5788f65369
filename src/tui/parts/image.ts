import { colourAt, fitInto, type Picture, shrink } from "../picture.ts";
import type { Cell, Line } from "./line.ts";

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

/** From 0 to 1, as the eye weighs colours. */
function brightnessOf(pixel: number | undefined): number {
  if (pixel === undefined) return 0;
  return (0.299 * (pixel >> 16) + 0.587 * ((pixel >> 8) & 255) + 0.114 * (pixel & 255)) / 255;
}

/** 0xrrggbb; undefined where there is nothing. */
function pixelOf(picture: Picture, x: number, y: number): number | undefined {
  if (y >= picture.height) return undefined;
  const [red, green, blue, alpha] = colourAt(picture, x, y);
  return alpha < 128 ? undefined : (red << 16) | (green << 8) | blue;
}
