import { mixColours, type Palette } from "./colours.ts";
import { type Random, valueNoise } from "./noise.ts";
import { box, circle, ellipse, paint, ridge, type Shape, star } from "./shapes.ts";
import type { Stage } from "./stage.ts";

/** Behind shapes that have no landscape: bands of the palette; and, where nothing was recognised at all, a composition of its own. */
export function drawBackdrop({ palette, random, seed }: Stage, isBare: boolean): Shape[] {
  const bands = [0, 1, 2, 3].map((band) => {
    const [phase, reach] = [random() * 6, 0.04 + random() * 0.06];
    const colour = mixColours(
      mixColours(palette.skyBottom, palette.far, 0.3 + band * 0.2),
      palette.accents[band % palette.accents.length] ?? palette.far,
      0.18 + band * 0.08,
    );
    return paint(
      ridge(
        (x) =>
          0.38 +
          band * 0.16 +
          reach * Math.sin(x * (3 + band) + phase) +
          (valueNoise(x * 3, band, seed) - 0.5) * 0.1,
      ),
      colour,
      { isOutlined: false },
    );
  });
  return isBare ? [...bands, ...drawEmblem(palette, random)] : bands;
}

function drawEmblem(palette: Palette, random: Random): Shape[] {
  const parts = 5 + Math.floor(random() * 4);
  return Array.from({ length: parts }, (_, index) => {
    const colour = palette.accents[index % palette.accents.length] ?? palette.light;
    const [angle, reach, size] = [
      random() * Math.PI * 2,
      index === 0 ? 0 : 0.1 + random() * 0.24,
      index === 0 ? 0.2 : 0.05 + random() * 0.12,
    ];
    const [x, y] = [0.5 + Math.cos(angle) * reach, 0.48 + Math.sin(angle) * reach];
    const kind = Math.floor(random() * 4);
    const outline = [
      circle(x, y, size),
      star(x, y, size, 3 + Math.floor(random() * 5), 0.45 + random() * 0.4),
      box(x, y, size * 0.8, size * 0.8, size * 0.15),
      ellipse(x, y, size * 1.2, size * 0.7),
    ][kind];
    return paint(outline ?? circle(x, y, size), colour, { alpha: 0.86 });
  });
}
