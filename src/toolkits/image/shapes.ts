/** Shapes as distances to their edge, negative inside, in a picture from 0 to 1: edges come out smooth at every size, and outlines for free. */
import { type Colour, darken, lighten } from "./colours.ts";

interface Outline {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
  /** Below this it covers the whole width, and hides what was painted before. */
  readonly solidFrom?: number;
  distance(x: number, y: number): number;
}

export interface Shape extends Outline {
  readonly from: Colour;
  readonly to: Colour;
  /** Between 0 and 1: how far from one colour to the other. Flat styles do not ask. */
  blend(x: number, y: number): number;
  readonly alpha: number;
  /** Over which distance a glow fades; 0 for an edge. */
  readonly softness: number;
  /** Whether a style that draws outlines draws this one. */
  readonly isOutlined: boolean;
}

interface PaintOptions {
  readonly from?: Colour;
  readonly to?: Colour;
  readonly blend?: (x: number, y: number) => number;
  readonly alpha?: number;
  readonly softness?: number;
  readonly isOutlined?: boolean;
}

/** Lit from the upper left unless told otherwise. */
export function paint(outline: Outline, colour: Colour, options: PaintOptions = {}): Shape {
  const { left, top, right, bottom } = outline;
  const lit = (x: number, y: number): number =>
    0.35 * ((x - left) / (right - left || 1)) + 0.65 * ((y - top) / (bottom - top || 1));
  return {
    ...outline,
    from: lighten(colour, 0.12),
    to: darken(colour, 0.3),
    blend: lit,
    alpha: 1,
    softness: 0,
    isOutlined: true,
    ...options,
  };
}

export function circle(x: number, y: number, radius: number): Outline {
  return {
    ...around(x, y, radius, radius),
    distance: (px, py) => Math.sqrt((px - x) * (px - x) + (py - y) * (py - y)) - radius,
  };
}

export function ellipse(x: number, y: number, across: number, down: number): Outline {
  return {
    ...around(x, y, across, down),
    distance(px, py) {
      const [dx, dy] = [(px - x) / across, (py - y) / down];
      const near = Math.sqrt(dx * dx + dy * dy);
      const slope = Math.sqrt((dx / across) ** 2 + (dy / down) ** 2);
      return slope === 0 ? -Math.min(across, down) : (near * (near - 1)) / slope;
    },
  };
}

export function box(x: number, y: number, across: number, down: number, round = 0): Outline {
  return {
    ...around(x, y, across, down),
    distance(px, py) {
      const [dx, dy] = [Math.abs(px - x) - across + round, Math.abs(py - y) - down + round];
      const [outX, outY] = [Math.max(dx, 0), Math.max(dy, 0)];
      return Math.min(Math.max(dx, dy), 0) + Math.sqrt(outX * outX + outY * outY) - round;
    },
  };
}

export function line(
  fromX: number,
  fromY: number,
  toX: number,
  toY: number,
  width: number,
): Outline {
  const [dx, dy] = [toX - fromX, toY - fromY];
  const length = dx * dx + dy * dy || 1e-9;
  return {
    left: Math.min(fromX, toX) - width,
    right: Math.max(fromX, toX) + width,
    top: Math.min(fromY, toY) - width,
    bottom: Math.max(fromY, toY) + width,
    distance(px, py) {
      const along = Math.min(1, Math.max(0, ((px - fromX) * dx + (py - fromY) * dy) / length));
      const [restX, restY] = [px - fromX - along * dx, py - fromY - along * dy];
      return Math.sqrt(restX * restX + restY * restY) - width;
    },
  };
}

type Point = readonly [x: number, y: number];

export function polygon(points: readonly Point[]): Outline {
  const [xs, ys] = [points.map(([x]) => x), points.map(([, y]) => y)];
  const edges = points.map(
    (point, index) => [...point, ...(points[(index + 1) % points.length] ?? point)] as const,
  );
  return {
    left: Math.min(...xs),
    right: Math.max(...xs),
    top: Math.min(...ys),
    bottom: Math.max(...ys),
    distance(px, py) {
      let nearest = Number.POSITIVE_INFINITY;
      let isInside = false;
      for (const [ax, ay, bx, by] of edges) {
        const [ex, ey, wx, wy] = [bx - ax, by - ay, px - ax, py - ay];
        const along = Math.min(1, Math.max(0, (wx * ex + wy * ey) / (ex * ex + ey * ey || 1e-9)));
        const [restX, restY] = [wx - ex * along, wy - ey * along];
        nearest = Math.min(nearest, restX * restX + restY * restY);
        if (ay > py !== by > py && px < ax + (ex * (py - ay)) / ey) isInside = !isInside;
      }
      return isInside ? -Math.sqrt(nearest) : Math.sqrt(nearest);
    },
  };
}

export function star(x: number, y: number, radius: number, points = 5, inner = 0.42): Outline {
  return polygon(
    Array.from({ length: points * 2 }, (_, index) => {
      const [reach, angle] = [
        index % 2 === 0 ? radius : radius * inner,
        (index * Math.PI) / points - Math.PI / 2,
      ];
      return [x + reach * Math.cos(angle), y + reach * Math.sin(angle)] as const;
    }),
  );
}

export function heart(x: number, y: number, radius: number): Outline {
  return polygon(
    Array.from({ length: 28 }, (_, index) => {
      const t = (index / 28) * Math.PI * 2;
      const [across, up] = [
        16 * Math.sin(t) ** 3,
        13 * Math.cos(t) - 5 * Math.cos(2 * t) - 2 * Math.cos(3 * t) - Math.cos(4 * t),
      ];
      return [x + (across / 17) * radius, y - (up / 17) * radius] as const;
    }),
  );
}

const ridgeSamples = 2_048;

/** Everything below a line across the picture. The line is sampled once: asking noise for every pixel would take most of the time. */
export function ridge(height: (x: number) => number): Outline {
  const heights = Float32Array.from({ length: ridgeSamples + 1 }, (_, index) =>
    height(index / ridgeSamples),
  );
  return {
    left: 0,
    right: 1,
    top: Math.min(...heights) - 0.01,
    bottom: 1.01,
    solidFrom: Math.max(...heights) + 0.01,
    distance(x, y) {
      const place = Math.min(1, Math.max(0, x)) * ridgeSamples;
      const index = Math.floor(place);
      const left = heights[index] ?? 0;
      const right = heights[index + 1] ?? left;
      return (left + (right - left) * (place - index) - y) * 0.8;
    },
  };
}

function around(x: number, y: number, across: number, down: number): Omit<Outline, "distance"> {
  return { left: x - across, right: x + across, top: y - down, bottom: y + down };
}
