/** Plain figures, and the one that is far away. */
import { darken, lighten } from "./colours.ts";
import { box, circle, ellipse, heart, paint, polygon, star } from "./shapes.ts";
import type { Subject } from "./subject.ts";

export const figures: Readonly<Record<string, Subject>> = {
  planet: {
    where: "air",
    scale: 1.2,
    draw: ({ x, y, size, colour }) => [
      paint(circle(x, y, size * 0.7), colour),
      paint(ellipse(x, y - size * 0.2, size * 0.62, size * 0.08), lighten(colour, 0.25), {
        alpha: 0.5,
        isOutlined: false,
      }),
      paint(ellipse(x, y + size * 0.22, size * 0.62, size * 0.1), darken(colour, 0.2), {
        alpha: 0.5,
        isOutlined: false,
      }),
      paint(ring(x, y, size * 1.25, size * 0.3, size * 0.05), lighten(colour, 0.4), {
        alpha: 0.85,
      }),
    ],
  },
  circle: {
    where: "middle",
    draw: ({ x, y, size, colour }) => [paint(circle(x, y, size), colour)],
  },
  ring: {
    where: "middle",
    draw: ({ x, y, size, colour }) => [paint(ring(x, y, size, size, size * 0.16), colour)],
  },
  square: {
    where: "middle",
    draw: ({ x, y, size, colour }) => [paint(box(x, y, size * 0.88, size * 0.88), colour)],
  },
  triangle: {
    where: "middle",
    draw: ({ x, y, size, colour }) => [
      paint(
        polygon([
          [x, y - size],
          [x + size, y + size * 0.75],
          [x - size, y + size * 0.75],
        ]),
        colour,
      ),
    ],
  },
  hexagon: {
    where: "middle",
    draw: ({ x, y, size, colour }) => [
      paint(
        polygon(
          [0, 1, 2, 3, 4, 5].map(
            (corner) =>
              [
                x + size * Math.cos((corner * Math.PI) / 3),
                y + size * Math.sin((corner * Math.PI) / 3),
              ] as const,
          ),
        ),
        colour,
      ),
    ],
  },
  pentagram: {
    where: "middle",
    colour: [246, 206, 80],
    draw: ({ x, y, size, colour }) => [paint(star(x, y, size), colour)],
  },
  heart: {
    where: "middle",
    colour: [214, 50, 70],
    draw: ({ x, y, size, colour }) => [paint(heart(x, y, size), colour)],
  },
};

/** An ellipse's edge, drawn as wide as told. */
function ring(
  x: number,
  y: number,
  across: number,
  down: number,
  width: number,
): ReturnType<typeof ellipse> {
  const edge = ellipse(x, y, across, down);
  return {
    left: edge.left - width,
    right: edge.right + width,
    top: edge.top - width,
    bottom: edge.bottom + width,
    distance: (px, py) => Math.abs(edge.distance(px, py)) - width,
  };
}
