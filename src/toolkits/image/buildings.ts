/** What people live in and look up to. */
import { darken, lighten } from "./colours.ts";
import { box, paint, polygon } from "./shapes.ts";
import { ink, type Subject } from "./subject.ts";

export const buildings: Readonly<Record<string, Subject>> = {
  house: {
    where: "ground",
    scale: 1.1,
    draw: ({ x, y, size, colour, light, isDark }) => [
      paint(box(x + size * 0.45, y - size * 1.35, size * 0.1, size * 0.3), darken(colour, 0.4)),
      paint(box(x, y - size * 0.45, size * 0.8, size * 0.45), lighten(colour, 0.45)),
      paint(
        polygon([
          [x - size * 0.95, y - size * 0.88],
          [x, y - size * 1.6],
          [x + size * 0.95, y - size * 0.88],
        ]),
        colour,
      ),
      paint(box(x, y - size * 0.27, size * 0.15, size * 0.28), darken(colour, 0.45)),
      ...[-0.48, 0.48].map((dx) =>
        paint(
          box(x + size * dx, y - size * 0.5, size * 0.15, size * 0.16),
          isDark ? light : [176, 210, 230],
        ),
      ),
    ],
  },
  castle: {
    where: "ground",
    colour: [150, 146, 150],
    scale: 1.4,
    draw: ({ x, y, size, colour, light, isDark }) => [
      paint(box(x, y - size * 0.5, size * 0.75, size * 0.5), colour),
      ...[-0.6, -0.3, 0, 0.3, 0.6].map((dx) =>
        paint(box(x + size * dx, y - size * 1.06, size * 0.08, size * 0.09), colour),
      ),
      ...[-0.85, 0.85].flatMap((dx) => [
        paint(box(x + size * dx, y - size * 0.75, size * 0.22, size * 0.75), darken(colour, 0.08)),
        paint(
          polygon([
            [x + size * (dx - 0.3), y - size * 1.48],
            [x + size * dx, y - size * 2.1],
            [x + size * (dx + 0.3), y - size * 1.48],
          ]),
          [150, 66, 66],
        ),
        paint(
          box(x + size * dx, y - size * 1.05, size * 0.05, size * 0.12, size * 0.05),
          isDark ? light : ink,
          { isOutlined: false },
        ),
      ]),
      paint(box(x, y - size * 0.25, size * 0.2, size * 0.28, size * 0.18), [84, 60, 48]),
    ],
  },
  tower: {
    where: "ground",
    colour: [126, 136, 152],
    scale: 1.6,
    draw: ({ x, y, size, colour, light, isDark, random }) => [
      paint(box(x, y - size * 0.95, size * 0.34, size * 0.95), colour),
      ...Array.from({ length: 21 }, (_, index) => {
        const isLit = isDark ? random() < 0.6 : random() < 0.15;
        return paint(
          box(
            x + size * (-0.2 + 0.2 * (index % 3)),
            y - size * (0.25 + 0.24 * Math.floor(index / 3)),
            size * 0.055,
            size * 0.07,
          ),
          isLit ? light : darken(colour, 0.4),
          { isOutlined: false },
        );
      }),
    ],
  },
};
