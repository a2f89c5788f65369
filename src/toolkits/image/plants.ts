/** What grows. */
import { lighten } from "./colours.ts";
import { box, circle, ellipse, line, paint, polygon } from "./shapes.ts";
import { type Subject, trunk } from "./subject.ts";

export const plants: Readonly<Record<string, Subject>> = {
  tree: {
    where: "ground",
    colour: [74, 128, 60],
    scale: 1.2,
    draw: ({ x, y, size, colour, random }) => [
      paint(
        polygon([
          [x - size * 0.12, y],
          [x + size * 0.12, y],
          [x + size * 0.07, y - size],
          [x - size * 0.07, y - size],
        ]),
        trunk,
      ),
      ...[
        [0, -1.35, 0.5],
        [-0.38, -1.05, 0.38],
        [0.38, -1.08, 0.4],
        [-0.14, -1.6, 0.36],
        [0.2, -1.55, 0.34],
      ].map(([dx = 0, dy = 0, radius = 0]) =>
        paint(
          circle(x + size * (dx + (random() - 0.5) * 0.12), y + size * dy, size * radius),
          colour,
          { isOutlined: false, alpha: 0.97 },
        ),
      ),
    ],
  },
  pine: {
    where: "ground",
    colour: [44, 92, 70],
    scale: 1.3,
    draw: ({ x, y, size, colour }) => [
      paint(box(x, y - size * 0.15, size * 0.08, size * 0.18), trunk),
      ...[0, 1, 2].map((tier) => {
        const [low, wide] = [y - size * (0.25 + tier * 0.5), size * (0.62 - tier * 0.15)];
        return paint(
          polygon([
            [x - wide, low],
            [x + wide, low],
            [x, low - size * 0.85],
          ]),
          lighten(colour, tier * 0.05),
        );
      }),
    ],
  },
  palm: {
    where: "ground",
    colour: [70, 140, 74],
    scale: 1.3,
    draw: ({ x, y, size, colour }) => [
      ...[0, 1, 2, 3, 4].map((part) =>
        paint(
          line(
            x + size * 0.03 * part ** 1.6,
            y - size * 0.36 * part,
            x + size * 0.03 * (part + 1) ** 1.6,
            y - size * 0.36 * (part + 1),
            size * 0.07,
          ),
          trunk,
          { isOutlined: false },
        ),
      ),
      ...[-2.9, -2.4, -1.7, -1, -0.5, 0.1, 3].map((angle) => {
        const [tipX, tipY] = [
          x + size * (0.5 + 0.8 * Math.cos(angle)),
          y - size * (1.85 - 0.55 * Math.sin(angle)),
        ];
        const [midX, midY] = [
          x + size * (0.52 + 0.4 * Math.cos(angle)),
          y - size * (2 - 0.3 * Math.sin(angle)),
        ];
        return paint(
          polygon([
            [x + size * 0.5, y - size * 1.8],
            [midX, midY - size * 0.12],
            [tipX, tipY],
            [midX, midY + size * 0.06],
          ]),
          colour,
        );
      }),
    ],
  },
  flower: {
    where: "ground",
    scale: 0.95,
    draw: ({ x, y, size, colour }) => [
      paint(line(x, y, x, y - size, size * 0.04), [70, 130, 66], { isOutlined: false }),
      paint(ellipse(x + size * 0.22, y - size * 0.42, size * 0.22, size * 0.08), [84, 150, 76]),
      ...[0, 1, 2, 3, 4, 5].map((petal) => {
        const angle = (petal / 6) * Math.PI * 2;
        return paint(
          circle(
            x + Math.cos(angle) * size * 0.28,
            y - size * 1.1 + Math.sin(angle) * size * 0.28,
            size * 0.21,
          ),
          colour,
        );
      }),
      paint(circle(x, y - size * 1.1, size * 0.2), [246, 200, 70]),
    ],
  },
  mushroom: {
    where: "ground",
    colour: [200, 60, 50],
    scale: 0.6,
    draw: ({ x, y, size, colour }) => [
      paint(box(x, y - size * 0.4, size * 0.18, size * 0.42, size * 0.1), [236, 226, 206]),
      paint(
        polygon([
          [x - size * 0.75, y - size * 0.7],
          [x - size * 0.5, y - size * 1.2],
          [x, y - size * 1.42],
          [x + size * 0.5, y - size * 1.2],
          [x + size * 0.75, y - size * 0.7],
        ]),
        colour,
      ),
      ...[
        [-0.3, -0.95, 0.1],
        [0.15, -1.15, 0.12],
        [0.42, -0.88, 0.08],
      ].map(([dx = 0, dy = 0, radius = 0]) =>
        paint(circle(x + size * dx, y + size * dy, size * radius), [250, 244, 236], {
          isOutlined: false,
        }),
      ),
    ],
  },
};
