/** What people travel in. */
import { lighten } from "./colours.ts";
import { box, circle, ellipse, line, paint, polygon } from "./shapes.ts";
import { ink, type Subject, trunk } from "./subject.ts";

export const vehicles: Readonly<Record<string, Subject>> = {
  boat: {
    where: "water",
    draw: ({ x, y, size, colour }) => [
      paint(line(x, y - size * 0.1, x, y - size * 1.6, size * 0.035), trunk, { isOutlined: false }),
      paint(
        polygon([
          [x + size * 0.06, y - size * 1.55],
          [x + size * 0.85, y - size * 0.35],
          [x + size * 0.06, y - size * 0.35],
        ]),
        [246, 242, 230],
      ),
      paint(
        polygon([
          [x - size * 0.06, y - size * 1.35],
          [x - size * 0.65, y - size * 0.35],
          [x - size * 0.06, y - size * 0.35],
        ]),
        lighten(colour, 0.35),
      ),
      paint(
        polygon([
          [x - size, y - size * 0.22],
          [x + size, y - size * 0.22],
          [x + size * 0.7, y + size * 0.15],
          [x - size * 0.7, y + size * 0.15],
        ]),
        colour,
      ),
    ],
  },
  car: {
    where: "ground",
    scale: 0.8,
    draw: ({ x, y, size, colour }) => [
      paint(
        polygon([
          [x - size * 0.7, y - size * 0.55],
          [x - size * 0.42, y - size],
          [x + size * 0.38, y - size],
          [x + size * 0.75, y - size * 0.55],
        ]),
        colour,
      ),
      paint(
        polygon([
          [x - size * 0.5, y - size * 0.58],
          [x - size * 0.34, y - size * 0.9],
          [x + size * 0.3, y - size * 0.9],
          [x + size * 0.54, y - size * 0.58],
        ]),
        [186, 214, 228],
      ),
      paint(box(x, y - size * 0.4, size * 1.1, size * 0.22, size * 0.12), colour),
      ...[-0.62, 0.62].flatMap((dx) => [
        paint(circle(x + size * dx, y - size * 0.2, size * 0.23), ink),
        paint(circle(x + size * dx, y - size * 0.2, size * 0.1), [190, 190, 194], {
          isOutlined: false,
        }),
      ]),
      paint(circle(x + size * 1.02, y - size * 0.44, size * 0.07), [255, 240, 170], {
        isOutlined: false,
      }),
    ],
  },
  rocket: {
    where: "air",
    draw: ({ x, y, size, colour }) => [
      paint(ellipse(x, y + size * 1.05, size * 0.22, size * 0.5), [255, 170, 50], {
        to: [255, 240, 160],
        isOutlined: false,
        softness: size * 0.12,
      }),
      ...[-1, 1].map((side) =>
        paint(
          polygon([
            [x + side * size * 0.28, y + size * 0.2],
            [x + side * size * 0.62, y + size * 0.75],
            [x + side * size * 0.22, y + size * 0.65],
          ]),
          colour,
        ),
      ),
      paint(ellipse(x, y - size * 0.1, size * 0.34, size * 0.9), [232, 234, 238]),
      paint(
        polygon([
          [x - size * 0.21, y - size * 0.75],
          [x, y - size * 1.12],
          [x + size * 0.21, y - size * 0.75],
        ]),
        colour,
      ),
      paint(circle(x, y - size * 0.25, size * 0.16), [96, 160, 206]),
    ],
  },
  balloon: {
    where: "air",
    draw: ({ x, y, size, colour }) => [
      paint(line(x - size * 0.3, y + size * 0.3, x - size * 0.14, y + size, size * 0.015), ink, {
        isOutlined: false,
      }),
      paint(line(x + size * 0.3, y + size * 0.3, x + size * 0.14, y + size, size * 0.015), ink, {
        isOutlined: false,
      }),
      paint(ellipse(x, y - size * 0.25, size * 0.72, size * 0.85), colour),
      paint(ellipse(x, y - size * 0.25, size * 0.34, size * 0.85), lighten(colour, 0.4), {
        isOutlined: false,
      }),
      paint(box(x, y + size * 1.1, size * 0.17, size * 0.13, size * 0.03), [140, 96, 58]),
    ],
  },
};
