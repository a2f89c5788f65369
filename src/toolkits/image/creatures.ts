/** What moves by itself. */
import { type Colour, darken, lighten, mixColours } from "./colours.ts";
import { box, circle, ellipse, line, paint, polygon, type Shape } from "./shapes.ts";
import { ink, type Place, type Subject } from "./subject.ts";

const skin: Colour = [226, 178, 144];

export const creatures: Readonly<Record<string, Subject>> = {
  bird: {
    where: "air",
    colour: [50, 54, 66],
    scale: 0.35,
    draw: ({ x, y, size, colour }) =>
      [-1, 1].map((side) =>
        paint(
          polygon([
            [x, y],
            [x + side * size * 0.5, y - size * 0.42],
            [x + side * size * 1.15, y - size * 0.2],
            [x + side * size * 0.55, y - size * 0.22],
            [x, y + size * 0.16],
          ]),
          colour,
          { isOutlined: false },
        ),
      ),
  },
  butterfly: {
    where: "air",
    scale: 0.5,
    draw: ({ x, y, size, colour }) => [
      ...[-1, 1].flatMap((side) => [
        paint(ellipse(x + side * size * 0.48, y - size * 0.3, size * 0.45, size * 0.42), colour),
        paint(
          ellipse(x + side * size * 0.36, y + size * 0.34, size * 0.32, size * 0.34),
          lighten(colour, 0.3),
        ),
        paint(line(x, y - size * 0.5, x + side * size * 0.22, y - size * 0.85, size * 0.02), ink, {
          isOutlined: false,
        }),
      ]),
      paint(ellipse(x, y, size * 0.08, size * 0.55), ink),
    ],
  },
  fish: {
    where: "water",
    scale: 0.7,
    draw: ({ x, y, size, colour }) => [
      paint(
        polygon([
          [x + size * 0.6, y],
          [x + size * 1.15, y - size * 0.45],
          [x + size * 1.15, y + size * 0.45],
        ]),
        darken(colour, 0.1),
      ),
      paint(
        polygon([
          [x - size * 0.1, y - size * 0.3],
          [x + size * 0.15, y - size * 0.75],
          [x + size * 0.4, y - size * 0.25],
        ]),
        darken(colour, 0.1),
      ),
      paint(ellipse(x, y, size * 0.8, size * 0.45), colour),
      paint(circle(x - size * 0.45, y - size * 0.1, size * 0.1), [250, 250, 250], {
        isOutlined: false,
      }),
      paint(circle(x - size * 0.47, y - size * 0.1, size * 0.05), ink, { isOutlined: false }),
    ],
  },
  cat: {
    where: "ground",
    colour: [206, 134, 66],
    draw: (place) => [
      paint(
        line(
          place.x + place.size * 0.5,
          place.y - place.size * 0.15,
          place.x + place.size * 0.95,
          place.y - place.size * 0.75,
          place.size * 0.09,
        ),
        place.colour,
      ),
      ...animal(place),
      ...[-1, 1].map((side) =>
        paint(
          polygon([
            [place.x + side * place.size * 0.42, place.y - place.size * 1.35],
            [place.x + side * place.size * 0.4, place.y - place.size * 1.85],
            [place.x + side * place.size * 0.08, place.y - place.size * 1.55],
          ]),
          place.colour,
        ),
      ),
      ...face(place, [236, 150, 150]),
      ...[-1, 1].flatMap((side) =>
        [-0.06, 0.06].map((tilt) =>
          paint(
            line(
              place.x + side * place.size * 0.14,
              place.y - place.size * 1.08,
              place.x + side * place.size * 0.58,
              place.y - place.size * (1.08 + tilt),
              place.size * 0.012,
            ),
            lighten(ink, 0.3),
            { isOutlined: false },
          ),
        ),
      ),
    ],
  },
  dog: {
    where: "ground",
    colour: [150, 106, 70],
    draw: (place) => [
      paint(
        line(
          place.x + place.size * 0.5,
          place.y - place.size * 0.3,
          place.x + place.size * 0.85,
          place.y - place.size * 0.8,
          place.size * 0.08,
        ),
        place.colour,
      ),
      ...animal(place),
      ...[-1, 1].map((side) =>
        paint(
          ellipse(
            place.x + side * place.size * 0.46,
            place.y - place.size * 1.2,
            place.size * 0.15,
            place.size * 0.36,
          ),
          darken(place.colour, 0.25),
        ),
      ),
      paint(
        ellipse(place.x, place.y - place.size * 1.04, place.size * 0.22, place.size * 0.17),
        lighten(place.colour, 0.45),
      ),
      ...face(place, ink),
    ],
  },
  person: {
    where: "ground",
    draw: ({ x, y, size, colour }) => [
      ...[-0.16, 0.16].map((dx) =>
        paint(
          line(x + size * dx, y - size * 0.05, x + size * dx * 0.7, y - size * 0.7, size * 0.1),
          [62, 70, 96],
        ),
      ),
      ...[-1, 1].map((side) =>
        paint(
          line(
            x + side * size * 0.28,
            y - size * 1.25,
            x + side * size * 0.44,
            y - size * 0.75,
            size * 0.075,
          ),
          colour,
        ),
      ),
      paint(box(x, y - size * 1.02, size * 0.29, size * 0.4, size * 0.14), colour),
      paint(circle(x, y - size * 1.68, size * 0.27), skin),
      paint(
        polygon([
          [x - size * 0.28, y - size * 1.66],
          [x - size * 0.22, y - size * 1.95],
          [x, y - size * 2.02],
          [x + size * 0.22, y - size * 1.95],
          [x + size * 0.28, y - size * 1.66],
          [x, y - size * 1.84],
        ]),
        [84, 56, 40],
      ),
      ...[-0.1, 0.1].map((dx) =>
        paint(circle(x + size * dx, y - size * 1.66, size * 0.03), ink, { isOutlined: false }),
      ),
    ],
  },
  robot: {
    where: "ground",
    colour: [150, 164, 178],
    draw: ({ x, y, size, colour, light }) => [
      ...[-0.2, 0.2].map((dx) =>
        paint(box(x + size * dx, y - size * 0.22, size * 0.11, size * 0.24), darken(colour, 0.3)),
      ),
      ...[-1, 1].map((side) =>
        paint(
          line(
            x + side * size * 0.5,
            y - size * 1.05,
            x + side * size * 0.68,
            y - size * 0.6,
            size * 0.08,
          ),
          darken(colour, 0.2),
        ),
      ),
      paint(box(x, y - size * 0.82, size * 0.44, size * 0.42, size * 0.06), colour),
      paint(line(x, y - size * 1.8, x, y - size * 2.05, size * 0.03), darken(colour, 0.3), {
        isOutlined: false,
      }),
      paint(circle(x, y - size * 2.1, size * 0.08), [226, 80, 70]),
      paint(box(x, y - size * 1.55, size * 0.38, size * 0.29, size * 0.08), lighten(colour, 0.15)),
      ...[-0.16, 0.16].map((dx) =>
        paint(
          circle(x + size * dx, y - size * 1.58, size * 0.09),
          mixColours(light, [90, 210, 240], 0.6),
        ),
      ),
      paint(box(x, y - size * 1.36, size * 0.16, size * 0.03), ink, { isOutlined: false }),
      paint(box(x, y - size * 0.85, size * 0.2, size * 0.13, size * 0.03), darken(colour, 0.45), {
        isOutlined: false,
      }),
    ],
  },
};

function animal({ x, y, size, colour }: Place): Shape[] {
  return [
    paint(ellipse(x, y - size * 0.42, size * 0.5, size * 0.48), colour),
    ...[-0.22, 0.22].map((dx) =>
      paint(
        ellipse(x + size * dx, y - size * 0.08, size * 0.16, size * 0.12),
        lighten(colour, 0.25),
      ),
    ),
    paint(ellipse(x, y - size * 0.4, size * 0.26, size * 0.32), lighten(colour, 0.4), {
      isOutlined: false,
    }),
    paint(circle(x, y - size * 1.2, size * 0.46), colour),
  ];
}

function face({ x, y, size }: Place, nose: Colour): Shape[] {
  return [
    ...[-0.18, 0.18].flatMap((dx) => [
      paint(ellipse(x + size * dx, y - size * 1.26, size * 0.085, size * 0.11), [248, 248, 240], {
        isOutlined: false,
      }),
      paint(circle(x + size * dx, y - size * 1.25, size * 0.055), ink, { isOutlined: false }),
    ]),
    paint(ellipse(x, y - size * 1.09, size * 0.065, size * 0.05), nose, { isOutlined: false }),
  ];
}
