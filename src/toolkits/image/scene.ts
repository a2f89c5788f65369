/** From a prompt to shapes: what its words name is put where such things are, and chance that follows from the prompt does the rest. */
import { type Colour, choosePalette, colourNames, darken, lighten, mixColours, type Palette } from "./colours.ts";
import { cloudNoise, createRandom, hashText, type Random, valueNoise } from "./noise.ts";
import { box, circle, ellipse, line, paint, polygon, ridge, type Shape, star } from "./shapes.ts";
import { type Subject, subjects, subjectWords } from "./subjects.ts";

export interface Scene {
  readonly seed: number;
  readonly palette: Palette;
  /** Painted in this order. */
  readonly shapes: readonly Shape[];
  /** 0 to 1: how much of the sky is cloud. */
  readonly clouds: number;
  /** What of the prompt was recognised. */
  readonly elements: readonly string[];
}

export function composeScene(prompt: string): Scene {
  const seed = hashText(prompt.normalize("NFC").trim().toLowerCase());
  const random = createRandom(seed);
  const { words, plurals } = readWords(prompt);
  const scenery = [...new Set(words.flatMap((word) => (Object.hasOwn(sceneryWords, word) ? (sceneryWords[word] ?? []) : [])))];
  const things = readThings(words, plurals);
  const isShapesOnly = scenery.length === 0 && things.every(({ subject }) => subject.where === "middle");
  const palette = choosePalette(words, !isShapesOnly, random);
  const hasShore = scenery.includes("sea") && things.some(({ subject }) => subject.where === "ground");
  const stage: Stage = { palette, random, seed, scenery, horizon: 0.6 + random() * 0.08, hasShore };
  const layers = isShapesOnly ? drawBackdrop(stage, things.length === 0) : drawScenery(stage);
  const weather = drawWeather(stage, words);
  return {
    seed,
    palette,
    shapes: [...layers, ...placeThings(things, stage), ...weather],
    clouds: words.some((word) => /^(cloud|storm|overcast|fog)/.test(word)) ? 0.75 : isShapesOnly || scenery.includes("stars") ? 0 : 0.4,
    elements: [...scenery, ...things.map(({ name, count }) => (count > 1 ? `${name} × ${count}` : name))],
  };
}

type Scenery = "sun" | "moon" | "stars" | "mountains" | "hills" | "sea" | "forest" | "city" | "dunes" | "river" | "road";

interface Stage {
  readonly palette: Palette;
  readonly random: Random;
  readonly seed: number;
  readonly scenery: readonly Scenery[];
  /** Where the ground begins. */
  readonly horizon: number;
  /** Whether what stands on the ground needs some before the sea. */
  readonly hasShore: boolean;
}

const sceneryWords: Readonly<Record<string, readonly Scenery[]>> = {
  sun: ["sun"],
  sunny: ["sun"],
  sunset: ["sun"],
  sunrise: ["sun"],
  summer: ["sun"],
  moon: ["moon", "stars"],
  moonlight: ["moon", "stars"],
  moonlit: ["moon", "stars"],
  night: ["moon", "stars"],
  star: ["stars"],
  starry: ["stars"],
  space: ["stars"],
  galaxy: ["stars"],
  cosmos: ["stars"],
  universe: ["stars"],
  nebula: ["stars"],
  astronaut: ["stars"],
  mountain: ["mountains"],
  alp: ["mountains"],
  peak: ["mountains"],
  volcano: ["mountains"],
  hill: ["hills"],
  valley: ["mountains", "hills"],
  meadow: ["hills"],
  field: ["hills"],
  landscape: ["hills", "mountains"],
  garden: ["hills"],
  park: ["hills"],
  sea: ["sea"],
  ocean: ["sea"],
  lake: ["sea", "hills"],
  beach: ["sea", "sun"],
  water: ["sea"],
  wave: ["sea"],
  harbor: ["sea"],
  harbour: ["sea"],
  island: ["sea"],
  forest: ["forest"],
  jungle: ["forest"],
  wood: ["forest"],
  woods: ["forest"],
  city: ["city"],
  skyline: ["city"],
  town: ["city"],
  downtown: ["city"],
  urban: ["city"],
  cyberpunk: ["city"],
  metropolis: ["city"],
  desert: ["dunes", "sun"],
  dune: ["dunes"],
  sand: ["dunes"],
  river: ["river"],
  stream: ["river"],
  road: ["road"],
  street: ["road"],
  path: ["road"],
};

const counts: Readonly<Record<string, number>> = {
  two: 2,
  couple: 2,
  pair: 2,
  three: 3,
  four: 4,
  five: 5,
  six: 6,
  seven: 7,
  several: 4,
  some: 3,
  many: 7,
  flock: 7,
  group: 4,
};
const countMax = 9;

/** Lower case and singular, with those that were plural; a novel is not drawn word by word. */
function readWords(prompt: string): { words: readonly string[]; plurals: ReadonlySet<string> } {
  const written =
    prompt
      .slice(0, 4_000)
      .toLowerCase()
      .match(/\p{L}+|\d+/gu) ?? [];
  const words = written.map((word) => (Object.hasOwn(irregular, word) ? irregular[word] : undefined) ?? (isKnown(word) ? word : singularOf(word)));
  return { words, plurals: new Set(words.filter((word, index) => word !== written[index])) };
}

const irregular: Readonly<Record<string, string>> = {
  men: "man",
  women: "woman",
  children: "child",
  wolves: "wolf",
  cities: "city",
  butterflies: "butterfly",
  puppies: "puppy",
};

function singularOf(word: string): string {
  const shorter = [word.replace(/s$/, ""), word.replace(/es$/, "")];
  return shorter.find(isKnown) ?? word;
}

function isKnown(word: string): boolean {
  return [subjects, subjectWords, sceneryWords, colourNames].some((table) => Object.hasOwn(table, word));
}

interface Thing {
  readonly name: string;
  readonly subject: Subject;
  readonly count: number;
  readonly colour?: Colour | undefined;
}

/** Each thing once, with the number and colour that stand within the three words before it: "three small red birds". */
function readThings(words: readonly string[], plurals: ReadonlySet<string>): Thing[] {
  const found = new Map<string, Thing>();
  words.forEach((word, index) => {
    const name = Object.hasOwn(subjectWords, word) ? (subjectWords[word] ?? word) : word;
    const subject = Object.hasOwn(subjects, name) ? subjects[name] : undefined;
    // A colour is one before it is a flower: "rose" in "rose sky". And a palm tree is one thing.
    const isColour = Object.hasOwn(colourNames, word) && index < words.length - 1;
    const isNamedTree = name === "tree" && Object.hasOwn(subjects, subjectWords[words[index - 1] ?? ""] ?? words[index - 1] ?? "");
    if (!subject || found.has(name) || isColour || isNamedTree) return;
    const before = words.slice(Math.max(0, index - 3), index);
    const count =
      before.map((number) => (Object.hasOwn(counts, number) ? (counts[number] ?? 1) : Number(number))).find((number) => number > 0) ??
      (word === "village" ? 4 : plurals.has(word) ? 3 : 1);
    const colour = before.flatMap((other) => (Object.hasOwn(colourNames, other) ? [colourNames[other]] : [])).at(-1);
    found.set(name, { name, subject, count: Math.min(countMax, count), colour });
  });
  return [...found.values()].slice(0, 8);
}

function drawScenery(stage: Stage): Shape[] {
  const { scenery, palette } = stage;
  const has = (part: Scenery) => scenery.includes(part);
  return [
    ...(has("stars") || palette.isDark ? drawStars(stage) : []),
    ...(has("moon") ? drawMoon(stage) : has("sun") ? drawSun(stage) : []),
    ...(has("mountains") ? drawMountains(stage) : []),
    ...(has("hills") || (!has("mountains") && !has("city") && !has("sea") && !has("dunes")) ? drawHills(stage) : []),
    ...(has("city") ? drawCity(stage) : []),
    ...(has("sea") ? drawSea(stage) : drawGround(stage)),
    ...(has("river") ? drawRiver(stage, palette.water) : has("road") ? drawRiver(stage, [92, 92, 98]) : []),
    ...(has("forest") ? drawForest(stage) : []),
  ];
}

function drawStars({ random, palette }: Stage): Shape[] {
  return Array.from({ length: 110 }, () => {
    const [x, y, size] = [random(), random() * 0.62, 0.0009 + random() ** 4 * 0.0032];
    return paint(circle(x, y, size), lighten(palette.light, 0.4), { to: palette.light, alpha: 0.45 + random() * 0.55, softness: size, isOutlined: false });
  });
}

function drawSun({ random, palette, horizon }: Stage): Shape[] {
  const isLow = palette.skyBottom[0] > 240 && palette.skyBottom[2] < 200;
  const [x, y] = [0.25 + random() * 0.5, isLow ? horizon - 0.2 - random() * 0.14 : 0.16 + random() * 0.12];
  return drawGlowing(x, y, isLow ? 0.1 : 0.075, palette.light);
}

function drawMoon({ random, palette }: Stage): Shape[] {
  const [x, y, radius] = [0.2 + random() * 0.6, 0.16 + random() * 0.12, 0.062];
  const craters = [
    [-0.3, -0.2, 0.22],
    [0.25, 0.3, 0.16],
    [0.3, -0.35, 0.12],
  ].map(([dx = 0, dy = 0, size = 0]) =>
    paint(circle(x + dx * radius, y + dy * radius, size * radius), darken(palette.light, 0.14), { alpha: 0.6, isOutlined: false }),
  );
  return [...drawGlowing(x, y, radius, palette.light), ...craters];
}

function drawGlowing(x: number, y: number, radius: number, light: Colour): Shape[] {
  return [
    paint(circle(x, y, radius), light, { to: light, alpha: 0.55, softness: radius * 3.2, isOutlined: false }),
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
    const colour = mixColours(mixColours(palette.skyBottom, palette.far, 0.55 + range * 0.22), palette.ground, range * 0.12);
    const slope = ridge(height);
    const rock = (x: number, y: number): number => cloudNoise(x * 14 + y * 9, y * 16 - x * 6, seed + range) * 1.1 - 0.1 + (y - heightAt(slope, x)) * 0.6;
    const snowline = slope.top + reach * 0.2;
    const snow = paint(
      {
        left: 0,
        right: 1,
        top: slope.top,
        bottom: snowline + 0.06,
        distance: (x, y) => Math.max(slope.distance(x, y), (y - snowline - (valueNoise(x * 40, 3, seed) - 0.5) * 0.06) * 0.7),
      },
      [244, 247, 252],
      {
        to: mixColours([244, 247, 252], colour, 0.5),
        blend: rock,
        isOutlined: false,
      },
    );
    return [paint(slope, colour, { from: lighten(colour, 0.14), to: darken(colour, 0.34), blend: rock }), ...(range < 2 ? [snow] : [])];
  });
}

/** The height of a ridge, from its distance at the top of the picture. */
function heightAt(slope: { distance(x: number, y: number): number }, x: number): number {
  return slope.distance(x, 0) / 0.8;
}

function drawHills({ random, palette, horizon, seed }: Stage): Shape[] {
  return [0, 1, 2].map((range) => {
    const [phase, frequency] = [random() * 6, 1.6 + random() * 1.4];
    const colour = mixColours(mixColours(palette.far, palette.skyBottom, 0.35), palette.ground, 0.25 + range * 0.3);
    const height = (x: number) =>
      horizon - 0.09 + range * 0.055 + 0.05 * Math.sin(x * frequency * Math.PI + phase) + (valueNoise(x * 5, range, seed) - 0.5) * 0.025;
    return paint(ridge(height), colour, { blend: (x, y) => cloudNoise(x * 9, y * 22, seed + range) });
  });
}

function drawGround({ palette, horizon, seed, scenery, random }: Stage): Shape[] {
  const isSand = scenery.includes("dunes");
  return (isSand ? [0, 1, 2] : [0]).map((range) => {
    const phase = random() * 6;
    const height = (x: number) => horizon + 0.02 + range * 0.11 + (isSand ? 0.06 : 0.012) * Math.sin(x * 4.4 + phase + range * 2);
    const colour = mixColours(palette.ground, isSand && range === 0 ? palette.skyBottom : palette.ground, 0.4);
    const blend = (x: number, y: number): number => (y - horizon) * 1.1 + (cloudNoise(x * 26, y * 60, seed + range) - 0.5) * 0.7 + 0.25;
    return paint(ridge(height), colour, { from: lighten(colour, 0.18), to: darken(colour, 0.32), blend });
  });
}

function drawSea({ palette, horizon, seed, random, hasShore }: Stage): Shape[] {
  const top = horizon - 0.02;
  const blend = (x: number, y: number): number => {
    const near = (y - top) / (1 - top);
    return 0.15 + near * 0.5 + (valueNoise(x * (9 - near * 4), (y * 70) / (0.6 + near * 2.4), seed) - 0.5) * 0.7;
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
    return paint(ellipse(x, y, 0.012 + depth * 0.05, 0.0012 + depth * 0.0028), mixColours(palette.light, palette.skyBottom, 0.5), {
      alpha: 0.4,
      isOutlined: false,
    });
  });
  return [
    paint(
      ridge(() => top),
      palette.water,
      { from: mixColours(palette.water, palette.skyBottom, 0.45), to: darken(palette.water, 0.35), blend },
    ),
    ...glints,
    ...(hasShore ? [shore] : []),
  ];
}

function drawCity({ palette, horizon, random }: Stage): Shape[] {
  return [0, 1].flatMap((row) =>
    Array.from({ length: 11 }, (_, index) => {
      const [x, wide, tall] = [(index + random() * 0.6) / 10.5, 0.032 + random() * 0.026, (row === 0 ? 0.2 : 0.09) + random() * 0.24];
      const colour = mixColours(palette.skyBottom, darken(palette.far, 0.25), row === 0 ? 0.55 : 0.9);
      const base = horizon + 0.05;
      const windows = Array.from({ length: Math.floor(tall / 0.034) * 3 }, (_, cell) => {
        if (random() > (palette.isDark ? 0.55 : 0.8)) return undefined;
        const [column, floor] = [(cell % 3) - 1, Math.floor(cell / 3)];
        const isLit = palette.isDark ? random() < 0.8 : random() < 0.12;
        const pane = isLit ? mixColours(palette.light, palette.accents[cell % palette.accents.length] ?? palette.light, 0.35) : darken(colour, 0.3);
        return paint(box(x + column * wide * 0.55, base - tall + 0.02 + floor * 0.034, wide * 0.16, 0.008), pane, {
          isOutlined: false,
          alpha: row === 0 ? 0.6 : 1,
        });
      });
      return [paint(box(x, base - tall / 2, wide, tall / 2 + 0.01), colour), ...windows.flatMap((pane) => pane ?? [])];
    }).flat(),
  );
}

function drawForest({ palette, horizon, random }: Stage): Shape[] {
  const pine = subjects.pine;
  if (!pine) return [];
  return [0, 1, 2].flatMap((row) =>
    Array.from({ length: 12 - row * 2 }, (_, index) => {
      const colour = mixColours(mixColours(pine.colour ?? palette.ground, palette.ground, 0.3), palette.skyBottom, 0.45 - row * 0.2);
      const place = {
        x: (index + random() * 0.8) / (11.5 - row * 2),
        y: horizon + 0.03 + row * 0.07 + random() * 0.02,
        size: 0.075 + row * 0.032 + random() * 0.03,
      };
      return pine.draw({ ...place, colour: palette.isDark ? darken(colour, 0.4) : colour, light: palette.light, isDark: palette.isDark ?? false, random });
    }).flat(),
  );
}

/** Winding, and wider the nearer it comes. */
function drawRiver({ horizon, random }: Stage, colour: Colour): Shape[] {
  const [start, bend] = [0.35 + random() * 0.3, random() * 6];
  const middle = (t: number) => start + 0.12 * Math.sin(t * 4 + bend) * t;
  const points = [0, 0.15, 0.3, 0.45, 0.6, 0.8, 1];
  const side = (sign: number) => points.map((t) => [middle(t) + sign * (0.008 + t * t * 0.16), horizon + 0.03 + t * (0.98 - horizon)] as const);
  return [paint(polygon([...side(-1), ...side(1).reverse()]), colour, { isOutlined: false })];
}

function drawWeather({ random }: Stage, words: readonly string[]): Shape[] {
  if (words.some((word) => /^(rain|rainy|storm|stormy)$/.test(word))) {
    return Array.from({ length: 130 }, () => {
      const [x, y, length] = [random() * 1.1, random(), 0.02 + random() * 0.03];
      return paint(line(x, y, x - length * 0.3, y + length, 0.0009), [210, 222, 234], { alpha: 0.5, isOutlined: false });
    });
  }
  if (!words.some((word) => /^(snow|snowy|snowing|blizzard|christmas)$/.test(word))) return [];
  return Array.from({ length: 150 }, () => {
    const size = 0.0015 + random() ** 2 * 0.0055;
    return paint(circle(random(), random(), size), [252, 253, 255], { to: [252, 253, 255], alpha: 0.85, softness: size * 0.6, isOutlined: false });
  });
}

/** Behind shapes that have no landscape: bands of the palette; and, where nothing was recognised at all, a composition of its own. */
function drawBackdrop({ palette, random, seed }: Stage, isBare: boolean): Shape[] {
  const bands = [0, 1, 2, 3].map((band) => {
    const [phase, reach] = [random() * 6, 0.04 + random() * 0.06];
    const colour = mixColours(
      mixColours(palette.skyBottom, palette.far, 0.3 + band * 0.2),
      palette.accents[band % palette.accents.length] ?? palette.far,
      0.18 + band * 0.08,
    );
    return paint(
      ridge((x) => 0.38 + band * 0.16 + reach * Math.sin(x * (3 + band) + phase) + (valueNoise(x * 3, band, seed) - 0.5) * 0.1),
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
    const [angle, reach, size] = [random() * Math.PI * 2, index === 0 ? 0 : 0.1 + random() * 0.24, index === 0 ? 0.2 : 0.05 + random() * 0.12];
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

/** Side by side, the many smaller than the few; those on the ground come nearer one by one. */
function placeThings(things: readonly Thing[], stage: Stage): Shape[] {
  const { palette, random, horizon } = stage;
  const drawn: { depth: number; shapes: readonly Shape[] }[] = [];
  for (const places of [["air"], ["water", "ground"], ["middle"]]) {
    const single = things
      .filter(({ subject }) => places.includes(subject.where))
      .flatMap((thing) => Array.from({ length: thing.count }, (_, index) => ({ thing, index })));
    single.slice(0, 14).forEach(({ thing: { subject, colour, name }, index }, order, all) => {
      const { where } = subject;
      const share = 1 / all.length;
      const x = all.length === 1 ? 0.5 + (random() - 0.5) * (where === "middle" ? 0 : 0.16) : (order + 0.5 + (random() - 0.5) * 0.25) * share;
      const depth = random();
      const size = Math.min(0.22, 0.1 + 0.3 * share) * (subject.scale ?? 1) * (0.85 + depth * 0.25) * (where === "air" ? 0.6 : where === "ground" ? 0.72 : 1);
      const accent = palette.accents[(name.length + index) % palette.accents.length] ?? palette.light;
      const y = {
        air: 0.2 + random() * 0.22,
        water: 0.76 + depth * 0.1,
        ground: stage.hasShore ? 0.89 + depth * 0.06 : horizon + 0.16 + depth * 0.14,
        middle: 0.5,
      }[where];
      const own = colour ?? subject.colour ?? accent;
      const place = {
        x,
        y,
        size,
        colour: palette.isDark && !colour && where !== "middle" ? darken(own, 0.25) : own,
        light: palette.light,
        isDark: palette.isDark ?? false,
        random,
      };
      const shadow =
        where === "ground"
          ? [paint(ellipse(x, y, size * 0.7, size * 0.09), [20, 24, 30], { to: [20, 24, 30], alpha: 0.28, softness: size * 0.1, isOutlined: false })]
          : [];
      drawn.push({ depth: where === "air" ? -1 : y, shapes: [...shadow, ...subject.draw(place)] });
    });
  }
  return drawn.sort((a, b) => a.depth - b.depth).flatMap(({ shapes }) => shapes);
}
