/** Colours by name, and the palettes that moods, hours and places have. */
import type { Random } from "./noise.ts";

export type Colour = readonly [red: number, green: number, blue: number];

export interface Palette {
  readonly skyTop: Colour;
  readonly skyBottom: Colour;
  /** Distant hills, and the mountains before they fade into the sky. */
  readonly far: Colour;
  readonly ground: Colour;
  readonly water: Colour;
  /** What a thing has that was given no colour; further ones for its neighbours. */
  readonly accents: readonly Colour[];
  /** The sun, the moon, lit windows. */
  readonly light: Colour;
  readonly isDark?: boolean;
}

export const colourNames: Readonly<Record<string, Colour>> = {
  red: [208, 52, 44],
  scarlet: [214, 40, 40],
  crimson: [176, 24, 52],
  orange: [240, 138, 40],
  amber: [247, 176, 46],
  yellow: [248, 210, 64],
  gold: [220, 170, 50],
  golden: [226, 176, 58],
  green: [70, 150, 74],
  lime: [150, 206, 64],
  olive: [128, 130, 56],
  emerald: [24, 150, 100],
  teal: [28, 138, 138],
  turquoise: [64, 196, 190],
  cyan: [60, 190, 220],
  blue: [52, 104, 200],
  navy: [28, 44, 104],
  indigo: [74, 58, 160],
  purple: [124, 66, 170],
  violet: [144, 92, 206],
  lavender: [184, 164, 226],
  magenta: [206, 56, 150],
  pink: [240, 146, 178],
  rose: [226, 96, 128],
  brown: [128, 84, 52],
  beige: [222, 204, 170],
  black: [36, 36, 42],
  white: [244, 244, 240],
  grey: [134, 138, 144],
  gray: [134, 138, 144],
  silver: [190, 196, 204],
};

const day: Palette = {
  skyTop: [76, 144, 214],
  skyBottom: [206, 230, 244],
  far: [112, 140, 168],
  ground: [108, 156, 82],
  water: [44, 112, 164],
  accents: [
    [206, 74, 58],
    [232, 170, 62],
    [62, 110, 160],
    [140, 90, 150],
  ],
  light: [255, 240, 190],
};

const moods: Readonly<Record<string, Palette>> = {
  day,
  sunset: {
    skyTop: [70, 52, 118],
    skyBottom: [252, 164, 92],
    far: [112, 64, 104],
    ground: [92, 68, 62],
    water: [124, 72, 110],
    accents: [
      [66, 40, 70],
      [190, 76, 70],
      [236, 152, 84],
    ],
    light: [255, 218, 130],
  },
  dawn: {
    skyTop: [122, 148, 204],
    skyBottom: [252, 214, 196],
    far: [148, 142, 176],
    ground: [128, 148, 110],
    water: [130, 150, 190],
    accents: [
      [190, 110, 120],
      [226, 176, 130],
      [110, 120, 160],
    ],
    light: [255, 232, 196],
  },
  night: {
    skyTop: [10, 14, 40],
    skyBottom: [44, 60, 110],
    far: [30, 40, 74],
    ground: [28, 44, 46],
    water: [20, 36, 76],
    accents: [
      [110, 90, 150],
      [180, 120, 90],
      [80, 130, 160],
    ],
    light: [252, 244, 214],
    isDark: true,
  },
  space: {
    skyTop: [6, 6, 22],
    skyBottom: [38, 18, 66],
    far: [60, 44, 92],
    ground: [98, 86, 110],
    water: [30, 30, 80],
    accents: [
      [206, 116, 80],
      [110, 160, 210],
      [226, 206, 160],
    ],
    light: [255, 246, 220],
    isDark: true,
  },
  storm: {
    skyTop: [62, 70, 84],
    skyBottom: [144, 154, 164],
    far: [84, 96, 108],
    ground: [86, 104, 84],
    water: [58, 82, 98],
    accents: [
      [150, 80, 66],
      [176, 156, 104],
      [74, 92, 118],
    ],
    light: [232, 232, 220],
  },
  winter: {
    skyTop: [146, 178, 210],
    skyBottom: [234, 242, 248],
    far: [158, 178, 200],
    ground: [236, 242, 248],
    water: [120, 160, 190],
    accents: [
      [176, 58, 56],
      [60, 96, 84],
      [90, 110, 140],
    ],
    light: [255, 250, 236],
  },
  autumn: {
    skyTop: [124, 160, 196],
    skyBottom: [246, 226, 190],
    far: [166, 122, 86],
    ground: [170, 112, 52],
    water: [84, 116, 136],
    accents: [
      [204, 84, 36],
      [228, 152, 46],
      [150, 52, 40],
    ],
    light: [255, 232, 176],
  },
  spring: {
    skyTop: [120, 186, 232],
    skyBottom: [240, 246, 236],
    far: [140, 176, 168],
    ground: [136, 190, 90],
    water: [90, 160, 196],
    accents: [
      [240, 140, 176],
      [250, 206, 96],
      [160, 120, 206],
    ],
    light: [255, 246, 204],
  },
  desert: {
    skyTop: [92, 158, 208],
    skyBottom: [250, 226, 184],
    far: [196, 136, 92],
    ground: [224, 178, 112],
    water: [70, 150, 160],
    accents: [
      [178, 86, 54],
      [120, 130, 70],
      [150, 100, 70],
    ],
    light: [255, 244, 196],
  },
  forest: {
    skyTop: [126, 168, 178],
    skyBottom: [226, 238, 216],
    far: [82, 118, 100],
    ground: [66, 104, 62],
    water: [56, 104, 104],
    accents: [
      [150, 76, 56],
      [206, 170, 90],
      [84, 116, 70],
    ],
    light: [250, 244, 200],
  },
  fire: {
    skyTop: [46, 14, 22],
    skyBottom: [222, 90, 36],
    far: [86, 30, 28],
    ground: [52, 26, 26],
    water: [150, 50, 30],
    accents: [
      [240, 130, 40],
      [210, 50, 40],
      [252, 206, 90],
    ],
    light: [255, 230, 150],
    isDark: true,
  },
  neon: {
    skyTop: [16, 10, 40],
    skyBottom: [110, 30, 120],
    far: [50, 28, 96],
    ground: [24, 20, 52],
    water: [40, 24, 100],
    accents: [
      [246, 64, 170],
      [56, 220, 230],
      [250, 220, 80],
    ],
    light: [255, 140, 220],
    isDark: true,
  },
};

const moodWords: Readonly<Record<string, string>> = {
  sunset: "sunset",
  dusk: "sunset",
  evening: "sunset",
  twilight: "sunset",
  sunrise: "dawn",
  dawn: "dawn",
  morning: "dawn",
  pastel: "dawn",
  night: "night",
  midnight: "night",
  moon: "night",
  moonlight: "night",
  moonlit: "night",
  star: "night",
  starry: "night",
  dark: "night",
  space: "space",
  galaxy: "space",
  cosmos: "space",
  cosmic: "space",
  universe: "space",
  planet: "space",
  nebula: "space",
  astronaut: "space",
  storm: "storm",
  stormy: "storm",
  rain: "storm",
  rainy: "storm",
  fog: "storm",
  foggy: "storm",
  gloomy: "storm",
  winter: "winter",
  snow: "winter",
  snowy: "winter",
  ice: "winter",
  frozen: "winter",
  arctic: "winter",
  christmas: "winter",
  autumn: "autumn",
  fall: "autumn",
  harvest: "autumn",
  spring: "spring",
  meadow: "spring",
  garden: "spring",
  blossom: "spring",
  desert: "desert",
  dune: "desert",
  sand: "desert",
  sahara: "desert",
  forest: "forest",
  jungle: "forest",
  wood: "forest",
  woods: "forest",
  fire: "fire",
  lava: "fire",
  volcano: "fire",
  hell: "fire",
  dragon: "fire",
  neon: "neon",
  cyberpunk: "neon",
  futuristic: "neon",
  synthwave: "neon",
  day: "day",
  sunny: "day",
  summer: "day",
  beach: "day",
  ocean: "day",
  sea: "day",
};

/** The first mood a prompt names; a night forest is a night. Without one, and without anything to put under a sky, a scheme of its own. */
export function choosePalette(
  words: readonly string[],
  hasScene: boolean,
  random: Random,
): Palette {
  const named = words.flatMap((word) => (Object.hasOwn(moodWords, word) ? [moodWords[word]] : []));
  const mood =
    named.find(
      (name) => name === "night" || name === "sunset" || name === "dawn" || name === "neon",
    ) ?? named[0];
  const palette =
    (mood === undefined ? undefined : moods[mood]) ?? (hasScene ? day : inventPalette(random));
  const colours = words.flatMap((word) =>
    Object.hasOwn(colourNames, word) ? [colourNames[word] ?? palette.light] : [],
  );
  return colours.length > 0 ? { ...palette, accents: [...colours, ...palette.accents] } : palette;
}

function inventPalette(random: Random): Palette {
  const hue = random() * 360;
  const apart = 90 + random() * 120;
  return {
    skyTop: fromHsl(hue, 0.5, 0.28),
    skyBottom: fromHsl(hue + 40, 0.55, 0.78),
    far: fromHsl(hue + 15, 0.35, 0.45),
    ground: fromHsl(hue + apart, 0.4, 0.4),
    water: fromHsl(hue + 20, 0.5, 0.36),
    accents: [
      fromHsl(hue + apart, 0.7, 0.55),
      fromHsl(hue + apart + 45, 0.75, 0.62),
      fromHsl(hue - 30, 0.6, 0.5),
    ],
    light: fromHsl(hue + apart + 20, 0.9, 0.86),
  };
}

export function mixColours(a: Colour, b: Colour, amount: number): Colour {
  return [
    a[0] + (b[0] - a[0]) * amount,
    a[1] + (b[1] - a[1]) * amount,
    a[2] + (b[2] - a[2]) * amount,
  ];
}

export function darken(colour: Colour, amount: number): Colour {
  return mixColours(colour, [12, 14, 26], amount);
}

export function lighten(colour: Colour, amount: number): Colour {
  return mixColours(colour, [255, 252, 240], amount);
}

function fromHsl(hue: number, saturation: number, lightness: number): Colour {
  const channel = (offset: number): number => {
    const k = (offset + (((hue % 360) + 360) % 360) / 30) % 12;
    return (
      255 *
      (lightness -
        saturation * Math.min(lightness, 1 - lightness) * Math.max(-1, Math.min(k - 3, 9 - k, 1)))
    );
  };
  return [channel(0), channel(8), channel(4)];
}
