/** Things a prompt can name, drawn around a point: `x` and `y` are the middle of the ground they stand on, or their own middle in the air. */
import { type Colour, darken, lighten, mixColours } from "./colours.ts";
import type { Random } from "./noise.ts";
import { box, circle, ellipse, heart, line, paint, polygon, type Shape, star } from "./shapes.ts";

export interface Place {
  readonly x: number;
  readonly y: number;
  /** About half its height. */
  readonly size: number;
  readonly colour: Colour;
  readonly light: Colour;
  readonly isDark: boolean;
  readonly random: Random;
}

export interface Subject {
  readonly where: "ground" | "air" | "water" | "middle";
  /** The colour it has by nature; without one it takes an accent of the palette. */
  readonly colour?: Colour;
  /** How large it is beside the others. */
  readonly scale?: number;
  draw(place: Place): readonly Shape[];
}

const ink: Colour = [30, 30, 40];
const trunk: Colour = [104, 74, 50];
const skin: Colour = [226, 178, 144];

export const subjects: Readonly<Record<string, Subject>> = {
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
        paint(circle(x + size * (dx + (random() - 0.5) * 0.12), y + size * dy, size * radius), colour, { isOutlined: false, alpha: 0.97 }),
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
          line(x + size * 0.03 * part ** 1.6, y - size * 0.36 * part, x + size * 0.03 * (part + 1) ** 1.6, y - size * 0.36 * (part + 1), size * 0.07),
          trunk,
          { isOutlined: false },
        ),
      ),
      ...[-2.9, -2.4, -1.7, -1, -0.5, 0.1, 3].map((angle) => {
        const [tipX, tipY] = [x + size * (0.5 + 0.8 * Math.cos(angle)), y - size * (1.85 - 0.55 * Math.sin(angle))];
        const [midX, midY] = [x + size * (0.52 + 0.4 * Math.cos(angle)), y - size * (2 - 0.3 * Math.sin(angle))];
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
        return paint(circle(x + Math.cos(angle) * size * 0.28, y - size * 1.1 + Math.sin(angle) * size * 0.28, size * 0.21), colour);
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
      ].map(([dx = 0, dy = 0, radius = 0]) => paint(circle(x + size * dx, y + size * dy, size * radius), [250, 244, 236], { isOutlined: false })),
    ],
  },
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
      ...[-0.48, 0.48].map((dx) => paint(box(x + size * dx, y - size * 0.5, size * 0.15, size * 0.16), isDark ? light : [176, 210, 230])),
    ],
  },
  castle: {
    where: "ground",
    colour: [150, 146, 150],
    scale: 1.4,
    draw: ({ x, y, size, colour, light, isDark }) => [
      paint(box(x, y - size * 0.5, size * 0.75, size * 0.5), colour),
      ...[-0.6, -0.3, 0, 0.3, 0.6].map((dx) => paint(box(x + size * dx, y - size * 1.06, size * 0.08, size * 0.09), colour)),
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
        paint(box(x + size * dx, y - size * 1.05, size * 0.05, size * 0.12, size * 0.05), isDark ? light : ink, { isOutlined: false }),
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
          box(x + size * (-0.2 + 0.2 * (index % 3)), y - size * (0.25 + 0.24 * Math.floor(index / 3)), size * 0.055, size * 0.07),
          isLit ? light : darken(colour, 0.4),
          { isOutlined: false },
        );
      }),
    ],
  },
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
        paint(circle(x + size * dx, y - size * 0.2, size * 0.1), [190, 190, 194], { isOutlined: false }),
      ]),
      paint(circle(x + size * 1.02, y - size * 0.44, size * 0.07), [255, 240, 170], { isOutlined: false }),
    ],
  },
  rocket: {
    where: "air",
    draw: ({ x, y, size, colour }) => [
      paint(ellipse(x, y + size * 1.05, size * 0.22, size * 0.5), [255, 170, 50], { to: [255, 240, 160], isOutlined: false, softness: size * 0.12 }),
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
      paint(line(x - size * 0.3, y + size * 0.3, x - size * 0.14, y + size, size * 0.015), ink, { isOutlined: false }),
      paint(line(x + size * 0.3, y + size * 0.3, x + size * 0.14, y + size, size * 0.015), ink, { isOutlined: false }),
      paint(ellipse(x, y - size * 0.25, size * 0.72, size * 0.85), colour),
      paint(ellipse(x, y - size * 0.25, size * 0.34, size * 0.85), lighten(colour, 0.4), { isOutlined: false }),
      paint(box(x, y + size * 1.1, size * 0.17, size * 0.13, size * 0.03), [140, 96, 58]),
    ],
  },
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
        paint(ellipse(x + side * size * 0.36, y + size * 0.34, size * 0.32, size * 0.34), lighten(colour, 0.3)),
        paint(line(x, y - size * 0.5, x + side * size * 0.22, y - size * 0.85, size * 0.02), ink, { isOutlined: false }),
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
      paint(circle(x - size * 0.45, y - size * 0.1, size * 0.1), [250, 250, 250], { isOutlined: false }),
      paint(circle(x - size * 0.47, y - size * 0.1, size * 0.05), ink, { isOutlined: false }),
    ],
  },
  cat: {
    where: "ground",
    colour: [206, 134, 66],
    draw: (place) => [
      paint(
        line(place.x + place.size * 0.5, place.y - place.size * 0.15, place.x + place.size * 0.95, place.y - place.size * 0.75, place.size * 0.09),
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
        line(place.x + place.size * 0.5, place.y - place.size * 0.3, place.x + place.size * 0.85, place.y - place.size * 0.8, place.size * 0.08),
        place.colour,
      ),
      ...animal(place),
      ...[-1, 1].map((side) =>
        paint(ellipse(place.x + side * place.size * 0.46, place.y - place.size * 1.2, place.size * 0.15, place.size * 0.36), darken(place.colour, 0.25)),
      ),
      paint(ellipse(place.x, place.y - place.size * 1.04, place.size * 0.22, place.size * 0.17), lighten(place.colour, 0.45)),
      ...face(place, ink),
    ],
  },
  person: {
    where: "ground",
    draw: ({ x, y, size, colour }) => [
      ...[-0.16, 0.16].map((dx) => paint(line(x + size * dx, y - size * 0.05, x + size * dx * 0.7, y - size * 0.7, size * 0.1), [62, 70, 96])),
      ...[-1, 1].map((side) => paint(line(x + side * size * 0.28, y - size * 1.25, x + side * size * 0.44, y - size * 0.75, size * 0.075), colour)),
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
      ...[-0.1, 0.1].map((dx) => paint(circle(x + size * dx, y - size * 1.66, size * 0.03), ink, { isOutlined: false })),
    ],
  },
  robot: {
    where: "ground",
    colour: [150, 164, 178],
    draw: ({ x, y, size, colour, light }) => [
      ...[-0.2, 0.2].map((dx) => paint(box(x + size * dx, y - size * 0.22, size * 0.11, size * 0.24), darken(colour, 0.3))),
      ...[-1, 1].map((side) => paint(line(x + side * size * 0.5, y - size * 1.05, x + side * size * 0.68, y - size * 0.6, size * 0.08), darken(colour, 0.2))),
      paint(box(x, y - size * 0.82, size * 0.44, size * 0.42, size * 0.06), colour),
      paint(line(x, y - size * 1.8, x, y - size * 2.05, size * 0.03), darken(colour, 0.3), { isOutlined: false }),
      paint(circle(x, y - size * 2.1, size * 0.08), [226, 80, 70]),
      paint(box(x, y - size * 1.55, size * 0.38, size * 0.29, size * 0.08), lighten(colour, 0.15)),
      ...[-0.16, 0.16].map((dx) => paint(circle(x + size * dx, y - size * 1.58, size * 0.09), mixColours(light, [90, 210, 240], 0.6))),
      paint(box(x, y - size * 1.36, size * 0.16, size * 0.03), ink, { isOutlined: false }),
      paint(box(x, y - size * 0.85, size * 0.2, size * 0.13, size * 0.03), darken(colour, 0.45), { isOutlined: false }),
    ],
  },
  planet: {
    where: "air",
    scale: 1.2,
    draw: ({ x, y, size, colour }) => [
      paint(circle(x, y, size * 0.7), colour),
      paint(ellipse(x, y - size * 0.2, size * 0.62, size * 0.08), lighten(colour, 0.25), { alpha: 0.5, isOutlined: false }),
      paint(ellipse(x, y + size * 0.22, size * 0.62, size * 0.1), darken(colour, 0.2), { alpha: 0.5, isOutlined: false }),
      paint(ring(x, y, size * 1.25, size * 0.3, size * 0.05), lighten(colour, 0.4), { alpha: 0.85 }),
    ],
  },
  circle: { where: "middle", draw: ({ x, y, size, colour }) => [paint(circle(x, y, size), colour)] },
  ring: { where: "middle", draw: ({ x, y, size, colour }) => [paint(ring(x, y, size, size, size * 0.16), colour)] },
  square: { where: "middle", draw: ({ x, y, size, colour }) => [paint(box(x, y, size * 0.88, size * 0.88), colour)] },
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
        polygon([0, 1, 2, 3, 4, 5].map((corner) => [x + size * Math.cos((corner * Math.PI) / 3), y + size * Math.sin((corner * Math.PI) / 3)] as const)),
        colour,
      ),
    ],
  },
  pentagram: { where: "middle", colour: [246, 206, 80], draw: ({ x, y, size, colour }) => [paint(star(x, y, size), colour)] },
  heart: { where: "middle", colour: [214, 50, 70], draw: ({ x, y, size, colour }) => [paint(heart(x, y, size), colour)] },
};

function animal({ x, y, size, colour }: Place): Shape[] {
  return [
    paint(ellipse(x, y - size * 0.42, size * 0.5, size * 0.48), colour),
    ...[-0.22, 0.22].map((dx) => paint(ellipse(x + size * dx, y - size * 0.08, size * 0.16, size * 0.12), lighten(colour, 0.25))),
    paint(ellipse(x, y - size * 0.4, size * 0.26, size * 0.32), lighten(colour, 0.4), { isOutlined: false }),
    paint(circle(x, y - size * 1.2, size * 0.46), colour),
  ];
}

function face({ x, y, size }: Place, nose: Colour): Shape[] {
  return [
    ...[-0.18, 0.18].flatMap((dx) => [
      paint(ellipse(x + size * dx, y - size * 1.26, size * 0.085, size * 0.11), [248, 248, 240], { isOutlined: false }),
      paint(circle(x + size * dx, y - size * 1.25, size * 0.055), ink, { isOutlined: false }),
    ]),
    paint(ellipse(x, y - size * 1.09, size * 0.065, size * 0.05), nose, { isOutlined: false }),
  ];
}

/** An ellipse's edge, drawn as wide as told. */
function ring(x: number, y: number, across: number, down: number, width: number): ReturnType<typeof ellipse> {
  const edge = ellipse(x, y, across, down);
  return {
    left: edge.left - width,
    right: edge.right + width,
    top: edge.top - width,
    bottom: edge.bottom + width,
    distance: (px, py) => Math.abs(edge.distance(px, py)) - width,
  };
}

/** Other words for the same things. "Star" alone is in the sky: see the scene. */
export const subjectWords: Readonly<Record<string, string>> = {
  oak: "tree",
  bush: "tree",
  apple: "tree",
  fir: "pine",
  spruce: "pine",
  conifer: "pine",
  rose: "flower",
  tulip: "flower",
  daisy: "flower",
  sunflower: "flower",
  cottage: "house",
  cabin: "house",
  hut: "house",
  home: "house",
  barn: "house",
  farm: "house",
  village: "house",
  fortress: "castle",
  palace: "castle",
  skyscraper: "tower",
  building: "tower",
  lighthouse: "tower",
  ship: "boat",
  sailboat: "boat",
  yacht: "boat",
  truck: "car",
  taxi: "car",
  spaceship: "rocket",
  spacecraft: "rocket",
  seagull: "bird",
  eagle: "bird",
  raven: "bird",
  dove: "bird",
  whale: "fish",
  shark: "fish",
  goldfish: "fish",
  kitten: "cat",
  kitty: "cat",
  tiger: "cat",
  lion: "cat",
  fox: "cat",
  puppy: "dog",
  wolf: "dog",
  bear: "dog",
  man: "person",
  woman: "person",
  boy: "person",
  girl: "person",
  child: "person",
  people: "person",
  astronaut: "person",
  wizard: "person",
  knight: "person",
  king: "person",
  queen: "person",
  android: "robot",
  mars: "planet",
  saturn: "planet",
  earth: "planet",
  sphere: "circle",
  ball: "circle",
  dot: "circle",
  disc: "circle",
  cube: "square",
  rectangle: "square",
  box: "square",
  pyramid: "triangle",
  hexagonal: "hexagon",
  love: "heart",
};
