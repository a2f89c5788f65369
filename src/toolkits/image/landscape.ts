/** What lies behind the things of a picture: sky, heights, water, streets. */
import { type Colour, darken, lighten, mixColours } from "./colours.ts";
import { cloudNoise, valueNoise } from "./noise.ts";
import { plants } from "./plants.ts";
import type { Scenery } from "./prompt-words.ts";
import { box, circle, ellipse, paint, polygon, ridge, type Shape } from "./shapes.ts";
import type { Stage } from "./stage.ts";

export function drawLandscape(stage: Stage): Shape[] {
  const { scenery, palette } = stage;
  const has = (part: Scenery) => scenery.includes(part);
  return [
    ...(has("stars") || palette.isDark ? drawStars(stage) : []),
    ...(has("moon") ? drawMoon(stage) : has("sun") ? drawSun(stage) : []),
    ...(has("mountains") ? drawMountains(stage) : []),
    ...(has("hills") || (!has("mountains") && !has("city") && !has("sea") && !has("dunes"))
      ? drawHills(stage)
      : []),
    ...(has("city") ? drawCity(stage) : []),
    ...(has("sea") ? drawSea(stage) : drawGround(stage)),
    ...(has("river")
      ? drawRiver(stage, palette.water)
      : has("road")
        ? drawRiver(stage, [92, 92, 98])
        : []),
    ...(has("forest") ? drawForest(stage) : []),
  ];
}

function drawStars({ random, palette }: Stage): Shape[] {
  return Array.from({ length: 110 }, () => {
    const [x, y, size] = [random(), random() * 0.62, 0.0009 + random() ** 4 * 0.0032];
    return paint(circle(x, y, size), lighten(palette.light, 0.4), {
      to: palette.light,
      alpha: 0.45 + random() * 0.55,
      softness: size,
      isOutlined: false,
    });
  });
}

function drawSun({ random, palette, horizon }: Stage): Shape[] {
  const isLow = palette.skyBottom[0] > 240 && palette.skyBottom[2] < 200;
  const [x, y] = [
    0.25 + random() * 0.5,
    isLow ? horizon - 0.2 - random() * 0.14 : 0.16 + random() * 0.12,
  ];
  return drawGlowing(x, y, isLow ? 0.1 : 0.075, palette.light);
}

function drawMoon({ random, palette }: Stage): Shape[] {
  const [x, y, radius] = [0.2 + random() * 0.6, 0.16 + random() * 0.12, 0.062];
  const craters = [
    [-0.3, -0.2, 0.22],
    [0.25, 0.3, 0.16],
    [0.3, -0.35, 0.12],
  ].map(([dx = 0, dy = 0, size = 0]) =>
    paint(circle(x + dx * radius, y + dy * radius, size * radius), darken(palette.light, 0.14), {
      alpha: 0.6,
      isOutlined: false,
    }),
  );
  return [...drawGlowing(x, y, radius, palette.light), ...craters];
}

function drawGlowing(x: number, y: number, radius: number, light: Colour): Shape[] {
  return [
    paint(circle(x, y, radius), light, {
      to: light,
      alpha: 0.55,
      softness: radius * 3.2,
      isOutlined: false,
    }),
    paint(circle(x, y, radius), light, { to: lighten(light, 0.4) }),
  ];
}

/** Farther ranges are paler, as the air between makes them. */
function drawMountains({ random, palette, horizon, seed }: Stage): Shape[] {
  return [0, 1, 2].flatMap((range) => {
    const [phase, frequency, reach] = [random() * 50, 3 + range * 1.3, 0.44 - range * 0.11];
    const height = (x: number): number => {
      const folded = 1 - Math.abs(2 * valueNoise(x * frequency + phase, range * 7, seed) - 1);
      const rough = cloudNoise(x * frequency * 5 + phase, range, seed + 9) - 0.5;
      return horizon + 0.03 + range * 0.015 - reach * folded ** 2.2 - rough * 0.07;
    };
    const colour = mixColours(
      mixColours(palette.skyBottom, palette.far, 0.55 + range * 0.22),
      palette.ground,
      range * 0.12,
    );
    const slope = ridge(height);
    const rock = (x: number, y: number): number =>
      cloudNoise(x * 14 + y * 9, y * 16 - x * 6, seed + range) * 1.1 -
      0.1 +
      (y - heightAt(slope, x)) * 0.6;
    const snowline = slope.top + reach * 0.2;
    const snow = paint(
      {
        left: 0,
        right: 1,
        top: slope.top,
        bottom: snowline + 0.06,
        distance: (x, y) =>
          Math.max(
            slope.distance(x, y),
            (y - snowline - (valueNoise(x * 40, 3, seed) - 0.5) * 0.06) * 0.7,
          ),
      },
      [244, 247, 252],
      {
        to: mixColours([244, 247, 252], colour, 0.5),
        blend: rock,
        isOutlined: false,
      },
    );
    return [
      paint(slope, colour, { from: lighten(colour, 0.14), to: darken(colour, 0.34), blend: rock }),
      ...(range < 2 ? [snow] : []),
    ];
  });
}

/** The height of a ridge, from its distance at the top of the picture. */
function heightAt(slope: { distance(x: number, y: number): number }, x: number): number {
  return slope.distance(x, 0) / 0.8;
}

function drawHills({ random, palette, horizon, seed }: Stage): Shape[] {
  return [0, 1, 2].map((range) => {
    const [phase, frequency] = [random() * 6, 1.6 + random() * 1.4];
    const colour = mixColours(
      mixColours(palette.far, palette.skyBottom, 0.35),
      palette.ground,
      0.25 + range * 0.3,
    );
    const height = (x: number) =>
      horizon -
      0.09 +
      range * 0.055 +
      0.05 * Math.sin(x * frequency * Math.PI + phase) +
      (valueNoise(x * 5, range, seed) - 0.5) * 0.025;
    return paint(ridge(height), colour, {
      blend: (x, y) => cloudNoise(x * 9, y * 22, seed + range),
    });
  });
}

function drawGround({ palette, horizon, seed, scenery, random }: Stage): Shape[] {
  const isSand = scenery.includes("dunes");
  return (isSand ? [0, 1, 2] : [0]).map((range) => {
    const phase = random() * 6;
    const height = (x: number) =>
      horizon +
      0.02 +
      range * 0.11 +
      (isSand ? 0.06 : 0.012) * Math.sin(x * 4.4 + phase + range * 2);
    const colour = mixColours(
      palette.ground,
      isSand && range === 0 ? palette.skyBottom : palette.ground,
      0.4,
    );
    const blend = (x: number, y: number): number =>
      (y - horizon) * 1.1 + (cloudNoise(x * 26, y * 60, seed + range) - 0.5) * 0.7 + 0.25;
    return paint(ridge(height), colour, {
      from: lighten(colour, 0.18),
      to: darken(colour, 0.32),
      blend,
    });
  });
}

function drawSea({ palette, horizon, seed, random, hasShore }: Stage): Shape[] {
  const top = horizon - 0.02;
  const blend = (x: number, y: number): number => {
    const near = (y - top) / (1 - top);
    return (
      0.15 +
      near * 0.5 +
      (valueNoise(x * (9 - near * 4), (y * 70) / (0.6 + near * 2.4), seed) - 0.5) * 0.7
    );
  };
  const sand = mixColours([226, 204, 150], palette.ground, palette.isDark ? 0.75 : 0.15);
  const shore = paint(
    ridge((x) => 0.84 + 0.025 * Math.sin(x * 5 + seed) + (valueNoise(x * 9, 1, seed) - 0.5) * 0.01),
    sand,
    { blend: (x, y) => cloudNoise(x * 40, y * 70, seed) },
  );
  const glints = Array.from({ length: 26 }, () => {
    const depth = random() ** 1.6;
    const [x, y] = [random(), top + 0.015 + depth * (0.97 - top)];
    return paint(
      ellipse(x, y, 0.012 + depth * 0.05, 0.0012 + depth * 0.0028),
      mixColours(palette.light, palette.skyBottom, 0.5),
      {
        alpha: 0.4,
        isOutlined: false,
      },
    );
  });
  return [
    paint(
      ridge(() => top),
      palette.water,
      {
        from: mixColours(palette.water, palette.skyBottom, 0.45),
        to: darken(palette.water, 0.35),
        blend,
      },
    ),
    ...glints,
    ...(hasShore ? [shore] : []),
  ];
}

function drawCity({ palette, horizon, random }: Stage): Shape[] {
  return [0, 1].flatMap((row) =>
    Array.from({ length: 11 }, (_, index) => {
      const [x, wide, tall] = [
        (index + random() * 0.6) / 10.5,
        0.032 + random() * 0.026,
        (row === 0 ? 0.2 : 0.09) + random() * 0.24,
      ];
      const colour = mixColours(
        palette.skyBottom,
        darken(palette.far, 0.25),
        row === 0 ? 0.55 : 0.9,
      );
      const base = horizon + 0.05;
      const windows = Array.from({ length: Math.floor(tall / 0.034) * 3 }, (_, cell) => {
        if (random() > (palette.isDark ? 0.55 : 0.8)) return undefined;
        const [column, floor] = [(cell % 3) - 1, Math.floor(cell / 3)];
        const isLit = palette.isDark ? random() < 0.8 : random() < 0.12;
        const pane = isLit
          ? mixColours(
              palette.light,
              palette.accents[cell % palette.accents.length] ?? palette.light,
              0.35,
            )
          : darken(colour, 0.3);
        return paint(
          box(x + column * wide * 0.55, base - tall + 0.02 + floor * 0.034, wide * 0.16, 0.008),
          pane,
          {
            isOutlined: false,
            alpha: row === 0 ? 0.6 : 1,
          },
        );
      });
      return [
        paint(box(x, base - tall / 2, wide, tall / 2 + 0.01), colour),
        ...windows.flatMap((pane) => pane ?? []),
      ];
    }).flat(),
  );
}

function drawForest({ palette, horizon, random }: Stage): Shape[] {
  const pine = plants.pine;
  if (!pine) return [];
  return [0, 1, 2].flatMap((row) =>
    Array.from({ length: 12 - row * 2 }, (_, index) => {
      const colour = mixColours(
        mixColours(pine.colour ?? palette.ground, palette.ground, 0.3),
        palette.skyBottom,
        0.45 - row * 0.2,
      );
      const place = {
        x: (index + random() * 0.8) / (11.5 - row * 2),
        y: horizon + 0.03 + row * 0.07 + random() * 0.02,
        size: 0.075 + row * 0.032 + random() * 0.03,
      };
      return pine.draw({
        ...place,
        colour: palette.isDark ? darken(colour, 0.4) : colour,
        light: palette.light,
        isDark: palette.isDark ?? false,
        random,
      });
    }).flat(),
  );
}

/** Winding, and wider the nearer it comes. */
function drawRiver({ horizon, random }: Stage, colour: Colour): Shape[] {
  const [start, bend] = [0.35 + random() * 0.3, random() * 6];
  const middle = (t: number) => start + 0.12 * Math.sin(t * 4 + bend) * t;
  const points = [0, 0.15, 0.3, 0.45, 0.6, 0.8, 1];
  const side = (sign: number) =>
    points.map(
      (t) =>
        [middle(t) + sign * (0.008 + t * t * 0.16), horizon + 0.03 + t * (0.98 - horizon)] as const,
    );
  return [paint(polygon([...side(-1), ...side(1).reverse()]), colour, { isOutlined: false })];
}
